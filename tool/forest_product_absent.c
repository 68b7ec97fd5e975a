/* forest_product_absent.c: a build without CUDA has no rows on a GPU. */
#include "forest_product.h"

gable_status forest_product_open(const struct forest_rows *r, forest_product **out)
{
  (void)r;
  *out = NULL;
  return GABLE_ERR_UNAVAILABLE;
}

void forest_product_close(forest_product *p)
{
  (void)p;
}

gable_status forest_product_sum(forest_product *p, gable_idx from, gable_idx to, const double *x, double *y)
{
  (void)p;
  (void)from;
  (void)to;
  (void)x;
  (void)y;
  return GABLE_ERR_UNAVAILABLE;
}
