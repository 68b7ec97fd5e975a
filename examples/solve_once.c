/* solve_once.c: reads a matrix, solves A x = b for b = A times ones, and says how right the answer is.
 *
 *   cc solve_once.c $(pkg-config --cflags --libs gable) -lm && ./a.out A.mtx */
#include <gable/gable.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* y = A times ones; a: both triangles, by columns. */
static void row_sums(const gable_matrix_view *a, double *y)
{
  const int64_t *ptr = a->ptr;
  const double *val = a->val;
  for (gable_idx i = 0; i < a->n_rows; i++) y[i] = 0;
  for (gable_idx j = 0; j < a->n_cols; j++) {
    for (int64_t p = ptr[j]; p < ptr[j + 1]; p++) y[a->idx[p]] += val[p];
  }
}

static double distance_from_ones(const double *x, gable_idx n)
{
  double worst = 0;
  for (gable_idx i = 0; i < n; i++) worst = fmax(worst, fabs(x[i] - 1));
  return worst;
}

static gable_vectors_view column(gable_idx n, double *data)
{
  gable_vectors_view v = GABLE_VECTORS_VIEW_INIT;
  v.n = n;
  v.ld = n;
  v.data = data;
  return v;
}

int main(int argc, char **argv)
{
  gable_context *ctx = NULL;
  gable_matrix *stored = NULL, *full = NULL;
  gable_solver *solver = NULL;
  gable_solver_work *work = NULL;
  gable_matrix_view a = GABLE_MATRIX_VIEW_INIT;
  gable_read_options reading = GABLE_READ_OPTIONS_INIT;
  gable_solve_report report = GABLE_SOLVE_REPORT_INIT;
  double *b = NULL, *x = NULL;
  int rc = 1;
  if (argc != 2) {
    fprintf(stderr, "usage: %s A.mtx\n", argv[0]);
    return 2;
  }
  if (gable_context_create("cpu", NULL, &ctx)) goto failed;
  reading.accept_complex = 0; /* a file without real values is refused: row_sums and the solver need them */
  reading.accept_pattern = 0;
  if (gable_matrix_read(ctx, argv[1], &reading, &stored)) goto failed;
  if (gable_matrix_expand(stored, &full) || gable_matrix_get_view(full, &a)) goto failed;

  b = malloc(sizeof *b * (size_t)a.n_rows + 1);
  x = malloc(sizeof *x * (size_t)a.n_rows + 1);
  if (!b || !x) goto done;
  row_sums(&a, b);

  /* The three phases: the pattern, the values, a right-hand side. */
  if (gable_solver_create(ctx, NULL, &solver)) goto failed;
  if (gable_solver_analyse(solver, &a)) goto failed;
  if (gable_solver_factor(solver, NULL, GABLE_REUSE_ALL)) goto failed;
  if (gable_solver_work_create(solver, 1, &work)) goto failed;

  gable_vectors_view bv = column(a.n_rows, b), xv = column(a.n_rows, x);
  const gable_status status = gable_solver_solve(solver, work, GABLE_OP_N, &bv, &xv);
  if (status && status != GABLE_NUMERICALLY_SINGULAR) goto failed;
  /* Not a failure: x is there and meets the tolerance, and so do other, quite different x. */
  if (status) printf("numerically singular: x solves a system within rounding of this one\n");
  if (gable_solver_work_report(work, &report)) goto failed;
  printf("n = %d, backward error %.1e, largest |x - 1| %.1e\n", (int)a.n_rows, report.backward_error,
         distance_from_ones(x, a.n_rows));
  rc = 0;
  goto done;

failed:
  fprintf(stderr, "%s\n", gable_last_error());
done:
  free(x);
  free(b);
  gable_solver_work_destroy(&work);
  gable_solver_destroy(&solver);
  gable_matrix_destroy(&full);
  gable_matrix_destroy(&stored);
  gable_context_destroy(&ctx);
  return rc;
}
