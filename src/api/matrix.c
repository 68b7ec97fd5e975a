/* matrix.c: gable_matrix_*: checks arguments and dispatches. */
#include <string.h>

#include "sparse/matrix.h"

static gable_status check_read_options(const gable_read_options *given, gable_read_options *own)
{
  gable_status status = GABLE_OK;
  *own = (gable_read_options)GABLE_READ_OPTIONS_INIT;
  if (!given) goto done;
  GI_REQUIRE(given->size > sizeof given->size && given->size <= sizeof *own, GABLE_ERR_ARGUMENT,
             "read options of %zu bytes: start from GABLE_READ_OPTIONS_INIT", given->size);
  memcpy(own, given, given->size);
done:
  return status;
}

gable_status gable_matrix_read(gable_context *ctx, const char *path, const gable_read_options *options,
                               gable_matrix **out)
{
  gable_status status = GABLE_OK;
  gable_read_options own;
  gi_source *source = NULL;
  GI_REQUIRE(ctx && path && out, GABLE_ERR_ARGUMENT, "ctx, path or out is NULL");
  *out = NULL;
  GI_TRY(check_read_options(options, &own));
  GI_TRY(gi_source_open_file(ctx, path, &source));
  GI_TRY(gi_matrix_read(ctx, source, &own, out));
done:
  gi_source_close(&source);
  return status;
}

gable_status gable_matrix_from_view(gable_context *ctx, const gable_matrix_view *view, gable_matrix **out)
{
  gable_status status = GABLE_OK;
  gable_matrix *a = NULL;
  GI_REQUIRE(ctx && view && out, GABLE_ERR_ARGUMENT, "ctx, view or out is NULL");
  *out = NULL;
  GI_TRY(gi_matrix_create(ctx, &a));
  GI_TRY(gi_csc_from_view(ctx, view, &a->csc));
  a->field = !view->val ? GABLE_PATTERN : a->csc.is_complex ? GABLE_COMPLEX : GABLE_REAL;
  a->structure = view->structure;
  a->part = view->part;
  *out = a;
  a = NULL;
done:
  gable_matrix_destroy(&a);
  return status;
}

/* A matrix that is described as a is, and holds nothing yet. */
static gable_status create_like(const gable_matrix *a, gable_matrix **out)
{
  gable_status status = GABLE_OK;
  GI_TRY(gi_matrix_create(a->ctx, out));
  (*out)->field = a->field;
  (*out)->structure = a->structure;
  (*out)->part = a->part;
  (*out)->duplicates = a->duplicates;
  (*out)->dense = a->dense;
done:
  return status;
}

gable_status gable_matrix_expand(const gable_matrix *a, gable_matrix **out)
{
  gable_status status = GABLE_OK;
  gable_matrix *b = NULL;
  GI_REQUIRE(a && out, GABLE_ERR_ARGUMENT, "a or out is NULL");
  *out = NULL;
  GI_TRY(create_like(a, &b));
  GI_TRY(gi_csc_expand(a->ctx, &a->csc, a->part == GABLE_FULL ? GABLE_GENERAL : a->structure, &b->csc));
  if (a->structure != GABLE_GENERAL) b->part = GABLE_FULL;
  *out = b;
  b = NULL;
done:
  gable_matrix_destroy(&b);
  return status;
}

gable_status gable_matrix_transpose(const gable_matrix *a, gable_matrix **out)
{
  gable_status status = GABLE_OK;
  gable_matrix *b = NULL;
  GI_REQUIRE(a && out, GABLE_ERR_ARGUMENT, "a or out is NULL");
  *out = NULL;
  GI_TRY(create_like(a, &b));
  GI_TRY(gi_csc_transpose(a->ctx, &a->csc, &b->csc));
  if (a->part != GABLE_FULL) b->part = a->part == GABLE_LOWER ? GABLE_UPPER : GABLE_LOWER;
  *out = b;
  b = NULL;
done:
  gable_matrix_destroy(&b);
  return status;
}

static gable_off count_zeros(const gi_csc *a)
{
  gable_off zeros = 0, nnz = a->ptr[a->n_cols];
  if (!a->val) return 0;
  for (gable_off p = 0; p < nnz; p++)
    zeros += a->is_complex ? a->val[2 * p] == 0 && a->val[2 * p + 1] == 0 : a->val[p] == 0;
  return zeros;
}

gable_status gable_matrix_get_info(const gable_matrix *a, gable_matrix_info *info)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(a && info, GABLE_ERR_ARGUMENT, "a or info is NULL");
  GI_REQUIRE(info->size == sizeof *info, GABLE_ERR_ARGUMENT, "info of %zu bytes: start from GABLE_MATRIX_INFO_INIT",
             info->size);
  info->n_rows = a->csc.n_rows;
  info->n_cols = a->csc.n_cols;
  info->nnz = a->csc.ptr[a->csc.n_cols];
  info->duplicates = a->duplicates;
  info->explicit_zeros = count_zeros(&a->csc);
  info->field = a->field;
  info->structure = a->structure;
  info->part = a->part;
  info->dense = a->dense;
done:
  return status;
}

gable_status gable_matrix_get_view(const gable_matrix *a, gable_matrix_view *view)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(a && view, GABLE_ERR_ARGUMENT, "a or view is NULL");
  GI_REQUIRE(view->size == sizeof *view, GABLE_ERR_ARGUMENT, "view of %zu bytes: start from GABLE_MATRIX_VIEW_INIT",
             view->size);
  *view = (gable_matrix_view)GABLE_MATRIX_VIEW_INIT;
  view->n_rows = a->csc.n_rows;
  view->n_cols = a->csc.n_cols;
  view->format = GABLE_CSC;
  view->offset_type = GABLE_I64;
  view->value_type = a->csc.is_complex ? GABLE_Z : GABLE_D;
  view->structure = a->structure;
  view->part = a->part;
  view->ptr = a->csc.ptr;
  view->idx = a->csc.idx;
  view->val = a->csc.val;
done:
  return status;
}
