/* seed_cuda.cu: LEVR, LEVC, ELMR and ELMC of Li and Zhang (SIAM PP 2020, section 5.1), and GSF of Liu et al.
 *
 * What differs from the kernels printed there: what no other row changes is read before anything is waited for, the
 * blocks of the element methods all run at once instead of being trusted to start in order, in ELMR a value is its own
 * flag, a level's launch begins before the one before it has ended, waits end at a deadline, and several right-hand
 * sides are solved one after another. */
#include "cuda/launch.cuh"
#include "kernels/trisolve/element_flow.cuh"
#include "kernels/trisolve/level_launch.cuh"
#include "kernels/trisolve/stored.cuh"

namespace gik
{

/* T: of vectors; M: of the matrix. */
template <typename T, typename M> struct seed_arguments {
  int n, reverse;
  const unsigned *ptr, *index, *order;
  const M *val, *diagonal;
  const T *b;
  T *x;
  ptrdiff_t b_row, x_row;
  T *published; /* [2][n] elmr */
  int *count;   /* [n] elmc */
  flow_waits waits;

  __device__ __forceinline__ ptrdiff_t natural(unsigned k) const { return reverse ? n - 1 - (ptrdiff_t)k : k; }
  __device__ __forceinline__ T *at(unsigned k) const { return x + natural(k) * x_row; }
  __device__ __forceinline__ unsigned rows() const { return (unsigned)n; }
};

/* What a lane holds of a row or column: its entries p, p + K, ..., of which the next is (j, v), and in lane 0 what else
 * x_i is made of. */
template <typename T, typename M, bool COLUMN, int K> struct seed_row {
  typedef seed_arguments<T, M> arguments;
  typedef T number;
  static constexpr unsigned P = K;
  static constexpr bool COLUMNS = COLUMN;
  static constexpr int BLOCKS = 0;
  unsigned i, p, begin, end, j; /* i, j == NONE: no row, no more entries */
  T v, b, diagonal, inverse;

  __device__ __forceinline__ void next(const arguments &g)
  {
    j = p < end ? g.index[p] : (unsigned)NONE;
    v = p < end ? (T)g.val[p] : 0;
    p += K;
  }
  __device__ __forceinline__ void locate(const arguments &g, unsigned row)
  {
    i = row;
    begin = i == NONE ? 0 : g.ptr[i];
    end = i == NONE ? 0 : g.ptr[i + 1];
  }
  __device__ __forceinline__ void fill(const arguments &g, unsigned lane)
  {
    p = begin + lane;
    next(g);
    if (lane || i == NONE) return;
    diagonal = (T)g.diagonal[i];
    if (!COLUMN) b = g.b[g.natural(i) * g.b_row];
  }
  /* x_i of a row, where all that it needs is there; K threads do it. */
  __device__ __forceinline__ void solve_row(const arguments &g, unsigned lane)
  {
    T sum = 0;
    for (; j != NONE; next(g)) sum += v * *(volatile T *)g.at(j);
#pragma unroll
    for (int d = K / 2; d > 0; d >>= 1) sum += __shfl_down_sync(ALL, sum, d, K);
    if (i != NONE && !lane) *(volatile T *)g.at(i) = (b - sum) / diagonal;
  }
  /* The same by columns: x holds b minus what lower levels have subtracted. */
  __device__ __forceinline__ void solve_column(const arguments &g, unsigned lane)
  {
    T t = 0;
    if (i != NONE && !lane) {
      t = load_relaxed(g.at(i)) / diagonal;
      *g.at(i) = t;
    }
    t = __shfl_sync(ALL, t, 0, K);
    for (; j != NONE; next(g)) atomicAdd(g.at(j), -t * v);
  }
  __device__ __forceinline__ void solve(const arguments &g, unsigned lane)
  {
    if (COLUMN)
      solve_column(g, lane);
    else
      solve_row(g, lane);
  }
  /* See rows_flow_kernel. */
  __device__ __forceinline__ bool more() const
  {
    return j != NONE;
  }
  __device__ __forceinline__ void prepare()
  {
    inverse = 1 / diagonal;
  }
  __device__ __forceinline__ T term(const arguments &g, const T *now, patience *patient) const
  {
    return v * g.waits.value(now + j, patient, (int)g.natural(i));
  }
  __device__ __forceinline__ T solved(const arguments &, T sum) const
  {
    return (b - sum) * inverse;
  }
};

/* A warp a column; count[i] entries of row i are still to come.  Without an order: columns in index order (gsf). */
template <typename T, typename M>
static __global__ void __launch_bounds__(FLOW_BLOCK) elmc_kernel(const seed_arguments<T, M> g)
{
  const unsigned lane = threadIdx.x % 32, n = (unsigned)g.n;
  for (warp_places w(g.waits.control); w.at < n; w.at += w.step) {
    seed_row<T, M, true, 32> r;
    T t = 0;
    r.locate(g, g.order ? g.order[w.at] : w.at);
    r.fill(g, lane);
    if (!lane) {
      patience patient;
      const T inverse = 1 / r.diagonal;
      while (*(volatile int *)(g.count + r.i) && !g.waits.over(&patient, (int)g.natural(r.i))) {
      }
      load_acquire(g.count + r.i);
      t = load_relaxed(g.at(r.i)) * inverse;
      *g.at(r.i) = t;
    }
    t = __shfl_sync(ALL, t, 0);
    for (; r.j != NONE; r.next(g)) {
      atomicAdd(g.at(r.j), -t * r.v);
      subtract_release(g.count + r.j, 1);
    }
  }
  leave(g.waits.control, 0);
}

template <typename T, typename M> static __global__ void seed_copy_kernel(const seed_arguments<T, M> g)
{
  for (ptrdiff_t i = blockIdx.x * (ptrdiff_t)blockDim.x + threadIdx.x; i < g.n; i += (ptrdiff_t)gridDim.x * blockDim.x)
    g.x[i * g.x_row] = g.b[i * g.b_row];
}

template <typename T, typename M> static seed_arguments<T, M> seed_of(const gik_seed *m, const gik_solve *s, int rhs)
{
  seed_arguments<T, M> g = {};
  g.n = m->a.n;
  g.reverse = m->reverse;
  g.ptr = m->a.ptr;
  g.index = m->a.col;
  g.order = m->order;
  g.val = (const M *)m->val;
  g.diagonal = (const M *)m->diagonal;
  g.b = (const T *)s->v.b + rhs * s->v.b_rhs;
  g.x = (T *)s->v.x + rhs * s->v.x_rhs;
  g.b_row = s->v.b_row;
  g.x_row = s->v.x_row;
  g.published = (T *)s->published;
  g.count = (int *)s->published;
  g.waits.control = s->control;
  g.waits.deadline_ns = s->deadline_ns;
  return g;
}

template <typename T, typename M, bool COLUMNS> struct seed_levels {
  typedef seed_arguments<T, M> arguments;
  template <int K> using row = seed_row<T, M, COLUMNS, K>;
};

template <typename T, typename M, bool COLUMNS>
static void levels_solve(const gik_seed *m, const gik_solve *s, launches *on)
{
  for (int rhs = 0; rhs < s->v.count; rhs++) {
    const seed_arguments<T, M> g = seed_of<T, M>(m, s, rhs);
    if (COLUMNS && s->v.b != s->v.x) on->launch(seed_copy_kernel<T, M>, 4 * (unsigned)s->processors, 256, 0, g);
    levels_launch<seed_levels<T, M, COLUMNS>>(m->lanes, g, {m->level, m->device_level, m->levels}, on);
  }
}

template <typename T, typename M, bool COLUMNS>
static void elements_solve(const gik_seed *m, const gik_solve *s, launches *on)
{
  for (int rhs = 0; rhs < s->v.count && m->a.n; rhs++) {
    seed_arguments<T, M> g = seed_of<T, M>(m, s, rhs);
    if (COLUMNS) {
      if (s->v.b != s->v.x) on->launch(seed_copy_kernel<T, M>, 4 * (unsigned)s->processors, 256, 0, g);
      on->call([&] {
        return cudaMemcpyAsync(g.count, m->parents, (size_t)g.n * sizeof(int), cudaMemcpyDeviceToDevice, on->stream);
      });
    }
    /* of gsf's columns, in their natural order, few are ready: as many as fit are looked at */
    flow_launch(COLUMNS ? elmc_kernel<T, M> : rows_flow_kernel<seed_row<T, M, false, 32>>, &g, g.n, m->levels, !g.order,
                on);
  }
}

template <typename T> static __global__ void prepare_kernel(gik_control *control, T *published, size_t count)
{
  const size_t i0 = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  for (size_t i = i0; i < count; i += (size_t)gridDim.x * blockDim.x) store_not_yet(published + i);
  if (i0) return;
  *control = gik_control{};
  control->fault_row = -1;
}

template <bool COLUMNS>
static gable_status levels(const char *name, const gik_seed *m, gable_type vectors, const gik_solve *s)
{
  launches on(s->stream);
  by_types(vectors, m->stored, [&](auto v, auto k) { levels_solve<decltype(v), decltype(k), COLUMNS>(m, s, &on); });
  return on.status(name);
}

template <bool COLUMNS>
static gable_status elements(const char *name, const gik_seed *m, gable_type vectors, const gik_solve *s)
{
  launches on(s->stream);
  by_types(vectors, m->stored, [&](auto v, auto k) { elements_solve<decltype(v), decltype(k), COLUMNS>(m, s, &on); });
  return on.status(name);
}

} /* namespace gik */

extern "C" {

int gik_seed_launches(const gik_seed *m)
{
  return gik::level_launches(m->level, m->levels, gik::CHAIN_BLOCK / (unsigned)m->lanes);
}

gable_status gik_levr_solve(const gik_seed *m, gable_type vectors, const gik_solve *s)
{
  return gik::levels<false>("levr", m, vectors, s);
}

gable_status gik_levc_solve(const gik_seed *m, gable_type vectors, const gik_solve *s)
{
  return gik::levels<true>("levc", m, vectors, s);
}

gable_status gik_elmr_solve(const gik_seed *m, gable_type vectors, const gik_solve *s)
{
  return gik::elements<false>("elmr", m, vectors, s);
}

gable_status gik_elmc_solve(const gik_seed *m, gable_type vectors, const gik_solve *s)
{
  return gik::elements<true>("elmc", m, vectors, s);
}

gable_status gik_solve_prepare(gik_control *control, void *published, size_t count, gable_type vectors, void *stream)
{
  gik::launches on(stream);
  if (vectors == GABLE_TYPE_D)
    on.launch(gik::prepare_kernel<double>, 256, 256, 0, control, (double *)published, count);
  else
    on.launch(gik::prepare_kernel<float>, 256, 256, 0, control, (float *)published, count);
  return on.status("prepare");
}

} /* extern "C" */
