/* forest_parts.c: see forest_parts.h. */
#include "forest_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ptr [n+1], idx: the graph of A + A^T without its diagonal, from the columns of both. */
static gable_off neighbours(const gable_matrix_view *a, const gable_matrix_view *at, gable_idx *mark, int32_t *ptr,
                            int32_t *idx)
{
  gable_off found = 0;
  for (gable_idx j = 0; j < a->n_cols; j++) mark[j] = -1;
  for (gable_idx j = 0; j < a->n_cols; j++) {
    ptr[j] = (int32_t)found;
    mark[j] = j;
    for (int k = 0; k < 2; k++) {
      const gable_matrix_view *v = k ? at : a;
      const int64_t *from = v->ptr;
      for (int64_t p = from[j]; p < from[j + 1]; p++) {
        if (mark[v->idx[p]] == j) continue;
        mark[v->idx[p]] = j;
        idx[found++] = v->idx[p];
      }
    }
  }
  ptr[a->n_cols] = (int32_t)found;
  return found;
}

static gable_status by_metis(const gable_matrix *a, int ranks, int32_t *part, char *why, size_t why_bytes)
{
  gable_matrix_view v = GABLE_MATRIX_VIEW_INIT, vt = GABLE_MATRIX_VIEW_INIT;
  gable_matrix *transposed = NULL;
  gable_idx *mark = NULL;
  int32_t *ptr = NULL, *idx = NULL;
  gable_status status = gable_matrix_get_view(a, &v);
  if (!status) status = gable_matrix_transpose(a, &transposed);
  if (!status) status = gable_matrix_get_view(transposed, &vt);
  const gable_off most = status ? 0 : 2 * ((const int64_t *)v.ptr)[v.n_cols];
  if (most >= INT32_MAX) {
    snprintf(why, why_bytes, "--parts metis: METIS of this build counts edges in 32 bits");
    status = GABLE_ERR_LIMIT;
  }
  if (!status) {
    mark = malloc(((size_t)v.n_cols + 1) * sizeof *mark);
    ptr = malloc(((size_t)v.n_cols + 1) * sizeof *ptr);
    idx = malloc(((size_t)most + 1) * sizeof *idx);
    status = mark && ptr && idx ? GABLE_OK : GABLE_ERR_MEMORY;
  }
  if (!status) {
    neighbours(&v, &vt, mark, ptr, idx);
    status = parts_metis(v.n_cols, ptr, idx, ranks, part, why, why_bytes);
  }
  free(mark);
  free(ptr);
  free(idx);
  gable_matrix_destroy(&transposed);
  return status;
}

/* One rank a line. */
static gable_status from_file(const char *path, gable_idx n, int ranks, int32_t *part, char *why, size_t why_bytes)
{
  FILE *f = fopen(path, "r");
  gable_idx k = 0;
  long rank = 0;
  int more = 1;
  if (!f) {
    snprintf(why, why_bytes, "%.200s: %s", path, strerror(errno));
    return GABLE_ERR_IO;
  }
  while (k < n && (more = fscanf(f, "%ld", &rank)) == 1 && rank >= 0 && rank < ranks) part[k++] = (int32_t)rank;
  const int ends = k == n && fscanf(f, "%ld", &rank) == EOF && !ferror(f);
  fclose(f);
  if (ends) return GABLE_OK;
  if (k < n && more == 1)
    snprintf(why, why_bytes, "%.200s: line %d: rank %ld of %d ranks", path, (int)k + 1, rank, ranks);
  else
    snprintf(why, why_bytes, "%.200s: give %d ranks, one a line for each row: line %d is %s", path, (int)n, (int)k + 1,
             k < n ? "none" : "one too many");
  return GABLE_ERR_FORMAT;
}

gable_status forest_parts(const gable_matrix *a, const char *how, int ranks, int32_t *part, char *why, size_t why_bytes)
{
  gable_matrix_info info = GABLE_MATRIX_INFO_INIT;
  const gable_status status = gable_matrix_get_info(a, &info);
  if (status) return status;
  if (strcmp(how, "block") && strcmp(how, "metis")) return from_file(how, info.n_rows, ranks, part, why, why_bytes);
  if (!strcmp(how, "metis") && ranks > 1 && info.n_rows) return by_metis(a, ranks, part, why, why_bytes);
  for (gable_idx i = 0; i < info.n_rows; i++) part[i] = (int32_t)((int64_t)i * ranks / info.n_rows);
  return GABLE_OK;
}
