/* solver.c: arguments and phases of gable_solver; the work is the pipeline's. */
#include <gable/bindings.h>
#include <gable/solver.h>

#include <string.h>

#include "api/entry.h"
#include "api/structs.h"
#include "graph/order/order.h"
#include "pipeline/pipeline.h"

static gable_status copy_options(const gable_solver_options *given, gable_solver_options *own)
{
  GI_PASS(gi_take_solver_options(given, own));
  GI_CHECK((int)own->method >= 0 && own->method <= GABLE_METHOD_LDLT, GABLE_ERR_ARGUMENT, "method %d",
           (int)own->method);
  GI_CHECK((int)own->order >= 0 && (int)own->order < GI_ORDER_METHODS, GABLE_ERR_ARGUMENT, "order %d", (int)own->order);
  GI_CHECK((int)own->match >= 0 && own->match <= GABLE_CHOICE_ALWAYS && (int)own->blocks >= 0 &&
               own->blocks <= GABLE_CHOICE_ALWAYS,
           GABLE_ERR_ARGUMENT, "match %d, blocks %d: choose, never or always", (int)own->match, (int)own->blocks);
  GI_CHECK(own->factor_type == GABLE_TYPE_D || own->factor_type == GABLE_TYPE_S, GABLE_ERR_ARGUMENT,
           "factor type %d: GABLE_TYPE_D or GABLE_TYPE_S", (int)own->factor_type);
  GI_CHECK(own->tolerance >= 0 && own->tolerance <= 1, GABLE_ERR_ARGUMENT, "tolerance %g: give 0 to 1", own->tolerance);
  GI_CHECK(own->tiny_pivot >= 0 && own->tiny_pivot < 1, GABLE_ERR_ARGUMENT, "tiny pivot %g: give 0 to 1",
           own->tiny_pivot);
  GI_CHECK((int)own->blas >= 0 && own->blas <= GABLE_BLAS_OPENBLAS, GABLE_ERR_ARGUMENT, "blas %d", (int)own->blas);
  GI_CHECK(own->strict == 0 || own->strict == 1, GABLE_ERR_ARGUMENT, "strict is %d: give 0 or 1", own->strict);
  GI_CHECK((int)own->place >= 0 && own->place <= GABLE_PLACE_SHORTER, GABLE_ERR_ARGUMENT, "place %d", (int)own->place);
  GI_CHECK(own->solves >= 0 && own->solve_rhs >= 0, GABLE_ERR_ARGUMENT, "%lld solves of %d right-hand sides expected",
           (long long)own->solves, own->solve_rhs);
  GI_CHECK(own->unchecked == 0 || (own->unchecked == 1 && own->refine_steps == 0), GABLE_ERR_ARGUMENT,
           "unchecked is %d with refine_steps %d: give 0, or 1 with refine_steps 0", own->unchecked, own->refine_steps);
  GI_CHECK((int)own->solve_method >= 0 && own->solve_method <= GABLE_SOLVE_PARTITIONED_CUSPARSE, GABLE_ERR_ARGUMENT,
           "solve method %d", (int)own->solve_method);
  GI_CHECK(own->merge_blocks == 0 || own->merge_blocks == 1, GABLE_ERR_ARGUMENT, "merge_blocks is %d: give 0 or 1",
           own->merge_blocks);
  GI_CHECK(own->refine_steps >= -1, GABLE_ERR_ARGUMENT, "refine_steps is %d: give -1 or more", own->refine_steps);
  return GABLE_OK;
}

gable_status gable_solver_create(gable_context *ctx, const gable_solver_options *options, gable_solver **out)
{
  gable_status status = GABLE_OK;
  gable_solver_options own;
  gable_solver *s = NULL;
  GI_REQUIRE(ctx && out, GABLE_ERR_ARGUMENT, "ctx or out is NULL");
  *out = NULL;
  GI_TRY(copy_options(options, &own));
  GI_ALLOC_ZERO(ctx, s, 1);
  s->ctx = ctx;
  s->host = *ctx;
  s->host.device = &gi_device_cpu;
  s->options = own;
  if (gi_has_device_memory(ctx)) GI_TRY(gi_update_order_init(ctx, &s->order));
  if (own.blas == GABLE_BLAS_OPENBLAS) GI_TRY(gik_blas_open(ctx->threads, &s->blas));
  *out = s;
  s = NULL;
done:
  gable_solver_destroy(&s);
  return status;
}

void gable_solver_destroy(gable_solver **solver)
{
  if (!solver || !*solver) return;
  gable_solver *s = *solver;
  *solver = NULL;
  gi_pipeline_clear(s);
  gi_update_order_release(&s->order);
  gik_blas_close(&s->blas);
  gi_free(s->ctx, s);
}

const char *gable_solver_blas(const gable_solver *s)
{
  return s && s->blas.library ? s->blas.name : "own";
}

gable_status gable_solver_analyse(gable_solver *s, const gable_matrix_view *a)
{
  gable_matrix_view view;
  GI_CHECK(s && a, GABLE_ERR_ARGUMENT, "the solver or the matrix is NULL");
  GI_PASS(gi_take_matrix_view(a, &view));
  return GI_TRACED(gi_pipeline_analyse(s, &view));
}

gable_status gable_solver_factor(gable_solver *s, const void *val, gable_reuse reuse)
{
  GI_GIVEN(s, "the solver");
  GI_CHECK((int)reuse >= 0 && reuse <= GABLE_REUSE_ALL, GABLE_ERR_ARGUMENT, "reuse level %d", (int)reuse);
  GI_PASS(gi_pipeline_factor(s, val, reuse));
  return GI_TRACED(gi_pipeline_prepare(s));
}

gable_status gable_solver_work_create(const gable_solver *s, gable_idx max_rhs, gable_solver_work **out)
{
  GI_GIVEN_OUT(s, "the solver", out);
  GI_CHECK(max_rhs >= 1, GABLE_ERR_ARGUMENT, "max_rhs is %d: give 1 or more", max_rhs);
  return GI_TRACED(gi_pipeline_work_create(s, max_rhs, GI_GMRES_RESTART, 1, out));
}

void gable_solver_work_destroy(gable_solver_work **w)
{
  gi_pipeline_work_destroy(w);
}

gable_status gable_solver_work_set_stream(gable_solver_work *w, void *stream)
{
  GI_GIVEN(w, "the work");
  if (w->device) GI_PASS(w->ctx->device->order_after(w->ctx, stream, w->stream));
  w->stream = stream;
  return GABLE_OK;
}

/* *vb, *vx: b and x in this version's struct. */
static gable_status check_solve(const gable_solver *s, const gable_solver_work *w, gable_op op,
                                const gable_vectors_view *b, const gable_vectors_view *x, gable_vectors_view *vb,
                                gable_vectors_view *vx)
{
  GI_CHECK(s && w && b && x, GABLE_ERR_ARGUMENT, "the solver, the work, b or x is NULL");
  GI_CHECK(op == GABLE_OP_N || op == GABLE_OP_T, GABLE_ERR_ARGUMENT, "op is %d: GABLE_OP_N or GABLE_OP_T", (int)op);
  GI_PASS(gi_take_vectors_view(b, vb));
  return GI_TRACED(gi_take_vectors_view(x, vx));
}

gable_status gable_solver_solve(const gable_solver *s, gable_solver_work *w, gable_op op, const gable_vectors_view *b,
                                gable_vectors_view *x)
{
  gable_vectors_view vb, vx;
  GI_PASS(check_solve(s, w, op, b, x, &vb, &vx));
  return GI_TRACED(gi_pipeline_solve(s, w, op, &vb, &vx));
}

gable_status gable_solver_apply(const gable_solver *s, gable_solver_work *w, gable_op op, int factors,
                                const gable_vectors_view *b, gable_vectors_view *x)
{
  gable_vectors_view vb, vx;
  GI_PASS(check_solve(s, w, op, b, x, &vb, &vx));
  GI_CHECK(factors >= 1 && factors <= GABLE_FACTOR_ALL, GABLE_ERR_ARGUMENT, "factors is %d: give GABLE_FACTOR_..",
           factors);
  return GI_TRACED(gi_pipeline_apply(s, w, op, (unsigned)factors, &vb, &vx));
}

gable_status gable_solver_work_report(const gable_solver_work *w, gable_solve_report *report)
{
  GI_CHECK(w && report, GABLE_ERR_ARGUMENT, "the work or the report is NULL");
  return GI_TRACED(gi_give_solve_report(&w->report, report));
}

gable_status gable_solver_work_status(gable_solver_work *w)
{
  GI_GIVEN(w, "the work");
  return GI_TRACED(gi_pipeline_work_status(w));
}

gable_status gable_solver_rcond(const gable_solver *s, gable_solver_work *w, double *rcond)
{
  GI_CHECK(s && w && rcond, GABLE_ERR_ARGUMENT, "the solver, the work or rcond is NULL");
  return GI_TRACED(gi_pipeline_rcond(s, w, rcond));
}

gable_status gable_solver_forward_error(const gable_solver *s, gable_solver_work *w, gable_op op,
                                        const gable_vectors_view *b, const gable_vectors_view *x, double *forward_error)
{
  gable_vectors_view vb, vx;
  GI_PASS(check_solve(s, w, op, b, x, &vb, &vx));
  GI_GIVEN(forward_error, "forward_error");
  return GI_TRACED(gi_pipeline_forward_error(s, w, op, &vb, &vx, forward_error));
}

gable_status gable_solver_get(const gable_solver *s, gable_solver_key key, void *out, size_t bytes)
{
  GI_CHECK(s && out, GABLE_ERR_ARGUMENT, "the solver or out is NULL");
  return GI_TRACED(gi_pipeline_get(s, key, out, bytes));
}

gable_status gable_solver_save(const gable_solver *s, const char *path)
{
  GI_CHECK(s && path, GABLE_ERR_ARGUMENT, "the solver or the path is NULL");
  return GI_TRACED(gi_pipeline_save(s, path));
}

gable_status gable_solver_load(gable_solver *s, const gable_matrix_view *a, const char *path)
{
  gable_matrix_view view;
  GI_CHECK(s && a && path, GABLE_ERR_ARGUMENT, "the solver, the matrix or the path is NULL");
  GI_PASS(gi_take_matrix_view(a, &view));
  GI_PASS(gi_pipeline_load(s, &view, path));
  return GI_TRACED(gi_pipeline_prepare_taken(s));
}

gable_status gable_solver_save_memory(const gable_solver *s, void *buffer, size_t *bytes)
{
  GI_CHECK(s && bytes, GABLE_ERR_ARGUMENT, "%s is NULL", s ? "bytes" : "the solver");
  return GI_TRACED(gi_pipeline_save_memory(s, buffer, bytes));
}

gable_status gable_solver_load_memory(gable_solver *s, const gable_matrix_view *a, const void *buffer, size_t bytes)
{
  gable_matrix_view view;
  GI_CHECK(s && a && buffer, GABLE_ERR_ARGUMENT, "the solver, the matrix or the buffer is NULL");
  GI_PASS(gi_take_matrix_view(a, &view));
  GI_PASS(gi_pipeline_load_memory(s, &view, buffer, bytes));
  return GI_TRACED(gi_pipeline_prepare_taken(s));
}

gable_status gable_order_read(gable_context *ctx, const char *path, gable_idx n, gable_idx *order)
{
  GI_CHECK(ctx && path && order && n >= 0, GABLE_ERR_ARGUMENT, "the context, the path or the order is NULL");
  return GI_TRACED(gi_order_read(ctx, path, n, order));
}
