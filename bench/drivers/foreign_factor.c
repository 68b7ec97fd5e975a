/* foreign_factor WAY A.mtx OUT.factor OUT.order: factors A by another package (one program for each:
 * tests/reference/from_*.c), in the way of that number, imports the factor by the adapter and saves it for `gable solve
 * --load-factor`; the order of its columns goes to OUT.order, for `gable solve --order`, which then makes Gable's own
 * factor of about the same fill. */
#include <stdio.h>
#include <stdlib.h>

#include "../../tests/reference/from.h"

#define MUST(condition)                                                                                                \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      fprintf(stderr, "foreign_factor: %s:%d: %s: %s\n", __FILE__, __LINE__, #condition, gable_last_error());          \
      exit(1);                                                                                                         \
    }                                                                                                                  \
  } while (0)

static void read_whole(gable_context *ctx, const char *path, gable_matrix **whole, gable_matrix_view *v)
{
  gable_matrix *stored = NULL;
  MUST(!gable_matrix_read(ctx, path, NULL, &stored));
  MUST(!gable_matrix_expand(stored, whole));
  MUST(!gable_matrix_get_view(*whole, v));
  gable_matrix_destroy(&stored);
}

static void write_order(const gable_solver *s, const char *path)
{
  gable_factors *factors = NULL;
  gable_factors_view f = GABLE_FACTORS_VIEW_INIT;
  FILE *out = fopen(path, "w");
  MUST(out);
  MUST(!gable_solver_export(s, &factors) && !gable_factors_get_view(factors, &f));
  for (int k = 0; k < f.n; k++) fprintf(out, "%d\n", (int)f.col_order[k]);
  MUST(!fclose(out));
  gable_factors_destroy(&factors);
}

int main(int argc, char **argv)
{
  gable_context *ctx = NULL;
  gable_matrix *whole = NULL;
  gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
  gable_solver *s = NULL;
  if (argc != 5) {
    fprintf(stderr, "usage: foreign_factor WAY A.mtx OUT.factor OUT.order\n");
    return 2;
  }
  MUST(!gable_context_create("cpu", NULL, &ctx));
  read_whole(ctx, argv[2], &whole, &v);
  const int64_t *ptr = v.ptr;
  from_matrix a = {v.n_cols, malloc(((size_t)v.n_cols + 1) * sizeof *a.ptr), (int *)(uintptr_t)v.idx,
                   (double *)(uintptr_t)v.val};
  MUST(a.ptr);
  for (int j = 0; j <= v.n_cols; j++) a.ptr[j] = (int)ptr[j];
  MUST(from_factor(&a, atoi(argv[1])) == 0);
  MUST(!gable_solver_create(ctx, NULL, &s) && !from_import(s, &v));
  MUST(!gable_solver_save(s, argv[3]));
  write_order(s, argv[4]);
  gable_solver_destroy(&s);
  gable_matrix_destroy(&whole);
  gable_context_destroy(&ctx);
  free(a.ptr);
  return 0;
}
