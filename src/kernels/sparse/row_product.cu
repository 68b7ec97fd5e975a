/* row_product.cu: see row_product.h.  A few neighbouring threads share a row. */
#include "cuda/block_sum.cuh"
#include "cuda/launch.cuh"
#include "kernels/sparse/row_product.h"

using gik::block_sum;
using gik::launches;

namespace
{

enum { BLOCK = 256 };
const unsigned all_lanes = 0xffffffffu;

unsigned blocks_for(size_t threads)
{
  return (unsigned)((threads + BLOCK - 1) / BLOCK);
}

template <typename A, typename V> struct vectors {
  const V *b, *x;
  V *y;
  const A *d;
  ptrdiff_t b_step, x_step, b_rhs, x_rhs;
  int count;
  bool exact;
};

struct span {
  unsigned first, end;
};

/* The entries of row i that are summed. */
__device__ inline span span_of(const gik_rows &a, gik_part part, gable_idx i, bool any)
{
  if ((unsigned)i >= (unsigned)a.n || !any) return {0, 0};
  return {part == GIK_ABOVE ? a.diagonal[i] + 1 : a.ptr[i], part == GIK_BELOW ? a.diagonal[i] : a.ptr[i + 1]};
}

/* What the diagonal adds to the sum of row i. */
template <typename A, typename V>
__device__ inline V diagonal_term(const gik_rows &a, const vectors<A, V> &v, const V *x, gable_idx i)
{
  if (!v.d || v.exact) return 0;
  return ((V)((const A *)a.val)[a.diagonal[i]] - (V)v.d[i]) * x[i * v.x_step];
}

template <typename A, typename V>
__device__ inline void store_row(const vectors<A, V> &v, gable_idx n, gable_idx i, int j, V sum)
{
  v.y[(ptrdiff_t)j * n + i] = v.b ? v.b[i * v.b_step + j * v.b_rhs] - sum : sum;
}

/* Rows of more entries than this for each of their threads are taken by the whole block, one after the other. */
enum { LONG = 64 };

template <typename A, typename V, int P>
__device__ void long_rows(const gik_rows &a, gik_part part, const vectors<A, V> &v, double *of)
{
  const A *__restrict__ val = (const A *)a.val;
  for (int r = 0; r < BLOCK / P; r++) {
    const gable_idx i = (gable_idx)((size_t)blockIdx.x * (BLOCK / P) + r);
    const span s = span_of(a, part, i, v.x);
    if (s.end - s.first <= LONG * P) continue;
    for (int j = 0; j < v.count; j++) {
      const V *__restrict__ x = v.x + j * v.x_rhs;
      V sum = threadIdx.x ? 0 : diagonal_term(a, v, x, i);
#pragma unroll 4
      for (unsigned q = s.first + threadIdx.x; q < s.end; q += BLOCK) sum = fma((V)val[q], x[a.idx[q] * v.x_step], sum);
      sum = (V)block_sum<BLOCK>((double)sum, of);
      if (!threadIdx.x) store_row(v, a.n, i, j, sum);
    }
  }
}

template <typename A, typename V, int P>
__global__ void __launch_bounds__(BLOCK) product_kernel(const gik_rows a, gik_part part, const vectors<A, V> v)
{
  __shared__ double of[BLOCK];
  const gable_idx i = (gable_idx)(((size_t)blockIdx.x * BLOCK + threadIdx.x) / P);
  const unsigned lane = threadIdx.x % P;
  const A *__restrict__ val = (const A *)a.val;
  const gable_idx *__restrict__ idx = a.idx;
  const span s = span_of(a, part, i, v.x);
  const bool mine = s.end - s.first <= LONG * P, row = (unsigned)i < (unsigned)a.n;
  for (int j = 0; j < v.count; j++) {
    const V *__restrict__ x = v.x + j * v.x_rhs;
    V sum = 0;
    for (unsigned q = s.first + lane; mine && q < s.end; q += P) sum = fma((V)val[q], x[idx[q] * v.x_step], sum);
    if (row && v.x && lane == 0) sum += diagonal_term(a, v, x, i);
#pragma unroll
    for (int d = P / 2; d > 0; d >>= 1) sum += __shfl_xor_sync(all_lanes, sum, d);
    if (row && mine && lane == 0) store_row(v, a.n, i, j, sum);
  }
  if (__syncthreads_or(!mine)) long_rows<A, V, P>(a, part, v, of);
}

template <typename A, typename V>
__global__ void __launch_bounds__(BLOCK) return_rhs_kernel(const gik_rows a, const vectors<A, V> v)
{
  const gable_idx i = (gable_idx)(blockIdx.x * BLOCK + threadIdx.x);
  if (i >= a.n) return;
  const V twice = v.exact ? (V)v.d[i] : 2 * (V)v.d[i] - (V)((const A *)a.val)[a.diagonal[i]];
  for (int j = 0; j < v.count; j++) {
    V *y = v.y + (ptrdiff_t)j * a.n + i;
    *y = fma(twice, v.x[i * v.x_step + j * v.x_rhs], v.b[i * v.b_step + j * v.b_rhs] - *y);
  }
}

template <typename A, typename V> vectors<A, V> vectors_of(const gik_product *p)
{
  return {(const V *)p->b, (const V *)p->x, (V *)p->y, (const A *)p->relaxed, p->b_step, p->x_step,
          p->b_rhs,        p->x_rhs,        p->count,  p->exact != 0};
}

template <typename A, typename V> void product_launch(const gik_rows *a, const gik_product *p, launches *on)
{
  const double mean = (double)a->nnz / a->n * (p->part == GIK_WHOLE ? 1.0 : 0.5);
  const vectors<A, V> v = vectors_of<A, V>(p);
  const size_t n = (size_t)a->n;
  if (mean <= 2)
    on->launch(product_kernel<A, V, 1>, blocks_for(n), BLOCK, 0, *a, p->part, v);
  else if (mean <= 4)
    on->launch(product_kernel<A, V, 2>, blocks_for(2 * n), BLOCK, 0, *a, p->part, v);
  else if (mean <= 8)
    on->launch(product_kernel<A, V, 4>, blocks_for(4 * n), BLOCK, 0, *a, p->part, v);
  else if (mean <= 20)
    on->launch(product_kernel<A, V, 8>, blocks_for(8 * n), BLOCK, 0, *a, p->part, v);
  else if (mean <= 48)
    on->launch(product_kernel<A, V, 16>, blocks_for(16 * n), BLOCK, 0, *a, p->part, v);
  else
    on->launch(product_kernel<A, V, 32>, blocks_for(32 * n), BLOCK, 0, *a, p->part, v);
}

gable_status product(const gik_rows *a, const gik_product *p)
{
  launches on(p->stream);
  if (!a->n) return GABLE_OK;
  if (a->value_type == GABLE_TYPE_D)
    product_launch<double, double>(a, p, &on);
  else if (p->type == GABLE_TYPE_D)
    product_launch<float, double>(a, p, &on);
  else
    product_launch<float, float>(a, p, &on);
  return on.status("product");
}

gable_status return_rhs(const gik_rows *a, const gik_product *p)
{
  const unsigned blocks = blocks_for((size_t)a->n);
  launches on(p->stream);
  if (!a->n) return GABLE_OK;
  if (a->value_type == GABLE_TYPE_D)
    on.launch(return_rhs_kernel<double, double>, blocks, BLOCK, 0, *a, vectors_of<double, double>(p));
  else if (p->type == GABLE_TYPE_D)
    on.launch(return_rhs_kernel<float, double>, blocks, BLOCK, 0, *a, vectors_of<float, double>(p));
  else
    on.launch(return_rhs_kernel<float, float>, blocks, BLOCK, 0, *a, vectors_of<float, float>(p));
  return on.status("right-hand side of a sweep back");
}

template <typename A> __global__ void relax_kernel(const gik_rows a, double omega, A *d, int *fault)
{
  const gable_idx i = (gable_idx)(blockIdx.x * BLOCK + threadIdx.x);
  if (i >= a.n) return;
  const A v = ((const A *)a.val)[a.diagonal[i]], r = (A)((double)v / omega);
  d[i] = r;
  if (!isfinite(v))
    atomicMin(fault + 1, i);
  else if (r == 0 || !isfinite(r) || !isfinite(1 / r))
    atomicMin(fault, i);
}

gable_status relax(const gik_rows *a, double omega, void *d, int *fault, void *stream)
{
  const unsigned blocks = blocks_for((size_t)a->n);
  launches on(stream);
  if (!a->n) return GABLE_OK;
  if (a->value_type == GABLE_TYPE_D)
    on.launch(relax_kernel<double>, blocks, BLOCK, 0, *a, omega, (double *)d, fault);
  else
    on.launch(relax_kernel<float>, blocks, BLOCK, 0, *a, omega, (float *)d, fault);
  return on.status("relaxed diagonal");
}

template <typename T> __global__ void gather_kernel(T *to, const T *source, const unsigned *from, unsigned count)
{
  const size_t k = (size_t)blockIdx.x * BLOCK + threadIdx.x;
  if (k < count) to[k] = source[from[k]];
}

gable_status gather(void *to, const void *source, const unsigned *from, unsigned count, gable_type type, void *stream)
{
  const unsigned blocks = blocks_for(count);
  launches on(stream);
  if (!count) return GABLE_OK;
  if (type == GABLE_TYPE_D)
    on.launch(gather_kernel<double>, blocks, BLOCK, 0, (double *)to, (const double *)source, from, count);
  else
    on.launch(gather_kernel<float>, blocks, BLOCK, 0, (float *)to, (const float *)source, from, count);
  return on.status("gather");
}

template <typename T>
__global__ void copy_kernel(gable_idx n, const T *from, ptrdiff_t from_step, T *to, ptrdiff_t to_step)
{
  const gable_idx i = (gable_idx)(blockIdx.x * BLOCK + threadIdx.x);
  if (i < n) to[i * to_step] = from ? from[i * from_step] : 0;
}

gable_status copy(gable_idx n, gable_type type, const void *from, ptrdiff_t from_step, void *to, ptrdiff_t to_step,
                  void *stream)
{
  const unsigned blocks = blocks_for((size_t)n);
  launches on(stream);
  if (!n) return GABLE_OK;
  if (type == GABLE_TYPE_D)
    on.launch(copy_kernel<double>, blocks, BLOCK, 0, n, (const double *)from, from_step, (double *)to, to_step);
  else
    on.launch(copy_kernel<float>, blocks, BLOCK, 0, n, (const float *)from, from_step, (float *)to, to_step);
  return on.status("copy");
}

template <typename T> __global__ void square_kernel(gable_idx n, const T *y, double *parts)
{
  __shared__ double of[BLOCK];
  double sum = 0;
  for (ptrdiff_t i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += GIK_SQUARE_PARTS * BLOCK)
    sum = fma((double)y[i], (double)y[i], sum);
  sum = block_sum<BLOCK>(sum, of);
  if (!threadIdx.x) parts[blockIdx.x] = sum;
}

__global__ void parts_kernel(const double *parts, double *sum)
{
  __shared__ double of[BLOCK];
  const double s = block_sum<BLOCK>(parts[threadIdx.x], of);
  if (!threadIdx.x) *sum = s;
}

gable_status square(gable_idx n, gable_type type, const void *y, double *parts, double *sum, void *stream)
{
  static_assert((int)GIK_SQUARE_PARTS == (int)BLOCK, "one block adds the parts");
  launches on(stream);
  if (type == GABLE_TYPE_D)
    on.launch(square_kernel<double>, GIK_SQUARE_PARTS, BLOCK, 0, n, (const double *)y, parts);
  else
    on.launch(square_kernel<float>, GIK_SQUARE_PARTS, BLOCK, 0, n, (const float *)y, parts);
  on.launch(parts_kernel, 1, BLOCK, 0, parts, sum);
  return on.status("sum of squares");
}

} /* namespace */

extern "C" const gik_row_products gik_row_products_cuda = {product, return_rhs, relax, gather, copy, square};
