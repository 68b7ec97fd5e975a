/* Many threads share one factor, each with its own work, and all get the bits that one thread gets alone. */
#include <pthread.h>

#include "support/test.h"

#include "support/systems.h"

enum { THREADS = 6, ROUNDS = 20, N = 200 };

static gable_solver *solver;
static double b[THREADS][N], expected[THREADS][2][N];

static void solve(gable_solver_work *w, int who, gable_op op, double *x)
{
  gable_vectors_view vb = test_vectors(N, 1, b[who]), vx = test_vectors(N, 1, x);
  CHECK_OK(gable_solver_solve(solver, w, op, &vb, &vx));
}

static void *many_solves(void *number)
{
  int who = *(int *)number;
  gable_solver_work *w = NULL;
  CHECK_OK(gable_solver_work_create(solver, 1, &w));
  for (int k = 0; k < ROUNDS; k++) {
    double x[N];
    solve(w, who, (gable_op)(k % 2), x);
    CHECK(!memcmp(x, expected[who][k % 2], sizeof x), "thread %d, round %d: other bits", who, k);
  }
  gable_solver_work_destroy(&w);
  return NULL;
}

int main(void)
{
  gable_context *ctx = NULL;
  gable_context_options options = GABLE_CONTEXT_OPTIONS_INIT;
  options.threads = 1;
  CHECK_OK(gable_context_create("cpu", &options, &ctx));
  test_system a = test_system_make(TEST_UNSYMMETRIC, N, 9);
  gable_matrix_view v = test_system_view(&a);
  CHECK_OK(gable_solver_create(ctx, NULL, &solver));
  CHECK_OK(gable_solver_analyse(solver, &v));
  CHECK_OK(gable_solver_factor(solver, NULL, GABLE_REUSE_NOTHING));
  gable_solver_work *w = NULL;
  CHECK_OK(gable_solver_work_create(solver, 1, &w));
  pthread_t threads[THREADS];
  int numbers[THREADS];
  for (int t = 0; t < THREADS; t++) {
    numbers[t] = t;
    for (int i = 0; i < N; i++) b[t][i] = (i * 7 + t * 13) % 11 - 5;
    for (int op = 0; op < 2; op++) solve(w, t, (gable_op)op, expected[t][op]);
  }
  for (int t = 0; t < THREADS; t++) CHECK(!pthread_create(&threads[t], NULL, many_solves, &numbers[t]));
  for (int t = 0; t < THREADS; t++) pthread_join(threads[t], NULL);
  gable_solver_work_destroy(&w);
  gable_solver_destroy(&solver);
  test_system_free(&a);
  gable_context_destroy(&ctx);
  return 0;
}
