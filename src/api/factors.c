/* factors.c: arguments of export and import; the work is the pipeline's. */
#include <gable/factors.h>

#include "pipeline/pipeline.h"

gable_status gable_solver_export(const gable_solver *s, gable_factors **out)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(s && out, GABLE_ERR_ARGUMENT, "the solver or out is NULL");
  *out = NULL;
  GI_TRY(gi_pipeline_export(s, out));
done:
  return status;
}

static gable_matrix_view view_of(const gi_csc *a)
{
  gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
  v.format = GABLE_FORMAT_CSC;
  v.n_rows = a->n_rows;
  v.n_cols = a->n_cols;
  v.ptr = a->ptr;
  v.idx = a->idx;
  v.val = a->val;
  return v;
}

gable_status gable_factors_get_view(const gable_factors *f, gable_factors_view *view)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(f && view, GABLE_ERR_ARGUMENT, "the factors or the view is NULL");
  GI_REQUIRE(view->size == sizeof *view, GABLE_ERR_ARGUMENT, "view of %zu bytes: start from GABLE_FACTORS_VIEW_INIT",
             view->size);
  view->n = f->columns.l.n_cols;
  view->l = view_of(&f->columns.l);
  view->u = view_of(&f->columns.u);
  view->f = view_of(&f->columns.f);
  view->row_order = f->columns.row_of;
  view->col_order = f->col_order;
  view->row_scale = f->row_scale;
  view->col_scale = f->col_scale;
done:
  return status;
}

void gable_factors_destroy(gable_factors **f)
{
  gi_factors_destroy(f);
}

gable_status gable_solver_import(gable_solver *s, const gable_factors_view *f, const gable_matrix_view *a)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(s && f, GABLE_ERR_ARGUMENT, "the solver or the factors are NULL");
  GI_REQUIRE(f->size == sizeof *f, GABLE_ERR_ARGUMENT, "view of %zu bytes: start from GABLE_FACTORS_VIEW_INIT",
             f->size);
  GI_REQUIRE(!a || a->size == sizeof *a, GABLE_ERR_ARGUMENT, "view of %zu bytes: start from GABLE_MATRIX_VIEW_INIT",
             a ? a->size : 0);
  GI_TRY(gi_pipeline_import(s, f, a));
done:
  return status;
}
