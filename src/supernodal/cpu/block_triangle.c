/* block_triangle.c: panels of a factor as a block triangle, and its levels. */
#include "supernodal/cpu/block_inverse.h"

#include <string.h>

#include "factor/export.h"

/* Where supernode s has its panel: rows below, and entry (i, k) of the triangle. */
typedef struct source {
  const gi_factor *f;
  int upper;
  const gable_idx *place; /* [n] of each row of A' after the interchanges; upper: not looked at */
} source;

static gable_idx rows_of(const source *a, gable_idx s, const gable_idx **row)
{
  const gi_layout *y = a->f->layout;
  *row = a->upper ? y->ucol + y->uptr[s] : y->lrow + y->lptr[s];
  return a->upper ? gi_layout_nu(y, s) : gi_layout_nl(y, s);
}

/* Row i >= k of column k of the diagonal block. */
static double block_entry(const source *a, gable_idx s, gable_idx i, gable_idx k)
{
  const gi_layout *y = a->f->layout;
  const gable_off ld = (gable_off)gi_layout_width(y, s) + gi_layout_nl(y, s), at = y->lval[s];
  if (a->upper) return gi_factor_value(a->f, a->f->l, at + (gable_off)i * ld + k);
  if (i == k && a->f->kind != GI_CHOLESKY) return 1;
  return gi_factor_value(a->f, a->f->l, at + (gable_off)k * ld + i);
}

/* Row number i of those below, column k. */
static double below_entry(const source *a, gable_idx s, gable_idx i, gable_idx k)
{
  const gi_layout *y = a->f->layout;
  const gable_idx w = gi_layout_width(y, s), nl = gi_layout_nl(y, s), nu = gi_layout_nu(y, s);
  if (a->upper) return gi_factor_value(a->f, a->f->u, y->uval[s] + (gable_off)k * nu + i);
  return gi_factor_value(a->f, a->f->l, y->lval[s] + (gable_off)k * ((gable_off)w + nl) + w + i);
}

static gable_idx placed(const source *a, gable_idx row)
{
  return a->upper ? row : a->place[row];
}

/* Are the rows of supernode s the columns of the next one, and its rows? */
static int follows(const gi_layout *y, const source *a, gable_idx s)
{
  const gable_idx *mine, *next, count = rows_of(a, s, &mine), below = rows_of(a, s + 1, &next);
  const gable_idx w = gi_layout_width(y, s + 1);
  if (count != w + below) return 0;
  for (gable_idx k = 0; k < w; k++)
    if (mine[k] != y->super[s + 1] + k) return 0;
  return !below || !memcmp(mine + w, next, (size_t)below * sizeof *mine);
}

/* first, row_at, value_at; block [n_super]: the block of each supernode. */
static gable_status cut(gable_context *ctx, const source *a, int merge, gi_block_triangle *t, gable_idx *block)
{
  gable_status status = GABLE_OK;
  const gi_layout *y = a->f->layout;
  gable_idx count = 0;
  for (gable_idx s = 0; s < y->n_super; s++) {
    if (s && !(merge && follows(y, a, s - 1))) count++;
    block[s] = count;
  }
  t->n_blocks = y->n_super ? count + 1 : 0;
  GI_ALLOC(ctx, t->first, t->n_blocks + 1);
  GI_ALLOC(ctx, t->row_at, t->n_blocks + 1);
  GI_ALLOC(ctx, t->value_at, t->n_blocks + 1);
  t->row_at[0] = t->value_at[0] = 0;
  for (gable_idx s = 0, begin = 0; s < y->n_super; s++) {
    const gable_idx b = block[s], *row, rows = rows_of(a, s, &row);
    if (s == 0 || block[s - 1] != b) begin = y->super[s];
    const gable_off w = y->super[s + 1] - begin;
    t->first[b] = begin; /* a later supernode of the block says how many rows and values it has */
    t->row_at[b + 1] = t->row_at[b] + rows;
    t->value_at[b + 1] = t->value_at[b] + w * (w + rows);
  }
  t->first[t->n_blocks] = y->n;
done:
  return status;
}

/* The rows of each block, increasing: interchanges leave each supernode's rows among themselves, so few are out of
 * order.
 */
static void sort(gable_idx *row, gable_off count)
{
  for (gable_off k = 1; k < count; k++) {
    const gable_idx held = row[k];
    gable_off q = k;
    for (; q > 0 && row[q - 1] > held; q--) row[q] = row[q - 1];
    row[q] = held;
  }
}

static void fill_rows(const source *a, const gable_idx *block, gi_block_triangle *t)
{
  const gi_layout *y = a->f->layout;
  for (gable_idx s = 0; s < y->n_super; s++) {
    if (s + 1 < y->n_super && block[s + 1] == block[s]) continue; /* the last one has the rows of the block */
    const gable_idx *from, rows = rows_of(a, s, &from);
    gable_idx *to = t->row + t->row_at[block[s]];
    for (gable_idx i = 0; i < rows; i++) to[i] = placed(a, from[i]);
    sort(to, rows);
  }
}

/* at [n]: place in the panel of block b of each of its columns and rows. */
static void locate(const gi_block_triangle *t, gable_idx b, gable_idx *at)
{
  const gable_idx w = t->first[b + 1] - t->first[b];
  for (gable_idx k = 0; k < w; k++) at[t->first[b] + k] = k;
  for (gable_off q = t->row_at[b]; q < t->row_at[b + 1]; q++) at[t->row[q]] = w + (gable_idx)(q - t->row_at[b]);
}

/* The panels of blocks that are marked as substituted. */
static void fill_values(const source *a, const gable_idx *block, gi_block_triangle *t, gable_idx *at)
{
  const gi_layout *y = a->f->layout;
  for (gable_idx s = 0; s < y->n_super; s++) {
    const gable_idx b = block[s], *row, rows = rows_of(a, s, &row), w = gi_layout_width(y, s), first = y->super[s];
    if (!t->substituted[b]) continue;
    const gable_off ld = t->first[b + 1] - t->first[b] + t->row_at[b + 1] - t->row_at[b];
    if (s == 0 || block[s - 1] != b) locate(t, b, at);
    for (gable_idx k = 0; k < w; k++) {
      double *column = t->value + t->value_at[b] + (first + k - t->first[b]) * ld;
      for (gable_idx i = k; i < w; i++) column[at[first + i]] = block_entry(a, s, i, k);
      for (gable_idx i = 0; i < rows; i++) column[at[placed(a, row[i])]] = below_entry(a, s, i, k);
    }
  }
}

/* of [n]: block of each column.  Levels and stages; blocks of a level in their order. */
static gable_status find_levels(gable_context *ctx, const gi_layout *y, gi_block_triangle *t)
{
  gable_status status = GABLE_OK;
  gable_idx *of = NULL, *depth = NULL, *count = NULL;
  GI_ALLOC(ctx, of, t->n);
  GI_ALLOC_ZERO(ctx, depth, t->n_blocks);
  GI_ALLOC(ctx, t->order, t->n_blocks);
  GI_ALLOC(ctx, t->stage, t->n_stages + 1);
  for (gable_idx b = 0; b < t->n_blocks; b++)
    for (gable_idx j = t->first[b]; j < t->first[b + 1]; j++) of[j] = b;
  for (gable_idx b = 0; b < t->n_blocks; b++)
    for (gable_off q = t->row_at[b]; q < t->row_at[b + 1]; q++)
      if (depth[of[t->row[q]]] <= depth[b]) depth[of[t->row[q]]] = depth[b] + 1;
  /* levels of a stage follow those of the stages before */
  t->stage[0] = 0;
  for (gable_idx g = 0, b = 0; g < t->n_stages; g++) {
    gable_idx levels = 0;
    for (; b < t->n_blocks && t->first[b] < gi_stage_begin(y, g + 1); b++) {
      if (depth[b] >= levels) levels = depth[b] + 1;
      depth[b] += t->stage[g];
    }
    t->stage[g + 1] = t->stage[g] + levels;
  }
  t->n_levels = t->stage[t->n_stages];
  GI_ALLOC_ZERO(ctx, t->level, t->n_levels + 1);
  GI_ALLOC(ctx, count, t->n_levels + 1);
  for (gable_idx b = 0; b < t->n_blocks; b++) t->level[depth[b] + 1]++;
  for (gable_idx l = 0; l < t->n_levels; l++) t->level[l + 1] += t->level[l];
  memcpy(count, t->level, ((size_t)t->n_levels + 1) * sizeof *count);
  for (gable_idx b = 0; b < t->n_blocks; b++) t->order[count[depth[b]]++] = b;
done:
  GI_FREE(ctx, of, depth, count);
  return status;
}

gable_status gi_block_triangle_create(gable_context *ctx, const gi_factor *f, int upper, gable_solve_method method,
                                      int merge, gi_block_triangle **out)
{
  gable_status status = GABLE_OK;
  const gi_layout *y = f->layout;
  gi_block_triangle *t = NULL;
  gable_idx *block = NULL, *place = NULL, *work = NULL;
  GI_ALLOC_ZERO(ctx, t, 1);
  t->method = method == GABLE_SOLVE_PARTITIONED_CUSPARSE ? GABLE_SOLVE_PARTITIONED : method;
  t->n = y->n;
  t->n_stages = y->n ? y->n_blocks : 0;
  GI_ALLOC(ctx, block, y->n_super);
  GI_ALLOC(ctx, place, y->n);
  GI_ALLOC(ctx, work, y->n);
  gi_factor_resolve_interchanges(f, work, place);
  const source a = {f, upper, place};
  GI_TRY(cut(ctx, &a, merge, t, block));
  GI_ALLOC(ctx, t->row, t->row_at[t->n_blocks]);
  GI_ALLOC_ZERO(ctx, t->value, t->value_at[t->n_blocks]);
  GI_ALLOC(ctx, t->substituted, t->n_blocks);
  memset(t->substituted, 1, (size_t)t->n_blocks);
  t->n_substituted = t->n_blocks;
  fill_rows(&a, block, t);
  fill_values(&a, block, t, work);
  GI_TRY(find_levels(ctx, y, t));
  t->bytes = t->value_at[t->n_blocks] * 8 + t->row_at[t->n_blocks] * 4 + t->n_blocks * 25;
  if (t->method != GABLE_SOLVE_LEVELS && t->method != GABLE_SOLVE_BATCHED) {
    GI_TRY(gi_blocks_invert(ctx, t));
    fill_values(&a, block, t, work); /* again where the inverse does not serve */
  }
  if (t->method == GABLE_SOLVE_PARTITIONED) GI_TRY(gi_blocks_partition(ctx, t));
  *out = t;
  t = NULL;
done:
  gi_block_triangle_destroy(ctx, &t);
  GI_FREE(ctx, block, place, work);
  return status;
}

void gi_block_triangle_destroy(gable_context *ctx, gi_block_triangle **triangle)
{
  gi_block_triangle *t = triangle ? *triangle : NULL;
  if (!t) return;
  *triangle = NULL;
  GI_FREE(ctx, t->first, t->row_at, t->row, t->value_at, t->value, t->substituted, t->stage, t->level, t->order,
          t->inverse.row_at, t->inverse.row, t->inverse.ptr, t->inverse.col, t->inverse.value, t);
}
