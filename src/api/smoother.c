/* smoother.c: gable_smoother: checks arguments and phases, then calls src/smooth. */
#include "smooth/sweeps.h"

#include "api/entry.h"
#include "api/structs.h"
#include "device/require.h"
#include "sparse/vectors.h"
#include "sparse/view.h"

gable_status gable_smoother_create(gable_context *ctx, const gable_smoother_options *options, gable_smoother **out)
{
  gable_smoother_options own;
  GI_GIVEN_OUT(ctx, "ctx", out);
  GI_PASS(gi_take_smoother_options(options, &own));
  return GI_TRACED(gi_smoother_create(ctx, &own, out));
}

void gable_smoother_destroy(gable_smoother **s)
{
  gi_smoother_destroy(s);
}

gable_status gable_smoother_analyse(gable_smoother *s, const gable_matrix_view *a)
{
  gable_matrix_view view;
  GI_GIVEN(s, "the smoother");
  GI_GIVEN(a, "the matrix");
  GI_PASS(gi_take_matrix_view(a, &view));
  return GI_TRACED(gi_smoother_analyse(s, &view));
}

gable_status gable_smoother_plan_bound(const gable_smoother *s, gable_idx n, gable_off nnz, gable_type value_type,
                                       size_t *host, size_t *device)
{
  GI_CHECK(s && host && device, GABLE_ERR_ARGUMENT, "%s is NULL", !s ? "the smoother" : host ? "device" : "host");
  GI_PASS(gi_bound_check(n, nnz, value_type));
  return GI_TRACED(gi_smoother_plan_bound(s, n, nnz, value_type, host, device));
}

gable_status gable_smoother_update(gable_smoother *s, const void *val)
{
  GI_GIVEN(s, "the smoother");
  GI_CHECK(s->plan, GABLE_ERR_STATE, "update before analyse");
  GI_CHECK(val || !s->shape.n, GABLE_ERR_ARGUMENT, "val is NULL");
  GI_PASS(gi_smoother_update(s, val));
  return GI_TRACED(gi_smoother_own_work(s));
}

/* b and x against s, as views of this version in *v. */
static gable_status take_vectors(const gable_smoother *s, const gable_vectors_view *b, const gable_vectors_view *x,
                                 int sweeps, gi_vectors_pair *v)
{
  GI_CHECK(s->updated, GABLE_ERR_STATE, "apply before update");
  GI_CHECK(sweeps >= 0, GABLE_ERR_ARGUMENT, "sweeps is %d", sweeps);
  GI_CHECK(b && x, GABLE_ERR_ARGUMENT, "%s is NULL", b ? "x" : "b");
  GI_PASS(gi_take_vectors_view(b, &v->b));
  GI_PASS(gi_take_vectors_view(x, &v->x));
  GI_PASS(gi_vectors_take_pair(&v->b, &v->x, s->shape.n, s->shape.value_type, GI_VECTORS_APART, v));
  GI_CHECK(b->type == x->type, GABLE_ERR_ARGUMENT, "b and x differ in type");
  GI_CHECK(b->space == x->space, GABLE_ERR_ARGUMENT, "b and x are in different memories");
  GI_CHECK(b->space == GABLE_SPACE_HOST || s->ctx->device->space == GABLE_SPACE_DEVICE, GABLE_ERR_UNAVAILABLE,
           "the vectors are in device memory, this context is %s", s->ctx->where);
  GI_PASS(gi_require_vectors(s->ctx, &v->b, "b"));
  return GI_TRACED(gi_require_vectors(s->ctx, &v->x, "x"));
}

gable_status gable_smoother_apply(gable_smoother *s, const gable_vectors_view *b, gable_vectors_view *x, int sweeps,
                                  double *history)
{
  gi_vectors_pair v;
  GI_GIVEN(s, "the smoother");
  GI_PASS(take_vectors(s, b, x, sweeps, &v));
  GI_CHECK(s->own, GABLE_ERR_STATE,
           "the smoother has no work of its own, since every update was captured: apply with a work");
  return GI_TRACED(gi_smoother_apply(s, &v.b, &v.x, sweeps, history));
}

gable_status gable_smoother_work_create(const gable_smoother *s, gable_smoother_work **out)
{
  GI_GIVEN_OUT(s, "the smoother", out);
  GI_CHECK(s->plan, GABLE_ERR_STATE, "a work before analyse");
  return GI_TRACED(gi_smoother_work_create(s, out));
}

void gable_smoother_work_destroy(gable_smoother_work **w)
{
  gi_smoother_work_destroy(w);
}

gable_status gable_smoother_work_apply(gable_smoother_work *w, const gable_vectors_view *b, gable_vectors_view *x,
                                       int sweeps, double *history)
{
  gi_vectors_pair v;
  GI_GIVEN(w, "the work");
  GI_CHECK(w->s == w->smoother->plan, GABLE_ERR_MISMATCH, "the work is of an earlier analysis: create it again");
  GI_PASS(take_vectors(w->smoother, b, x, sweeps, &v));
  return GI_TRACED(gi_smoother_work_apply(w, &v.b, &v.x, 0, sweeps, history));
}

gable_status gable_smoother_work_set_stream(gable_smoother_work *w, void *stream)
{
  GI_GIVEN(w, "the work");
  gi_smoother_work_set_stream(w, stream);
  return GABLE_OK;
}

gable_status gable_smoother_work_status(gable_smoother_work *w, gable_idx *row)
{
  GI_GIVEN(w, "the work");
  return GI_TRACED(gi_smoother_work_status(w, row));
}

gable_status gable_smoother_set_stream(gable_smoother *s, void *stream)
{
  GI_GIVEN(s, "the smoother");
  gi_smoother_set_stream(s, stream);
  return GABLE_OK;
}

gable_status gable_smoother_status(gable_smoother *s, gable_idx *row)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(s, GABLE_ERR_ARGUMENT, "the smoother is NULL");
  GI_REQUIRE(s->plan, GABLE_ERR_STATE, "status before analyse");
  GI_TRY(gi_smoother_status(s, row));
done:
  return status;
}

gable_status gable_smoother_get_info(const gable_smoother *s, gable_smoother_info *info)
{
  gable_smoother_info own = GABLE_SMOOTHER_INFO_INIT;
  GI_CHECK(s && info, GABLE_ERR_ARGUMENT, "%s is NULL", s ? "info" : "the smoother");
  GI_CHECK(s->plan, GABLE_ERR_STATE, "get_info before analyse");
  gi_smoother_info(s, &own);
  return GI_TRACED(gi_give_smoother_info(&own, info));
}
