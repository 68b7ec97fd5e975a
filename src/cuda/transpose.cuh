/* transpose.cuh: right-hand sides between the caller's layout and the order of a schedule, those of a row side by
 * side.
 *
 * 1024/C rows by C right-hand sides go through shared memory at a time, so that columns are read, and rows of C numbers
 * written (or the other way round), in whole sectors. */
#ifndef GIK_VECTOR_TURN_CUH
#define GIK_VECTOR_TURN_CUH

#include "cuda/device_wait.cuh"
#include "cuda/launch.cuh"

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

enum { TURN_THREADS = 256, TURN_EACH = 4 }; /* TURN_EACH: numbers of a thread that are on their way at once */

template <typename T, int C> static __device__ __forceinline__ T *turned_half(const turning<T> &g, unsigned chunk)
{
  const unsigned half = copy_of(g.control, g.control->parity[0], chunk) ^ 1;
  return g.published + (size_t)(2 * chunk + half) * g.n * C;
}

/* Which of R rows from base on a thread reads or writes by columns, one in each of TURN_EACH columns, and which by
 * rows, TURN_EACH of them; row: of the matrix; to: its place among the published.  NONE: there is none. */
template <int C> struct turning_thread {
  static constexpr unsigned LINES = TURN_THREADS / C, R = TURN_EACH * LINES, COLUMNS = TURN_THREADS / R;
  unsigned across = threadIdx.x % R, column = threadIdx.x / R, beside = threadIdx.x % C, line = threadIdx.x / C;
  unsigned row, to[TURN_EACH];

  template <typename T> __device__ __forceinline__ void find(const turning<T> &g, unsigned base)
  {
    row = base + across < g.n ? g.row[base + across] : NONE;
#pragma unroll
    for (int k = 0; k < TURN_EACH; k++) to[k] = base + line + k * LINES < g.n ? g.place[base + line + k * LINES] : NONE;
  }
};

template <typename T, int C> static __global__ void __launch_bounds__(TURN_THREADS) turn_in_kernel(const turning<T> g)
{
  typedef turning_thread<C> turn;
  __shared__ T tile[turn::R][C + 1];
  const unsigned first = blockIdx.y * C;
  T *to = turned_half<T, C>(g, blockIdx.y);
  turn t;
  next_launch();
  for (unsigned base = blockIdx.x * turn::R; base < g.n; base += gridDim.x * turn::R) {
    T v[TURN_EACH];
    t.find(g, base);
#pragma unroll
    for (int k = 0; k < TURN_EACH; k++) {
      const unsigned c = first + t.column + k * turn::COLUMNS;
      v[k] = t.row != NONE && c < g.count ? g.b[t.row * g.b_row + c * g.b_rhs] : (T)0;
    }
#pragma unroll
    for (int k = 0; k < TURN_EACH; k++) tile[t.across][t.column + k * turn::COLUMNS] = v[k];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < TURN_EACH; k++)
      if (t.to[k] != NONE) to[(size_t)t.to[k] * C + t.beside] = tile[t.line + k * turn::LINES][t.beside];
    __syncthreads();
  }
}

template <typename T, int C> static __global__ void __launch_bounds__(TURN_THREADS) turn_out_kernel(const turning<T> g)
{
  typedef turning_thread<C> turn;
  __shared__ T tile[turn::R][C + 1];
  const unsigned first = blockIdx.y * C;
  turn t;
  after_last_launch(); /* the solve */
  const T *from = turned_half<T, C>(g, blockIdx.y);
  for (unsigned base = blockIdx.x * turn::R; base < g.n; base += gridDim.x * turn::R) {
    T v[TURN_EACH];
    t.find(g, base);
#pragma unroll
    for (int k = 0; k < TURN_EACH; k++) v[k] = t.to[k] != NONE ? from[(size_t)t.to[k] * C + t.beside] : (T)0;
#pragma unroll
    for (int k = 0; k < TURN_EACH; k++) tile[t.line + k * turn::LINES][t.beside] = v[k];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < TURN_EACH; k++) {
      const unsigned c = t.column + k * turn::COLUMNS;
      if (t.row != NONE && first + c < g.count) g.x[t.row * g.x_row + (first + c) * g.x_rhs] = tile[t.across][c];
    }
    __syncthreads();
  }
}

template <typename T, int C> static dim3 turn_grid(const turning<T> &g, int processors)
{
  const unsigned rows = turning_thread<C>::R, wanted = (g.n + rows - 1) / rows, most = 8 * (unsigned)processors;
  return dim3(wanted < most ? wanted : most, g.chunks);
}

} /* namespace gik */

#endif
