/* lists.c: permutes a triangle to schedule order and refreshes its values. */
#include <math.h>
#include <string.h>

#include "trisolve/lists.h"

void gi_lists_release(gable_context *ctx, gi_lists *l)
{
  gi_free(ctx, l->m.row);
  gi_free(ctx, l->m.len);
  gi_free(ctx, l->m.idx);
  gi_free(ctx, l->m.val);
  gi_free(ctx, l->m.rdiag);
  gi_free(ctx, l->from);
  gi_free(ctx, l->begin);
  memset(l, 0, sizeof *l);
}

static size_t value_bytes(gable_type type)
{
  return type == GABLE_S ? sizeof(float) : sizeof(double);
}

size_t gi_lists_bytes(const gi_lists *l)
{
  size_t n = (size_t)l->m.n, nnz = (size_t)l->nnz;
  return n * (sizeof *l->m.row + sizeof *l->m.len + sizeof *l->m.rdiag) + (l->begin ? (n + 1) * sizeof *l->begin : 0) +
         nnz * (sizeof *l->m.idx + sizeof *l->from + value_bytes(l->m.value_type));
}

gable_status gi_lists_build(gable_context *ctx, const gi_triangle *t, const gable_idx *order, gable_type value_type,
                            int with_begin, gi_lists *out)
{
  gable_status status = GABLE_OK;
  const gable_idx n = t->n;
  gable_off q = 0;

  memset(out, 0, sizeof *out);
  out->m.n = n;
  out->m.value_type = value_type;
  out->nnz = t->ptr[n];
  GI_ALLOC(ctx, out->m.row, n);
  GI_ALLOC(ctx, out->m.len, n);
  GI_ALLOC(ctx, out->m.rdiag, n);
  GI_ALLOC(ctx, out->m.idx, out->nnz);
  GI_ALLOC(ctx, out->from, out->nnz);
  out->m.val = gi_alloc(ctx, out->nnz, value_bytes(value_type));
  GI_REQUIRE(out->m.val, GABLE_ERR_MEMORY, "out of memory for the values of a triangular solve");
  if (with_begin) GI_ALLOC(ctx, out->begin, (gable_off)n + 1);
  for (gable_idx k = 0; k < n; k++) {
    gable_idx i = order[k], own = gi_natural(t, i); /* its own inverse */
    if (with_begin) out->begin[k] = q;
    out->m.row[k] = i;
    out->m.len[k] = (int32_t)(t->ptr[own + 1] - t->ptr[own]);
    for (gable_off p = t->ptr[own]; p < t->ptr[own + 1]; p++, q++) {
      out->m.idx[q] = gi_natural(t, t->col[p]);
      out->from[q] = t->from[p];
    }
  }
  if (with_begin) out->begin[n] = q;
done:
  if (status) gi_lists_release(ctx, out);
  return status;
}

static double diagonal_of(const gi_lists *l, const void *val, const gable_off *diagonal_from, const void *diagonal,
                          gable_idx i)
{
  const void *source = diagonal ? diagonal : val;
  if (!diagonal && !diagonal_from) return 1.0;
  gable_off p = diagonal ? i : diagonal_from[i];
  return l->m.value_type == GABLE_S ? (double)((const float *)source)[p] : ((const double *)source)[p];
}

gable_status gi_lists_update(gi_lists *l, const void *val, const gable_off *diagonal_from, const void *diagonal,
                             gable_idx *bad_row)
{
  gable_status status = GABLE_OK;
  gable_idx bad = -1;
  for (gable_idx k = 0; k < l->m.n; k++) {
    double r = 1.0 / diagonal_of(l, val, diagonal_from, diagonal, l->m.row[k]);
    l->m.rdiag[k] = r;
    if (GI_UNLIKELY(!isfinite(r) || r == 0.0) && (bad < 0 || l->m.row[k] < bad)) bad = l->m.row[k];
  }
  *bad_row = bad;
  if (bad >= 0) {
    double d = diagonal_of(l, val, diagonal_from, diagonal, bad);
    GI_REQUIRE(isfinite(d), GABLE_ERR_NOT_FINITE, "the diagonal entry of row %d (counted from 0) is %g", bad, d);
    GI_REQUIRE(d == 0.0, GABLE_ERR_SINGULAR, "the diagonal entry of row %d (counted from 0) is %g: no reciprocal", bad,
               d);
    GI_REQUIRE(0, GABLE_ERR_SINGULAR, "the diagonal entry of row %d (counted from 0) is zero", bad);
  }
  gik_trisolve_for(l->m.value_type, l->m.value_type)->gather(l->m.val, val, l->from, l->nnz);
done:
  return status;
}
