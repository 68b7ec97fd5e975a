/* forest_product.cu: see forest_product.h.  A thread sums a row. */
#include <cstdlib>
#include <cuda_runtime.h>

extern "C" {
#include "forest_product.h"
#include "forest_rows.h"
}

struct forest_product {
  gable_context *ctx;
  cudaStream_t stream;
  void *order, *ptr, *col, *val; /* as in forest_rows, in device memory */
};

namespace
{

enum { BLOCK = 256 };

__global__ void __launch_bounds__(BLOCK)
    sum_kernel(gable_idx from, gable_idx to, const gable_idx *__restrict__ order, const int64_t *__restrict__ ptr,
               const gable_idx *__restrict__ col, const double *__restrict__ val, const double *x, double *y)
{
  const int64_t k = from + (int64_t)blockIdx.x * BLOCK + threadIdx.x;
  if (k >= to) return;
  const gable_idx i = order[k];
  double sum = 0;
  for (int64_t p = ptr[i]; p < ptr[i + 1]; p++) sum = __dadd_rn(sum, __dmul_rn(val[p], x[col[p]]));
  y[i] = sum;
}

gable_status copy(gable_context *ctx, const void *host, size_t bytes, void **out)
{
  gable_status status = gable_device_alloc(ctx, bytes, out);
  if (!status) status = gable_device_copy_in(ctx, *out, host, bytes, nullptr);
  return status ? status : gable_device_synchronise(ctx, nullptr);
}

} /* namespace */

extern "C" gable_status forest_product_open(const forest_rows *r, forest_product **out)
{
  gable_context *ctx = gable_comm_context(r->comm);
  forest_product *p = (forest_product *)calloc(1, sizeof *p);
  const size_t n = (size_t)r->n, nnz = (size_t)r->ptr[r->n];
  *out = p;
  if (!p) return GABLE_ERR_MEMORY;
  p->ctx = ctx;
  p->stream = (cudaStream_t)gable_context_stream(ctx);
  gable_status status = copy(ctx, r->order, n * sizeof *r->order, &p->order);
  if (!status) status = copy(ctx, r->ptr, (n + 1) * sizeof *r->ptr, &p->ptr);
  if (!status) status = copy(ctx, r->col, nnz * sizeof *r->col, &p->col);
  return status ? status : copy(ctx, r->val, nnz * sizeof *r->val, &p->val);
}

extern "C" void forest_product_close(forest_product *p)
{
  if (!p) return;
  gable_device_free(p->ctx, &p->order);
  gable_device_free(p->ctx, &p->ptr);
  gable_device_free(p->ctx, &p->col);
  gable_device_free(p->ctx, &p->val);
  free(p);
}

extern "C" gable_status forest_product_sum(forest_product *p, gable_idx from, gable_idx to, const double *x, double *y)
{
  const void *order = p->order, *ptr = p->ptr, *col = p->col, *val = p->val;
  void *arguments[] = {&from, &to, &order, &ptr, &col, &val, &x, &y};
  if (from >= to) return GABLE_OK;
  const dim3 grid((unsigned)((to - from + BLOCK - 1) / BLOCK));
  return cudaLaunchKernel((const void *)sum_kernel, grid, dim3(BLOCK), arguments, 0, p->stream) ? GABLE_ERR_BACKEND
                                                                                                : GABLE_OK;
}
