/* krylov.c: gable_krylov: checks arguments and phases, then calls src/krylov. */
#include "krylov/krylov.h"

#include "api/structs.h"
#include "device/device.h"
#include "sparse/vectors.h"

gable_status gable_krylov_create(gable_context *ctx, const gable_krylov_options *options, gable_krylov **out)
{
  gable_status status = GABLE_OK;
  gable_krylov_options own;
  GI_REQUIRE(ctx && out, GABLE_ERR_ARGUMENT, "%s is NULL", ctx ? "out" : "ctx");
  *out = NULL;
  GI_TRY(gi_take_krylov_options(options, &own));
  GI_TRY(gi_krylov_create(ctx, &own, out));
done:
  return status;
}

void gable_krylov_destroy(gable_krylov **k)
{
  gi_krylov_destroy(k);
}

gable_status gable_krylov_analyse(gable_krylov *k, const gable_matrix_view *a)
{
  gable_status status = GABLE_OK;
  gable_matrix_view view;
  GI_REQUIRE(k && a, GABLE_ERR_ARGUMENT, "%s is NULL", k ? "the matrix" : "the solver");
  GI_TRY(gi_take_matrix_view(a, &view));
  GI_TRY(gi_krylov_analyse(k, &view));
done:
  return status;
}

gable_status gable_krylov_update(gable_krylov *k, const void *val)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(k, GABLE_ERR_ARGUMENT, "the solver is NULL");
  GI_REQUIRE(k->phase >= GI_ANALYSED && !k->apply, GABLE_ERR_STATE, "update before analyse");
  GI_REQUIRE(val || !k->n, GABLE_ERR_ARGUMENT, "val is NULL");
  GI_TRY(gi_krylov_update(k, val));
done:
  return status;
}

gable_status gable_krylov_set_matrix(gable_krylov *k, const gable_matrix_view *a)
{
  gable_status status = GABLE_OK;
  gable_matrix_view view;
  GI_REQUIRE(k && a, GABLE_ERR_ARGUMENT, "%s is NULL", k ? "the matrix" : "the solver");
  GI_TRY(gi_take_matrix_view(a, &view));
  GI_REQUIRE(view.val || !view.n_rows, GABLE_ERR_ARGUMENT, "the matrix's values are NULL");
  GI_TRY(gi_krylov_analyse(k, &view));
  GI_TRY(gi_krylov_update(k, view.val));
  /* so that gable_krylov_solve allocates nothing; a preconditioner of the caller's may get its values later */
  if (k->precond == k->own) GI_TRY(gi_krylov_own_work(k));
done:
  return status;
}

gable_status gable_krylov_set_operator(gable_krylov *k, gable_idx n, gable_apply_function *apply, void *user)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(k && apply, GABLE_ERR_ARGUMENT, "%s is NULL", k ? "apply" : "the solver");
  GI_REQUIRE(n >= 0, GABLE_ERR_ARGUMENT, "n is %d", n);
  GI_TRY(gi_krylov_set_operator(k, n, apply, user));
done:
  return status;
}

gable_status gable_krylov_set_precond(gable_krylov *k, const gable_precond *p)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(k, GABLE_ERR_ARGUMENT, "the solver is NULL");
  gi_krylov_set_precond(k, p, NULL, NULL);
done:
  return status;
}

gable_status gable_krylov_set_precond_function(gable_krylov *k, gable_apply_function *apply, void *user)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(k && apply, GABLE_ERR_ARGUMENT, "%s is NULL", k ? "apply" : "the solver");
  GI_REQUIRE(k->ctx->device->vectors->space == GABLE_SPACE_HOST, GABLE_ERR_UNAVAILABLE,
             "preconditioners by callback want vectors in host memory: use a context on cpu");
  gi_krylov_set_precond(k, NULL, apply, user);
done:
  return status;
}

gable_status gable_krylov_set_monitor(gable_krylov *k, gable_monitor_function *monitor, void *user)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(k, GABLE_ERR_ARGUMENT, "the solver is NULL");
  k->monitor = monitor;
  k->monitor_user = user;
done:
  return status;
}

gable_status gable_krylov_work_create(const gable_krylov *k, gable_krylov_work **out)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(k && out, GABLE_ERR_ARGUMENT, "%s is NULL", k ? "out" : "the solver");
  *out = NULL;
  GI_REQUIRE(k->phase == GI_UPDATED, GABLE_ERR_STATE, "work before A has values");
  GI_TRY(gi_krylov_work_create(k, out));
done:
  return status;
}

gable_status gable_krylov_set_stream(gable_krylov *k, void *stream)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(k, GABLE_ERR_ARGUMENT, "the solver is NULL");
  gi_krylov_set_stream(k, stream);
done:
  return status;
}

gable_status gable_krylov_work_set_stream(gable_krylov_work *w, void *stream)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(w, GABLE_ERR_ARGUMENT, "the work is NULL");
  gi_krylov_work_set_stream(w, stream);
done:
  return status;
}

void gable_krylov_work_destroy(gable_krylov_work **w)
{
  gi_krylov_work_destroy(w);
}

static gable_status check_vector(const gable_krylov *k, const gable_vectors_view *v, const char *name)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(v->count == 1 && (v->major == GABLE_MAJOR_COL || v->ld == 1), GABLE_ERR_UNAVAILABLE,
             "%s has %d columns or gaps: Krylov solvers want one dense vector", name, v->count);
  GI_REQUIRE(v->space == GABLE_SPACE_HOST || k->ctx->device->vectors->space == GABLE_SPACE_DEVICE,
             GABLE_ERR_UNAVAILABLE, "%s is in device memory, this context is %s", name, k->ctx->where);
done:
  return status;
}

static gable_status check_work(const gable_krylov_work *w)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(w, GABLE_ERR_ARGUMENT, "the work is NULL");
  GI_REQUIRE(w->generation == w->k->generation, GABLE_ERR_MISMATCH,
             "the work belongs to an earlier matrix or preconditioner of the solver");
  GI_REQUIRE(w->k->phase == GI_UPDATED && (!w->k->precond || w->k->precond->phase == GI_UPDATED), GABLE_ERR_STATE,
             "solve before A and the preconditioner have values");
  GI_REQUIRE(!w->precond || w->precond->generation == w->k->precond->generation, GABLE_ERR_MISMATCH,
             "the preconditioner was analysed again: make a new work");
done:
  return status;
}

gable_status gable_krylov_work_solve(gable_krylov_work *w, const gable_vectors_view *b, gable_vectors_view *x,
                                     double *history)
{
  gable_status status = GABLE_OK;
  gi_vectors_pair v;
  GI_TRY(check_work(w));
  GI_REQUIRE(b && x, GABLE_ERR_ARGUMENT, "%s is NULL", b ? "x" : "b");
  GI_TRY(gi_take_vectors_view(b, &v.b));
  GI_TRY(gi_take_vectors_view(x, &v.x));
  GI_TRY(gi_vectors_take_pair(&v.b, &v.x, w->k->n, GABLE_TYPE_D, GI_VECTORS_APART, &v));
  GI_TRY(check_vector(w->k, &v.b, "b"));
  GI_TRY(check_vector(w->k, &v.x, "x"));
  GI_REQUIRE(v.b.space == v.x.space, GABLE_ERR_ARGUMENT, "b and x are in different memories");
  GI_TRY(gi_krylov_work_solve(w, v.b.space, v.b.data, v.x.data, history));
done:
  return status;
}

gable_status gable_krylov_solve_vectors(gable_krylov *k, const gable_vectors_view *b, gable_vectors_view *x,
                                        double *history)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(k, GABLE_ERR_ARGUMENT, "the solver is NULL");
  GI_REQUIRE(k->phase == GI_UPDATED, GABLE_ERR_STATE, "solve before set_matrix");
  GI_TRY(gi_krylov_own_work(k));
  GI_TRY(gable_krylov_work_solve(k->first, b, x, history));
done:
  return status;
}

gable_status gable_krylov_solve(gable_krylov *k, const double *b, double *x, double *history)
{
  gable_status status = GABLE_OK;
  gable_vectors_view vb, vx;
  GI_REQUIRE(k, GABLE_ERR_ARGUMENT, "the solver is NULL");
  vb = gi_columns_view(GABLE_SPACE_HOST, k->n, 1, b, 0);
  vx = gi_columns_view(GABLE_SPACE_HOST, k->n, 1, x, 0);
  GI_TRY(gable_krylov_solve_vectors(k, &vb, &vx, history));
done:
  return status;
}

gable_status gable_krylov_get_info(const gable_krylov *k, gable_krylov_info *info)
{
  gable_status status = GABLE_OK;
  gable_krylov_info own;
  GI_REQUIRE(k && info, GABLE_ERR_ARGUMENT, "%s is NULL", k ? "info" : "the solver");
  GI_REQUIRE(k->phase == GI_UPDATED, GABLE_ERR_STATE, "get_info before set_matrix");
  gi_krylov_info(k, k->first, &own);
  GI_TRY(gi_give_krylov_info(&own, info));
done:
  return status;
}

gable_status gable_krylov_work_get_info(const gable_krylov_work *w, gable_krylov_info *info)
{
  gable_status status = GABLE_OK;
  gable_krylov_info own;
  GI_REQUIRE(w && info, GABLE_ERR_ARGUMENT, "%s is NULL", w ? "info" : "the work");
  gi_krylov_info(w->k, w, &own);
  GI_TRY(gi_give_krylov_info(&own, info));
done:
  return status;
}
