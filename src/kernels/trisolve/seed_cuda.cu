/* seed_cuda.cu: LEVR, LEVC, ELMR and ELMC of Li and Zhang (SIAM PP 2020, section 5.1), and GSF of Liu et al.
 *
 * What differs from the kernels printed there: what no other row changes is read before anything is waited for, the
 * blocks of the element methods all run at once instead of being trusted to start in order, in ELMR a value is its own
 * flag, a level's launch begins before the one before it has ended, waits end at a deadline, and several right-hand
 * sides are solved one after another. */
#include "cuda/launch.cuh"
#include "kernels/trisolve/element_flow.cuh"
#include "kernels/trisolve/narrow_levels.cuh"

namespace gik
{

enum { SEED_BLOCK = 512, CHAIN_BLOCK = 1024 };

template <typename T> struct seed_arguments {
  int n, reverse;
  const unsigned *ptr, *index, *order;
  const T *val, *diagonal, *b;
  T *x;
  ptrdiff_t b_row, x_row;
  T *published; /* [2][n] elmr */
  int *count;   /* [n] elmc */
  flow_waits waits;

  __device__ __forceinline__ ptrdiff_t natural(unsigned k) const { return reverse ? n - 1 - (ptrdiff_t)k : k; }
  __device__ __forceinline__ T *at(unsigned k) const { return x + natural(k) * x_row; }
};

/* What a lane holds of a row or column: its entries p, p + K, ..., of which the next is (j, v), and in lane 0 what else
 * x_i is made of. */
template <typename T, int K> struct seed_row {
  unsigned i, p, begin, end, j; /* i, j == NONE: no row, no more entries */
  T v, b, diagonal;

  __device__ __forceinline__ void next(const seed_arguments<T> &g)
  {
    j = p < end ? g.index[p] : (unsigned)NONE;
    v = p < end ? g.val[p] : 0;
    p += K;
  }
  __device__ __forceinline__ void locate(const seed_arguments<T> &g, unsigned row)
  {
    i = row;
    begin = i == NONE ? 0 : g.ptr[i];
    end = i == NONE ? 0 : g.ptr[i + 1];
  }
  template <bool COLUMN> __device__ __forceinline__ void fill(const seed_arguments<T> &g, unsigned lane)
  {
    p = begin + lane;
    next(g);
    if (lane || i == NONE) return;
    diagonal = g.diagonal[i];
    if (!COLUMN) b = g.b[g.natural(i) * g.b_row];
  }
  /* x_i of a row, where all that it needs is there; K threads do it. */
  __device__ __forceinline__ void solve_row(const seed_arguments<T> &g, unsigned lane)
  {
    T sum = 0;
    for (; j != NONE; next(g)) sum += v * *(volatile T *)g.at(j);
#pragma unroll
    for (int d = K / 2; d > 0; d >>= 1) sum += __shfl_down_sync(ALL, sum, d, K);
    if (i != NONE && !lane) *(volatile T *)g.at(i) = (b - sum) / diagonal;
  }
  /* The same by columns: x holds b minus what lower levels have subtracted. */
  __device__ __forceinline__ void solve_column(const seed_arguments<T> &g, unsigned lane)
  {
    T t = 0;
    if (i != NONE && !lane) {
      t = load_relaxed(g.at(i)) / diagonal;
      *g.at(i) = t;
    }
    t = __shfl_sync(ALL, t, 0, K);
    for (; j != NONE; next(g)) atomicAdd(g.at(j), -t * v);
  }
  template <bool COLUMN> __device__ __forceinline__ void solve(const seed_arguments<T> &g, unsigned lane)
  {
    if (COLUMN)
      solve_column(g, lane);
    else
      solve_row(g, lane);
  }
};

/* A level; what another launch writes is read after that launch. */
template <typename T, int K, bool COLUMNS>
static __global__ void level_kernel(const seed_arguments<T> g, unsigned l1, unsigned l2)
{
  const unsigned place = l1 + (blockIdx.x * blockDim.x + threadIdx.x) / K, lane = threadIdx.x % K;
  seed_row<T, K> r;
  next_launch();
  r.locate(g, place < l2 ? g.order[place] : (unsigned)NONE);
  r.template fill<COLUMNS>(g, lane);
  after_last_launch();
  r.template solve<COLUMNS>(g, lane);
}

/* Several levels that fit one block, a barrier between two.  A row's place, its offsets and its entries are read three,
 * two and one levels ahead. */
template <typename T, int K, bool COLUMNS>
static __global__ void __launch_bounds__(CHAIN_BLOCK, 1)
    level_chain_kernel(const seed_arguments<T> g, const unsigned *start, int first, int last)
{
  const unsigned lane = threadIdx.x % K, group = threadIdx.x / K;
  const auto row_of = [&](int m) {
    const unsigned place = m < last ? start[m] + group : 0;
    return m < last && place < start[m + 1] ? g.order[place] : (unsigned)NONE;
  };
  seed_row<T, K> r, ahead;
  next_launch();
  after_last_launch();
  r.locate(g, row_of(first));
  r.template fill<COLUMNS>(g, lane);
  ahead.locate(g, row_of(first + 1));
  unsigned far = row_of(first + 2);
  for (int m = first; m < last; m++) {
    r.template solve<COLUMNS>(g, lane);
    r = ahead;
    r.template fill<COLUMNS>(g, lane);
    ahead.locate(g, far);
    far = row_of(m + 3);
    if (COLUMNS) __threadfence(); /* the subtractions have arrived */
    __syncthreads();
  }
}

/* A warp a row; a place of published holds "not yet" until x_j is there. */
template <typename T> static __global__ void __launch_bounds__(FLOW_BLOCK) elmr_kernel(const seed_arguments<T> g)
{
  const unsigned lane = threadIdx.x % 32, n = (unsigned)g.n, half = g.waits.control->parity[0] & 1;
  T *now = g.published + (half ? n : 0), *then = g.published + (half ? 0 : n);
  warp_places w(g.waits.control);
  for (unsigned row = w.at < n ? g.order[w.at] : 0; w.at < n;) {
    seed_row<T, 32> r;
    patience patient;
    T sum = 0;
    r.locate(g, row);
    r.template fill<false>(g, lane);
    const T inverse = 1 / r.diagonal;
    w.at += w.step;
    if (w.at < n) row = g.order[w.at];
    const auto term = [&] { return r.v * g.waits.value(now + r.j, &patient, (int)g.natural(r.i)); };
    if (r.j != NONE) sum = term();
    while (r.p < r.end) { /* more than 32 entries */
      r.next(g);
      sum += term();
    }
    __syncwarp();
    sum = sum_of_warp(sum, r.end - r.begin);
    if (!lane) {
      const T x = (r.b - sum) * inverse;
      store_relaxed(now + r.i, x);
      *g.at(r.i) = x;
      store_not_yet(then + r.i);
    } /* no barrier: that the other lanes go on meanwhile is worth 0.2 us a level */
  }
  leave(g.waits.control, 1);
}

/* A warp a column; count[i] entries of row i are still to come.  Without an order: columns in index order (gsf). */
template <typename T> static __global__ void __launch_bounds__(FLOW_BLOCK) elmc_kernel(const seed_arguments<T> g)
{
  const unsigned lane = threadIdx.x % 32, n = (unsigned)g.n;
  for (warp_places w(g.waits.control); w.at < n; w.at += w.step) {
    seed_row<T, 32> r;
    T t = 0;
    r.locate(g, g.order ? g.order[w.at] : w.at);
    r.template fill<true>(g, lane);
    if (!lane) {
      patience patient;
      const T inverse = 1 / r.diagonal;
      while (*(volatile int *)(g.count + r.i) && !g.waits.over(&patient, (int)g.natural(r.i))) {
      }
      fence_acquire_release();
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

template <typename T> static __global__ void seed_copy_kernel(const seed_arguments<T> g)
{
  for (ptrdiff_t i = blockIdx.x * (ptrdiff_t)blockDim.x + threadIdx.x; i < g.n; i += (ptrdiff_t)gridDim.x * blockDim.x)
    g.x[i * g.x_row] = g.b[i * g.b_row];
}

template <typename T> static seed_arguments<T> seed_of(const gik_seed *m, gable_type type, const gik_solve *s, int rhs)
{
  seed_arguments<T> g = {};
  g.n = m->a.n;
  g.reverse = m->reverse;
  g.ptr = m->a.ptr;
  g.index = m->a.col;
  g.order = m->order;
  g.val = (const T *)m->val[type == GABLE_TYPE_D];
  g.diagonal = (const T *)m->diagonal[type == GABLE_TYPE_D];
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

/* Rows of a level that one block of a chain takes. */
static unsigned chain_rows(const gik_seed *m)
{
  return CHAIN_BLOCK / (unsigned)m->lanes;
}

template <typename T, int K, bool COLUMNS>
static void levels_run(const gik_seed *m, const seed_arguments<T> &g, launches *on)
{
  for (int l = 0; l < m->levels;) {
    const int e = narrow_levels_end(m->level, m->levels, l, chain_rows(m));
    const unsigned rows = m->level[l + 1] - m->level[l], at_once = SEED_BLOCK / K;
    if (rows <= chain_rows(m))
      on->dependent(level_chain_kernel<T, K, COLUMNS>, 1, CHAIN_BLOCK, 0, !l, g, m->device_level, l, e);
    else
      on->dependent(level_kernel<T, K, COLUMNS>, (rows + at_once - 1) / at_once, SEED_BLOCK, 0, !l, g, m->level[l],
                    m->level[l + 1]);
    l = e;
  }
}

template <typename T, bool COLUMNS>
static void levels_solve(const gik_seed *m, gable_type type, const gik_solve *s, launches *on)
{
  for (int rhs = 0; rhs < s->v.count; rhs++) {
    const seed_arguments<T> g = seed_of<T>(m, type, s, rhs);
    if (COLUMNS && s->v.b != s->v.x) on->launch(seed_copy_kernel<T>, 4 * (unsigned)s->processors, 256, 0, g);
    switch (m->lanes) {
    case 2: levels_run<T, 2, COLUMNS>(m, g, on); break;
    case 4: levels_run<T, 4, COLUMNS>(m, g, on); break;
    case 8: levels_run<T, 8, COLUMNS>(m, g, on); break;
    case 16: levels_run<T, 16, COLUMNS>(m, g, on); break;
    default: levels_run<T, 32, COLUMNS>(m, g, on);
    }
  }
}

template <typename T, bool COLUMNS>
static void elements_solve(const gik_seed *m, gable_type type, const gik_solve *s, launches *on)
{
  for (int rhs = 0; rhs < s->v.count && m->a.n; rhs++) {
    seed_arguments<T> g = seed_of<T>(m, type, s, rhs);
    if (COLUMNS) {
      if (s->v.b != s->v.x) on->launch(seed_copy_kernel<T>, 4 * (unsigned)s->processors, 256, 0, g);
      on->call([&] {
        return cudaMemcpyAsync(g.count, m->parents, (size_t)g.n * sizeof(int), cudaMemcpyDeviceToDevice, on->stream);
      });
    }
    flow_launch(COLUMNS ? elmc_kernel<T> : elmr_kernel<T>, &g, g.n, m->levels, on);
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

/* A method of the seed with vectors of each type. */
struct seed_method {
  const char *name;
  void (*in_double)(const gik_seed *m, gable_type type, const gik_solve *s, launches *on);
  void (*in_float)(const gik_seed *m, gable_type type, const gik_solve *s, launches *on);
};
enum { LEVR, LEVC, ELMR, ELMC };
static const seed_method seed_methods[] = {
    {"levr", levels_solve<double, false>, levels_solve<float, false>},
    {"levc", levels_solve<double, true>, levels_solve<float, true>},
    {"elmr", elements_solve<double, false>, elements_solve<float, false>},
    {"elmc", elements_solve<double, true>, elements_solve<float, true>},
};

static gable_status launch(int method, const gik_seed *m, gable_type vectors, const gik_solve *s)
{
  const seed_method *of = &seed_methods[method];
  launches on(s->stream);
  (vectors == GABLE_TYPE_D ? of->in_double : of->in_float)(m, vectors, s, &on);
  return on.status(of->name);
}

} /* namespace gik */

extern "C" {

int gik_seed_launches(const gik_seed *m)
{
  return gik::level_launches(m->level, m->levels, gik::chain_rows(m));
}

gable_status gik_levr_solve(const gik_seed *m, gable_type vectors, const gik_solve *s)
{
  return gik::launch(gik::LEVR, m, vectors, s);
}

gable_status gik_levc_solve(const gik_seed *m, gable_type vectors, const gik_solve *s)
{
  return gik::launch(gik::LEVC, m, vectors, s);
}

gable_status gik_elmr_solve(const gik_seed *m, gable_type vectors, const gik_solve *s)
{
  return gik::launch(gik::ELMR, m, vectors, s);
}

gable_status gik_elmc_solve(const gik_seed *m, gable_type vectors, const gik_solve *s)
{
  return gik::launch(gik::ELMC, m, vectors, s);
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
