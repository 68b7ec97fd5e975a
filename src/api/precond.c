/* precond.c: gable_precond: checks arguments and phases, then calls src/precond. */
#include "precond/precond.h"

#include "api/entry.h"
#include "api/structs.h"
#include "device/require.h"
#include "sparse/vectors.h"
#include "sparse/view.h"

gable_status gable_precond_create(gable_context *ctx, const gable_precond_options *options, gable_precond **out)
{
  gable_precond_options own;
  GI_GIVEN_OUT(ctx, "ctx", out);
  GI_PASS(gi_take_precond_options(options, &own));
  return GI_TRACED(gi_precond_create(ctx, &own, out));
}

void gable_precond_destroy(gable_precond **p)
{
  gi_precond_destroy(p);
}

gable_status gable_precond_analyse(gable_precond *p, const gable_matrix_view *a)
{
  gable_matrix_view view;
  GI_CHECK(p && a, GABLE_ERR_ARGUMENT, "%s is NULL", p ? "the matrix" : "the preconditioner");
  GI_PASS(gi_take_matrix_view(a, &view));
  return GI_TRACED(gi_precond_analyse(p, &view));
}

gable_status gable_precond_plan_bound(const gable_precond *p, gable_idx n, gable_off nnz, size_t *host, size_t *device)
{
  GI_CHECK(p && host && device, GABLE_ERR_ARGUMENT, "%s is NULL", !p ? "the preconditioner" : host ? "device" : "host");
  GI_PASS(gi_bound_check(n, nnz, GABLE_TYPE_D));
  return GI_TRACED(gi_precond_plan_bound(p, n, nnz, host, device));
}

gable_status gable_precond_update(gable_precond *p, const void *val)
{
  GI_GIVEN(p, "the preconditioner");
  GI_CHECK(p->phase >= GI_ANALYSED, GABLE_ERR_STATE, "update before analyse");
  GI_CHECK(val || !p->rows->n, GABLE_ERR_ARGUMENT, "val is NULL");
  return GI_TRACED(gi_precond_update(p, val));
}

gable_status gable_precond_set_stream(gable_precond *p, void *stream)
{
  GI_GIVEN(p, "the preconditioner");
  gi_precond_set_stream(p, stream);
  return GABLE_OK;
}

gable_status gable_precond_work_set_stream(gable_precond_work *w, void *stream)
{
  GI_GIVEN(w, "the work");
  GI_CHECK(w->generation == w->plan->generation, GABLE_ERR_MISMATCH, "the work belongs to an earlier analysis");
  gi_precond_work_set_stream(w, stream);
  return GABLE_OK;
}

gable_status gable_precond_work_create(const gable_precond *p, gable_precond_work **out)
{
  GI_GIVEN_OUT(p, "the preconditioner", out);
  GI_CHECK(p->phase >= GI_ANALYSED, GABLE_ERR_STATE, "work before analyse");
  return GI_TRACED(gi_precond_work_create(p, out));
}

void gable_precond_work_destroy(gable_precond_work **w)
{
  gi_precond_work_destroy(w);
}

static gable_status check_vector(const gable_precond *p, const gable_vectors_view *v, const char *name)
{
  const gable_space space = p->device->space;
  GI_CHECK(v->count == 1 && (v->major == GABLE_MAJOR_COL || v->ld == 1), GABLE_ERR_UNAVAILABLE,
           "%s has %d columns or gaps: give one dense vector", name, v->count);
  GI_CHECK(v->space == space, GABLE_ERR_UNAVAILABLE, "%s is in %s memory, this context is %s", name,
           gable_space_text(v->space), p->ctx->where);
  return GI_TRACED(gi_require_vectors(p->ctx, v, name));
}

gable_status gable_precond_apply(const gable_precond *p, gable_precond_work *w, const gable_vectors_view *r,
                                 gable_vectors_view *z)
{
  gable_status status = GABLE_OK;
  gi_vectors_pair v;
  int before = GI_NOT_ENTERED;
  GI_REQUIRE(p && w, GABLE_ERR_ARGUMENT, "%s is NULL", p ? "the work" : "the preconditioner");
  GI_REQUIRE(p->phase == GI_UPDATED, GABLE_ERR_STATE, "apply before update");
  GI_REQUIRE(w->plan == p && w->generation == p->generation, GABLE_ERR_MISMATCH,
             "the work belongs to another preconditioner or to an earlier analysis of it");
  GI_REQUIRE(r && z, GABLE_ERR_ARGUMENT, "%s is NULL", r ? "z" : "r");
  GI_TRY(gi_take_vectors_view(r, &v.b));
  GI_TRY(gi_take_vectors_view(z, &v.x));
  GI_TRY(gi_vectors_take_pair(&v.b, &v.x, p->rows->n, GABLE_TYPE_D, GI_VECTORS_APART, &v));
  GI_TRY(check_vector(p, &v.b, "r"));
  GI_TRY(check_vector(p, &v.x, "z"));
  GI_TRY(p->ctx->device->enter(p->ctx, &before));
  GI_TRY(gi_precond_apply(p, w, v.b.data, v.x.data));
done:
  if (p) p->ctx->device->leave(p->ctx, before);
  return status;
}

gable_status gable_precond_work_status(gable_precond_work *w)
{
  GI_GIVEN(w, "the work");
  GI_CHECK(w->generation == w->plan->generation, GABLE_ERR_MISMATCH, "the work belongs to an earlier analysis");
  return GI_TRACED(gi_precond_work_status(w));
}

gable_status gable_precond_get_info(const gable_precond *p, gable_precond_info *info)
{
  gable_precond_info own = GABLE_PRECOND_INFO_INIT;
  GI_CHECK(p && info, GABLE_ERR_ARGUMENT, "%s is NULL", p ? "info" : "the preconditioner");
  GI_CHECK(p->phase >= GI_ANALYSED, GABLE_ERR_STATE, "get_info before analyse");
  own.kind = p->options.kind;
  own.n = p->rows->n;
  memcpy(own.method_used, p->method_used, sizeof own.method_used);
  own.shift = p->shift;
  own.nnz = p->nnz;
  gi_precond_bytes(p, &own.plan_bytes_host, &own.plan_bytes_device);
  own.analyse_s = p->analyse_s;
  own.update_s = p->update_s;
  return GI_TRACED(gi_give_precond_info(&own, info));
}
