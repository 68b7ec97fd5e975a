/* smoother.c: gable_smoother: checks arguments and phases, then calls src/smooth. */
#include "smooth/sweeps.h"

#include "api/structs.h"
#include "sparse/vectors.h"
#include "sparse/view.h"

gable_status gable_smoother_create(gable_context *ctx, const gable_smoother_options *options, gable_smoother **out)
{
  gable_status status = GABLE_OK;
  gable_smoother_options own;
  GI_REQUIRE(ctx && out, GABLE_ERR_ARGUMENT, "%s is NULL", ctx ? "out" : "ctx");
  *out = NULL;
  GI_TRY(gi_take_smoother_options(options, &own));
  GI_TRY(gi_smoother_create(ctx, &own, out));
done:
  return status;
}

void gable_smoother_destroy(gable_smoother **s)
{
  gi_smoother_destroy(s);
}

gable_status gable_smoother_analyse(gable_smoother *s, const gable_matrix_view *a)
{
  gable_status status = GABLE_OK;
  gable_matrix_view view;
  GI_REQUIRE(s, GABLE_ERR_ARGUMENT, "the smoother is NULL");
  GI_REQUIRE(a, GABLE_ERR_ARGUMENT, "the matrix is NULL");
  GI_TRY(gi_take_matrix_view(a, &view));
  GI_TRY(gi_smoother_analyse(s, &view));
done:
  return status;
}

gable_status gable_smoother_plan_bound(const gable_smoother *s, gable_idx n, gable_off nnz, gable_type value_type,
                                       size_t *host, size_t *device)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(s && host && device, GABLE_ERR_ARGUMENT, "%s is NULL", !s ? "the smoother" : host ? "device" : "host");
  GI_TRY(gi_bound_check(n, nnz, value_type));
  GI_TRY(gi_smoother_plan_bound(s, n, nnz, value_type, host, device));
done:
  return status;
}

gable_status gable_smoother_update(gable_smoother *s, const void *val)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(s, GABLE_ERR_ARGUMENT, "the smoother is NULL");
  GI_REQUIRE(s->plan, GABLE_ERR_STATE, "update before analyse");
  GI_REQUIRE(val || !s->shape.n, GABLE_ERR_ARGUMENT, "val is NULL");
  GI_TRY(gi_smoother_update(s, val));
  GI_TRY(gi_smoother_own_work(s));
done:
  return status;
}

/* b and x against s, as views of this version in *v. */
static gable_status take_vectors(const gable_smoother *s, const gable_vectors_view *b, const gable_vectors_view *x,
                                 int sweeps, gi_vectors_pair *v)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(s->updated, GABLE_ERR_STATE, "apply before update");
  GI_REQUIRE(sweeps >= 0, GABLE_ERR_ARGUMENT, "sweeps is %d", sweeps);
  GI_REQUIRE(b && x, GABLE_ERR_ARGUMENT, "%s is NULL", b ? "x" : "b");
  GI_TRY(gi_take_vectors_view(b, &v->b));
  GI_TRY(gi_take_vectors_view(x, &v->x));
  GI_TRY(gi_vectors_take_pair(&v->b, &v->x, s->shape.n, s->shape.value_type, GI_VECTORS_APART, v));
  GI_REQUIRE(b->type == x->type, GABLE_ERR_ARGUMENT, "b and x differ in type");
  GI_REQUIRE(b->space == x->space, GABLE_ERR_ARGUMENT, "b and x are in different memories");
  GI_REQUIRE(b->space == GABLE_SPACE_HOST || s->ctx->device->vectors->space == GABLE_SPACE_DEVICE,
             GABLE_ERR_UNAVAILABLE, "the vectors are in device memory, this context is %s", s->ctx->where);
done:
  return status;
}

gable_status gable_smoother_apply(gable_smoother *s, const gable_vectors_view *b, gable_vectors_view *x, int sweeps,
                                  double *history)
{
  gable_status status = GABLE_OK;
  gi_vectors_pair v;
  GI_REQUIRE(s, GABLE_ERR_ARGUMENT, "the smoother is NULL");
  GI_TRY(take_vectors(s, b, x, sweeps, &v));
  GI_REQUIRE(s->own, GABLE_ERR_STATE,
             "the smoother has no work of its own, since every update was captured: apply with a work");
  GI_TRY(gi_smoother_apply(s, &v.b, &v.x, sweeps, history));
done:
  return status;
}

gable_status gable_smoother_work_create(const gable_smoother *s, gable_smoother_work **out)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(s && out, GABLE_ERR_ARGUMENT, "%s is NULL", s ? "out" : "the smoother");
  *out = NULL;
  GI_REQUIRE(s->plan, GABLE_ERR_STATE, "a work before analyse");
  GI_TRY(gi_smoother_work_create(s, out));
done:
  return status;
}

void gable_smoother_work_destroy(gable_smoother_work **w)
{
  gi_smoother_work_destroy(w);
}

gable_status gable_smoother_work_apply(gable_smoother_work *w, const gable_vectors_view *b, gable_vectors_view *x,
                                       int sweeps, double *history)
{
  gable_status status = GABLE_OK;
  gi_vectors_pair v;
  GI_REQUIRE(w, GABLE_ERR_ARGUMENT, "the work is NULL");
  GI_REQUIRE(w->s == w->smoother->plan, GABLE_ERR_MISMATCH, "the work is of an earlier analysis: create it again");
  GI_TRY(take_vectors(w->smoother, b, x, sweeps, &v));
  GI_TRY(gi_smoother_work_apply(w, &v.b, &v.x, 0, sweeps, history));
done:
  return status;
}

gable_status gable_smoother_work_set_stream(gable_smoother_work *w, void *stream)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(w, GABLE_ERR_ARGUMENT, "the work is NULL");
  gi_smoother_work_set_stream(w, stream);
done:
  return status;
}

gable_status gable_smoother_work_status(gable_smoother_work *w, gable_idx *row)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(w, GABLE_ERR_ARGUMENT, "the work is NULL");
  GI_TRY(gi_smoother_work_status(w, row));
done:
  return status;
}

gable_status gable_smoother_set_stream(gable_smoother *s, void *stream)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(s, GABLE_ERR_ARGUMENT, "the smoother is NULL");
  gi_smoother_set_stream(s, stream);
done:
  return status;
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
  gable_status status = GABLE_OK;
  gable_smoother_info own = GABLE_SMOOTHER_INFO_INIT;
  GI_REQUIRE(s && info, GABLE_ERR_ARGUMENT, "%s is NULL", s ? "info" : "the smoother");
  GI_REQUIRE(s->plan, GABLE_ERR_STATE, "get_info before analyse");
  gi_smoother_info(s, &own);
  GI_TRY(gi_give_smoother_info(&own, info));
done:
  return status;
}
