/* vector_turn.cuh: right-hand sides between the caller's layout and the order of a schedule, those of a row side by
 * side.
 *
 * 32 rows by C right-hand sides go through shared memory at a time, so that columns are read, and rows of C numbers
 * written (or the other way round), in whole sectors. */
#ifndef GIK_VECTOR_TURN_CUH
#define GIK_VECTOR_TURN_CUH

#include "kernels/device_wait.cuh"

namespace gik
{

/* The turned vectors of chunk c lie in that half of its published values that the next solve uses: b before a solve, x
 * (when parity has turned) after it. */
template <typename T> struct turning {
  const T *b;
  T *x, *published; /* [chunks][2][n][C] */
  ptrdiff_t b_row, b_rhs, x_row, x_rhs;
  const gik_control *control;
  unsigned n, count, chunks;
  const unsigned *row, *place; /* [n] row of the matrix, ~0: none; its place among the published */
};

enum { TURN_ROWS = 32, TURN_THREADS = 256 };

template <typename T, int C> static __device__ __forceinline__ T *turned_half(const turning<T> &g, unsigned chunk)
{
  const unsigned half = copy_of(g.control, g.control->parity[0], chunk) ^ 1;
  return g.published + (size_t)(2 * chunk + half) * g.n * C;
}

template <typename T, int C> static __global__ void __launch_bounds__(TURN_THREADS) turn_in_kernel(const turning<T> g)
{
  __shared__ T tile[TURN_ROWS][C + 1];
  const unsigned first = blockIdx.y * C, across = threadIdx.x % TURN_ROWS, beside = threadIdx.x % C;
  T *to = turned_half<T, C>(g, blockIdx.y);
  for (unsigned base = blockIdx.x * TURN_ROWS; base < g.n; base += gridDim.x * TURN_ROWS) {
    const unsigned i = base + across < g.n ? g.row[base + across] : NONE;
    for (unsigned c = threadIdx.x / TURN_ROWS; c < C; c += TURN_THREADS / TURN_ROWS)
      tile[across][c] = i != NONE && first + c < g.count ? g.b[i * g.b_row + (first + c) * g.b_rhs] : (T)0;
    __syncthreads();
    for (unsigned r = threadIdx.x / C; r < TURN_ROWS && base + r < g.n; r += TURN_THREADS / C)
      to[(size_t)g.place[base + r] * C + beside] = tile[r][beside];
    __syncthreads();
  }
}

template <typename T, int C> static __global__ void __launch_bounds__(TURN_THREADS) turn_out_kernel(const turning<T> g)
{
  __shared__ T tile[TURN_ROWS][C + 1];
  const unsigned first = blockIdx.y * C, across = threadIdx.x % TURN_ROWS, beside = threadIdx.x % C;
  const T *from = turned_half<T, C>(g, blockIdx.y);
  for (unsigned base = blockIdx.x * TURN_ROWS; base < g.n; base += gridDim.x * TURN_ROWS) {
    const unsigned i = base + across < g.n ? g.row[base + across] : NONE;
    for (unsigned r = threadIdx.x / C; r < TURN_ROWS && base + r < g.n; r += TURN_THREADS / C)
      tile[r][beside] = from[(size_t)g.place[base + r] * C + beside];
    __syncthreads();
    for (unsigned c = threadIdx.x / TURN_ROWS; c < C; c += TURN_THREADS / TURN_ROWS)
      if (i != NONE && first + c < g.count) g.x[i * g.x_row + (first + c) * g.x_rhs] = tile[across][c];
    __syncthreads();
  }
}

template <typename T> static dim3 turn_grid(const turning<T> &g, int processors)
{
  const unsigned wanted = (g.n + TURN_ROWS - 1) / TURN_ROWS, most = 16 * (unsigned)processors;
  return dim3(wanted < most ? wanted : most, g.chunks);
}

} /* namespace gik */

#endif
