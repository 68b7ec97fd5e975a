/* factors.c: arguments of export and import; the work is the pipeline's. */
#include <gable/factors.h>

#include <string.h>

#include "api/entry.h"
#include "api/structs.h"
#include "pipeline/pipeline.h"

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

gable_status gable_solver_export(const gable_solver *s, gable_factors **out)
{
  GI_GIVEN_OUT(s, "the solver", out);
  GI_PASS(gi_pipeline_export(s, out));
  (*out)->l = view_of(&(*out)->columns.l);
  (*out)->u = view_of(&(*out)->columns.u);
  (*out)->f = view_of(&(*out)->columns.f);
  return GABLE_OK;
}

gable_status gable_factors_get_view(const gable_factors *f, gable_factors_view *view)
{
  gable_factors_view own = GABLE_FACTORS_VIEW_INIT;
  GI_CHECK(f && view, GABLE_ERR_ARGUMENT, "the factors or the view is NULL");
  own.n = f->columns.l.n_cols;
  own.l = &f->l;
  own.u = f->u.ptr ? &f->u : NULL;
  own.f = f->f.ptr ? &f->f : NULL;
  own.row_order = f->columns.row_of;
  own.col_order = f->col_order;
  own.row_scale = f->row_scale;
  own.col_scale = f->col_scale;
  own.n_supernodes = f->n_super;
  own.supernodes = f->super;
  return GI_TRACED(gi_give_factors_view(&own, view));
}

void gable_factors_destroy(gable_factors **f)
{
  gi_factors_destroy(f);
}

/* The view that *v points to, as this version knows it, in *own, which *v points to then; without arrays: NULL. */
static gable_status take_inner(const gable_matrix_view **v, gable_matrix_view *own)
{
  if (!*v) return GABLE_OK;
  GI_PASS(gi_take_matrix_view(*v, own));
  *v = own->ptr ? own : NULL;
  return GABLE_OK;
}

gable_status gable_solver_import(gable_solver *s, const gable_factors_view *f, const gable_matrix_view *a)
{
  gable_factors_view factors;
  gable_matrix_view matrix, l, u, off;
  GI_CHECK(s && f, GABLE_ERR_ARGUMENT, "the solver or the factors are NULL");
  GI_PASS(gi_take_factors_view(f, &factors));
  GI_PASS(take_inner(&factors.l, &l));
  GI_PASS(take_inner(&factors.u, &u));
  GI_PASS(take_inner(&factors.f, &off));
  GI_CHECK(factors.l, GABLE_ERR_ARGUMENT, "L is NULL, or without offsets");
  GI_PASS(gi_take_matrix_view(a, &matrix));
  GI_PASS(gi_pipeline_import(s, &factors, a ? &matrix : NULL));
  return GI_TRACED(gi_pipeline_prepare_taken(s));
}

gable_status gable_set_error(gable_status why, const char *text)
{
  GI_CHECK(!why, why, "%s", text ? text : gable_status_text(why));
  return GABLE_OK;
}
