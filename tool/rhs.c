#include "rhs.h"

#include <stdlib.h>

static double *allocate(gable_idx n, gable_idx count)
{
  return malloc(((size_t)n * (size_t)count + 1) * sizeof(double));
}

gable_status rhs_read(session *s, const char *path, int strict, double **data, gable_idx *rows, gable_idx *count)
{
  gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
  gable_matrix *file = NULL;
  gable_off duplicates = 0;
  gable_status status = session_read_whole(s, path, strict, &file, &v, &duplicates);
  if (!status && !(*data = allocate(v.n_rows, v.n_cols))) status = GABLE_ERR_MEMORY;
  if (!status) {
    const int64_t *ptr = v.ptr;
    const double *val = v.val;
    const size_t n = (size_t)v.n_rows;
    *rows = v.n_rows;
    *count = v.n_cols;
    for (size_t k = 0; k < n * (size_t)v.n_cols; k++) (*data)[k] = 0;
    for (gable_idx j = 0; j < v.n_cols; j++)
      for (int64_t k = ptr[j]; k < ptr[j + 1]; k++) (*data)[(size_t)j * n + (size_t)v.idx[k]] = val[k];
  }
  gable_matrix_destroy(&file);
  return status;
}

/* Between -1 and 1, from a position (splitmix64). */
static double seeded(uint64_t k)
{
  uint64_t z = (k + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return (double)((z ^ (z >> 31)) >> 11) * 0x1p-52 - 1;
}

gable_status rhs_make(const gable_matrix_view *a, gable_op op, gable_idx count, double **data)
{
  const int64_t *ptr = a->ptr;
  const double *val = a->val;
  gable_idx n = a->n_cols, columns = count ? count : 1;
  *data = allocate(n, columns);
  if (!*data) return GABLE_ERR_MEMORY;
  for (gable_idx c = 0; c < columns; c++) {
    double *b = *data + (size_t)c * (size_t)n;
    const uint64_t first = (uint64_t)c * (uint64_t)n;
    for (gable_idx i = 0; i < n; i++) b[i] = 0;
    for (gable_idx j = 0; j < n; j++) {
      double x_j = count ? seeded(first + (uint64_t)j) : 1;
      for (int64_t k = ptr[j]; k < ptr[j + 1]; k++) {
        gable_idx i = a->idx[k];
        if (op == GABLE_OP_N)
          b[i] += val[k] * x_j;
        else
          b[j] += val[k] * (count ? seeded(first + (uint64_t)i) : 1);
      }
    }
  }
  return GABLE_OK;
}

gable_status rhs_write(gable_context *ctx, const char *path, gable_idx n, gable_idx count, double *data)
{
  gable_vectors_view v = GABLE_VECTORS_VIEW_INIT;
  gable_matrix *file = NULL;
  v.n = n;
  v.count = count;
  v.ld = n;
  v.data = data;
  gable_status status = gable_matrix_from_vectors(ctx, &v, &file);
  if (!status) status = gable_matrix_write(file, path, GABLE_FILE_AUTO);
  gable_matrix_destroy(&file);
  return status;
}
