/* columns.h: what the adapters beside this file share: triangles by columns in memory of malloc.
 *
 * Static functions alone: an adapter is compiled by the program that includes it, after the header of the package. */
#ifndef GABLE_ADAPTERS_COLUMNS_H
#define GABLE_ADAPTERS_COLUMNS_H

#include <stdlib.h>
#include <string.h>

#include <gable/factors.h>

/* n columns, base 0; rows of a column in any order until gable_columns_sort. */
typedef struct gable_columns {
  gable_idx n;
  int64_t *ptr;   /* [n+1] */
  gable_idx *idx; /* [ptr[n]] */
  double *val;    /* [ptr[n]] */
} gable_columns;

static inline void gable_columns_release(gable_columns *c)
{
  free(c->ptr);
  free(c->idx);
  free(c->val);
  memset(c, 0, sizeof *c);
}

/* Room for most entries, ptr zero; after GABLE_ERR_MEMORY c is released. */
static inline gable_status gable_columns_take(gable_columns *c, gable_idx n, int64_t most)
{
  c->n = n;
  c->ptr = (int64_t *)calloc((size_t)n + 1, sizeof *c->ptr);
  c->idx = (gable_idx *)malloc((size_t)most * sizeof *c->idx + 1);
  c->val = (double *)malloc((size_t)most * sizeof *c->val + 1);
  if (c->ptr && c->idx && c->val) return GABLE_OK;
  gable_columns_release(c);
  return gable_set_error(GABLE_ERR_MEMORY, "out of memory for the factors of another package");
}

/* to = from^T, whose columns come out sorted. */
static inline void gable_columns_transpose(const gable_columns *from, gable_columns *to)
{
  const gable_idx n = from->n;
  memset(to->ptr, 0, ((size_t)n + 1) * sizeof *to->ptr);
  for (int64_t k = 0; k < from->ptr[n]; k++) to->ptr[from->idx[k] + 1]++;
  for (gable_idx i = 0; i < n; i++) to->ptr[i + 1] += to->ptr[i];
  for (gable_idx j = 0; j < n; j++)
    for (int64_t k = from->ptr[j]; k < from->ptr[j + 1]; k++) {
      const int64_t at = to->ptr[from->idx[k]]++;
      to->idx[at] = j;
      to->val[at] = from->val[k];
    }
  for (gable_idx i = n; i > 0; i--) to->ptr[i] = to->ptr[i - 1];
  to->ptr[0] = 0;
}

/* Rows increasing in each column.  O(n + entries); every row is within the matrix. */
static inline gable_status gable_columns_sort(gable_columns *c)
{
  gable_columns transposed = {0, NULL, NULL, NULL};
  const gable_status status = gable_columns_take(&transposed, c->n, c->ptr[c->n]);
  if (status) return status;
  gable_columns_transpose(c, &transposed);
  gable_columns_transpose(&transposed, c);
  gable_columns_release(&transposed);
  return GABLE_OK;
}

static inline gable_matrix_view gable_columns_view(const gable_columns *c)
{
  gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
  v.n_rows = v.n_cols = c->n;
  v.format = GABLE_FORMAT_CSC;
  v.ptr = c->ptr;
  v.idx = c->idx;
  v.val = c->val;
  return v;
}

/* out [n]: out[place[k]] = k. */
static inline gable_status gable_columns_invert(gable_idx n, const int *place, gable_idx **out)
{
  gable_idx *of = (gable_idx *)calloc((size_t)n + 1, sizeof *of);
  *out = of;
  if (!of) return gable_set_error(GABLE_ERR_MEMORY, "out of memory for a permutation of another package");
  for (gable_idx k = 0; k < n; k++)
    if (place[k] < 0 || place[k] >= n)
      return gable_set_error(GABLE_ERR_ARGUMENT, "a permutation of the other package is out of range");
  for (gable_idx k = 0; k < n; k++) of[place[k]] = k;
  return GABLE_OK;
}

#endif
