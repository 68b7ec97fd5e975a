/* fill_count.c: how many entries L + U gets where its pattern is eliminated.
 *
 * J. R. Gilbert and T. Peierls, SIAM J. Sci. Stat. Comput. 9 (1988): column j
 * of L + U is what the entries of column j of the matrix reach over columns of
 * L.  S. C. Eisenstat and J. W. H. Liu, SIAM J. Matrix Anal. Appl. 13 (1992):
 * once u_kj and l_jk are both there, column j of L has all rows of column k
 * beyond j, and searches in column k may end at row j. */
#include "graph/symbolic/fill_count.h"

typedef struct search {
  gable_off *begin;          /* [n+1] column k of L, the diagonal left out, is
                                list[begin[k] .. begin[k+1]) */
  gable_off *end;            /* [n] end of the part that a search follows */
  gable_idx *list;           /* [most] */
  gable_idx *seen;           /* [n] last column that reached this row */
  gable_idx *stack;          /* [n] columns of L on the way down */
  gable_off *at;             /* [n] next place of list, for each of them */
  gable_idx *upper, n_upper; /* [n] rows above the diagonal of this column */
  gable_off used, most;      /* of list */
} search;

static void release(gable_context *ctx, search *s)
{
  GI_FREE(ctx, s->begin, s->end, s->list, s->seen, s->stack, s->at, s->upper);
}

/* Row i belongs to column j; 1: it is above the diagonal, so that its own
 * column is to be followed. */
static int enter(search *s, gable_idx i, gable_idx j)
{
  if (s->seen[i] == j) return 0;
  s->seen[i] = j;
  if (i < j) {
    s->upper[s->n_upper++] = i;
    return 1;
  }
  if (s->used < s->most) s->list[s->used] = i;
  s->used++;
  return 0;
}

static void follow(search *s, gable_idx i, gable_idx j)
{
  gable_idx depth = 0;
  if (!enter(s, i, j)) return;
  s->stack[0] = i;
  s->at[0] = s->begin[i];
  while (depth >= 0) {
    const gable_idx k = s->stack[depth];
    if (s->at[depth] == s->end[k] || s->used > s->most) {
      depth--;
      continue;
    }
    const gable_idx next = s->list[s->at[depth]++];
    if (!enter(s, next, j)) continue;
    s->stack[++depth] = next;
    s->at[depth] = s->begin[next];
  }
}

/* Column k of L, in which row j may be: if it is, what a search follows ends
 * with it. */
static void prune(search *s, gable_idx k, gable_idx j)
{
  gable_idx *list = s->list;
  gable_off q = s->begin[k], last = s->begin[k + 1];
  if (s->end[k] < last) return; /* by an earlier column */
  while (q < last && list[q] != j) q++;
  if (q == last) return;
  for (q = s->begin[k]; q < last;) {
    if (list[q] <= j) {
      q++;
      continue;
    }
    const gable_idx beyond = list[q];
    list[q] = list[--last];
    list[last] = beyond;
  }
  s->end[k] = last;
}

static gable_status prepare(gable_context *ctx, gable_idx n, gable_off most, search *s)
{
  gable_status status = GABLE_OK;
  GI_ALLOC(ctx, s->begin, n + 1);
  GI_ALLOC(ctx, s->end, n);
  GI_ALLOC(ctx, s->list, most);
  GI_ALLOC(ctx, s->seen, n);
  GI_ALLOC(ctx, s->stack, n);
  GI_ALLOC(ctx, s->at, n);
  GI_ALLOC(ctx, s->upper, n);
  for (gable_idx i = 0; i < n; i++) s->seen[i] = -1;
  s->begin[0] = s->used = 0;
  s->most = most;
done:
  return status;
}

gable_status gi_fill_count(gable_context *ctx, const gi_csc *l, const gi_csc *u, gable_off most, gable_off *count)
{
  gable_status status = GABLE_OK;
  search s = {0};
  const gable_idx n = l->n_cols;
  gable_off above = 0;
  GI_TRY(prepare(ctx, n, most, &s));
  for (gable_idx j = 0; j < n && above + s.used + n <= most; j++) {
    s.seen[j] = j;
    s.n_upper = 0;
    for (gable_off q = u->ptr[j]; q < u->ptr[j + 1]; q++) follow(&s, u->idx[q], j);
    for (gable_off q = l->ptr[j]; q < l->ptr[j + 1]; q++) follow(&s, l->idx[q], j);
    if (s.used > most) break;
    s.begin[j + 1] = s.end[j] = s.used;
    above += s.n_upper;
    for (gable_idx q = 0; q < s.n_upper; q++) prune(&s, s.upper[q], j);
  }
  *count = above + s.used + n <= most ? above + s.used + n : most + 1;
done:
  release(ctx, &s);
  return status;
}
