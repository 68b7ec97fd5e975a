/* iluk.c: the pattern of ILU(k), row by row. */
#include "base/pulse.h"
#include "precond/ilu_fill.h"

/* Row i as a list of increasing columns, and what the rows before it left. */
typedef struct symbolic {
  gable_context *ctx;
  gable_idx n, level;
  gable_idx *next;     /* [n+1] the column after j in row i; [n] is the first one; n: the end */
  gable_idx *level_of; /* [n] of the columns of row i; -1: not in it */
  gi_csc *out;
  gable_idx *levels; /* [capacity] of the entries of out */
  gable_off *upper;  /* [n] first entry right of the diagonal */
  gable_off capacity;
} symbolic;

static gable_status reserve(symbolic *s, gable_off count)
{
  gable_status status = GABLE_OK;
  const gable_off used = s->capacity, more = count > 2 * used ? count : 2 * used;
  void *larger;
  if (count <= s->capacity) goto done;
  larger = gi_grow(s->ctx, s->out->idx, used, more, sizeof *s->out->idx);
  GI_REQUIRE(larger, GABLE_ERR_MEMORY, "out of memory: %.1f MB for the pattern of ILU(%d)", 4e-6 * (double)more,
             s->level);
  s->out->idx = larger;
  larger = gi_grow(s->ctx, s->levels, used, more, sizeof *s->levels);
  GI_REQUIRE(larger, GABLE_ERR_MEMORY, "out of memory: %.1f MB for the levels of ILU(%d)", 4e-6 * (double)more,
             s->level);
  s->levels = larger;
  s->capacity = more;
done:
  return status;
}

/* Column j with this level after column at or a later one; returns j, for the next larger column. */
static gable_idx insert(symbolic *s, gable_idx at, gable_idx j, gable_idx level)
{
  if (s->level_of[j] >= 0) {
    if (level < s->level_of[j]) s->level_of[j] = level;
    return j;
  }
  while (s->next[at] < j) at = s->next[at];
  s->next[j] = s->next[at];
  s->next[at] = j;
  s->level_of[j] = level;
  return j;
}

/* The columns of A's row i and the diagonal, with level 0. */
static void begin_row(symbolic *s, const gi_csc *a, gable_idx i)
{
  gable_idx at = s->n;
  s->next[s->n] = s->n;
  for (gable_off p = a->ptr[i]; p < a->ptr[i + 1]; p++) at = insert(s, at, a->idx[p], 0);
  insert(s, s->n, i, 0);
}

/* What row k of U brings into row i. */
static void merge(symbolic *s, gable_idx k)
{
  const gi_csc *u = s->out;
  gable_idx at = k;
  for (gable_off q = s->upper[k]; q < u->ptr[k + 1]; q++) {
    const int64_t level = (int64_t)s->level_of[k] + s->levels[q] + 1;
    if (level <= s->level) at = insert(s, at, u->idx[q], (gable_idx)level);
  }
}

static gable_status end_row(symbolic *s, gable_idx i)
{
  gable_status status = GABLE_OK;
  gable_off count = s->out->ptr[i];
  for (gable_idx j = s->next[s->n]; j < s->n; j = s->next[j]) count++;
  GI_TRY(reserve(s, count));
  gable_off q = s->out->ptr[i];
  for (gable_idx j = s->next[s->n]; j < s->n; j = s->next[j]) {
    s->out->idx[q] = j;
    s->levels[q++] = s->level_of[j];
    s->level_of[j] = -1;
    if (j == i) s->upper[i] = q;
  }
  s->out->ptr[i + 1] = q;
done:
  return status;
}

gable_status gi_iluk_pattern(gable_context *ctx, const gi_csc *a, gable_idx level, gi_csc *out)
{
  gable_status status = GABLE_OK;
  const gable_idx n = a->n_cols;
  gi_pulse pulse = gi_pulse_begin(ctx, "ILU(k) pattern");
  symbolic s = {.ctx = ctx, .n = n, .level = level, .out = out};
  out->n_rows = out->n_cols = n;
  GI_ALLOC_ZERO(ctx, out->ptr, (gable_off)n + 1);
  GI_ALLOC(ctx, s.next, (gable_off)n + 1);
  GI_ALLOC(ctx, s.level_of, n);
  GI_ALLOC(ctx, s.upper, n);
  GI_TRY(reserve(&s, a->ptr[n] + n + 1));
  for (gable_idx j = 0; j < n; j++) s.level_of[j] = -1;
  for (gable_idx i = 0; i < n; i++) {
    if (i % GI_ROWS_A_LOOK == 0) GI_TRY(gi_pulse_tell(&pulse, (double)i / n));
    begin_row(&s, a, i);
    for (gable_idx k = s.next[n]; k < i; k = s.next[k]) merge(&s, k);
    GI_TRY(end_row(&s, i));
  }
  GI_TRY(gi_csc_trim(ctx, out));
done:
  GI_FREE(ctx, s.next, s.level_of, s.levels, s.upper);
  return status;
}

void gi_iluk_places(const gi_csc *a, const gi_csc *pattern, gable_off *place)
{
  for (gable_idx i = 0; i < a->n_cols; i++) {
    gable_off q = pattern->ptr[i];
    for (gable_off p = a->ptr[i]; p < a->ptr[i + 1]; p++) {
      while (pattern->idx[q] < a->idx[p]) q++;
      place[p] = q;
    }
  }
}
