/* store_triangles.c: see store_triangles.h.
 *
 * What is read is proved as a caller's own factors are at an import: indices in range and in order, triangles, a
 * diagonal that divides, finite numbers.  L D U of a forged file is then a factor of some matrix. */
#include "pipeline/store_triangles.h"

void gi_store_describe_triangles(const gi_triangles *t, gi_store_header *h)
{
  h->n = t->n;
  h->nnz_l = h->lrow_count = t->l.ptr[t->n];
  h->nnz_u = t->kind == GI_LU ? t->u.ptr[t->n] : h->nnz_l;
  h->ucol_count = t->kind == GI_LU ? h->nnz_u : -1;
  h->off_count = -1;
  h->n_blocks = 1;
  h->kind = (int32_t)t->kind;
  h->type = (int32_t)t->type;
}

static int matrix_pieces(gable_idx n, gable_off nnz, gi_csc *a, gi_store_piece *out)
{
  out[0] = (gi_store_piece){&a->ptr, (gable_off)n + 1, sizeof *a->ptr};
  out[1] = (gi_store_piece){&a->idx, nnz, sizeof *a->idx};
  out[2] = (gi_store_piece){&a->val, nnz, sizeof *a->val};
  return 3;
}

int gi_store_triangle_pieces(const gi_store_header *h, gi_arrangement *a, gi_triangles *t, gi_store_piece *out)
{
  int k = 0;
  const gable_idx n = (gable_idx)h->n;
  out[k++] = (gi_store_piece){&a->row_perm, n, sizeof *a->row_perm};
  out[k++] = (gi_store_piece){&a->col_perm, n, sizeof *a->col_perm};
  out[k++] = (gi_store_piece){&a->r, n, sizeof *a->r};
  out[k++] = (gi_store_piece){&a->c, n, sizeof *a->c};
  k += matrix_pieces(n, h->lrow_count, &t->l, out + k);
  if (h->ucol_count >= 0) k += matrix_pieces(n, h->ucol_count, &t->u, out + k);
  return k;
}

const char *gi_store_triangles_fault(const gi_store_header *h)
{
  if (h->kind != GI_LU && h->kind != GI_CHOLESKY) return "an unknown kind of factor";
  if (h->matched != GI_ROWS_IMPORTED) return "triangles that were not imported";
  if ((h->kind == GI_LU) != (h->ucol_count >= 0)) return "an LU factor without U, or another with one";
  if (h->n_super || h->n_blocks != 1 || h->off_count != -1 || h->height) return "triangles with supernodes";
  if (h->nnz_l != h->lrow_count || (h->ucol_count >= 0 && h->nnz_u != h->ucol_count))
    return "triangles of another length";
  if (h->perturbed || h->drift) return "triangles with replaced pivots";
  return NULL;
}

/* The arrays of a file as a caller's matrix. */
static gable_status copy_checked(gable_context *ctx, gable_idx n, gable_off nnz, const gi_csc *read, gi_csc *out)
{
  gable_status status = GABLE_OK;
  gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
  GI_REQUIRE(read->ptr[n] == nnz, GABLE_ERR_ARGUMENT, "a list has another length"); /* the view checks the rest */
  v.n_rows = v.n_cols = n;
  v.format = GABLE_FORMAT_CSC;
  v.ptr = read->ptr;
  v.idx = read->idx;
  v.val = read->val;
  GI_TRY(gi_csc_from_view(ctx, &v, out));
done:
  return status;
}

static gable_status make_triangles(gable_solver *s, const gi_store_header *h, const gi_triangles *read)
{
  gable_status status = GABLE_OK;
  gi_csc l = {0}, u = {0};
  gi_csc *upper = h->kind == GI_LU ? &u : NULL;
  const gable_type type = (gable_type)h->type;
  GI_TRY(copy_checked(s->ctx, (gable_idx)h->n, h->lrow_count, &read->l, &l));
  if (upper) GI_TRY(copy_checked(s->ctx, (gable_idx)h->n, h->ucol_count, &read->u, upper));
  GI_TRY(gi_factor_check_columns(&l, upper, NULL, type));
  GI_TRY(gi_triangles_create(s->ctx, &l, upper, type, &s->triangles));
done:
  gi_csc_release(s->ctx, &l);
  gi_csc_release(s->ctx, &u);
  return status;
}

gable_status gi_store_load_triangles(gable_solver *s, gi_source *source, const gi_store_header *h)
{
  gable_status status = GABLE_OK;
  gi_store_piece pieces[GI_STORE_MOST_PIECES];
  gi_arrangement *a = &s->arrangement;
  gi_triangles read = {0};
  const char *rest;
  size_t left;
  GI_TRY(gi_store_read_pieces(s->ctx, source, pieces, gi_store_triangle_pieces(h, a, &read, pieces)));
  GI_TRY(gi_source_peek(source, &rest, &left));
  GI_REQUIRE(!left, GABLE_ERR_FORMAT, "%s: bytes after the end of the factor", gi_source_name(source));
  status = make_triangles(s, h, &read);
  GI_REQUIRE(!status || status == GABLE_ERR_MEMORY || status == GABLE_ERR_CANCELLED, GABLE_ERR_FORMAT,
             "%s: the triangles of the factor are none: factor again", gi_source_name(source));
done:
  gi_csc_release(s->ctx, &read.l);
  gi_csc_release(s->ctx, &read.u);
  return status;
}
