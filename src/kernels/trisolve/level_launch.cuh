/* level_launch.cuh: rows or columns level by level, a launch a level, for LEVR, LEVC and their sweeps.
 *
 * R, what the P threads of a row hold of it: locate(g, i) finds row i of the arguments g (NONE: no row), fill(g, lane)
 * reads what no other row changes, solve(g, lane) makes x_i when the levels before are done.  R::COLUMNS: it subtracts
 * from the x of others. */
#ifndef GIK_LEVEL_LAUNCH_CUH
#define GIK_LEVEL_LAUNCH_CUH

#include "cuda/device_wait.cuh"
#include "cuda/launch.cuh"
#include "kernels/trisolve/narrow_levels.cuh"

namespace gik
{

enum { LEVEL_BLOCK = 512, CHAIN_BLOCK = 1024 };

/* The levels of an order: on the host and on the device, [levels+1] where each starts. */
struct level_starts {
  const unsigned *start, *device_start;
  int levels;
};

/* A level; what another launch writes is read after that launch. */
template <typename R> static __global__ void level_kernel(const typename R::arguments g, unsigned l1, unsigned l2)
{
  const unsigned place = l1 + (blockIdx.x * blockDim.x + threadIdx.x) / R::P, lane = threadIdx.x % R::P;
  R r;
  next_launch();
  r.locate(g, place < l2 ? g.order[place] : (unsigned)NONE);
  r.fill(g, lane);
  after_last_launch();
  r.solve(g, lane);
}

/* Several levels that fit one block, a barrier between two.  A row's place, its offsets and its entries are read three,
 * two and one levels ahead. */
template <typename R>
static __global__ void __launch_bounds__(CHAIN_BLOCK, 1)
    level_chain_kernel(const typename R::arguments g, const unsigned *start, int first, int last)
{
  const unsigned lane = threadIdx.x % R::P, group = threadIdx.x / R::P;
  const auto row_of = [&](int m) {
    const unsigned place = m < last ? start[m] + group : 0;
    return m < last && place < start[m + 1] ? g.order[place] : (unsigned)NONE;
  };
  R r, ahead;
  next_launch();
  after_last_launch();
  r.locate(g, row_of(first));
  r.fill(g, lane);
  ahead.locate(g, row_of(first + 1));
  unsigned far = row_of(first + 2);
  for (int m = first; m < last; m++) {
    r.solve(g, lane);
    r = ahead;
    r.fill(g, lane);
    ahead.locate(g, far);
    far = row_of(m + 3);
    if (R::COLUMNS) __threadfence(); /* the subtractions have arrived */
    __syncthreads();
  }
}

template <typename R> static void level_launch(const typename R::arguments &g, const level_starts &l, launches *on)
{
  const unsigned chain_rows = CHAIN_BLOCK / R::P, at_once = LEVEL_BLOCK / R::P;
  for (int m = 0; m < l.levels;) {
    const int end = narrow_levels_end(l.start, l.levels, m, chain_rows);
    const unsigned rows = l.start[m + 1] - l.start[m];
    if (rows <= chain_rows)
      on->dependent(level_chain_kernel<R>, 1, CHAIN_BLOCK, 0, !m, g, l.device_start, m, end);
    else
      on->dependent(level_kernel<R>, (rows + at_once - 1) / at_once, LEVEL_BLOCK, 0, !m, g, l.start[m], l.start[m + 1]);
    m = end;
  }
}

/* Threads a row, of n rows with nnz entries. */
static inline int level_lanes(double n, double nnz)
{
  int lanes = 2;
  while (lanes < 32 && lanes * n < nnz) lanes *= 2;
  return lanes;
}

/* All levels, by F::row<lanes>. */
template <typename F>
static void levels_launch(int lanes, const typename F::arguments &g, const level_starts &l, launches *on)
{
  switch (lanes) {
  case 2: level_launch<typename F::template row<2>>(g, l, on); break;
  case 4: level_launch<typename F::template row<4>>(g, l, on); break;
  case 8: level_launch<typename F::template row<8>>(g, l, on); break;
  case 16: level_launch<typename F::template row<16>>(g, l, on); break;
  default: level_launch<typename F::template row<32>>(g, l, on);
  }
}

} /* namespace gik */

#endif
