/* bench_solver.c: the problem that is put to every solver. */
#include "bench_solver.h"

#include <stdlib.h>
#include <string.h>

static gable_status bring(gable_context *ctx, const void *host, size_t bytes, void **out)
{
  gable_status status = gable_device_alloc(ctx, bytes, out);
  return status ? status : gable_device_copy_in(ctx, *out, host, bytes, NULL);
}

/* The values as the solvers take them, on the host. */
static void *host_values(bench_problem *p)
{
  if (p->shape.values == GABLE_TYPE_D) return p->rows->val;
  p->single = malloc(((size_t)p->rows->nnz + 1) * sizeof *p->single);
  for (gable_off k = 0; k < p->rows->nnz && p->single; k++) p->single[k] = (float)p->rows->val[k];
  return p->single;
}

gable_status bench_problem_open(gable_context *ctx, const bench_rows *rows, const bench_rows *equations,
                                const bench_shape *shape, bench_problem *p)
{
  gable_vectors_view vectors = GABLE_VECTORS_VIEW_INIT;
  const size_t nnz = (size_t)rows->nnz;
  *p = (bench_problem){.ctx = ctx, .shape = *shape, .rows = rows, .equations = equations};
  vectors.n = rows->n;
  vectors.count = shape->rhs;
  vectors.type = shape->vectors;
  vectors.major = shape->major;
  vectors.ld = shape->major == GABLE_MAJOR_ROW ? shape->rhs : rows->n;
  gable_status status = workbench_open(ctx, &vectors, &p->bench);
  void *val = host_values(p);
  if (!status && !val) status = GABLE_ERR_MEMORY;
  if (gable_context_space(ctx) == GABLE_SPACE_HOST) {
    p->ptr = rows->ptr;
    p->idx = rows->idx;
    p->val = val;
    return status;
  }
  if (!status) status = bring(ctx, rows->ptr, ((size_t)rows->n + 1) * sizeof *p->ptr, (void **)&p->ptr);
  if (!status) status = bring(ctx, rows->idx, nnz * sizeof *p->idx, (void **)&p->idx);
  if (!status) status = bring(ctx, val, nnz * (p->single ? sizeof(float) : sizeof(double)), &p->val);
  if (!status) status = gable_device_synchronise(ctx, NULL);
  return status;
}

void bench_problem_close(bench_problem *p)
{
  gable_context *ctx = p->ctx;
  if (!ctx) return;
  workbench_close(&p->bench);
  for (int k = 0; k < 2; k++) free(p->plain[k]);
  if (gable_context_space(ctx) == GABLE_SPACE_DEVICE) {
    gable_device_free(ctx, (void **)&p->ptr);
    gable_device_free(ctx, (void **)&p->idx);
    gable_device_free(ctx, &p->val);
  }
  free(p->single);
  memset(p, 0, sizeof *p);
}

void bench_solver_free(bench_solver *c)
{
  if (c->state) c->clear(c);
  free(c->state);
  c->state = NULL;
}
