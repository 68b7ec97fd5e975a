/* triangles.c: the lower triangle of a grid's matrix, in place in the matrix, analysed once; then new values, and
 * solves with it and with its transpose, of vectors that lie where the solves run.
 *
 *   cc triangles.c $(pkg-config --cflags --libs gable) -lm && ./a.out cpu     (or ./a.out cuda:0) */
#include <gable/gable.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 200, N = SIDE * SIDE, COLUMNS = 4, ROUNDS = 3 };

/* By rows, both triangles of the five-point pattern. */
typedef struct grid {
  int64_t ptr[N + 1];
  gable_idx col[5 * N];
  double val[5 * N];
} grid;

static void make_grid(grid *g, double diagonal)
{
  static const int away[] = {-SIDE, -1, 0, 1, SIDE};
  int64_t p = 0;
  for (int i = 0; i < N; i++) {
    g->ptr[i] = p;
    for (int k = 0; k < 5; k++) {
      const int j = i + away[k];
      if (j < 0 || j >= N || (k == 1 && i % SIDE == 0) || (k == 3 && j % SIDE == 0)) continue;
      g->col[p] = j;
      g->val[p++] = j == i ? diagonal : -1;
    }
  }
  g->ptr[N] = p;
}

/* The largest |b - L x|, or |b - L^T x|, over |b|. */
static double error_of(const grid *g, gable_op op, const double *b, const double *x)
{
  double worst = 0, largest = 0, *r = malloc(sizeof *r * N);
  if (!r) return HUGE_VAL;
  for (int i = 0; i < N; i++) r[i] = b[i];
  for (int i = 0; i < N; i++) {
    for (int64_t p = g->ptr[i]; p < g->ptr[i + 1] && g->col[p] <= i; p++) {
      if (op == GABLE_OP_N)
        r[i] -= g->val[p] * x[g->col[p]];
      else
        r[g->col[p]] -= g->val[p] * x[i];
    }
  }
  for (int i = 0; i < N; i++) {
    worst = fmax(worst, fabs(r[i]));
    largest = fmax(largest, fabs(b[i]));
  }
  free(r);
  return worst / largest;
}

/* x becomes the solution for b, COLUMNS right-hand sides each in host memory; there: room for them where solves run. */
static gable_status solve(gable_context *ctx, const gable_trisolve *plan, gable_trisolve_work *work, gable_op op,
                          const double *b, double *x, gable_vectors_view *there)
{
  const size_t bytes = sizeof *b * N * COLUMNS;
  gable_status status = gable_device_copy_in(ctx, there->data, b, bytes, NULL);
  if (!status) status = gable_trisolve_solve(plan, work, op, there, there); /* on a GPU it is only begun here */
  if (!status) status = gable_device_copy_out(ctx, x, there->data, bytes, NULL);
  if (!status) status = gable_trisolve_work_status(work, NULL); /* waits, and says what went wrong on the way */
  return status;
}

int main(int argc, char **argv)
{
  gable_context *ctx = NULL;
  gable_trisolve *plan = NULL;
  gable_trisolve_work *work = NULL;
  gable_matrix_view a = GABLE_MATRIX_VIEW_INIT;
  gable_vectors_view there = GABLE_VECTORS_VIEW_INIT;
  gable_trisolve_options options = GABLE_TRISOLVE_OPTIONS_INIT;
  gable_trisolve_info info = GABLE_TRISOLVE_INFO_INIT;
  grid *g = malloc(sizeof *g);
  double *b = malloc(sizeof *b * N * COLUMNS), *x = malloc(sizeof *x * N * COLUMNS);
  int rc = 1;
  if (!g || !b || !x) goto done;
  make_grid(g, 4);
  for (int k = 0; k < N * COLUMNS; k++) b[k] = 1 + k % 7;
  a.n_rows = a.n_cols = N;
  a.ptr = g->ptr;
  a.idx = g->col;
  a.part = GABLE_PART_FULL;
  options.uplo = GABLE_PART_LOWER; /* of both triangles that are there */
  options.typical_rhs = COLUMNS;

  if (gable_context_create(argc > 1 ? argv[1] : "cpu", NULL, &ctx)) goto failed;
  if (gable_trisolve_create(ctx, &options, &plan)) goto failed;
  if (gable_trisolve_analyse(plan, &a)) goto failed;
  if (gable_trisolve_work_create(plan, COLUMNS, &work)) goto failed;
  if (gable_trisolve_get_info(plan, GABLE_OP_N, &info)) goto failed;
  printf("%s on %s: %s\n", info.method_used, gable_context_where(ctx), info.why);
  there.space = gable_context_space(ctx);
  there.n = N;
  there.count = COLUMNS;
  there.ld = N;
  if (gable_device_alloc(ctx, sizeof *b * N * COLUMNS, &there.data)) goto failed;
  for (int round = 0; round < ROUNDS; round++) {
    make_grid(g, 4 + round);
    if (gable_trisolve_update(plan, g->val)) goto failed;
    for (int op = GABLE_OP_N; op <= GABLE_OP_T; op++) {
      if (solve(ctx, plan, work, (gable_op)op, b, x, &there)) goto failed;
      printf("diagonal %d, op %s: error %.1e\n", 4 + round, op == GABLE_OP_N ? "N" : "T",
             error_of(g, (gable_op)op, b, x));
    }
  }
  rc = 0;
  goto done;

failed:
  fprintf(stderr, "%s\n", gable_last_error());
done:
  if (ctx) gable_device_free(ctx, &there.data);
  gable_trisolve_work_destroy(&work);
  gable_trisolve_destroy(&plan);
  gable_context_destroy(&ctx);
  free(x);
  free(b);
  free(g);
  return rc;
}
