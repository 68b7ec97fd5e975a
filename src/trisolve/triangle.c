/* triangle.c: reads one triangle of a matrix view, and transposes it. */
#include <string.h>

#include "trisolve/triangle.h"

void gi_triangle_release(gable_context *ctx, gi_triangle *t)
{
  GI_FREE(ctx, t->ptr, t->col, t->from);
  memset(t, 0, sizeof *t);
}

/* A view with its offsets in one type. */
typedef struct reader {
  const gable_matrix_view *a;
  const gi_shape *shape;
  int upper; /* 1: of the row lists as they are stored, the entries right of the diagonal are used */
} reader;

static inline gable_off offset_at(const reader *r, gable_idx i)
{
  return gi_offset_at(r->a, i) - r->shape->base;
}

static const char *kind(const reader *r)
{
  return r->shape->format == GABLE_FORMAT_CSR ? "row" : "column";
}

/* Entries of list i that are strictly inside the triangle; checks the list; *diagonal is its place or -1. */
static gable_status scan_list(const reader *r, gable_idx i, gable_off *count, gable_off *diagonal)
{
  gable_status status = GABLE_OK;
  const gi_shape *s = r->shape;
  gable_off begin = offset_at(r, i), end = offset_at(r, i + 1), before = 0, after = 0;
  gable_idx last = -1;
  *diagonal = -1;
  GI_REQUIRE(begin >= 0 && begin <= end && end <= s->nnz, GABLE_ERR_ARGUMENT, "offsets of %s %d decrease", kind(r), i);
  GI_REQUIRE(end - begin <= s->n, GABLE_ERR_ARGUMENT,
             "by its offsets %s %d has %lld entries in %d places: they are wrong, or entries come twice", kind(r), i,
             (long long)(end - begin), s->n);
  for (gable_off p = begin; p < end; p++) {
    gable_idx j = r->a->idx[p] - s->base;
    GI_REQUIRE(j >= 0 && j < s->n, GABLE_ERR_ARGUMENT, "index %d in %s %d is outside of the matrix", r->a->idx[p],
               kind(r), i);
    GI_REQUIRE(j > last, GABLE_ERR_ARGUMENT, "indices of %s %d do not increase: sort them and sum duplicates", kind(r),
               i);
    last = j;
    before += j < i;
    after += j > i;
    if (j == i) *diagonal = p;
  }
  GI_REQUIRE(!s->strict || !(r->upper ? before : after), GABLE_ERR_ARGUMENT,
             "%s %d has an entry outside of the %s triangle: set uplo to use one triangle of a full matrix", kind(r), i,
             s->uplo == GABLE_PART_UPPER ? "upper" : "lower");
  *count = r->upper ? after : before;
done:
  return status;
}

/* Copies list i's entries inside the triangle to row k of out. */
static void copy_list(const reader *r, gable_idx i, gable_idx k, gi_triangle *out)
{
  gable_off begin = offset_at(r, i), end = offset_at(r, i + 1), q = out->ptr[k];
  gable_off count = out->ptr[k + 1] - q;
  if (!r->upper) {
    while (begin < end && count > 0) {
      out->col[q] = r->a->idx[begin] - r->shape->base;
      out->from[q++] = begin++;
      count--;
    }
    return;
  }
  for (gable_off p = end - 1; count > 0; p--, count--, q++) {
    out->col[q] = out->n - 1 - (r->a->idx[p] - r->shape->base);
    out->from[q] = p;
  }
}

gable_status gi_triangle_read(gable_context *ctx, const gi_shape *shape, const gable_matrix_view *a, int need_diagonal,
                              gi_triangle *out, gable_off **diagonal_from, gable_idx *bad_row)
{
  gable_status status = GABLE_OK;
  const gable_idx n = shape->n;
  gable_off *diagonal = NULL;
  reader r = {a, shape, (shape->uplo == GABLE_PART_UPPER) != (shape->format == GABLE_FORMAT_CSC)};

  memset(out, 0, sizeof *out);
  *bad_row = -1;
  out->n = n;
  out->reverse = r.upper;
  GI_ALLOC(ctx, out->ptr, (gable_off)n + 1);
  GI_ALLOC(ctx, diagonal, n);
  out->ptr[0] = 0;
  for (gable_idx k = 0; k < n; k++) {
    gable_idx i = gi_natural(out, k);
    gable_off count = 0;
    *bad_row = i;
    GI_TRY(scan_list(&r, i, &count, &diagonal[i]));
    GI_REQUIRE(
        !need_diagonal || diagonal[i] >= 0, GABLE_ERR_SINGULAR,
        "row %d (counted from 0) has no diagonal entry: store one (triangular solves may have a unit or separate "
        "diagonal)",
        i);
    out->ptr[k + 1] = out->ptr[k] + count;
  }
  *bad_row = -1;
  GI_ALLOC(ctx, out->col, out->ptr[n]);
  GI_ALLOC(ctx, out->from, out->ptr[n]);
  for (gable_idx k = 0; k < n; k++) copy_list(&r, gi_natural(out, k), k, out);
  *diagonal_from = diagonal;
  diagonal = NULL;
done:
  gi_free(ctx, diagonal);
  if (status) gi_triangle_release(ctx, out);
  return status;
}

gable_status gi_triangle_transpose(gable_context *ctx, const gi_triangle *t, gi_triangle *out)
{
  gable_status status = GABLE_OK;
  const gable_idx n = t->n;
  gable_off *next = NULL;

  memset(out, 0, sizeof *out);
  out->n = n;
  out->reverse = !t->reverse;
  GI_ALLOC_ZERO(ctx, out->ptr, (gable_off)n + 1);
  GI_ALLOC(ctx, out->col, t->ptr[n]);
  GI_ALLOC(ctx, out->from, t->ptr[n]);
  GI_ALLOC(ctx, next, n);
  for (gable_off p = 0; p < t->ptr[n]; p++) out->ptr[n - t->col[p]]++;
  for (gable_idx k = 0; k < n; k++) {
    next[k] = out->ptr[k];
    out->ptr[k + 1] += out->ptr[k];
  }
  for (gable_idx k = n - 1; k >= 0; k--) /* from the last row on, so that columns increase */
    for (gable_off p = t->ptr[k]; p < t->ptr[k + 1]; p++) {
      gable_off q = next[n - 1 - t->col[p]]++;
      out->col[q] = n - 1 - k;
      out->from[q] = t->from[p];
    }
done:
  gi_free(ctx, next);
  if (status) gi_triangle_release(ctx, out);
  return status;
}
