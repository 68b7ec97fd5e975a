/* transpose.cuh: right-hand sides between the caller's layout and the order of a schedule, those of a row side by
 * side.
 *
 * 1024/C rows by C right-hand sides go through shared memory at a time, so that columns are read, and rows of C numbers
 * written (or the other way round), in whole sectors. */
#ifndef GIK_TRANSPOSE_CUH
#define GIK_TRANSPOSE_CUH

#include "cuda/device_wait.cuh"
#include "cuda/launch.cuh"

namespace gik
{

/* The transposed vectors of chunk c lie in that half of its published values that the next solve uses: b before a
 * solve, x (when parity has changed) after it. */
template <typename T> struct transposition {
  const T *b;
  T *x, *published; /* [chunks][2][n][C] */
  ptrdiff_t b_row, b_rhs, x_row, x_rhs;
  const gik_control *control;
  unsigned n, count, chunks;
  const unsigned *row, *place; /* [n] row of the matrix, ~0: none; its place among the published */
};

enum {
  TRANSPOSE_THREADS = 256,
  TRANSPOSE_EACH = 4
}; /* TRANSPOSE_EACH: numbers of a thread that are on their way at once */

template <typename T, int C>
static __device__ __forceinline__ T *transposed_half(const transposition<T> &g, unsigned chunk)
{
  const unsigned half = copy_of(g.control, g.control->parity[0], chunk) ^ 1;
  return g.published + (size_t)(2 * chunk + half) * g.n * C;
}

/* Which of R rows from base on a thread reads or writes by columns, one in each of TRANSPOSE_EACH columns, and which by
 * rows, TRANSPOSE_EACH of them; row: of the matrix; to: its place among the published.  NONE: there is none. */
template <int C> struct transposing_thread {
  static constexpr unsigned LINES = TRANSPOSE_THREADS / C, R = TRANSPOSE_EACH * LINES, COLUMNS = TRANSPOSE_THREADS / R;
  unsigned across = threadIdx.x % R, column = threadIdx.x / R, beside = threadIdx.x % C, line = threadIdx.x / C;
  unsigned row, to[TRANSPOSE_EACH];

  template <typename T> __device__ __forceinline__ void find(const transposition<T> &g, unsigned base)
  {
    row = base + across < g.n ? g.row[base + across] : NONE;
#pragma unroll
    for (int k = 0; k < TRANSPOSE_EACH; k++)
      to[k] = base + line + k * LINES < g.n ? g.place[base + line + k * LINES] : NONE;
  }
};

template <typename T, int C>
static __global__ void __launch_bounds__(TRANSPOSE_THREADS) transpose_in_kernel(const transposition<T> g)
{
  typedef transposing_thread<C> shape;
  __shared__ T tile[shape::R][C + 1];
  const unsigned first = blockIdx.y * C;
  T *to = transposed_half<T, C>(g, blockIdx.y);
  shape t;
  next_launch();
  for (unsigned base = blockIdx.x * shape::R; base < g.n; base += gridDim.x * shape::R) {
    T v[TRANSPOSE_EACH];
    t.find(g, base);
#pragma unroll
    for (int k = 0; k < TRANSPOSE_EACH; k++) {
      const unsigned c = first + t.column + k * shape::COLUMNS;
      v[k] = t.row != NONE && c < g.count ? g.b[t.row * g.b_row + c * g.b_rhs] : (T)0;
    }
#pragma unroll
    for (int k = 0; k < TRANSPOSE_EACH; k++) tile[t.across][t.column + k * shape::COLUMNS] = v[k];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < TRANSPOSE_EACH; k++)
      if (t.to[k] != NONE) to[(size_t)t.to[k] * C + t.beside] = tile[t.line + k * shape::LINES][t.beside];
    __syncthreads();
  }
}

template <typename T, int C>
static __global__ void __launch_bounds__(TRANSPOSE_THREADS) transpose_out_kernel(const transposition<T> g)
{
  typedef transposing_thread<C> shape;
  __shared__ T tile[shape::R][C + 1];
  const unsigned first = blockIdx.y * C;
  shape t;
  after_last_launch(); /* the solve */
  const T *from = transposed_half<T, C>(g, blockIdx.y);
  for (unsigned base = blockIdx.x * shape::R; base < g.n; base += gridDim.x * shape::R) {
    T v[TRANSPOSE_EACH];
    t.find(g, base);
#pragma unroll
    for (int k = 0; k < TRANSPOSE_EACH; k++) v[k] = t.to[k] != NONE ? from[(size_t)t.to[k] * C + t.beside] : (T)0;
#pragma unroll
    for (int k = 0; k < TRANSPOSE_EACH; k++) tile[t.line + k * shape::LINES][t.beside] = v[k];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < TRANSPOSE_EACH; k++) {
      const unsigned c = t.column + k * shape::COLUMNS;
      if (t.row != NONE && first + c < g.count) g.x[t.row * g.x_row + (first + c) * g.x_rhs] = tile[t.across][c];
    }
    __syncthreads();
  }
}

template <typename T, int C> static dim3 transpose_grid(const transposition<T> &g, int processors)
{
  const unsigned rows = transposing_thread<C>::R, wanted = (g.n + rows - 1) / rows, most = 8 * (unsigned)processors;
  return dim3(wanted < most ? wanted : most, g.chunks);
}

} /* namespace gik */

#endif
