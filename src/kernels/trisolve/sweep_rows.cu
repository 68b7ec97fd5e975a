/* sweep_rows.cu: see sweep_rows.h.  Everything of a row that no other row changes is read before it waits for others.
 *
 * In place, row i reads x_j on the far side of the diagonal before j, which depends on i, writes it: x_i is published
 * after that, for it is made of what was read. */
#include "cuda/launch.cuh"
#include "kernels/trisolve/element_flow.cuh"
#include "kernels/trisolve/narrow_levels.cuh"
#include "kernels/trisolve/sweep_rows.h"

namespace gik
{

enum { SWEEP_BLOCK = 512, CHAIN_BLOCK = 1024 };

template <typename A, typename V> struct sweep_arguments {
  gik_rows a;
  int backward;
  const unsigned *order;
  const V *b, *old;
  V *x;
  ptrdiff_t b_step, x_step;
  V omega;
  V *published; /* [2][n] elements */
  flow_waits waits;

  __device__ __forceinline__ bool newer(gable_idx j, gable_idx i) const { return backward ? j > i : j < i; }
  __device__ __forceinline__ V stored(gable_idx j) const { return *(volatile V *)(x + j * x_step); }
  __device__ __forceinline__ V value(gable_idx j, gable_idx i) const
  {
    return old && !newer(j, i) ? old[j] : stored(j);
  }
};

/* What a lane holds of a row: its entries p, p + P, ..., of which the next is (j, v), and in lane 0 what x_i is made
 * of.
 */
template <typename A, typename V, int P> struct sweep_row {
  gable_idx i, j; /* -1: no row, no more entries */
  unsigned p, begin, end;
  V v, b, inverse, own;

  __device__ __forceinline__ void next(const sweep_arguments<A, V> &g)
  {
    j = p < end ? g.a.idx[p] : -1;
    v = p < end ? (V)((const A *)g.a.val)[p] : 0;
    p += P;
  }
  __device__ __forceinline__ void locate(const sweep_arguments<A, V> &g, gable_idx row)
  {
    i = row;
    begin = i < 0 ? 0 : g.a.ptr[i];
    end = i < 0 ? 0 : g.a.ptr[i + 1];
  }
  __device__ __forceinline__ void fill(const sweep_arguments<A, V> &g, unsigned lane)
  {
    p = begin + lane;
    next(g);
    if (lane || i < 0) return;
    b = g.b[i * g.b_step];
    inverse = 1 / (V)((const A *)g.a.val)[g.a.diagonal[i]];
    own = g.omega == 1 ? 0 : g.stored(i);
  }
  __device__ __forceinline__ V solved(const sweep_arguments<A, V> &g, V sum) const
  {
    const V s = (b - sum) * inverse;
    return g.omega == 1 ? s : own + g.omega * (s - own);
  }
  /* x_i, where all that it needs is there; P threads do it. */
  __device__ __forceinline__ void solve(const sweep_arguments<A, V> &g, unsigned lane)
  {
    V sum = 0;
    for (; j >= 0; next(g))
      if (j != i) sum += v * g.value(j, i);
#pragma unroll
    for (int d = P / 2; d > 0; d >>= 1) sum += __shfl_down_sync(ALL, sum, d, P);
    if (i >= 0 && lane == 0) *(volatile V *)(g.x + i * g.x_step) = solved(g, sum);
  }
};

/* A level; what another launch writes is read after that launch. */
template <typename A, typename V, int P>
static __global__ void sweep_level_kernel(const sweep_arguments<A, V> g, unsigned l1, unsigned l2)
{
  const unsigned place = l1 + (blockIdx.x * blockDim.x + threadIdx.x) / P, lane = threadIdx.x % P;
  sweep_row<A, V, P> r;
  next_launch();
  r.locate(g, place < l2 ? (gable_idx)g.order[place] : -1);
  r.fill(g, lane);
  after_last_launch();
  r.solve(g, lane);
}

/* Several levels that fit one block, a barrier between two.  A row's place, its offsets and its entries are read three,
 * two and one levels ahead. */
template <typename A, typename V, int P>
static __global__ void __launch_bounds__(CHAIN_BLOCK, 1)
    sweep_chain_kernel(const sweep_arguments<A, V> g, const unsigned *start, int first, int last)
{
  const unsigned lane = threadIdx.x % P, group = threadIdx.x / P;
  const auto row_of = [&](int m) {
    const unsigned place = m < last ? start[m] + group : 0;
    return m < last && place < start[m + 1] ? (gable_idx)g.order[place] : -1;
  };
  sweep_row<A, V, P> r, ahead;
  next_launch();
  after_last_launch();
  r.locate(g, row_of(first));
  r.fill(g, lane);
  ahead.locate(g, row_of(first + 1));
  gable_idx far = row_of(first + 2);
  for (int m = first; m < last; m++) {
    r.solve(g, lane);
    r = ahead;
    r.fill(g, lane);
    ahead.locate(g, far);
    far = row_of(m + 3);
    __syncthreads();
  }
}

/* A warp a row; a place of published holds "not yet" until the new x_j is there. */
template <typename A, typename V>
static __global__ void __launch_bounds__(FLOW_BLOCK, 4) sweep_elements_kernel(const sweep_arguments<A, V> g)
{
  const unsigned lane = threadIdx.x % 32, n = (unsigned)g.a.n, half = g.waits.control->parity[0] & 1;
  V *now = g.published + (half ? n : 0), *then = g.published + (half ? 0 : n);
  warp_places w(g.waits.control);
  for (unsigned row = w.at < n ? g.order[w.at] : 0; w.at < n;) {
    sweep_row<A, V, 32> r;
    patience patient;
    V sum = 0;
    r.locate(g, (gable_idx)row);
    r.fill(g, lane);
    w.at += w.step;
    if (w.at < n) row = g.order[w.at];
    const auto term = [&] {
      const V x = g.newer(r.j, r.i) ? g.waits.value(now + r.j, &patient, r.j) : g.value(r.j, r.i);
      return r.j == r.i ? 0 : r.v * x;
    };
    if (r.j >= 0) sum = term();
    while (r.p < r.end) { /* more than 32 entries */
      r.next(g);
      sum += term();
    }
    __syncwarp();
    sum = sum_of_warp(sum, r.end - r.begin);
    if (!lane) {
      const V x = r.solved(g, sum);
      store_relaxed(now + r.i, x);
      g.x[r.i * g.x_step] = x;
      store_not_yet(then + r.i);
    } /* no barrier: that the other lanes go on meanwhile is worth 0.2 us a level */
  }
  leave(g.waits.control, 1);
}

template <typename A, typename V>
static sweep_arguments<A, V> arguments_of(const gik_rows *a, const gik_sweep_order *o, const gik_sweep *s)
{
  sweep_arguments<A, V> g = {};
  g.a = *a;
  g.backward = o->backward;
  g.order = o->order;
  g.b = (const V *)s->b;
  g.old = (const V *)s->old;
  g.x = (V *)s->x;
  g.b_step = s->b_step;
  g.x_step = s->x_step;
  g.omega = (V)s->omega;
  g.published = (V *)s->published;
  g.waits.control = s->control;
  g.waits.deadline_ns = s->deadline_ns;
  return g;
}

/* Threads a row. */
static unsigned lanes_of(const gik_rows *a)
{
  unsigned lanes = 2;
  while (lanes < 32 && (double)lanes * a->n < (double)a->nnz) lanes *= 2;
  return lanes;
}

template <typename A, typename V, int P>
static void levels_run(const sweep_arguments<A, V> &g, const gik_sweep_order *o, launches *on)
{
  const unsigned rows = SWEEP_BLOCK / P, chain_rows = CHAIN_BLOCK / P;
  for (int m = 0; m < o->levels;) {
    const int e = narrow_levels_end(o->start, o->levels, m, chain_rows);
    const unsigned width = o->start[m + 1] - o->start[m];
    if (width <= chain_rows)
      on->dependent(sweep_chain_kernel<A, V, P>, 1, CHAIN_BLOCK, 0, !m, g, o->device_start, m, e);
    else
      on->dependent(sweep_level_kernel<A, V, P>, (width + rows - 1) / rows, SWEEP_BLOCK, 0, !m, g, o->start[m],
                    o->start[m + 1]);
    m = e;
  }
}

template <typename A, typename V>
static void levels_launch(const gik_rows *a, const gik_sweep_order *o, const gik_sweep *s, launches *on)
{
  const sweep_arguments<A, V> g = arguments_of<A, V>(a, o, s);
  switch (lanes_of(a)) {
  case 2: levels_run<A, V, 2>(g, o, on); break;
  case 4: levels_run<A, V, 4>(g, o, on); break;
  case 8: levels_run<A, V, 8>(g, o, on); break;
  case 16: levels_run<A, V, 16>(g, o, on); break;
  default: levels_run<A, V, 32>(g, o, on);
  }
}

template <typename A, typename V>
static gable_status elements_launch(const gik_rows *a, const gik_sweep_order *o, const gik_sweep *s)
{
  sweep_arguments<A, V> g = arguments_of<A, V>(a, o, s);
  launches on(s->stream);
  flow_launch(sweep_elements_kernel<A, V>, &g, a->n, o->levels, &on);
  return on.status("a sweep by elements");
}

} /* namespace gik */

namespace
{

gable_status levels(const gik_rows *a, const gik_sweep_order *o, const gik_sweep *s)
{
  gik::launches on(s->stream);
  if (a->value_type == GABLE_TYPE_D)
    gik::levels_launch<double, double>(a, o, s, &on);
  else if (s->type == GABLE_TYPE_D)
    gik::levels_launch<float, double>(a, o, s, &on);
  else
    gik::levels_launch<float, float>(a, o, s, &on);
  return on.status("a sweep by levels");
}

gable_status elements(const gik_rows *a, const gik_sweep_order *o, const gik_sweep *s)
{
  if (!a->n) return GABLE_OK;
  if (a->value_type == GABLE_TYPE_D) return gik::elements_launch<double, double>(a, o, s);
  if (s->type == GABLE_TYPE_D) return gik::elements_launch<float, double>(a, o, s);
  return gik::elements_launch<float, float>(a, o, s);
}

gable_status prepare(gik_control *control, void *published, gable_idx n, gable_type type, void *stream)
{
  return gik_solve_prepare(control, published, 2 * (size_t)n, type, stream);
}

} /* namespace */

extern "C" const gik_row_sweeps gik_row_sweeps_cuda = {levels, elements, prepare};
