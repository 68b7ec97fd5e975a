/* lists.c: permutes a triangle to schedule order and refreshes its values. */
#include <math.h>
#include <string.h>

#include "trisolve/cpu/lists.h"

void gi_lists_release(gable_context *ctx, gi_lists *l)
{
  GI_FREE(ctx, l->m.row, l->m.len, l->m.idx, l->m.val, l->m.rdiag, l->m.run, l->part, l->from, l->begin);
  memset(l, 0, sizeof *l);
}

/* Entries of idx, where packed lists have fewer than values. */
static size_t indices(const gi_lists *l)
{
  return (size_t)(l->m.run ? l->m.run[l->m.runs].idx : l->nnz);
}

size_t gi_lists_bytes(const gi_lists *l)
{
  size_t n = (size_t)l->m.n, nnz = (size_t)l->nnz;
  return n * (sizeof *l->m.row + sizeof *l->m.rdiag) + (l->m.run ? (size_t)l->blocks : n) * sizeof *l->m.len +
         (l->begin ? (n + 1) * sizeof *l->begin : 0) + (size_t)l->m.runs * sizeof *l->m.run +
         indices(l) * sizeof *l->m.idx + nnz * (sizeof *l->from + gi_type_size(l->m.value_type));
}

size_t gi_lists_bound(gable_idx n, gable_off nnz, gable_type value_type)
{
  const gi_lists *l = NULL; /* for the sizes of its arrays' elements */
  return (size_t)n * (sizeof *l->m.row + sizeof *l->m.rdiag + sizeof *l->m.len + sizeof *l->begin) + sizeof *l->begin +
         (size_t)nnz * (sizeof *l->m.idx + sizeof *l->from + gi_type_size(value_type));
}

size_t gi_lists_pack_bound(gable_idx n, gable_idx parts)
{
  return (2 * ((size_t)n / GI_RUN) + (size_t)parts + 1) * sizeof(gik_run);
}

static gable_status allocate(gable_context *ctx, gable_idx n, gable_off nnz, gable_type value_type, int with_begin,
                             gi_lists *out)
{
  gable_status status = GABLE_OK;
  memset(out, 0, sizeof *out);
  out->m.n = n;
  out->m.value_type = value_type;
  out->nnz = nnz;
  GI_ALLOC(ctx, out->m.row, n);
  GI_ALLOC(ctx, out->m.len, n);
  GI_ALLOC(ctx, out->m.rdiag, n);
  GI_ALLOC(ctx, out->m.idx, nnz);
  GI_ALLOC(ctx, out->from, nnz);
  out->m.val = gi_alloc(ctx, nnz, gi_type_size(value_type));
  GI_REQUIRE_MEMORY(out->m.val, (double)nnz * (double)gi_type_size(value_type), NULL);
  if (with_begin) GI_ALLOC(ctx, out->begin, (gable_off)n + 1);
done:
  return status;
}

/* Appends row i of t at q; returns the new end. */
static gable_off append(const gi_triangle *t, gable_idx i, gable_idx shift, gi_lists *out, gable_off q)
{
  const gable_idx own = gi_natural(t, i); /* its own inverse */
  for (gable_off p = t->ptr[own]; p < t->ptr[own + 1]; p++, q++) {
    out->m.idx[q] = gi_natural(t, t->col[p]) + shift;
    out->from[q] = t->from[p];
  }
  return q;
}

/* List k: row order[k] of other (NULL: nothing), then of own. */
static gable_status build(gable_context *ctx, const gi_triangle *own, const gi_triangle *other, const gable_idx *order,
                          gable_type value_type, gable_idx shift, int with_begin, gi_lists *out)
{
  gable_status status = GABLE_OK;
  const gable_idx n = own->n;
  gable_off q = 0;
  GI_TRY(allocate(ctx, n, own->ptr[n] + (other ? other->ptr[n] : 0), value_type, with_begin, out));
  for (gable_idx k = 0; k < n; k++) {
    const gable_off begin = q;
    if (with_begin) out->begin[k] = q;
    out->m.row[k] = order[k];
    if (other) q = append(other, order[k], shift, out, q);
    q = append(own, order[k], 0, out, q);
    out->m.len[k] = (int32_t)(q - begin);
  }
  if (with_begin) out->begin[n] = q;
done:
  if (status) gi_lists_release(ctx, out);
  return status;
}

gable_status gi_lists_build(gable_context *ctx, const gi_triangle *t, const gable_idx *order, gable_type value_type,
                            int with_begin, gi_lists *out)
{
  return build(ctx, t, NULL, order, value_type, 0, with_begin, out);
}

gable_status gi_lists_build_rows(gable_context *ctx, const gi_triangle *own, const gi_triangle *other,
                                 const gable_idx *order, gable_type value_type, gable_idx shift, gi_lists *out)
{
  return build(ctx, own, other, order, value_type, shift, 1, out);
}

static double diagonal_of(const gi_lists *l, const void *val, const gable_off *diagonal_from, const void *diagonal,
                          gable_idx i)
{
  const void *source = diagonal ? diagonal : val;
  if (!diagonal && !diagonal_from) return 1.0;
  gable_off p = diagonal ? i : diagonal_from[i];
  return l->m.value_type == GABLE_TYPE_S ? (double)((const float *)source)[p] : ((const double *)source)[p];
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
  gik_substitution_for(l->m.value_type, l->m.value_type)->gather(l->m.val, val, l->from, l->nnz);
done:
  return status;
}
