/* cuda_triangle.cu: the caller's matrix, checked row by row, as the triangle that a plan solves with. */
#include <climits>

#include "kernels/device_wait.cuh"
#include "trisolve/cuda_passes.cuh"

using gik::NONE;
using namespace gi;

namespace
{

/* A caller's offsets, 32 or 64 bit. */
struct any_offsets {
  const void *ptr;
  int wide, base;
  __device__ long long at(size_t i) const
  {
    return (wide ? ((const long long *)ptr)[i] : ((const int *)ptr)[i]) - base;
  }
};

enum { LONG_ROW = 128 };
enum { BAD_RANGE = 1, BAD_ORDER = 2, BAD_SIDE = 3, NO_DIAGONAL = 4 };

/* What the threads of a block find out together about a long row. */
struct long_row {
  unsigned count, first, diagonal;
  int why; /* the smallest fault; INT_MAX: none */
};

/* One row of the caller's matrix, checked: its entries on the wanted side lie at [first, first + count). */
struct row_reader {
  any_offsets ptr;
  const int *idx;
  int n, base, lower, strict, need_diagonal;
  long long nnz;
  u64 *bad; /* smallest (row << 3 | why) */
  unsigned *count, *first, *diagonal_from, *row;

  __device__ bool is_long(size_t i) const
  {
    return ptr.at(i + 1) - ptr.at(i) > LONG_ROW && ptr.at(i) >= 0 && ptr.at(i + 1) <= nnz;
  }

  __device__ void write(size_t i, unsigned c, unsigned f, unsigned d, int why) const
  {
    if (!why && need_diagonal && d == NONE) why = NO_DIAGONAL;
    if (why) atomicMin(bad, (u64)i << 3 | (unsigned)why);
    const size_t k = lower ? i : n - 1 - i;
    count[k] = c;
    row[k] = (unsigned)i;
    first[i] = f;
    diagonal_from[i] = d;
  }

  /* By all threads of a block; r is shared and empty. */
  __device__ void read_long(size_t i, long_row *r) const
  {
    const long long p0 = ptr.at(i), p1 = ptr.at(i + 1);
    unsigned c = 0, f = NONE;
    int why = INT_MAX;
    for (long long p = p0 + threadIdx.x; p < p1; p += ROW_THREADS) {
      const int j = idx[p] - base;
      if (j < 0 || j >= n)
        why = min(why, (int)BAD_RANGE);
      else if (p > p0 && idx[p - 1] - base >= j)
        why = min(why, (int)BAD_ORDER);
      else if (j == (int)i)
        r->diagonal = (unsigned)p;
      else if ((j < (int)i) == (lower != 0))
        c++, f = min(f, (unsigned)p);
      else if (strict)
        why = min(why, (int)BAD_SIDE);
    }
    atomicAdd(&r->count, c);
    atomicMin(&r->first, f);
    atomicMin(&r->why, why);
    __syncthreads();
    if (!threadIdx.x) write(i, r->count, r->count ? r->first : 0, r->diagonal, r->why == INT_MAX ? 0 : r->why);
  }

  __device__ void operator()(size_t i) const
  {
    const long long p0 = ptr.at(i), p1 = ptr.at(i + 1);
    unsigned c = 0, f = 0, d = NONE;
    int last = -1, why = p1 < p0 || p0 < 0 || p1 > nnz ? BAD_ORDER : 0;
    for (long long p = p0; p < p1 && !why; p++) {
      const int j = idx[p] - base;
      if (j < 0 || j >= n)
        why = BAD_RANGE;
      else if (j <= last)
        why = BAD_ORDER;
      else if (j == (int)i)
        d = (unsigned)p;
      else if ((j < (int)i) == (lower != 0)) {
        if (!c++) f = (unsigned)p;
      } else if (strict)
        why = BAD_SIDE;
      last = j;
    }
    write(i, c, f, d, why);
  }
};

__global__ void __launch_bounds__(ROW_THREADS) read_rows_kernel(const row_reader r)
{
  __shared__ unsigned list[ROW_THREADS], count;
  __shared__ long_row found;
  for (size_t base = blockIdx.x * (size_t)ROW_THREADS; base < (size_t)r.n; base += (size_t)gridDim.x * ROW_THREADS) {
    const size_t i = base + threadIdx.x;
    __syncthreads();
    if (!threadIdx.x) count = 0;
    __syncthreads();
    if (i < (size_t)r.n) {
      if (r.is_long(i))
        list[atomicAdd(&count, 1u)] = (unsigned)i;
      else
        r(i);
    }
    __syncthreads();
    for (unsigned k = 0; k < count; k++) {
      if (!threadIdx.x) found = {0, NONE, NONE, INT_MAX};
      __syncthreads();
      r.read_long(list[k], &found);
      __syncthreads();
    }
  }
}

} /* namespace */

gable_status gi_cuda_refuse(unsigned long long bad, gable_idx *bad_row)
{
  gable_status status = GABLE_OK;
  const int row = (int)(bad >> 3), why = (int)(bad & 7);
  if (bad == ~0ull) goto done;
  *bad_row = row;
  GI_REQUIRE(why != NO_DIAGONAL, GABLE_ERR_SINGULAR, "row %d (counted from 0) has no diagonal entry", row);
  GI_REQUIRE(why != BAD_RANGE, GABLE_ERR_ARGUMENT, "row or column %d (counted from 0): an index is out of range", row);
  GI_REQUIRE(why != BAD_ORDER, GABLE_ERR_ARGUMENT, "row or column %d (counted from 0): indices do not increase", row);
  GI_REQUIRE(0, GABLE_ERR_ARGUMENT, "row or column %d (counted from 0) has an entry outside of the triangle", row);
done:
  return status;
}

gable_status gi_cuda_triangle_arrays(gi_device_memory *m, int n, unsigned nnz, gik_device_triangle *t)
{
  gable_status status = GABLE_OK;
  t->n = n;
  t->nnz = nnz;
  GI_TRY(take(m, (size_t)n + 1, &t->ptr));
  GI_TRY(take(m, nnz, &t->col));
  GI_TRY(take(m, nnz, &t->from));
  GI_TRY(take(m, (size_t)n, &t->row));
  t->parent = t->row;
done:
  return status;
}

gable_status gi_cuda_triangle(gi_device_memory *m, gi_device_memory *scratch, const gi_shape *shape,
                              const gable_matrix_view *a, int need_diagonal, gik_device_triangle *out, int *reverse,
                              unsigned **diagonal_from, gi_findings *f)
{
  gable_status status = GABLE_OK;
  const int n = shape->n, lower = (shape->format == GABLE_CSR) == (shape->uplo == GABLE_LOWER);
  unsigned *first = nullptr;
  row_reader r = {{a->ptr, a->offset_type == GABLE_I64, a->base},
                  a->idx,
                  n,
                  a->base,
                  lower,
                  shape->strict,
                  need_diagonal,
                  (long long)shape->nnz};
  gik_device_triangle t = {};
  GI_TRY(take(scratch, (size_t)n, &first));
  GI_TRY(take(m, (size_t)n, diagonal_from));
  GI_TRY(gi_cuda_triangle_arrays(m, n, (unsigned)shape->nnz, &t));
  r.bad = &f->bad;
  r.count = t.ptr;
  r.first = first;
  r.row = t.row;
  r.diagonal_from = *diagonal_from;
  GI_TRY(checked(cudaMemsetAsync(f, 0xff, sizeof *f), "clear"));
  if (n) read_rows_kernel<<<(unsigned)(((size_t)n + ROW_THREADS - 1) / ROW_THREADS), ROW_THREADS>>>(r);
  GI_TRY(checked(cudaGetLastError(), "analysis"));
  GI_TRY(offsets(scratch, t.ptr, t.ptr, (size_t)n));
  GI_TRY(each_entry((size_t)n, t.ptr, [=] __device__(size_t k, unsigned q) {
    if (f->bad != ~0ull) return; /* offsets may be anything */
    /* numbered from the end: also in reverse within the row */
    const unsigned p = lower ? first[k] + (q - t.ptr[k]) : first[n - 1 - k] + (t.ptr[k + 1] - 1 - q);
    const int j = r.idx[p] - r.base;
    t.col[q] = lower ? j : n - 1 - j;
    t.from[q] = p;
  }));
  *out = t;
  *reverse = !lower;
done:
  return status;
}
