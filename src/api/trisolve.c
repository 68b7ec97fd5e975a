/* trisolve.c: gable_trisolve and gable_trisolve_work: checks arguments and phases, then calls src/trisolve. */
#include "trisolve/trisolve.h"
#include "api/entry.h"
#include "api/structs.h"
#include "device/require.h"
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
  gable_trisolve_options own;
  GI_GIVEN_OUT(ctx, "ctx", out);
  GI_PASS(gi_take_trisolve_options(options, &own));
  return GI_TRACED(gi_trisolve_create(ctx, &own, out));
}

void gable_trisolve_destroy(gable_trisolve **t)
{
  gi_trisolve_destroy(t);
}

/* A matrix in device memory without idx has no entries: by its last offset, which is there. */
static gable_status check_empty(const gable_trisolve *t, const gable_matrix_view *a)
{
  const gi_device *device = t->ctx->device;
  const gable_idx lists = a->format == GABLE_FORMAT_CSR ? a->n_rows : a->n_cols;
  const size_t size = gi_type_size(a->offset_type);
  int64_t wide = 0;
  int32_t narrow = 0;
  void *const end = a->offset_type == GABLE_TYPE_I64 ? (void *)&wide : (void *)&narrow;
  GI_PASS(gi_require_memory(t->ctx, a->ptr, ((size_t)lists + 1) * size, "ptr"));
  GI_PASS(device->copy_out(t->ctx, end, (const char *)a->ptr + (size_t)lists * size, size, t->stream));
  GI_PASS(device->synchronise(t->ctx, t->stream));
  GI_CHECK(wide + narrow == a->base, GABLE_ERR_ARGUMENT, "idx is NULL");
  return GABLE_OK;
}

/* Whether the arrays begin in device memory where the view says so. */
static gable_status check_arrays(const gable_trisolve *t, const gable_matrix_view *a)
{
  if (a->space == GABLE_SPACE_HOST || !gi_has_device_memory(t->ctx)) return GABLE_OK;
  GI_PASS(gi_view_check(a));
  GI_PASS(gi_require_memory(t->ctx, a->ptr, 1, "ptr"));
  return GI_TRACED(a->idx ? gi_require_memory(t->ctx, a->idx, 1, "idx") : check_empty(t, a));
}

gable_status gable_trisolve_analyse(gable_trisolve *t, const gable_matrix_view *a)
{
  gable_matrix_view view;
  GI_GIVEN(t, "the plan");
  GI_GIVEN(a, "the matrix");
  GI_PASS(gi_take_matrix_view(a, &view));
  GI_PASS(check_arrays(t, &view));
  return GI_TRACED((gi_candidates_wanted(t) ? gi_candidates_analyse : gi_trisolve_analyse)(t, &view));
}

gable_status gable_trisolve_set_stream(gable_trisolve *t, void *stream)
{
  GI_GIVEN(t, "the plan");
  return GI_TRACED(gi_trisolve_set_stream(t, stream));
}

static gable_status update(gable_trisolve *t, const void *val, const void *diagonal)
{
  GI_CHECK(t->phase >= GI_ANALYSED, GABLE_ERR_STATE, "update before analyse");
  GI_CHECK(val || !t->shape.nnz, GABLE_ERR_ARGUMENT, "val is NULL");
  if (t->shape.space == GABLE_SPACE_DEVICE) {
    const size_t size = gi_type_size(t->shape.value_type);
    GI_PASS(gi_require_memory(t->ctx, val, (size_t)t->shape.nnz * size, "val"));
    GI_PASS(gi_require_memory(t->ctx, diagonal, diagonal ? (size_t)t->shape.n * size : 0, "diagonal"));
  }
  return GI_TRACED(gi_trisolve_update(t, val, diagonal));
}

gable_status gable_trisolve_update(gable_trisolve *t, const void *val)
{
  GI_GIVEN(t, "the plan");
  GI_CHECK(t->options.diag != GABLE_DIAG_SEPARATE, GABLE_ERR_ARGUMENT,
           "the diagonal is separate: use gable_trisolve_update_with_diagonal");
  return GI_TRACED(update(t, val, NULL));
}

gable_status gable_trisolve_update_with_diagonal(gable_trisolve *t, const void *val, const void *diagonal)
{
  GI_GIVEN(t, "the plan");
  GI_CHECK(t->options.diag == GABLE_DIAG_SEPARATE, GABLE_ERR_ARGUMENT,
           "the plan was not created with GABLE_DIAG_SEPARATE");
  GI_CHECK(diagonal || !t->shape.n, GABLE_ERR_ARGUMENT, "diagonal is NULL");
  return GI_TRACED(update(t, val, diagonal));
}

gable_status gable_trisolve_plan_bound(const gable_trisolve *t, gable_idx n, gable_off nnz, gable_type value_type,
                                       size_t *host, size_t *device)
{
  GI_CHECK(t && host && device, GABLE_ERR_ARGUMENT, "%s is NULL", !t ? "the plan" : host ? "device" : "host");
  GI_PASS(gi_bound_check(n, nnz, value_type));
  return GI_TRACED(gi_trisolve_plan_bound(t, n, nnz, value_type, host, device));
}

static gable_status check_work(const gable_trisolve *t, gable_idx max_rhs)
{
  GI_GIVEN(t, "the plan");
  GI_CHECK(t->phase >= GI_ANALYSED, GABLE_ERR_STATE, "work before analyse");
  GI_CHECK(max_rhs >= 1, GABLE_ERR_ARGUMENT, "max_rhs is %d", max_rhs);
  return GABLE_OK;
}

gable_status gable_trisolve_work_bytes(const gable_trisolve *t, gable_idx max_rhs, size_t *host, size_t *device)
{
  GI_CHECK(host && device, GABLE_ERR_ARGUMENT, "%s is NULL", host ? "device" : "host");
  GI_PASS(check_work(t, max_rhs));
  gi_work_bytes(t, max_rhs, host, device);
  return GABLE_OK;
}

gable_status gable_trisolve_work_create_in(const gable_trisolve *t, gable_idx max_rhs, void *host, void *device,
                                           gable_trisolve_work **out)
{
  size_t host_bytes = 0, device_bytes = 0;
  GI_GIVEN(out, "out");
  *out = NULL;
  GI_PASS(gable_trisolve_work_bytes(t, max_rhs, &host_bytes, &device_bytes));
  GI_CHECK(host && (uintptr_t)host % 64 == 0, GABLE_ERR_ARGUMENT, "host memory must be aligned to 64 bytes");
  GI_CHECK(!device_bytes || (device && (uintptr_t)device % 256 == 0), GABLE_ERR_ARGUMENT,
           "device memory must be aligned to 256 bytes");
  return GI_TRACED(gi_work_create_in(t, max_rhs, host, device, out));
}

gable_status gable_trisolve_work_create(const gable_trisolve *t, gable_idx max_rhs, gable_trisolve_work **out)
{
  GI_GIVEN(out, "out");
  *out = NULL;
  GI_PASS(check_work(t, max_rhs));
  return GI_TRACED(gi_work_create(t, max_rhs, out));
}

void gable_trisolve_work_destroy(gable_trisolve_work **w)
{
  gi_work_destroy(w);
}

gable_status gable_trisolve_work_set_stream(gable_trisolve_work *w, void *stream)
{
  GI_GIVEN(w, "the work");
  return GI_TRACED(gi_work_set_stream(w, stream));
}

gable_status gable_trisolve_work_status(gable_trisolve_work *w, gable_idx *row)
{
  GI_GIVEN(w, "the work");
  GI_CHECK(w->generation == w->plan->generation, GABLE_ERR_MISMATCH, "the work belongs to an earlier analysis");
  return GI_TRACED(gi_work_status(w, row));
}

gable_status gable_trisolve_solve(const gable_trisolve *t, gable_trisolve_work *w, gable_op op,
                                  const gable_vectors_view *b, gable_vectors_view *x)
{
  gi_vectors_pair v;
  GI_CHECK(t && w, GABLE_ERR_ARGUMENT, "%s is NULL", t ? "the work" : "the plan");
  GI_CHECK(t->phase == GI_UPDATED, GABLE_ERR_STATE, "solve before update");
  GI_CHECK(w->plan == t && w->generation == t->generation, GABLE_ERR_MISMATCH,
           "the work belongs to another plan or to an earlier analysis of it");
  GI_CHECK(op == GABLE_OP_N || op == GABLE_OP_T, GABLE_ERR_ARGUMENT, "op is %d", (int)op);
  GI_CHECK(b && x, GABLE_ERR_ARGUMENT, "%s is NULL", b ? "x" : "b");
  GI_PASS(gi_take_vectors_view(b, &v.b));
  GI_PASS(gi_take_vectors_view(x, &v.x));
  GI_PASS(gi_vectors_take_pair(&v.b, &v.x, t->shape.n, t->shape.value_type, GI_VECTORS_IN_PLACE, &v));
  GI_CHECK(b->type == x->type && b->space == x->space, GABLE_ERR_ARGUMENT, "b and x differ in type or space");
  GI_CHECK(b->count <= w->max_rhs, GABLE_ERR_ARGUMENT, "%d right-hand sides, the work was made for %d", b->count,
           w->max_rhs);
  GI_PASS(gi_require_vectors(t->ctx, &v.b, "b"));
  GI_PASS(gi_require_vectors(t->ctx, &v.x, "x"));
  GI_PASS(gi_trisolve_solve(t, w, op, &v.b, &v.x));
  if (v.b.space == GABLE_SPACE_DEVICE || !t->backend->work_status) return GABLE_OK;
  return GI_TRACED(gi_work_status(w, NULL)); /* the answer is there, and so is its error */
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
  GI_GIVEN(t, "the plan");
  GI_CHECK(op == GABLE_OP_N || op == GABLE_OP_T, GABLE_ERR_ARGUMENT, "op is %d", (int)op);
  GI_CHECK(t->phase >= GI_ANALYSED, GABLE_ERR_STATE, "get_schedule before analyse");
  return GI_TRACED(gi_trisolve_get_schedule(t, op, order, level));
}
