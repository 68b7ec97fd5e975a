/* row_product.c: see row_product.h. */
#include <math.h>
#include <string.h>

#include "kernels/sparse/row_product.h"

#define BODY "kernels/sparse/row_product.inc"
#include "kernels/trisolve/each_type_pair.inc"

static gable_status product(const gik_rows *a, const gik_product *p)
{
  (a->value_type == GABLE_TYPE_D ? product_dd : p->type == GABLE_TYPE_D ? product_sd : product_ss)(a, p);
  return GABLE_OK;
}

static gable_status return_rhs(const gik_rows *a, const gik_product *p)
{
  (a->value_type == GABLE_TYPE_D ? return_rhs_dd : p->type == GABLE_TYPE_D ? return_rhs_sd : return_rhs_ss)(a, p);
  return GABLE_OK;
}

static void blame(int *fault, gable_idx i, int zero, int infinite)
{
  if (infinite && i < fault[1]) fault[1] = i;
  if (!infinite && zero && i < fault[0]) fault[0] = i;
}

static gable_status relax(const gik_rows *a, double omega, void *d, int *fault, void *stream)
{
  (void)stream;
  for (gable_idx i = 0; i < a->n; i++) {
    if (a->value_type == GABLE_TYPE_D) {
      const double v = ((const double *)a->val)[a->diagonal[i]], r = v / omega;
      ((double *)d)[i] = r;
      blame(fault, i, r == 0 || !isfinite(r) || !isfinite(1 / r), !isfinite(v));
    } else {
      const float v = ((const float *)a->val)[a->diagonal[i]], r = (float)((double)v / omega);
      ((float *)d)[i] = r;
      blame(fault, i, r == 0 || !isfinite(r) || !isfinite(1 / r), !isfinite(v));
    }
  }
  return GABLE_OK;
}

static gable_status gather(void *to, const void *source, const unsigned *from, unsigned count, gable_type type,
                           void *stream)
{
  (void)stream;
  for (unsigned k = 0; k < count; k++) {
    if (type == GABLE_TYPE_D)
      ((double *)to)[k] = ((const double *)source)[from[k]];
    else
      ((float *)to)[k] = ((const float *)source)[from[k]];
  }
  return GABLE_OK;
}

static gable_status copy(gable_idx n, gable_type type, const void *from, ptrdiff_t from_step, void *to,
                         ptrdiff_t to_step, void *stream)
{
  const size_t bytes = (size_t)n * (type == GABLE_TYPE_D ? sizeof(double) : sizeof(float));
  (void)stream;
  if (to_step == 1 && (!from || from_step == 1)) {
    if (from)
      memcpy(to, from, bytes);
    else
      memset(to, 0, bytes);
    return GABLE_OK;
  }
  for (gable_idx i = 0; i < n; i++) {
    if (type == GABLE_TYPE_D)
      ((double *)to)[i * to_step] = from ? ((const double *)from)[i * from_step] : 0;
    else
      ((float *)to)[i * to_step] = from ? ((const float *)from)[i * from_step] : 0;
  }
  return GABLE_OK;
}

static gable_status square(gable_idx n, gable_type type, const void *y, double *parts, double *sum, void *stream)
{
  (void)stream;
  memset(parts, 0, GIK_SQUARE_PARTS * sizeof *parts);
  for (gable_idx i = 0; i < n; i++) {
    const double v = type == GABLE_TYPE_D ? ((const double *)y)[i] : (double)((const float *)y)[i];
    parts[i % GIK_SQUARE_PARTS] += v * v;
  }
  *sum = 0;
  for (int k = 0; k < GIK_SQUARE_PARTS; k++) *sum += parts[k];
  return GABLE_OK;
}

const gik_row_products gik_row_products_cpu = {
    .product = product, .return_rhs = return_rhs, .relax = relax, .gather = gather, .copy = copy, .square = square};
