/* sweep_rows.cu: see sweep_rows.h.  Everything of a row that no other row changes is read before it waits for others.
 *
 * In place, row i reads x_j on the far side of the diagonal before j, which depends on i, writes it: x_i is published
 * after that, for it is made of what was read. */
#include "cuda/launch.cuh"
#include "kernels/trisolve/element_flow.cuh"
#include "kernels/trisolve/level_launch.cuh"
#include "kernels/trisolve/sweep_rows.h"

namespace gik
{

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
  __device__ __forceinline__ V *at(gable_idx i) const { return x + i * x_step; }
  __device__ __forceinline__ unsigned rows() const { return (unsigned)a.n; }
};

/* What a lane holds of a row: its entries p, p + P, ..., of which the next is (j, v), and in lane 0 what x_i is made
 * of.
 */
template <typename A, typename V, int K> struct sweep_row {
  typedef sweep_arguments<A, V> arguments;
  typedef V number;
  static constexpr unsigned P = K;
  static constexpr bool COLUMNS = false;
  static constexpr int BLOCKS = 4;
  gable_idx i, j; /* -1: no row, no more entries */
  unsigned p, begin, end;
  V v, b, inverse, own;

  __device__ __forceinline__ void next(const sweep_arguments<A, V> &g)
  {
    j = p < end ? g.a.idx[p] : -1;
    v = p < end ? (V)((const A *)g.a.val)[p] : 0;
    p += P;
  }
  __device__ __forceinline__ void locate(const sweep_arguments<A, V> &g, unsigned row)
  {
    i = (gable_idx)row; /* NONE is -1 */
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
    if (i >= 0 && lane == 0) *(volatile V *)g.at(i) = solved(g, sum);
  }
  /* See rows_flow_kernel. */
  __device__ __forceinline__ bool more() const
  {
    return j >= 0;
  }
  __device__ __forceinline__ void prepare() {}
  __device__ __forceinline__ V term(const sweep_arguments<A, V> &g, const V *now, patience *patient) const
  {
    const V x = g.newer(j, i) ? g.waits.value(now + j, patient, j) : g.value(j, i);
    return j == i ? 0 : v * x;
  }
};

template <typename A, typename V> struct sweep_levels {
  typedef sweep_arguments<A, V> arguments;
  template <int K> using row = sweep_row<A, V, K>;
};

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

template <typename A, typename V>
static void sweep_by_level(const gik_rows *a, const gik_sweep_order *o, const gik_sweep *s, launches *on)
{
  levels_launch<sweep_levels<A, V>>(level_lanes(a->n, (double)a->nnz), arguments_of<A, V>(a, o, s),
                                    {o->start, o->device_start, o->levels}, on);
}

template <typename A, typename V>
static gable_status elements_launch(const gik_rows *a, const gik_sweep_order *o, const gik_sweep *s)
{
  sweep_arguments<A, V> g = arguments_of<A, V>(a, o, s);
  launches on(s->stream);
  flow_launch(rows_flow_kernel<sweep_row<A, V, 32>>, &g, a->n, o->levels, false, &on);
  return on.status("a sweep by elements");
}

} /* namespace gik */

namespace
{

gable_status levels(const gik_rows *a, const gik_sweep_order *o, const gik_sweep *s)
{
  gik::launches on(s->stream);
  if (a->value_type == GABLE_TYPE_D)
    gik::sweep_by_level<double, double>(a, o, s, &on);
  else if (s->type == GABLE_TYPE_D)
    gik::sweep_by_level<float, double>(a, o, s, &on);
  else
    gik::sweep_by_level<float, float>(a, o, s, &on);
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
