/* foreign_factors PLACE MATRIX...: factors each (a file, or what gable generate takes) with somebody else's solver,
 * imports the factors, and solves with them at the place, plain and transposed, with the matrix and without, each way
 * in which the package factors; and what the adapter must refuse. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "from.h"

#define MUST(condition)                                                                                                \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, gable_last_error());                          \
      exit(1);                                                                                                         \
    }                                                                                                                  \
  } while (0)

static from_matrix copy(const gable_matrix_view *v)
{
  const int64_t *ptr = v->ptr;
  from_matrix a = {v->n_cols, malloc(((size_t)v->n_cols + 1) * sizeof *a.ptr), (int *)(uintptr_t)v->idx,
                   (double *)(uintptr_t)v->val};
  for (int j = 0; j <= v->n_cols; j++) a.ptr[j] = (int)ptr[j];
  return a;
}

static gable_vectors_view vector(int n, double *data)
{
  gable_vectors_view v = GABLE_VECTORS_VIEW_INIT;
  v.n = n;
  v.ld = n;
  v.data = data;
  return v;
}

/* max |b - op(A) x| / (|op(A)||x| + |b|), componentwise. */
static double backward_error(const from_matrix *a, gable_op op, const double *b, const double *x)
{
  const size_t n = (size_t)a->n;
  double *r = malloc(n * sizeof *r), *w = malloc(n * sizeof *w), worst = 0;
  for (size_t i = 0; i < n; i++) {
    r[i] = b[i];
    w[i] = fabs(b[i]);
  }
  for (int j = 0; j < a->n; j++)
    for (int k = a->ptr[j]; k < a->ptr[j + 1]; k++) {
      const int to = op == GABLE_OP_N ? a->idx[k] : j, from = op == GABLE_OP_N ? j : a->idx[k];
      r[to] -= a->val[k] * x[from];
      w[to] += fabs(a->val[k] * x[from]);
    }
  for (size_t i = 0; i < n; i++)
    if (!(fabs(r[i]) <= worst * w[i])) worst = fabs(r[i]) / w[i];
  free(r);
  free(w);
  return worst;
}

/* The supernodes of s are the package's: the same columns of A, in the same order. */
static void check_supernodes(const char *name, int way, const gable_solver *s, int n)
{
  const int *first, *column, count = from_supernodes(&first, &column);
  gable_factors *out = NULL;
  gable_factors_view f = GABLE_FACTORS_VIEW_INIT;
  int64_t elementwise;
  int widest = 0, *place = malloc((size_t)n * sizeof *place), *begins = calloc((size_t)n + 1, sizeof *begins);
  if (!count) goto done;
  MUST(!gable_solver_get(s, GABLE_SOLVER_ELEMENTWISE, &elementwise, sizeof elementwise) && !elementwise);
  MUST(!gable_solver_export(s, &out) && !gable_factors_get_view(out, &f));
  MUST(f.n_supernodes == count);
  for (int k = 0; k < n; k++) place[f.col_order[k]] = k;
  for (int k = 0; k <= count; k++) begins[f.supernodes[k]] = 1;
  for (int k = 0; k < count; k++) {
    if (first[k + 1] - first[k] > widest) widest = first[k + 1] - first[k];
    for (int j = first[k]; j < first[k + 1]; j++) {
      const int at = place[column[j]];
      MUST(begins[at] == (j == first[k]) && begins[at + 1] == (j + 1 == first[k + 1]));
      MUST(j == first[k] || at == place[column[j - 1]] + 1);
    }
  }
  printf("%s (%d) of %s: %d supernodes, of up to %d columns, kept\n", from_name, way, name, count, widest);
done:
  gable_factors_destroy(&out);
  free(place);
  free(begins);
}

long from_left = -1;

void *from_malloc(size_t bytes)
{
  return from_left >= 0 && from_left-- == 0 ? NULL : malloc(bytes);
}

void *from_calloc(size_t count, size_t bytes)
{
  return from_left >= 0 && from_left-- == 0 ? NULL : calloc(count, bytes);
}

/* Each allocation of the adapter fails once: an error, and the next import works. */
static void check_memory(gable_context *ctx, const gable_matrix_view *v)
{
  for (int with = 0; with < 2; with++) {
    gable_solver *s = NULL;
    long failed = 0;
    MUST(!gable_solver_create(ctx, NULL, &s));
    for (;; failed++) {
      from_left = failed;
      const gable_status status = from_import(s, with ? v : NULL);
      if (from_left >= 0) break;
      MUST(status == GABLE_ERR_MEMORY);
    }
    from_left = -1;
    MUST(failed > 0 && !from_import(s, with ? v : NULL));
    gable_solver_destroy(&s);
  }
}

/* Solves with the factor that was made last, with the matrix and without it, both ops. */
static void check_factor(gable_context *ctx, const char *name, int way, const from_matrix *a,
                         const gable_matrix_view *v)
{
  const size_t n = (size_t)a->n;
  double *b = malloc(n * sizeof *b), *x = malloc(n * sizeof *x);
  for (size_t i = 0; i < n; i++) b[i] = 1 + (double)(i % 7);
  MUST(from_solve(b, x) == 0);
  const double own = backward_error(a, GABLE_OP_N, b, x);
  MUST(own <= 1e-9);
  for (int with = 0; with < 2; with++) {
    gable_solver *s = NULL;
    gable_solver_work *w = NULL;
    MUST(!gable_solver_create(ctx, NULL, &s));
    MUST(!from_import(s, with ? v : NULL));
    check_supernodes(name, way, s, a->n);
    MUST(!gable_solver_work_create(s, 1, &w));
    for (int op = 0; op < 2; op++) {
      gable_vectors_view vb = vector(a->n, b), vx = vector(a->n, x);
      memset(x, 0xff, n * sizeof *x);
      MUST(!gable_solver_solve(s, w, (gable_op)op, &vb, &vx));
      for (size_t i = 0; i < n; i++) x[i] *= from_sign;
      const double error = backward_error(a, (gable_op)op, b, x);
      printf("%s (%d) of %s, %s, op %d: backward error %.1e (its own %.1e)\n", from_name, way, name,
             with ? "refined" : "one sweep", op, error, own);
      /* one sweep on a device multiplies by inverses, and loses up to their condition */
      MUST(error <= (with && from_sign > 0 ? 1e-12 : gable_context_space(ctx) == GABLE_SPACE_HOST ? 1e-9 : 1e-6));
    }
    if (!with) {
      const char *wrong = from_refuses(s);
      if (wrong) fprintf(stderr, "%s\n", wrong);
      MUST(!wrong);
    }
    gable_solver_work_destroy(&w);
    gable_solver_destroy(&s);
  }
  free(b);
  free(x);
}

static void check(gable_context *ctx, const char *name, const gable_matrix_view *v)
{
  from_matrix a = copy(v);
  int way = 0, rc;
  while ((rc = from_factor(&a, way)) == 0) {
    check_factor(ctx, name, way++, &a, v);
    check_memory(ctx, v);
  }
  MUST(rc == -1 && way > 0);
  free(a.ptr);
}

int main(int argc, char **argv)
{
  gable_context *ctx = NULL;
  MUST(argc > 1 && !gable_context_create(argv[1], NULL, &ctx));
  for (int k = 2; k < argc; k++) {
    gable_matrix *a = NULL, *whole = NULL;
    gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
    MUST(!(strchr(argv[k], ':') ? gable_matrix_generate(ctx, argv[k], 1, &a)
                                : gable_matrix_read(ctx, argv[k], NULL, &a)));
    MUST(!gable_matrix_expand(a, &whole));
    MUST(!gable_matrix_get_view(whole, &v));
    gable_matrix_info info = GABLE_MATRIX_INFO_INIT;
    MUST(!gable_matrix_get_info(a, &info));
    if (!from_definite || info.structure == GABLE_STRUCTURE_SYMMETRIC || info.structure == GABLE_STRUCTURE_SPD)
      check(ctx, argv[k], &v);
    gable_matrix_destroy(&whole);
    gable_matrix_destroy(&a);
  }
  gable_context_destroy(&ctx);
  return 0;
}
