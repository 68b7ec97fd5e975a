/* vectors.c: see vectors.h. */
#include "support/vectors.h"

#include <stdlib.h>

gable_vectors_view test_gapped_view(void *data, gable_type type, gable_idx n, gable_idx count, gable_major major)
{
  gable_vectors_view v = GABLE_VECTORS_VIEW_INIT;
  v.type = type;
  v.n = n;
  v.count = count;
  v.ld = major == GABLE_MAJOR_COL ? n + 3 : count + 2;
  v.major = major;
  v.data = data;
  return v;
}

size_t test_entry(const gable_vectors_view *v, gable_idx i, gable_idx j)
{
  return (size_t)(v->major == GABLE_MAJOR_COL ? i + j * v->ld : i * v->ld + j);
}

double test_value(const gable_vectors_view *v, gable_idx i, gable_idx j)
{
  const size_t k = test_entry(v, i, j);
  return v->type == GABLE_TYPE_S ? (double)((const float *)v->data)[k] : ((const double *)v->data)[k];
}

size_t test_extent(const gable_vectors_view *v)
{
  return (size_t)((v->major == GABLE_MAJOR_COL ? v->count : v->n) * v->ld + 1);
}

void *test_random_vectors(gi_random *r, const gable_vectors_view *v)
{
  const size_t count = test_extent(v);
  double *d = malloc(count * sizeof *d + 8);
  for (size_t k = 0; k < count; k++) {
    const double value = gi_random_unit(r) - 0.5;
    if (v->type == GABLE_TYPE_S)
      ((float *)(void *)d)[k] = (float)value;
    else
      d[k] = value;
  }
  return d;
}
