/* bench_solver.c: the problem that is put to every solver. */
#include "bench_solver.h"

#include <stdlib.h>
#include <string.h>

static gable_status bring(gable_context *ctx, const void *host, size_t bytes, void **out)
{
  gable_status status = gable_device_alloc(ctx, bytes, out);
  return status ? status : gable_device_copy_in(ctx, *out, host, bytes, NULL);
}

gable_status bench_problem_open(gable_context *ctx, const bench_rows *rows, gable_idx rhs, bench_problem *p)
{
  gable_vectors_view shape = GABLE_VECTORS_VIEW_INIT;
  const size_t nnz = (size_t)rows->nnz;
  *p = (bench_problem){.ctx = ctx, .rows = rows};
  shape.n = rows->n;
  shape.count = rhs;
  shape.ld = rows->n;
  gable_status status = workbench_open(ctx, &shape, &p->bench);
  if (gable_context_space(ctx) == GABLE_SPACE_HOST) {
    p->ptr = rows->ptr;
    p->idx = rows->idx;
    p->val = rows->val;
    return status;
  }
  if (!status) status = bring(ctx, rows->ptr, ((size_t)rows->n + 1) * sizeof *p->ptr, (void **)&p->ptr);
  if (!status) status = bring(ctx, rows->idx, nnz * sizeof *p->idx, (void **)&p->idx);
  if (!status) status = bring(ctx, rows->val, nnz * sizeof *p->val, (void **)&p->val);
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
    gable_device_free(ctx, (void **)&p->val);
  }
  memset(p, 0, sizeof *p);
}

void bench_solver_free(bench_solver *c)
{
  if (c->state) c->clear(c);
  free(c->state);
  c->state = NULL;
}
