/* factors.c: arguments of export and import; the work is the pipeline's. */
#include <gable/factors.h>

#include <string.h>

#include "api/structs.h"
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
  gable_factors_view own = GABLE_FACTORS_VIEW_INIT;
  GI_REQUIRE(f && view, GABLE_ERR_ARGUMENT, "the factors or the view is NULL");
  own.n = f->columns.l.n_cols;
  own.l = view_of(&f->columns.l);
  own.u = view_of(&f->columns.u);
  own.f = view_of(&f->columns.f);
  own.row_order = f->columns.row_of;
  own.col_order = f->col_order;
  own.row_scale = f->row_scale;
  own.col_scale = f->col_scale;
  own.n_supernodes = f->n_super;
  own.supernodes = f->super;
  GI_TRY(gi_give_factors_view(&own, view));
done:
  return status;
}

void gable_factors_destroy(gable_factors **f)
{
  gi_factors_destroy(f);
}

/* The views inside lie at fixed places, so that they have this version's size. */
static gable_status check_inner(const gable_matrix_view *v, const char *name)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(v->size == sizeof *v, GABLE_ERR_ARGUMENT, "%s: a view of %zu bytes: start from GABLE_FACTORS_VIEW_INIT",
             name, v->size);
done:
  return status;
}

gable_status gable_solver_import(gable_solver *s, const gable_factors_view *f, const gable_matrix_view *a)
{
  gable_status status = GABLE_OK;
  gable_factors_view factors;
  gable_matrix_view matrix;
  GI_REQUIRE(s && f, GABLE_ERR_ARGUMENT, "the solver or the factors are NULL");
  GI_TRY(gi_take_factors_view(f, &factors));
  GI_TRY(check_inner(&factors.l, "L"));
  GI_TRY(check_inner(&factors.u, "U"));
  GI_TRY(check_inner(&factors.f, "F"));
  GI_TRY(gi_take_matrix_view(a, &matrix));
  GI_TRY(gi_pipeline_import(s, &factors, a ? &matrix : NULL));
  GI_TRY(gi_pipeline_prepare(s));
done:
  return status;
}

gable_status gable_set_error(gable_status why, const char *text)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(!why, why, "%s", text ? text : gable_status_text(why));
done:
  return status;
}
