/* Threads share a smoother, each with a work of its own: the bits that each gets alone.  A work of an earlier analysis
 * is refused and can be destroyed; Gauss-Seidel preconditioners of a CPU are shared the same way.
 *
 * [place]: "cpu" */
#include <pthread.h>

#include "support/test.h"

#include "support/place.h"

enum { SIDE = 40, N = SIDE * SIDE, THREADS = 3, REPEATS = 8, SWEEPS = 3 };

static int64_t ptr[N + 1];
static gable_idx idx[5 * N];
static double val[5 * N];
static gable_context *ctx;

static gable_matrix_view grid(void)
{
  static const int step[] = {-SIDE, -1, 0, 1, SIDE};
  gable_matrix_view view = GABLE_MATRIX_VIEW_INIT;
  int64_t q = 0;
  for (int i = 0; i < N; i++) {
    for (int k = 0; k < 5; k++) {
      const int j = i + step[k], beside = step[k] == 1 || step[k] == -1;
      if (j < 0 || j >= N || (beside && j / SIDE != i / SIDE)) continue;
      idx[q] = j;
      val[q++] = k == 2 ? 5 : -1 - 0.01 * (i % 7);
    }
    ptr[i + 1] = q;
  }
  view.n_rows = view.n_cols = N;
  view.ptr = ptr;
  view.idx = idx;
  return view;
}

static gable_vectors_view column(double *data)
{
  gable_vectors_view v = GABLE_VECTORS_VIEW_INIT;
  v.n = N;
  v.data = data;
  return v;
}

/* One thread's problem: number k of them. */
typedef struct share {
  gable_smoother_work *smoother;
  gable_precond_work *precond_work;
  const gable_precond *precond;
  double b[N], x[N], alone[N];
  int failed;
} share;

static void start(share *s, int k)
{
  for (int i = 0; i < N; i++) {
    s->b[i] = (i * (k + 3)) % 11 - 5;
    s->x[i] = k;
  }
}

static gable_status run(share *s)
{
  gable_vectors_view b = column(s->b), x = column(s->x);
  if (s->precond) return gable_precond_apply(s->precond, s->precond_work, &b, &x);
  return gable_smoother_work_apply(s->smoother, &b, &x, SWEEPS, NULL);
}

static share shares[THREADS];

static void *work_often(void *number)
{
  const int k = *(const int *)number;
  share *s = &shares[k];
  for (int r = 0; r < REPEATS; r++) {
    start(s, k);
    if (run(s) || memcmp(s->x, s->alone, sizeof s->x)) s->failed = 1;
  }
  return NULL;
}

static void run_together(const char *what)
{
  pthread_t thread[THREADS];
  int number[THREADS];
  for (int k = 0; k < THREADS; k++) {
    number[k] = k;
    shares[k].failed = 0;
    start(&shares[k], k);
    CHECK_OK(run(&shares[k]));
    memcpy(shares[k].alone, shares[k].x, sizeof shares[k].alone);
    if (k) CHECK(memcmp(shares[k].alone, shares[0].alone, sizeof shares[k].alone), "%s: equal problems", what);
  }
  for (int k = 0; k < THREADS; k++) CHECK(!pthread_create(&thread[k], NULL, work_often, &number[k]));
  for (int k = 0; k < THREADS; k++) CHECK(!pthread_join(thread[k], NULL));
  for (int k = 0; k < THREADS; k++) CHECK(!shares[k].failed, "%s, thread %d: not the bits that it has alone", what, k);
}

static void check_smoother(const char *method)
{
  const gable_matrix_view view = grid();
  gable_smoother_options options = GABLE_SMOOTHER_OPTIONS_INIT;
  gable_smoother *s = NULL;
  gable_smoother_work *early = NULL;
  gable_vectors_view b = column(shares[0].b), x = column(shares[0].x);
  options.method = method;
  options.solves = 0;
  CHECK_OK(gable_smoother_create(ctx, &options, &s));
  CHECK(gable_smoother_work_create(s, &early) == GABLE_ERR_STATE && !early);
  CHECK_OK(gable_smoother_analyse(s, &view));
  for (int k = 0; k < THREADS; k++) CHECK_OK(gable_smoother_work_create(s, &shares[k].smoother));
  CHECK(gable_smoother_work_apply(shares[0].smoother, &b, &x, 1, NULL) == GABLE_ERR_STATE);
  CHECK_OK(gable_smoother_update(s, val));
  if (test_method_repeats(method)) run_together(method);
  CHECK_OK(gable_smoother_update(s, val)); /* works stay */
  start(&shares[0], 0);
  CHECK_OK(run(&shares[0]));
  CHECK_OK(gable_smoother_analyse(s, &view));
  CHECK_OK(gable_smoother_update(s, val));
  CHECK(gable_smoother_work_apply(shares[0].smoother, &b, &x, 1, NULL) == GABLE_ERR_MISMATCH);
  for (int k = 0; k < THREADS; k++) gable_smoother_work_destroy(&shares[k].smoother);
  gable_smoother_destroy(&s);
}

static void check_precond(void)
{
  gable_matrix_view view = grid();
  gable_precond_options options = GABLE_PRECOND_OPTIONS_INIT;
  gable_precond *p = NULL;
  view.val = val;
  options.kind = GABLE_PRECOND_GS;
  CHECK_OK(gable_precond_create(ctx, &options, &p));
  CHECK_OK(gable_precond_analyse(p, &view));
  CHECK_OK(gable_precond_update(p, val));
  for (int k = 0; k < THREADS; k++) {
    CHECK_OK(gable_precond_work_create(p, &shares[k].precond_work));
    shares[k].precond = p;
  }
  run_together("Gauss-Seidel preconditioner");
  for (int k = 0; k < THREADS; k++) gable_precond_work_destroy(&shares[k].precond_work);
  gable_precond_destroy(&p);
}

int main(int argc, char **argv)
{
  gable_context_options options = GABLE_CONTEXT_OPTIONS_INIT;
  options.threads = 2;
  ctx = test_place(argc, argv, &options);
  for (const char *const *method = test_place_methods(ctx); *method; method++) check_smoother(*method);
  if (!test_place_is_gpu(ctx) && !test_place_is_mirror(ctx)) check_precond();
  gable_context_destroy(&ctx);
  return 0;
}
