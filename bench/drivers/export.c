/* export.c: a matrix for the reference solvers to read without a parser of their own.
 *
 *   export A.mtx OUT.raw            a file that Gable reads
 *   export laplacian5:300x300 OUT.raw   or a matrix that Gable generates (a name with a colon)
 *
 * OUT: "GABLERAW", then int64 n, nnz, symmetric; int64 ptr[n+1]; int32 idx[nnz]; double val[nnz]; both triangles, by
 * columns. */
#include <gable/gable.h>

#include <stdio.h>
#include <string.h>

static int write_raw(const gable_matrix *a, const gable_matrix_info *info, const char *path)
{
  gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
  if (gable_matrix_get_view(a, &v)) return 1;
  FILE *f = fopen(path, "wb");
  if (!f) return 1;
  const int64_t *ptr = v.ptr;
  size_t n = (size_t)v.n_cols, nnz = (size_t)ptr[n];
  int64_t head[3] = {(int64_t)n, (int64_t)nnz, info->structure == GABLE_STRUCTURE_SYMMETRIC};
  int bad = fwrite("GABLERAW", 1, 8, f) != 8 || fwrite(head, sizeof head, 1, f) != 1 ||
            fwrite(ptr, sizeof *ptr, n + 1, f) != n + 1 || fwrite(v.idx, sizeof *v.idx, nnz, f) != nnz ||
            fwrite(v.val, sizeof(double), nnz, f) != nnz;
  return fclose(f) || bad;
}

int main(int argc, char **argv)
{
  gable_context *ctx = NULL;
  gable_matrix *a = NULL, *full = NULL;
  gable_matrix_info info = {.size = sizeof info};
  gable_read_options options = GABLE_READ_OPTIONS_INIT;
  if (argc != 3) {
    fprintf(stderr, "usage: export A.mtx|KIND:NUMBERS OUT.raw\n");
    return 2;
  }
  options.accept_complex = options.accept_pattern = 0;
  int bad = gable_context_create("cpu", NULL, &ctx) ||
            (strchr(argv[1], ':') ? gable_matrix_generate(ctx, argv[1], 1, &a)
                                  : gable_matrix_read(ctx, argv[1], &options, &a)) ||
            gable_matrix_get_info(a, &info) || gable_matrix_expand(a, &full);
  if (!bad && write_raw(full, &info, argv[2])) {
    fprintf(stderr, "export: cannot write %s\n", argv[2]);
    bad = 2;
  } else if (bad) {
    fprintf(stderr, "export: %s\n", gable_last_error());
  }
  gable_matrix_destroy(&full);
  gable_matrix_destroy(&a);
  gable_context_destroy(&ctx);
  return bad;
}
