/* inner_solver.c: convection and diffusion on a square.  A direct solver factors the diffusion once, in float, and
 * preconditions GMRES for growing convection; both A and the preconditioner are callbacks.
 *
 *   cc inner_solver.c $(pkg-config --cflags --libs gable) -lm && ./a.out */
#include <gable/gable.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 80, N = SIDE * SIDE };

/* y = A x for the five-point operator with wind along the rows of the grid. */
static gable_status apply(void *user, const double *x, double *y)
{
  const double wind = *(const double *)user;
  for (int i = 0; i < N; i++) {
    const int column = i % SIDE;
    y[i] = 4 * x[i];
    if (column > 0) y[i] -= (1 + wind) * x[i - 1];
    if (column < SIDE - 1) y[i] -= (1 - wind) * x[i + 1];
    if (i >= SIDE) y[i] -= x[i - SIDE];
    if (i < N - SIDE) y[i] -= x[i + SIDE];
  }
  return GABLE_OK;
}

typedef struct inner {
  gable_solver *solver;
  gable_solver_work *work;
} inner;

/* y = F^-1 x, F the factored diffusion: one sweep with the factor. */
static gable_status precondition(void *user, const double *x, double *y)
{
  inner *s = user;
  gable_vectors_view b = GABLE_VECTORS_VIEW_INIT, z;
  b.n = N;
  b.ld = N;
  z = b;
  b.data = (double *)(uintptr_t)x;
  z.data = y;
  return gable_solver_apply(s->solver, s->work, GABLE_OP_N, GABLE_FACTOR_ALL, &b, &z);
}

/* The lower triangle of the diffusion, by columns. */
static gable_status factor(gable_context *ctx, inner *s)
{
  static int64_t ptr[N + 1];
  static gable_idx row[3 * N];
  static double val[3 * N];
  gable_matrix_view a = GABLE_MATRIX_VIEW_INIT;
  gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
  int64_t p = 0;
  for (int j = 0; j < N; j++) {
    ptr[j] = p;
    row[p] = j;
    val[p++] = 4;
    if (j % SIDE < SIDE - 1) row[p] = j + 1, val[p++] = -1;
    if (j < N - SIDE) row[p] = j + SIDE, val[p++] = -1;
  }
  ptr[N] = p;
  a.n_rows = a.n_cols = N;
  a.format = GABLE_FORMAT_CSC;
  a.structure = GABLE_STRUCTURE_SPD;
  a.part = GABLE_PART_LOWER;
  a.ptr = ptr;
  a.idx = row;
  a.val = val;
  options.factor_type = GABLE_TYPE_S; /* a preconditioner need not be exact */
  gable_status status = gable_solver_create(ctx, &options, &s->solver);
  if (!status) status = gable_solver_analyse(s->solver, &a);
  if (!status) status = gable_solver_factor(s->solver, NULL, GABLE_REUSE_ALL);
  if (!status) status = gable_solver_work_create(s->solver, 1, &s->work);
  return status;
}

int main(void)
{
  static double b[N], x[N];
  gable_context *ctx = NULL;
  gable_krylov *krylov = NULL;
  gable_krylov_options options = GABLE_KRYLOV_OPTIONS_INIT;
  gable_krylov_info info = GABLE_KRYLOV_INFO_INIT;
  inner s = {NULL, NULL};
  double wind = 0;
  options.solver = GABLE_KRYLOV_GMRES;
  options.tolerance = 1e-13;
  gable_status status = gable_context_create("cpu", NULL, &ctx);
  if (!status) status = factor(ctx, &s);
  if (!status) status = gable_krylov_create(ctx, &options, &krylov);
  if (!status) status = gable_krylov_set_operator(krylov, N, apply, &wind);
  if (!status) status = gable_krylov_set_precond_function(krylov, precondition, &s);
  for (int i = 0; i < N; i++) b[i] = 1;
  for (int step = 0; !status && step < 4; step++) {
    wind = 0.1 * step; /* the callback reads it */
    for (int i = 0; i < N; i++) x[i] = 0;
    status = gable_krylov_solve(krylov, b, x, NULL);
    if (!status) status = gable_krylov_get_info(krylov, &info);
    if (!status) printf("wind %.1f: %d iterations, error %.1e\n", wind, (int)info.iterations, info.true_residual);
  }
  if (status) fprintf(stderr, "%s\n", gable_last_error());
  gable_krylov_destroy(&krylov);
  gable_solver_work_destroy(&s.work);
  gable_solver_destroy(&s.solver);
  gable_context_destroy(&ctx);
  return status != GABLE_OK;
}
