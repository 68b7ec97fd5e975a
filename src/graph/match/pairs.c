#include "graph/match/pairs.h"

#include <math.h>
#include <string.h>

/* Neighbours that i and j have in common; mark [n] holds no number that is at hand twice. */
static gable_off shared(const gi_csc *a, gable_idx i, gable_idx j, gable_idx *mark)
{
  gable_off count = 0;
  for (gable_off k = a->ptr[i]; k < a->ptr[i + 1]; k++) mark[a->idx[k]] = i;
  for (gable_off k = a->ptr[j]; k < a->ptr[j + 1]; k++) count += mark[a->idx[k]] == i;
  return count;
}

/* Of a pattern alone every entry counts as one. */
static double scaled_diagonal(const gi_csc *a, const double *scale, gable_idx i)
{
  for (gable_off k = a->ptr[i]; k < a->ptr[i + 1]; k++)
    if (a->idx[k] == i) return (a->val ? fabs(a->val[k]) : 1) * scale[i] * scale[i];
  return 0;
}

static void marry(gable_idx *mate, gable_idx i, gable_idx j)
{
  mate[i] = j;
  mate[j] = i;
}

/* The row of a cycle of odd length that stays alone. */
static gable_idx choose_single(const gi_csc *a, const gable_idx *row_of, const double *scale, gable_idx begin)
{
  gable_idx best = begin;
  double largest = -1;
  gable_idx i = begin;
  do {
    const double size = scaled_diagonal(a, scale, i);
    if (size > largest) {
      largest = size;
      best = i;
    }
    i = row_of[i];
  } while (i != begin);
  return best;
}

/* Where the pairs of a cycle of even length begin. */
static gable_idx choose_begin(const gi_csc *a, const gable_idx *row_of, gable_idx begin, gable_idx *mark)
{
  gable_off both[2] = {0, 0};
  int parity = 0;
  gable_idx i = begin;
  do {
    both[parity] += shared(a, i, row_of[i], mark);
    parity = !parity;
    i = row_of[i];
  } while (i != begin);
  return both[1] > both[0] ? row_of[begin] : begin;
}

gable_status gi_pairs(gable_context *ctx, const gi_csc *a, const gable_idx *row_of, const double *scale,
                      gable_idx *mate)
{
  gable_status status = GABLE_OK;
  const gable_idx n = a->n_cols;
  gable_idx *mark = NULL;
  GI_ALLOC(ctx, mark, n);
  for (gable_idx i = 0; i < n; i++) mate[i] = mark[i] = -1;
  for (gable_idx j = 0; j < n; j++) {
    gable_idx length = 0, i = j;
    if (mate[j] >= 0) continue;
    do {
      length++;
      i = row_of[i];
    } while (i != j);
    if (length % 2) {
      i = choose_single(a, row_of, scale, j);
      mate[i] = i;
      i = row_of[i];
    } else if (length > 2) {
      i = choose_begin(a, row_of, j, mark);
    }
    for (gable_idx left = length / 2; left > 0; left--) {
      const gable_idx next = row_of[row_of[i]];
      marry(mate, i, row_of[i]);
      i = next;
    }
  }
done:
  gi_free(ctx, mark);
  return status;
}

gable_status gi_pairs_gather(gable_context *ctx, const gi_csc *a, const gable_idx *mate, gable_idx *of, gable_idx *node,
                             gi_csc *out)
{
  gable_status status = GABLE_OK;
  const gable_idx n = a->n_cols;
  gable_idx n_small = 0, *mark = NULL;
  gi_csc b = {0};
  for (gable_idx i = 0; i < n; i++) {
    of[i] = mate[i] < i ? of[mate[i]] : n_small;
    if (of[i] == n_small) node[n_small++] = i;
  }
  GI_ALLOC(ctx, mark, n_small);
  b.n_rows = b.n_cols = n_small;
  GI_ALLOC(ctx, b.ptr, (gable_off)n_small + 1);
  GI_ALLOC(ctx, b.idx, a->ptr[n]);
  for (gable_idx c = 0; c < n_small; c++) mark[c] = -1;
  gable_off count = 0;
  for (gable_idx c = 0; c < n_small; c++) {
    b.ptr[c] = count;
    const gable_idx rows[2] = {node[c], mate[node[c]]};
    for (int side = 0; side < (rows[0] == rows[1] ? 1 : 2); side++)
      for (gable_off k = a->ptr[rows[side]]; k < a->ptr[rows[side] + 1]; k++) {
        const gable_idx to = of[a->idx[k]];
        if (mark[to] != c) b.idx[count++] = to;
        mark[to] = c;
      }
  }
  b.ptr[n_small] = count;
  GI_TRY(gi_csc_transpose(ctx, &b, out)); /* itself, with the rows in order */
done:
  gi_csc_release(ctx, &b);
  gi_free(ctx, mark);
  return status;
}

gable_status gi_pairs_spread(gable_context *ctx, const gi_csc *small, const gable_idx *mate, const gable_idx *node,
                             gable_idx n, gi_csc *out)
{
  gable_status status = GABLE_OK;
  gi_csc b = {.n_rows = n, .n_cols = n};
  gable_idx *of = NULL;
  GI_ALLOC(ctx, of, n);
  GI_ALLOC_ZERO(ctx, b.ptr, (gable_off)n + 1);
  for (gable_idx c = 0; c < small->n_cols; c++) {
    gable_off count = 0;
    of[node[c]] = of[mate[node[c]]] = c;
    for (gable_off k = small->ptr[c]; k < small->ptr[c + 1]; k++) {
      const gable_idx row = node[small->idx[k]];
      count += mate[row] == row ? 1 : 2;
    }
    b.ptr[node[c] + 1] = b.ptr[mate[node[c]] + 1] = count;
  }
  for (gable_idx i = 0; i < n; i++) b.ptr[i + 1] += b.ptr[i];
  GI_ALLOC(ctx, b.idx, b.ptr[n]);
  for (gable_idx i = 0; i < n; i++) {
    gable_off to = b.ptr[i];
    for (gable_off k = small->ptr[of[i]]; k < small->ptr[of[i] + 1]; k++) {
      const gable_idx row = node[small->idx[k]];
      b.idx[to++] = row;
      if (mate[row] != row) b.idx[to++] = mate[row];
    }
  }
  GI_TRY(gi_csc_transpose(ctx, &b, out));
done:
  gi_csc_release(ctx, &b);
  gi_free(ctx, of);
  return status;
}

void gi_pairs_expand(gable_idx n_small, const gable_idx *order, const gable_idx *mate, const gable_idx *node,
                     gable_idx *perm)
{
  gable_idx to = 0;
  for (gable_idx k = 0; k < n_small; k++) {
    const gable_idx row = node[order[k]];
    perm[to++] = row;
    if (mate[row] != row) perm[to++] = mate[row];
  }
}
