/* trisolve.c: gable_trisolve and gable_trisolve_work: checks arguments and phases, then calls src/trisolve. */
#include "trisolve/trisolve.h"
#include "api/structs.h"
#include "sparse/vectors.h"
#include "sparse/view.h"
#include "trisolve/candidates.h"

const char *gable_trisolve_methods(void)
{
#define CHOICE(id, text, cpu, gpu) "|" text
  static const char names[] = "" GI_METHOD_LIST(CHOICE);
#undef CHOICE
  return names + 1;
}

gable_status gable_trisolve_create(gable_context *ctx, const gable_trisolve_options *options, gable_trisolve **out)
{
  gable_status status = GABLE_OK;
  gable_trisolve_options own;
  GI_REQUIRE(ctx && out, GABLE_ERR_ARGUMENT, "%s is NULL", ctx ? "out" : "ctx");
  *out = NULL;
  GI_TRY(gi_take_trisolve_options(options, &own));
  GI_TRY(gi_trisolve_create(ctx, &own, out));
done:
  return status;
}

void gable_trisolve_destroy(gable_trisolve **t)
{
  gi_trisolve_destroy(t);
}

gable_status gable_trisolve_analyse(gable_trisolve *t, const gable_matrix_view *a)
{
  gable_status status = GABLE_OK;
  gable_matrix_view view;
  GI_REQUIRE(t, GABLE_ERR_ARGUMENT, "the plan is NULL");
  gi_trisolve_reset(t);
  GI_REQUIRE(a, GABLE_ERR_ARGUMENT, "the matrix is NULL");
  GI_TRY(gi_take_matrix_view(a, &view));
  GI_TRY((gi_candidates_wanted(t) ? gi_candidates_analyse : gi_trisolve_analyse)(t, &view));
done:
  return status;
}

gable_status gable_trisolve_set_stream(gable_trisolve *t, void *stream)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(t, GABLE_ERR_ARGUMENT, "the plan is NULL");
  GI_TRY(gi_trisolve_set_stream(t, stream));
done:
  return status;
}

static gable_status update(gable_trisolve *t, const void *val, const void *diagonal)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(t->phase >= GI_ANALYSED, GABLE_ERR_STATE, "update before analyse");
  GI_REQUIRE(val || !t->shape.nnz, GABLE_ERR_ARGUMENT, "val is NULL");
  GI_TRY(gi_trisolve_update(t, val, diagonal));
done:
  return status;
}

gable_status gable_trisolve_update(gable_trisolve *t, const void *val)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(t, GABLE_ERR_ARGUMENT, "the plan is NULL");
  GI_REQUIRE(t->options.diag != GABLE_DIAG_SEPARATE, GABLE_ERR_ARGUMENT,
             "the diagonal is separate: use gable_trisolve_update_with_diagonal");
  GI_TRY(update(t, val, NULL));
done:
  return status;
}

gable_status gable_trisolve_update_with_diagonal(gable_trisolve *t, const void *val, const void *diagonal)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(t, GABLE_ERR_ARGUMENT, "the plan is NULL");
  GI_REQUIRE(t->options.diag == GABLE_DIAG_SEPARATE, GABLE_ERR_ARGUMENT,
             "the plan was not created with GABLE_DIAG_SEPARATE");
  GI_REQUIRE(diagonal || !t->shape.n, GABLE_ERR_ARGUMENT, "diagonal is NULL");
  GI_TRY(update(t, val, diagonal));
done:
  return status;
}

gable_status gable_trisolve_plan_bound(const gable_trisolve *t, gable_idx n, gable_off nnz, gable_type value_type,
                                       size_t *host, size_t *device)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(t && host && device, GABLE_ERR_ARGUMENT, "%s is NULL", !t ? "the plan" : host ? "device" : "host");
  GI_TRY(gi_bound_check(n, nnz, value_type));
  GI_TRY(gi_trisolve_plan_bound(t, n, nnz, value_type, host, device));
done:
  return status;
}

static gable_status check_work(const gable_trisolve *t, gable_idx max_rhs)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(t, GABLE_ERR_ARGUMENT, "the plan is NULL");
  GI_REQUIRE(t->phase >= GI_ANALYSED, GABLE_ERR_STATE, "work before analyse");
  GI_REQUIRE(max_rhs >= 1, GABLE_ERR_ARGUMENT, "max_rhs is %d", max_rhs);
done:
  return status;
}

gable_status gable_trisolve_work_bytes(const gable_trisolve *t, gable_idx max_rhs, size_t *host, size_t *device)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(host && device, GABLE_ERR_ARGUMENT, "%s is NULL", host ? "device" : "host");
  GI_TRY(check_work(t, max_rhs));
  gi_work_bytes(t, max_rhs, host, device);
done:
  return status;
}

gable_status gable_trisolve_work_create_in(const gable_trisolve *t, gable_idx max_rhs, void *host, void *device,
                                           gable_trisolve_work **out)
{
  gable_status status = GABLE_OK;
  size_t host_bytes = 0, device_bytes = 0;
  GI_REQUIRE(out, GABLE_ERR_ARGUMENT, "out is NULL");
  *out = NULL;
  GI_TRY(gable_trisolve_work_bytes(t, max_rhs, &host_bytes, &device_bytes));
  GI_REQUIRE(host && (uintptr_t)host % 64 == 0, GABLE_ERR_ARGUMENT, "host memory must be aligned to 64 bytes");
  GI_REQUIRE(!device_bytes || (device && (uintptr_t)device % 256 == 0), GABLE_ERR_ARGUMENT,
             "device memory must be aligned to 256 bytes");
  GI_TRY(gi_work_create_in(t, max_rhs, host, device, out));
done:
  return status;
}

gable_status gable_trisolve_work_create(const gable_trisolve *t, gable_idx max_rhs, gable_trisolve_work **out)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(out, GABLE_ERR_ARGUMENT, "out is NULL");
  *out = NULL;
  GI_TRY(check_work(t, max_rhs));
  GI_TRY(gi_work_create(t, max_rhs, out));
done:
  return status;
}

void gable_trisolve_work_destroy(gable_trisolve_work **w)
{
  gi_work_destroy(w);
}

gable_status gable_trisolve_work_set_stream(gable_trisolve_work *w, void *stream)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(w, GABLE_ERR_ARGUMENT, "the work is NULL");
  GI_TRY(gi_work_set_stream(w, stream));
done:
  return status;
}

gable_status gable_trisolve_work_status(gable_trisolve_work *w, gable_idx *row)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(w, GABLE_ERR_ARGUMENT, "the work is NULL");
  GI_REQUIRE(w->generation == w->plan->generation, GABLE_ERR_MISMATCH, "the work belongs to an earlier analysis");
  GI_TRY(gi_work_status(w, row));
done:
  return status;
}

gable_status gable_trisolve_solve(const gable_trisolve *t, gable_trisolve_work *w, gable_op op,
                                  const gable_vectors_view *b, gable_vectors_view *x)
{
  gable_status status = GABLE_OK;
  gi_vectors_pair v;
  GI_REQUIRE(t && w, GABLE_ERR_ARGUMENT, "%s is NULL", t ? "the work" : "the plan");
  GI_REQUIRE(t->phase == GI_UPDATED, GABLE_ERR_STATE, "solve before update");
  GI_REQUIRE(w->plan == t && w->generation == t->generation, GABLE_ERR_MISMATCH,
             "the work belongs to another plan or to an earlier analysis of it");
  GI_REQUIRE(op == GABLE_OP_N || op == GABLE_OP_T, GABLE_ERR_ARGUMENT, "op is %d", (int)op);
  GI_REQUIRE(b && x, GABLE_ERR_ARGUMENT, "%s is NULL", b ? "x" : "b");
  GI_TRY(gi_take_vectors_view(b, &v.b));
  GI_TRY(gi_take_vectors_view(x, &v.x));
  GI_TRY(gi_vectors_take_pair(&v.b, &v.x, t->shape.n, t->shape.value_type, GI_VECTORS_IN_PLACE, &v));
  GI_REQUIRE(b->type == x->type && b->space == x->space, GABLE_ERR_ARGUMENT, "b and x differ in type or space");
  GI_REQUIRE(b->count <= w->max_rhs, GABLE_ERR_ARGUMENT, "%d right-hand sides, the work was made for %d", b->count,
             w->max_rhs);
  GI_TRY(gi_trisolve_solve(t, w, op, &v.b, &v.x));
done:
  return status;
}

gable_status gable_trisolve_get_info(const gable_trisolve *t, gable_op op, gable_trisolve_info *info)
{
  gable_status status = GABLE_OK, found;
  gable_trisolve_info own;
  GI_REQUIRE(t && info, GABLE_ERR_ARGUMENT, "%s is NULL", t ? "info" : "the plan");
  GI_REQUIRE(op == GABLE_OP_N || op == GABLE_OP_T, GABLE_ERR_ARGUMENT, "op is %d", (int)op);
  found = gi_trisolve_get_info(t, op, &own);
  GI_TRY(gi_give_trisolve_info(&own, info));
  GI_TRY(found);
done:
  return status;
}

gable_status gable_trisolve_get_schedule(const gable_trisolve *t, gable_op op, gable_idx *order, gable_idx *level)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(t, GABLE_ERR_ARGUMENT, "the plan is NULL");
  GI_REQUIRE(op == GABLE_OP_N || op == GABLE_OP_T, GABLE_ERR_ARGUMENT, "op is %d", (int)op);
  GI_REQUIRE(t->phase >= GI_ANALYSED, GABLE_ERR_STATE, "get_schedule before analyse");
  GI_TRY(gi_trisolve_get_schedule(t, op, order, level));
done:
  return status;
}
