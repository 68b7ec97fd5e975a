/* bench_measure.c: one solver on one problem: prepared, solved again and again, checked. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "bench_graph.h"

static const double enough_s = 1.0;      /* of repeated solves */
static const double sweeps_apart = 1e-6; /* sums in another order differ by less, unless the matrix is hopeless */
enum { LEAST_REPEATS = 3 };

/* Solves that take less are timed back to back, too: as many as take batch_s, an even number. */
static const double short_s = 0.5e-3, batch_s = 1.6e-3;
enum { LEAST_BATCH = 8, MOST_BATCH = 64, BATCHES = 5 };

/* A forward and a backward sweep from x = 0, row by row. */
static void plain_sweeps(const bench_rows *a, const double *b, double *x)
{
  memset(x, 0, (size_t)a->n * sizeof *x);
  for (int back = 0; back < 2; back++)
    for (gable_idx k = 0; k < a->n; k++) {
      const gable_idx i = back ? a->n - 1 - k : k;
      double sum = b[i], d = 1;
      for (int32_t p = a->ptr[i]; p < a->ptr[i + 1]; p++) {
        if (a->idx[p] == i)
          d = a->val[p];
        else
          sum -= a->val[p] * x[a->idx[p]];
      }
      x[i] = sum / d;
    }
}

/* The largest difference to the plain loop over the largest entry; NaN where the plain loop itself overflows. */
static double sweep_error(bench_problem *p, int turn)
{
  const bench_rows *a = p->rows;
  const double *x = p->bench.x.data, *plain = p->plain[turn];
  double most = 0, worst = 0;
  if (!plain) {
    p->plain[turn] = malloc(((size_t)a->n + 1) * sizeof *x);
    if (!p->plain[turn]) return INFINITY;
    plain_sweeps(a, p->bench.b[turn].data, p->plain[turn]);
    plain = p->plain[turn];
  }
  for (gable_idx i = 0; i < a->n; i++) {
    const double apart = fabs(x[i] - plain[i]);
    if (!(fabs(plain[i]) <= most)) most = fabs(plain[i]);
    if (!(apart <= worst)) worst = isnan(apart) ? INFINITY : apart;
  }
  if (!isfinite(most)) return NAN;
  return most > 0 ? worst / most : worst;
}

static gable_status one_solve(bench_solver *c, bench_problem *p, int turn, double *seconds)
{
  gable_status status = workbench_start(&p->bench, c->start);
  if (!status && c->solve(c, p, turn)) status = GABLE_ERR_BACKEND;
  return status ? status : workbench_stop(&p->bench, seconds);
}

static gable_status check(bench_problem *p, int turn, int threads, double *worst)
{
  workbench *w = &p->bench;
  gable_status status = workbench_fetch(w);
  if (status) return status;
  const double error = p->rows->part == GABLE_PART_FULL ? sweep_error(p, turn)
                                                        : bench_rows_ratio(p->equations, &w->b[turn], &w->x, threads);
  if (error > *worst || isnan(error)) *worst = error;
  return GABLE_OK;
}

/* A first solve, then repeats: a second's worth, at least LEAST_REPEATS where they take 1.5 seconds at most.
 * The first two and the last are checked. */
static gable_status solve_often(bench_solver *c, bench_problem *p, long repeats, int threads, bench_result *out)
{
  double *times = malloc((size_t)(repeats + 1) * sizeof *times), total = 0;
  gable_status status = times ? GABLE_OK : GABLE_ERR_MEMORY;
  long done = 0;
  while (!status && done <= repeats &&
         (done < 2 || total < enough_s || (done <= LEAST_REPEATS && total < 1.5 * enough_s))) {
    status = one_solve(c, p, (int)(done % 2), &times[done]);
    total += done && !status ? times[done] : 0;
    if (!status && done < 2) status = check(p, (int)(done % 2), threads, &out->error);
    done++;
  }
  if (!status) status = check(p, (int)((done - 1) % 2), threads, &out->error);
  if (!status) {
    out->first_s = times[0];
    out->solve = stopwatch_quartiles(times + 1, done - 1);
  }
  free(times);
  return status;
}

typedef struct batch {
  bench_solver *solver;
  bench_problem *problem;
  long count;
} batch;

static int enqueue_batch(void *of)
{
  const batch *s = of;
  int failed = 0;
  for (long k = 0; k < s->count && !failed; k++) failed = s->solver->solve(s->solver, s->problem, (int)(k % 2));
  return failed;
}

/* Short solves of a GPU back to back, from both b in turn, in one CUDA graph where they can be captured: without the
 * launches of the host, and events, between two of them. */
static gable_status solve_batches(bench_solver *c, bench_problem *p, int threads, bench_result *out)
{
  double times[BATCHES + 1];
  long count = (long)(batch_s / out->solve.median) & ~1L;
  if (count < LEAST_BATCH) count = LEAST_BATCH;
  if (count > MOST_BATCH) count = MOST_BATCH;
  batch all = {c, p, count};
  bench_graph *graph = bench_graph_capture(p->bench.stream, enqueue_batch, &all);
  gable_status status = GABLE_OK;
  for (int k = 0; k <= BATCHES && !status; k++) {
    status = workbench_start(&p->bench, c->start);
    if (!status && (graph ? bench_graph_launch(graph) : enqueue_batch(&all))) status = GABLE_ERR_BACKEND;
    if (!status) status = workbench_stop(&p->bench, &times[k]);
    times[k] /= (double)count;
  }
  if (!status) status = check(p, 1, threads, &out->error);
  if (!status) out->batch_s = stopwatch_quartiles(times + 1, BATCHES).median;
  out->batch = count;
  out->batch_graph = graph != NULL;
  bench_graph_destroy(graph);
  return status;
}

static int is_short(const bench_problem *p, const bench_result *r)
{
  return p->rows->part != GABLE_PART_FULL && r->solve.median < short_s &&
         !strncmp(gable_context_where(p->ctx), "cuda", 4);
}

static void reason(bench_result *out, const char *text)
{
  snprintf(out->entry.why, sizeof out->entry.why, "%s", text);
}

/* A solution that misses its bound, or sweeps that are not the plain ones, have failed too. */
static void judge(bench_result *out)
{
  const int sweeps = out->part == GABLE_PART_FULL;
  out->wrong = sweeps ? out->error > sweeps_apart : !(out->error <= 1);
  if (!out->wrong) return;
  out->failed = 1;
  if (!isfinite(out->error)) {
    reason(out, "wrong: its residual is infinite or no number");
    return;
  }
  snprintf(out->entry.why, sizeof out->entry.why,
           sweeps ? "wrong: differs by %.3g from the plain sweeps" : "wrong: %.3g times its error bound", out->error);
}

void bench_measure(bench_solver *c, bench_problem *p, long repeats, int threads, bench_result *out)
{
  out->method = c->name;
  out->part = p->rows->part;
  out->n = p->rows->n;
  out->nnz = p->rows->nnz;
  out->levels = p->rows->levels;
  out->scaled = p->rows->scaled;
  out->rhs = p->bench.x.count;
  out->bytes = workbench_bytes(&p->bench.x, (double)out->nnz, p->shape.values) * (out->part == GABLE_PART_FULL ? 2 : 1);
  out->failed = c->prepare(c, p, &out->entry) != 0;
  if (!out->failed) {
    contest_entry after = out->entry;
    gable_status status = solve_often(c, p, repeats, threads, out);
    if (!status && is_short(p, out)) status = solve_batches(c, p, threads, out);
    if (status) reason(out, *gable_last_error() ? gable_last_error() : gable_status_text(status));
    out->failed = c->verdict(c, &after) != 0;
    if (out->failed || !status) out->entry = after;
    out->failed |= status != GABLE_OK;
  }
  c->clear(c);
  if (!out->failed) judge(out);
}
