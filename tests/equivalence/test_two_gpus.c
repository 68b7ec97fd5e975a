/* Two GPUs of one process: solves, sweeps and Krylov solvers on each, one after the other, both at once from two
 * threads, and asynchronously from one thread in turns, give the bits that each gives alone; and those are right.
 *
 * [place place]: "cuda:0" and "cuda:1" without arguments; the same place twice is fine. */
#include <pthread.h>

#include "support/test.h"

#include "support/place.h"
#include "support/triangles.h"

enum { ROUNDS = 20, SWEEPS = 2, MOST_METHODS = 8 };

static const char *const methods[MOST_METHODS] = {"levr", "levc", "elmr", "elmc", "gsf", "tiles", "rows", "auto"};

/* A dominant symmetric matrix by rows, and its lower triangle. */
typedef struct problem {
  test_triangle lower, whole;
  double *b;
} problem;

static problem problem_make(void)
{
  problem p = {.lower = test_triangle_named("7 point grid", 4)};
  const gable_idx n = p.lower.n;
  test_triangle_set_diagonal(&p.lower, 4);
  test_triangle upper = test_triangle_transpose(&p.lower);
  const size_t nnz = (size_t)(p.lower.ptr[n] + upper.ptr[n]);
  p.whole = (test_triangle){n, calloc((size_t)n + 1, 8), malloc(nnz * 4), malloc(nnz * 8)};
  int64_t q = 0;
  for (gable_idx i = 0; i < n; i++) {
    for (int64_t k = p.lower.ptr[i]; k < p.lower.ptr[i + 1]; k++) {
      p.whole.idx[q] = p.lower.idx[k];
      p.whole.val[q++] = p.lower.val[k];
    }
    for (int64_t k = upper.ptr[i] + 1; k < upper.ptr[i + 1]; k++) {
      p.whole.idx[q] = upper.idx[k];
      p.whole.val[q++] = upper.val[k];
    }
    p.whole.ptr[i + 1] = q;
  }
  test_triangle_free(&upper);
  p.b = malloc((size_t)n * 8);
  for (gable_idx i = 0; i < n; i++) p.b[i] = 1 - 0.3 * (i % 6);
  return p;
}

static void problem_drop(problem *p)
{
  test_triangle_free(&p->lower);
  test_triangle_free(&p->whole);
  free(p->b);
}

/* Everything that one GPU does; the answers: [n] of each kind. */
typedef struct place {
  gable_context *ctx;
  const problem *p;
  gable_trisolve *plan[MOST_METHODS];
  gable_trisolve_work *work[MOST_METHODS];
  gable_smoother *smoother;
  gable_krylov *krylov[2];
  void *stream[MOST_METHODS], *b, *x[MOST_METHODS];
  double *answer; /* [KINDS][n] */
} place;

enum { SMOOTHED = MOST_METHODS, KRYLOV, KINDS = KRYLOV + 2 };

static gable_vectors_view vector(const place *g, gable_space space, void *data)
{
  gable_vectors_view v = GABLE_VECTORS_VIEW_INIT;
  v.n = g->p->lower.n;
  v.ld = v.n;
  v.space = space;
  v.data = data;
  return v;
}

static size_t bytes_of(const place *g)
{
  return (size_t)g->p->lower.n * sizeof(double);
}

static void open_solves(place *g)
{
  const gable_matrix_view lower = test_triangle_view(&g->p->lower);
  CHECK_OK(gable_device_alloc(g->ctx, bytes_of(g), &g->b));
  CHECK_OK(gable_device_copy_in(g->ctx, g->b, g->p->b, bytes_of(g), NULL));
  CHECK_OK(gable_device_synchronise(g->ctx, NULL));
  for (int m = 0; m < MOST_METHODS; m++) {
    gable_trisolve_options options = GABLE_TRISOLVE_OPTIONS_INIT;
    options.method = methods[m];
    options.solves = 0;
    CHECK_OK(gable_trisolve_create(g->ctx, &options, &g->plan[m]));
    CHECK_OK(gable_trisolve_analyse(g->plan[m], &lower));
    CHECK_OK(gable_trisolve_update(g->plan[m], g->p->lower.val));
    CHECK_OK(gable_trisolve_work_create(g->plan[m], 1, &g->work[m]));
    if (m % 2) CHECK_OK(gable_stream_create(g->ctx, &g->stream[m])); /* the others: the GPU's default stream */
    CHECK_OK(gable_trisolve_work_set_stream(g->work[m], g->stream[m]));
    CHECK_OK(gable_device_alloc(g->ctx, bytes_of(g), &g->x[m]));
  }
}

static void open_place(place *g, gable_context *ctx, const problem *p)
{
  gable_matrix_view whole = test_triangle_view(&p->whole);
  whole.part = GABLE_PART_FULL;
  memset(g, 0, sizeof *g);
  g->ctx = ctx;
  g->p = p;
  g->answer = calloc((size_t)KINDS * (size_t)p->lower.n, sizeof *g->answer);
  open_solves(g);
  CHECK_OK(gable_smoother_create(ctx, NULL, &g->smoother));
  CHECK_OK(gable_smoother_analyse(g->smoother, &whole));
  CHECK_OK(gable_smoother_update(g->smoother, p->whole.val));
  for (int k = 0; k < 2; k++) {
    gable_krylov_options options = GABLE_KRYLOV_OPTIONS_INIT;
    options.solver = k ? GABLE_KRYLOV_GMRES : GABLE_KRYLOV_CG;
    options.preconditioner = k ? GABLE_PRECOND_ILU0 : GABLE_PRECOND_IC0;
    CHECK_OK(gable_krylov_create(ctx, &options, &g->krylov[k]));
    CHECK_OK(gable_krylov_set_matrix(g->krylov[k], &whole));
  }
}

static void close_place(place *g)
{
  for (int m = 0; m < MOST_METHODS; m++) {
    gable_trisolve_work_destroy(&g->work[m]);
    gable_trisolve_destroy(&g->plan[m]);
    gable_stream_destroy(g->ctx, &g->stream[m]);
    gable_device_free(g->ctx, &g->x[m]);
  }
  gable_smoother_destroy(&g->smoother);
  gable_krylov_destroy(&g->krylov[0]);
  gable_krylov_destroy(&g->krylov[1]);
  gable_device_free(g->ctx, &g->b);
  free(g->answer);
}

static void begin_solve(place *g, int m)
{
  gable_vectors_view b = vector(g, gable_context_space(g->ctx), g->b), x = vector(g, b.space, g->x[m]);
  CHECK_OK(gable_device_fill(g->ctx, x.data, 0xff, bytes_of(g), g->stream[m]));
  CHECK_OK(gable_trisolve_solve(g->plan[m], g->work[m], GABLE_OP_N, &b, &x));
}

static void end_solve(place *g, int m)
{
  CHECK_OK(gable_trisolve_work_status(g->work[m], NULL));
  CHECK_OK(
      gable_device_copy_out(g->ctx, g->answer + (size_t)m * (size_t)g->p->lower.n, g->x[m], bytes_of(g), g->stream[m]));
  CHECK_OK(gable_device_synchronise(g->ctx, g->stream[m]));
}

/* Sweeps and Krylov solvers, from zero. */
static void iterate(place *g)
{
  const size_t n = (size_t)g->p->lower.n;
  double *x = g->answer + SMOOTHED * n;
  gable_vectors_view b = vector(g, GABLE_SPACE_HOST, g->p->b), xv = vector(g, GABLE_SPACE_HOST, x);
  memset(x, 0, 3 * bytes_of(g));
  CHECK_OK(gable_smoother_apply(g->smoother, &b, &xv, SWEEPS, NULL));
  for (size_t k = 0; k < 2; k++)
    CHECK_OK(gable_krylov_solve(g->krylov[k], g->p->b, g->answer + (KRYLOV + k) * n, NULL));
}

static void run(place *g)
{
  for (int m = 0; m < MOST_METHODS; m++) begin_solve(g, m);
  for (int m = 0; m < MOST_METHODS; m++) end_solve(g, m);
  iterate(g);
}

/* expected [KINDS][n]: bits, but where atomics forbid that. */
static void compare(const place *g, const double *expected, const char *when)
{
  const size_t n = (size_t)g->p->lower.n;
  for (size_t k = 0; k < KINDS; k++) {
    const char *name = k < MOST_METHODS ? methods[k] : k == SMOOTHED ? "sweeps" : "Krylov";
    if (k < MOST_METHODS) {
      const double ratio = test_bound_ratio(&g->p->lower, g->answer + k * n, g->p->b, 1, 0);
      CHECK(ratio <= 1, "%s, %s, %s: error over bound %g", gable_context_where(g->ctx), name, when, ratio);
      if (!test_method_repeats(name)) continue;
    }
    CHECK(!memcmp(g->answer + k * n, expected + k * n, n * sizeof *expected), "%s, %s, %s: other bits",
          gable_context_where(g->ctx), name, when);
  }
}

/* What a plain loop makes of the sweeps, and that the Krylov solvers solve. */
static void check_iterations(const place *g)
{
  const test_triangle *a = &g->p->whole;
  const size_t n = (size_t)a->n;
  double *own = calloc(n, sizeof *own);
  const double *x = g->answer + SMOOTHED * n;
  for (int s = 0; s < 2 * SWEEPS; s++)
    for (gable_idx k = 0; k < a->n; k++) {
      const gable_idx i = s % 2 ? a->n - 1 - k : k;
      double sum = g->p->b[i], d = 1;
      for (int64_t p = a->ptr[i]; p < a->ptr[i + 1]; p++) {
        if (a->idx[p] == i)
          d = a->val[p];
        else
          sum -= a->val[p] * own[a->idx[p]];
      }
      own[i] = sum / d;
    }
  for (size_t i = 0; i < n; i++) CHECK(fabs(own[i] - x[i]) <= 1e-12, "sweeps, row %zu: %g, not %g", i, x[i], own[i]);
  for (size_t k = KRYLOV; k < KINDS; k++)
    for (gable_idx i = 0; i < a->n; i++) {
      double r = g->p->b[i];
      for (int64_t p = a->ptr[i]; p < a->ptr[i + 1]; p++) r -= a->val[p] * g->answer[k * n + (size_t)a->idx[p]];
      CHECK(fabs(r) <= 1e-5, "Krylov, row %d: residual %g", i, r);
    }
  free(own);
}

typedef struct lane {
  place *g;
  const double *expected;
} lane;

static void *run_often(void *argument)
{
  const lane *l = argument;
  for (int round = 0; round < ROUNDS; round++) {
    run(l->g);
    compare(l->g, l->expected, "beside the other one");
  }
  return NULL;
}

/* From one thread: both GPUs have all their solves under way before anything is waited for. */
static void alternate(place g[2], const double *expected)
{
  for (int round = 0; round < ROUNDS; round++) {
    for (int m = 0; m < MOST_METHODS; m++)
      for (int k = 0; k < 2; k++) begin_solve(&g[(k + round) % 2], m);
    for (int k = 0; k < 2; k++)
      for (int m = 0; m < MOST_METHODS; m++) end_solve(&g[k], m);
    for (int k = 0; k < 2; k++) {
      iterate(&g[k]);
      compare(&g[k], expected, "in turns");
    }
  }
}

int main(int argc, char **argv)
{
  char first[] = "cuda:0", second[] = "cuda:1";
  char *words[2][2] = {{argv[0], argc > 1 ? argv[1] : first}, {argv[0], argc > 2 ? argv[2] : second}};
  gable_context *ctx[2] = {test_place(2, words[0], NULL), test_place(2, words[1], NULL)};
  problem p = problem_make();
  place g[2];
  pthread_t thread[2];
  lane l[2];
  for (int k = 0; k < 2; k++) open_place(&g[k], ctx[k], &p);
  const size_t bytes = KINDS * bytes_of(&g[0]);
  double *expected = malloc(bytes);
  for (int k = 0; k < 2; k++) {
    run(&g[k]);
    if (k == 0) memcpy(expected, g[k].answer, bytes);
    check_iterations(&g[k]);
    compare(&g[k], expected, "alone");
  }
  for (int k = 0; k < 2; k++) l[k] = (lane){&g[k], expected};
  for (int k = 0; k < 2; k++) CHECK(!pthread_create(&thread[k], NULL, run_often, &l[k]));
  for (int k = 0; k < 2; k++) CHECK(!pthread_join(thread[k], NULL));
  alternate(g, expected);
  for (int k = 1; k >= 0; k--) {
    close_place(&g[k]);
    gable_context_destroy(&ctx[k]);
  }
  problem_drop(&p);
  free(expected);
  return 0;
}
