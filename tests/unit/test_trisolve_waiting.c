/* Waiting on the CPU: a row that is never published ends at the deadline with an error that names it; one plan serves
 * several threads at once; a busy machine changes no bit. */
#include <pthread.h>
#include <stdatomic.h>

#include "support/one_processor.h"
#include "support/test.h"

#include "base/wait.h"
#include "trisolve/cpu/cpu.h"
#include "trisolve/cpu/tiles.h"

enum { SIDE = 300, N = SIDE * SIDE, SOLVERS = 3 };

static gable_context *ctx;

/* A 5 point grid by rows, its lower triangle; big enough for tiles on two threads. */
typedef struct problem {
  int64_t ptr[N + 1];
  gable_idx idx[3 * N];
  double val[3 * N], b[N];
} problem;

static problem *grid(void)
{
  problem *g = malloc(sizeof *g);
  int64_t used = 0;
  CHECK(g, "no memory");
  for (gable_idx i = 0; i < N; i++) {
    g->ptr[i] = used;
    if (i >= SIDE) g->idx[used++] = i - SIDE;
    if (i % SIDE) g->idx[used++] = i - 1;
    for (int64_t p = g->ptr[i]; p < used; p++) g->val[p] = -1.0 / (1 + i % 7);
    g->idx[used] = i;
    g->val[used++] = 4 + i % 3;
    g->b[i] = 1 + i % 5;
  }
  g->ptr[N] = used;
  return g;
}

/* n: of the first n rows. */
static gable_trisolve *plan_for(const problem *g, gable_idx n, const char *method, double deadline_s)
{
  gable_trisolve_options options = GABLE_TRISOLVE_OPTIONS_INIT;
  gable_matrix_view view = GABLE_MATRIX_VIEW_INIT;
  gable_trisolve *plan = NULL;
  view.n_rows = view.n_cols = n;
  view.part = GABLE_PART_LOWER;
  view.ptr = g->ptr;
  view.idx = g->idx;
  options.method = method;
  options.solves = 0;
  options.threads = 2;
  options.deadline_s = deadline_s;
  CHECK_OK(gable_trisolve_create(ctx, &options, &plan));
  CHECK_OK(gable_trisolve_analyse(plan, &view));
  CHECK_OK(gable_trisolve_update(plan, g->val));
  return plan;
}

static gable_trisolve *plan_of(const problem *g, const char *method, double deadline_s)
{
  return plan_for(g, N, method, deadline_s);
}

static gable_status solve_first(gable_trisolve *plan, gable_trisolve_work *w, problem *g, gable_idx n, double *x)
{
  gable_vectors_view bv = GABLE_VECTORS_VIEW_INIT, xv = GABLE_VECTORS_VIEW_INIT;
  bv.n = xv.n = n;
  bv.ld = xv.ld = n;
  bv.data = g->b;
  xv.data = x;
  return gable_trisolve_solve(plan, w, GABLE_OP_N, &bv, &xv);
}

static gable_status solve(gable_trisolve *plan, gable_trisolve_work *w, problem *g, double *x)
{
  return solve_first(plan, w, g, N, x);
}

/* Something in the schedule that makes a solve wait for ever: *at becomes another value. */
typedef struct fault {
  gable_idx *at, value;
  gable_idx row; /* that is never there */
} fault;

/* An entry of the last row becomes the row itself. */
static fault waits_for_itself(gi_op_plan *s)
{
  const gable_idx k = s->lists.m.n - 1, row = s->lists.m.row[k];
  return (fault){&s->lists.m.idx[s->lists.begin[k]], row, row};
}

/* The last row in order counts one dependency too many. */
static fault counts_too_many(gi_op_plan *s)
{
  const gable_idx row = s->lists.m.row[s->lists.m.n - 1];
  gable_idx *count = (gable_idx *)s->schedule + row;
  return (fault){count, *count + 1, row};
}

/* The last tile that waits for another waits for itself. */
static fault tile_waits_for_itself(gi_op_plan *s)
{
  const gi_tiles *t = s->schedule;
  CHECK(t->threads == 2, "%d threads", t->threads);
  for (gable_idx k = t->count - 1; k >= 0; k--) {
    const gable_idx tile = t->sequence[k];
    if (t->wait_start[tile] == t->wait_start[tile + 1]) continue;
    gi_wait_for *w = &t->wait[t->wait_start[tile]];
    const int own = tile >= t->first[1];
    w->thread = own; /* a tile that waits until it is done itself */
    return (fault){&w->tiles, tile + 1 - t->first[own], s->lists.m.row[t->start[tile + 1] - 1]};
  }
  CHECK(0, "no tile waits");
  return (fault){0};
}

/* The error names the row, the work remembers it, and all is well once the schedule is. */
static void check_deadline(problem *g, const char *method, fault (*plant)(gi_op_plan *op_plan))
{
  gable_trisolve *plan = plan_of(g, method, 1);
  gable_trisolve_work *w = NULL;
  double *x = malloc(N * sizeof *x), *good = malloc(N * sizeof *good);
  char named[40];
  gable_idx row = -1;
  CHECK_OK(gable_trisolve_work_create(plan, 1, &w));
  CHECK_OK(solve(plan, w, g, good));
  gable_trisolve_work_destroy(&w);
  CHECK_OK(gable_trisolve_work_create(plan, 1, &w));
  const fault f = plant(gi_cpu_op_plan(plan, GABLE_OP_N));
  const gable_idx kept = *f.at;
  *f.at = f.value;
  const double start = gi_now();
  CHECK(solve(plan, w, g, x) == GABLE_ERR_DEADLINE, "%s", method);
  CHECK(gi_now() - start < 30, "%s: %g s", method, gi_now() - start);
  snprintf(named, sizeof named, "row %d ", f.row);
  CHECK(strstr(gable_last_error(), named), "%s, %s: %s", method, named, gable_last_error());
  CHECK(gable_trisolve_work_status(w, &row) == GABLE_ERR_DEADLINE && row == f.row, "%s: row %d", method, row);
  CHECK_OK(gable_trisolve_work_status(w, &row));
  if (strcmp(method, "tiles")) {
    *f.at = kept;
    CHECK_OK(solve(plan, w, g, x));
    for (gable_idx i = 0; i < N; i++) CHECK(fabs(x[i] - good[i]) <= 1e-13, "%s: row %d", method, i);
  }
  gable_trisolve_work_destroy(&w);
  gable_trisolve_destroy(&plan);
  free(x);
  free(good);
}

/* A thread of two that never comes to the barrier. */
static void check_barrier(void)
{
  gi_team team;
  gi_team_init(&team, 0.02);
  CHECK(gi_team_barrier(&team, 2, 41));
  CHECK(atomic_load(&team.failed) == 42);
  CHECK(gi_team_barrier(&team, 3, 7) && atomic_load(&team.failed) == 42, "the first fault is what is told");
}

/* On one processor a team loses, and one thread does what is left, nothing of it twice: columns are added. */
typedef struct lost {
  problem *g;
  const char *method;
  gable_idx n;
} lost;

static void check_lost(void *of)
{
  const lost *c = of;
  gable_trisolve *plan = plan_for(c->g, c->n, c->method, 60), *serial = plan_for(c->g, c->n, "serial", 60);
  gable_trisolve_work *w = NULL, *w1 = NULL;
  double *x = malloc(N * sizeof *x), *expected = malloc(N * sizeof *expected);
  CHECK_OK(gable_trisolve_work_create(serial, 1, &w1));
  CHECK_OK(solve_first(serial, w1, c->g, c->n, expected));
  for (int k = 0; k < 10; k++) {
    CHECK_OK(gable_trisolve_work_create(plan, 1, &w));
    const double start = gi_now();
    CHECK_OK(solve_first(plan, w, c->g, c->n, x));
    CHECK(gi_now() - start < 30, "%s: %g s for one solve on one processor", c->method, gi_now() - start);
    for (gable_idx i = 0; i < c->n; i++)
      CHECK(fabs(x[i] - expected[i]) <= 1e-12 * fabs(expected[i]), "%s: row %d", c->method, i);
    gable_trisolve_work_destroy(&w);
  }
  gable_trisolve_work_destroy(&w1);
  gable_trisolve_destroy(&plan);
  gable_trisolve_destroy(&serial);
  free(x);
  free(expected);
}

/* One of several threads that solve with one plan, each with works of its own, now and then a new one, so that tiles do
 * not settle for one thread. */
typedef struct solver {
  gable_trisolve *plan;
  problem *g;
  gable_idx n;
  const double *expected;
  int exact, repeats, wrong; /* exact: the same bits are expected, otherwise twelve digits */
  double until;              /* gi_now from which no further solve begins */
} solver;

static int differs(const solver *s, const double *x)
{
  if (s->exact) return memcmp(x, s->expected, (size_t)s->n * sizeof *x) != 0;
  for (gable_idx i = 0; i < s->n; i++)
    if (!(fabs(x[i] - s->expected[i]) <= 1e-12 * fabs(s->expected[i]))) return 1;
  return 0;
}

static void *solve_often(void *of)
{
  solver *s = of;
  double *x = malloc(N * sizeof *x);
  gable_trisolve_work *w = NULL;
  for (int k = 0; k < s->repeats && gi_now() < s->until; k++) {
    if (k % 4 == 0) {
      gable_trisolve_work_destroy(&w);
      if (gable_trisolve_work_create(s->plan, 1, &w)) s->wrong++;
    }
    memset(x, 0xff, N * sizeof *x);
    if (solve_first(s->plan, w, s->g, s->n, x) || differs(s, x)) s->wrong++;
  }
  gable_trisolve_work_destroy(&w);
  free(x);
  return NULL;
}

static void *be_busy(void *end)
{
  while (!atomic_load_explicit((atomic_int *)end, memory_order_relaxed)) gi_pause();
  return NULL;
}

/* 1,000 solves of n rows, or LIMIT_S seconds of them, among SOLVERS threads while another takes a processor from them:
 * the bits of one thread alone. */
static void check_load(problem *g, const char *method, gable_idx n, int exact)
{
  enum { REPEATS = 1000, LIMIT_S = GI_SANITIZED ? 3 : 8 };
  gable_trisolve *plan = plan_for(g, n, method, 60), *serial = plan_for(g, n, "serial", 60);
  gable_trisolve_work *w = NULL;
  double *expected = malloc(N * sizeof *expected);
  pthread_t thread[SOLVERS], load;
  solver job[SOLVERS];
  atomic_int end;
  atomic_init(&end, 0);
  CHECK_OK(gable_trisolve_work_create(serial, 1, &w));
  CHECK_OK(solve_first(serial, w, g, n, expected));
  CHECK(!pthread_create(&load, NULL, be_busy, &end));
  for (int k = 0; k < SOLVERS; k++) {
    job[k] = (solver){plan, g, n, expected, exact, (REPEATS + SOLVERS - 1) / SOLVERS, 0, gi_now() + LIMIT_S};
    CHECK(!pthread_create(&thread[k], NULL, solve_often, &job[k]));
  }
  for (int k = 0; k < SOLVERS; k++) CHECK(!pthread_join(thread[k], NULL));
  atomic_store(&end, 1);
  CHECK(!pthread_join(load, NULL));
  for (int k = 0; k < SOLVERS; k++) CHECK(!job[k].wrong, "%s: %d of %d", method, job[k].wrong, job[k].repeats);
  gable_trisolve_work_destroy(&w);
  gable_trisolve_destroy(&plan);
  gable_trisolve_destroy(&serial);
  free(expected);
}

/* A build without OpenMP has no second thread, and tiles wait for nobody. */
static int has_teams(void)
{
  int threads = 1;
  GI_OMP(parallel num_threads(2))
  {
    GI_OMP(single)
    threads = omp_get_num_threads();
  }
  return threads == 2;
}

int main(void)
{
  gable_context_options options = GABLE_CONTEXT_OPTIONS_INIT;
  problem *g = grid();
  options.threads = 2;
  CHECK_OK(gable_context_create("cpu", &options, &ctx));
  check_deadline(g, "elmr", waits_for_itself);
  check_deadline(g, "elmc", counts_too_many);
  check_deadline(g, "gsf", counts_too_many);
  if (has_teams()) {
    check_deadline(g, "tiles", tile_waits_for_itself);
    check_barrier();
  }
  static const char *const teams[] = {"tiles", "levr", "levc", "elmr", "elmc", "gsf"};
  for (size_t k = 0; k < sizeof teams / sizeof *teams; k++) test_on_one_processor(check_lost, &(lost){g, teams[k], N});
  check_load(g, "tiles", N, 1);
  check_load(g, "auto", N, 1);
  check_load(g, "levr", 6000, 1);
  check_load(g, "elmr", 6000, 1);
  check_load(g, "levc", 6000, 0);
  check_load(g, "elmc", 6000, 0);
  check_load(g, "gsf", 3000, 0);
  gable_context_destroy(&ctx);
  free(g);
  return 0;
}
