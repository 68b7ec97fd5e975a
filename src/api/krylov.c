/* krylov.c: gable_krylov: checks arguments and phases, then calls src/krylov. */
#include "krylov/krylov.h"

#include "api/entry.h"
#include "api/structs.h"
#include "device/require.h"
#include "sparse/vectors.h"

gable_status gable_krylov_create(gable_context *ctx, const gable_krylov_options *options, gable_krylov **out)
{
  gable_krylov_options own;
  GI_GIVEN_OUT(ctx, "ctx", out);
  GI_PASS(gi_take_krylov_options(options, &own));
  return GI_TRACED(gi_krylov_create(ctx, &own, out));
}

void gable_krylov_destroy(gable_krylov **k)
{
  gi_krylov_destroy(k);
}

gable_status gable_krylov_analyse(gable_krylov *k, const gable_matrix_view *a)
{
  gable_matrix_view view;
  GI_CHECK(k && a, GABLE_ERR_ARGUMENT, "%s is NULL", k ? "the matrix" : "the solver");
  GI_PASS(gi_take_matrix_view(a, &view));
  return GI_TRACED(gi_krylov_analyse(k, &view));
}

gable_status gable_krylov_update(gable_krylov *k, const void *val)
{
  GI_GIVEN(k, "the solver");
  GI_CHECK(k->phase >= GI_ANALYSED && !k->apply, GABLE_ERR_STATE, "update before analyse");
  GI_CHECK(val || !k->n, GABLE_ERR_ARGUMENT, "val is NULL");
  return GI_TRACED(gi_krylov_update(k, val));
}

gable_status gable_krylov_set_matrix(gable_krylov *k, const gable_matrix_view *a)
{
  gable_matrix_view view;
  GI_CHECK(k && a, GABLE_ERR_ARGUMENT, "%s is NULL", k ? "the matrix" : "the solver");
  GI_PASS(gi_take_matrix_view(a, &view));
  GI_CHECK(view.val || !view.n_rows, GABLE_ERR_ARGUMENT, "the matrix's values are NULL");
  GI_PASS(gi_krylov_analyse(k, &view));
  GI_PASS(gi_krylov_update(k, view.val));
  /* so that gable_krylov_solve allocates nothing; a preconditioner of the caller's may get its values later */
  if (k->precond == k->own) GI_PASS(gi_krylov_own_work(k));
  return GABLE_OK;
}

gable_status gable_krylov_set_operator(gable_krylov *k, gable_idx n, gable_apply_function *apply, void *user)
{
  GI_CHECK(k && apply, GABLE_ERR_ARGUMENT, "%s is NULL", k ? "apply" : "the solver");
  GI_CHECK(n >= 0, GABLE_ERR_ARGUMENT, "n is %d", n);
  return GI_TRACED(gi_krylov_set_operator(k, n, apply, user));
}

gable_status gable_krylov_set_precond(gable_krylov *k, const gable_precond *p)
{
  GI_GIVEN(k, "the solver");
  gi_krylov_set_precond(k, p, NULL, NULL);
  return GABLE_OK;
}

gable_status gable_krylov_set_precond_function(gable_krylov *k, gable_apply_function *apply, void *user)
{
  GI_CHECK(k && apply, GABLE_ERR_ARGUMENT, "%s is NULL", k ? "apply" : "the solver");
  GI_CHECK(k->ctx->device->space == GABLE_SPACE_HOST, GABLE_ERR_UNAVAILABLE,
           "preconditioners by callback want vectors in host memory: use a context on cpu");
  gi_krylov_set_precond(k, NULL, apply, user);
  return GABLE_OK;
}

gable_status gable_krylov_set_monitor(gable_krylov *k, gable_monitor_function *monitor, void *user)
{
  GI_GIVEN(k, "the solver");
  k->monitor = monitor;
  k->monitor_user = user;
  return GABLE_OK;
}

gable_status gable_krylov_work_create(const gable_krylov *k, gable_krylov_work **out)
{
  GI_GIVEN_OUT(k, "the solver", out);
  GI_CHECK(k->phase == GI_UPDATED, GABLE_ERR_STATE, "work before A has values");
  return GI_TRACED(gi_krylov_work_create(k, out));
}

gable_status gable_krylov_set_stream(gable_krylov *k, void *stream)
{
  GI_GIVEN(k, "the solver");
  gi_krylov_set_stream(k, stream);
  return GABLE_OK;
}

gable_status gable_krylov_work_set_stream(gable_krylov_work *w, void *stream)
{
  GI_GIVEN(w, "the work");
  gi_krylov_work_set_stream(w, stream);
  return GABLE_OK;
}

void gable_krylov_work_destroy(gable_krylov_work **w)
{
  gi_krylov_work_destroy(w);
}

static gable_status check_vector(const gable_krylov *k, const gable_vectors_view *v, const char *name)
{
  GI_CHECK(v->count == 1 && (v->major == GABLE_MAJOR_COL || v->ld == 1), GABLE_ERR_UNAVAILABLE,
           "%s has %d columns or gaps: Krylov solvers want one dense vector", name, v->count);
  GI_CHECK(v->space == GABLE_SPACE_HOST || k->ctx->device->space == GABLE_SPACE_DEVICE, GABLE_ERR_UNAVAILABLE,
           "%s is in device memory, this context is %s", name, k->ctx->where);
  return GI_TRACED(gi_require_vectors(k->ctx, v, name));
}

static gable_status check_work(const gable_krylov_work *w)
{
  GI_GIVEN(w, "the work");
  GI_CHECK(w->generation == w->k->generation, GABLE_ERR_MISMATCH,
           "the work belongs to an earlier matrix or preconditioner of the solver");
  GI_CHECK(w->k->phase == GI_UPDATED && (!w->k->precond || w->k->precond->phase == GI_UPDATED), GABLE_ERR_STATE,
           "solve before A and the preconditioner have values");
  GI_CHECK(!w->precond || w->precond->generation == w->k->precond->generation, GABLE_ERR_MISMATCH,
           "the preconditioner was analysed again: make a new work");
  return GABLE_OK;
}

gable_status gable_krylov_work_solve(gable_krylov_work *w, const gable_vectors_view *b, gable_vectors_view *x,
                                     double *history)
{
  gi_vectors_pair v;
  GI_PASS(check_work(w));
  GI_CHECK(b && x, GABLE_ERR_ARGUMENT, "%s is NULL", b ? "x" : "b");
  GI_PASS(gi_take_vectors_view(b, &v.b));
  GI_PASS(gi_take_vectors_view(x, &v.x));
  GI_PASS(gi_vectors_take_pair(&v.b, &v.x, w->k->n, GABLE_TYPE_D, GI_VECTORS_APART, &v));
  GI_PASS(check_vector(w->k, &v.b, "b"));
  GI_PASS(check_vector(w->k, &v.x, "x"));
  GI_CHECK(v.b.space == v.x.space, GABLE_ERR_ARGUMENT, "b and x are in different memories");
  return GI_TRACED(gi_krylov_work_solve(w, v.b.space, v.b.data, v.x.data, history));
}

gable_status gable_krylov_solve_vectors(gable_krylov *k, const gable_vectors_view *b, gable_vectors_view *x,
                                        double *history)
{
  GI_GIVEN(k, "the solver");
  GI_CHECK(k->phase == GI_UPDATED, GABLE_ERR_STATE, "solve before set_matrix");
  GI_PASS(gi_krylov_own_work(k));
  return GI_TRACED(gable_krylov_work_solve(k->first, b, x, history));
}

gable_status gable_krylov_solve(gable_krylov *k, const double *b, double *x, double *history)
{
  gable_vectors_view vb, vx;
  GI_GIVEN(k, "the solver");
  vb = gi_columns_view(GABLE_SPACE_HOST, k->n, 1, b, 0);
  vx = gi_columns_view(GABLE_SPACE_HOST, k->n, 1, x, 0);
  return GI_TRACED(gable_krylov_solve_vectors(k, &vb, &vx, history));
}

gable_status gable_krylov_get_info(const gable_krylov *k, gable_krylov_info *info)
{
  gable_krylov_info own;
  GI_CHECK(k && info, GABLE_ERR_ARGUMENT, "%s is NULL", k ? "info" : "the solver");
  GI_CHECK(k->phase == GI_UPDATED, GABLE_ERR_STATE, "get_info before set_matrix");
  gi_krylov_info(k, k->first, &own);
  return GI_TRACED(gi_give_krylov_info(&own, info));
}

gable_status gable_krylov_work_get_info(const gable_krylov_work *w, gable_krylov_info *info)
{
  gable_krylov_info own;
  GI_CHECK(w && info, GABLE_ERR_ARGUMENT, "%s is NULL", w ? "info" : "the work");
  gi_krylov_info(w->k, w, &own);
  return GI_TRACED(gi_give_krylov_info(&own, info));
}
