/* new_values.c: time steps of heat conduction on a square: the pattern is analysed once, each step size brings new
 * values that are factored under the old analysis, and each factor serves many right-hand sides at a time.
 *
 *   cc new_values.c $(pkg-config --cflags --libs gable) -lm && ./a.out */
#include <gable/gable.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 60, N = SIDE * SIDE, COLUMNS = 8, STEPS = 5 };

typedef struct grid {
  int32_t ptr[N + 1]; /* by rows, 32-bit offsets: any mixture of formats will do */
  gable_idx col[5 * N];
  double val[5 * N];
} grid;

static int32_t add(grid *g, int32_t p, int col)
{
  g->col[p] = (gable_idx)col;
  return p + 1;
}

/* The five-point pattern. */
static void make_pattern(grid *g)
{
  int32_t p = 0;
  for (int i = 0; i < N; i++) {
    g->ptr[i] = p;
    if (i >= SIDE) p = add(g, p, i - SIDE);
    if (i % SIDE > 0) p = add(g, p, i - 1);
    p = add(g, p, i);
    if (i % SIDE < SIDE - 1) p = add(g, p, i + 1);
    if (i < N - SIDE) p = add(g, p, i + SIDE);
  }
  g->ptr[N] = p;
}

/* I + step * (the negative Laplacian). */
static void make_values(grid *g, double step)
{
  for (int i = 0; i < N; i++) {
    for (int32_t p = g->ptr[i]; p < g->ptr[i + 1]; p++) g->val[p] = g->col[p] == i ? 1 + 4 * step : -step;
  }
}

/* COLUMNS hot spots, each in a place of its own. */
static void make_heat(double *b)
{
  for (int k = 0; k < COLUMNS; k++) {
    for (int i = 0; i < N; i++) b[i + k * N] = 0;
    b[(k + 1) * N / (COLUMNS + 1) + k * N] = 1;
  }
}

static double hottest(const double *x)
{
  double most = 0;
  for (int i = 0; i < N * COLUMNS; i++) most = fmax(most, x[i]);
  return most;
}

int main(void)
{
  gable_context *ctx = NULL;
  gable_solver *solver = NULL;
  gable_solver_work *work = NULL;
  gable_matrix_view a = GABLE_MATRIX_VIEW_INIT;
  gable_vectors_view heat = GABLE_VECTORS_VIEW_INIT;
  gable_solve_report report = GABLE_SOLVE_REPORT_INIT;
  grid *g = malloc(sizeof *g);
  double *x = malloc(sizeof *x * N * COLUMNS), step = 0.1;
  int rc = 1;
  if (!g || !x) goto done;
  make_pattern(g);
  make_values(g, step);
  make_heat(x);
  a.n_rows = a.n_cols = N;
  a.format = GABLE_FORMAT_CSR;
  a.offset_type = GABLE_TYPE_I32;
  a.structure = GABLE_STRUCTURE_SYMMETRIC;
  a.ptr = g->ptr;
  a.idx = g->col;
  a.val = g->val;
  heat.n = N;
  heat.count = COLUMNS;
  heat.ld = N;
  heat.data = x;

  if (gable_context_create("cpu", NULL, &ctx)) goto failed;
  if (gable_solver_create(ctx, NULL, &solver)) goto failed;
  if (gable_solver_analyse(solver, &a)) goto failed;
  for (int k = 0; k < STEPS; k++, step *= 2) {
    make_values(g, step);
    if (gable_solver_factor(solver, g->val, GABLE_REUSE_ALL)) goto failed;
    if (!work && gable_solver_work_create(solver, COLUMNS, &work)) goto failed;
    const gable_status status = gable_solver_solve(solver, work, GABLE_OP_N, &heat, &heat);
    if (status && status != GABLE_NUMERICALLY_SINGULAR) goto failed;
    if (status) printf("numerically singular: the heat solves a system within rounding of this one\n");
    if (gable_solver_work_report(work, &report)) goto failed;
    printf("step %.1f: hottest %.4f, backward error %.1e\n", step, hottest(x), report.backward_error);
  }
  rc = 0;
  goto done;

failed:
  fprintf(stderr, "%s\n", gable_last_error());
done:
  gable_solver_work_destroy(&work);
  gable_solver_destroy(&solver);
  gable_context_destroy(&ctx);
  free(x);
  free(g);
  return rc;
}
