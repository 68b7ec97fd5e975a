/* rows_cuda_by_level.cu: rows packed in level order, one level after another.
 *
 * For few, wide levels, where waiting for single values costs more than waiting for a whole level does: no value is
 * published beside x, nothing is polled, and what a level's rows are made of is read while the level before is still
 * being solved.  A warp takes the rows of one variable record, for R right-hand sides at a time; levels of few records
 * that follow one another are one launch, of a block for some right-hand sides each. */
#include "cuda/launch.cuh"
#include "kernels/trisolve/narrow_levels.cuh"
#include "kernels/trisolve/rows_cuda_variable.cuh"

namespace gik
{

enum {
  STEP_WARPS = 4,             /* of a block, for a level by itself */
  RUN_WARPS = 16,             /* of the one block that takes a run of levels, */
  RUN_RECORDS = 2 * RUN_WARPS /* each of which has so many records at most */
};

template <typename T> struct level_arguments {
  const char *record;
  const uint4 *head; /* gik_head */
  const T *b;
  T *x, *part;       /* part: [count][n] of rows that were split */
  unsigned n, count; /* right-hand sides */
  unsigned span;     /* of a block */
  ptrdiff_t b_row, b_rhs, x_row, x_rhs;
};

/* Of the caches only L2 knows what other processors have stored. */
static __device__ __forceinline__ double load_l2(const double *p)
{
  return __ldcg(p);
}
static __device__ __forceinline__ float load_l2(const float *p)
{
  return __ldcg(p);
}

/* The rows of one record, and R right-hand sides. */
template <typename T, typename M, int R, bool PARTS> struct by_level_rows {
  typedef variable_layout<M> L;
  enum { K = GIK_VARIABLE_PAIRS };
  const char *record;
  uint4 head; /* gik_head; no rows: nothing to do */
  unsigned slot;
  bool own;
  int row; /* < 0: a part */
  T inverse, sum[R];
  coefficients<T, M, K> c;
  uint2 place[K];

  __device__ __forceinline__ unsigned pairs() const { return head.w >> 8 & 0xff; }
  __device__ __forceinline__ unsigned after() const { return head.w >> 24; }
  __device__ __forceinline__ unsigned lanes() const { return 1u << (head.w & 0xff); }

  /* What no other row changes, with b of the right-hand sides from rhs on. */
  __device__ __forceinline__ void fetch(const level_arguments<T> &g, unsigned q, unsigned rhs)
  {
    const unsigned lane = threadIdx.x % 32;
    record = g.record + (size_t)q * L::bytes;
    head = g.head[q];
    const int rows = ((const int *)(record + L::row))[lane];
    const T inverses = (T)((const double *)(record + L::inverse))[lane];
    if (!head.y) return; /* the rest of a long row */
    slot = lane >> (head.w & 0xff);
    own = !(lane & (lanes() - 1)) && slot < head.y;
    row = __shfl_sync(ALL, rows, (int)slot);
    inverse = __shfl_sync(ALL, inverses, (int)slot);
    load(record, pairs());
    take_b(g, rhs);
  }

  __device__ __forceinline__ void load(const char *from, unsigned used)
  {
    load_entries<M>(c.stored(), place, from, used, threadIdx.x % 32, read_once());
    c.scale(inverse);
  }

  __device__ __forceinline__ void take_b(const level_arguments<T> &g, unsigned rhs)
  {
#pragma unroll
    for (int r = 0; r < R; r++)
      sum[r] = own && row >= 0 && rhs + r < g.count ? g.b[row * g.b_row + (rhs + r) * g.b_rhs] * inverse : (T)0;
  }

  __device__ __forceinline__ T value(const level_arguments<T> &g, unsigned at, unsigned r) const
  {
    if (at == NONE || r >= g.count) return 0;
    if (PARTS && at & PART) return load_l2(g.part + (size_t)r * g.n + (at & ~PART));
    return load_l2(g.x + at * g.x_row + r * g.x_rhs);
  }

  __device__ __forceinline__ void subtract(const level_arguments<T> &g, unsigned rhs)
  {
    T v[R][2 * K];
#pragma unroll
    for (int r = 0; r < R; r++)
#pragma unroll
      for (int k = 0; k < K; k++) {
        v[r][2 * k] = value(g, place[k].x, rhs + r);
        v[r][2 * k + 1] = value(g, place[k].y, rhs + r);
      }
#pragma unroll
    for (int r = 0; r < R; r++) sum[r] = minus_dot<T, K>(sum[r], c.a, v[r]);
  }

  /* The rest of a long row, whose records follow. */
  __device__ __forceinline__ void subtract_rest(const level_arguments<T> &g, unsigned rhs)
  {
    for (unsigned q = 1; q <= after(); q++) {
      load(record + q * L::bytes, K);
      subtract(g, rhs);
    }
    if (after()) load(record, K);
  }

  /* For right-hand sides rhs ... end-1, of which b of the first R is there. */
  __device__ __forceinline__ void solve(const level_arguments<T> &g, unsigned rhs, unsigned end)
  {
    if (!head.y) return;
    for (; rhs < end; rhs += R) {
      if (pairs()) subtract(g, rhs);
      subtract_rest(g, rhs);
      for (unsigned d = lanes() / 2; d > 0; d >>= 1)
#pragma unroll
        for (int r = 0; r < R; r++) sum[r] += __shfl_xor_sync(ALL, sum[r], (int)d);
#pragma unroll
      for (int r = 0; r < R; r++) {
        if (!own || rhs + r >= g.count) break;
        if (PARTS && row < 0)
          g.part[(size_t)(rhs + r) * g.n + head.x + slot] = sum[r];
        else
          g.x[row * g.x_row + (rhs + r) * g.x_rhs] = sum[r];
      }
      if (rhs + R < end) take_b(g, rhs + R);
    }
  }
};

/* Records first ... end-1 of one level. */
template <typename T, typename M, int R, bool PARTS>
static __global__ void __launch_bounds__(STEP_WARPS * 32)
    step_kernel(const level_arguments<T> g, unsigned first, unsigned end)
{
  const unsigned q = first + blockIdx.x * STEP_WARPS + threadIdx.x / 32, rhs = blockIdx.y * g.span;
  by_level_rows<T, M, R, PARTS> rows;
  next_launch();
  rows.head.y = 0;
  if (q < end) rows.fetch(g, q, rhs);
  after_last_launch();
  rows.solve(g, rhs, min(rhs + g.span, g.count));
}

struct step_table {
  unsigned first[GIK_MOST_STEPS + 1];
};

/* Levels l ... last-1 of few records, by one block for each so many right-hand sides, a barrier between two. */
template <typename T, typename M, int R, bool PARTS>
static __global__ void __launch_bounds__(RUN_WARPS * 32)
    run_kernel(const level_arguments<T> g, const step_table step, int l, int last)
{
  const unsigned warp = threadIdx.x / 32, rhs = blockIdx.y * g.span, end = min(rhs + g.span, g.count);
  by_level_rows<T, M, R, PARTS> rows;
  next_launch();
  rows.head.y = 0;
  if (step.first[l] + warp < step.first[l + 1]) rows.fetch(g, step.first[l] + warp, rhs);
  after_last_launch();
  for (; l < last; l++) {
    rows.solve(g, rhs, end);
    for (unsigned q = step.first[l] + warp + RUN_WARPS; q < step.first[l + 1]; q += RUN_WARPS) {
      rows.fetch(g, q, rhs);
      rows.solve(g, rhs, end);
    }
    rows.head.y = 0;
    if (l + 1 < last && step.first[l + 1] + warp < step.first[l + 2]) rows.fetch(g, step.first[l + 1] + warp, rhs);
    __syncthreads();
  }
}

/* Right-hand sides of a block, so that there are as many warps as wanted: with few records a warp has few of them. */
static unsigned span_of(unsigned records, unsigned count, unsigned together, unsigned wanted)
{
  const unsigned groups = (count + together - 1) / together;
  unsigned shares = records ? (wanted + records - 1) / records : 1;
  if (shares > groups) shares = groups;
  return (groups + shares - 1) / shares * together;
}

template <typename T, typename M, int R, bool PARTS>
static void by_level_run(const gik_rows_cuda *p, level_arguments<T> g, int processors, launches *on)
{
  step_table table;
  for (int l = 0; l <= p->steps; l++) table.first[l] = p->step[l];
  for (int l = 0; l < p->steps;) {
    const unsigned records = p->step[l + 1] - p->step[l];
    const int end = narrow_levels_end(p->step, p->steps, l, RUN_RECORDS), run = records <= RUN_RECORDS;
    g.span = run ? R : span_of(records, g.count, R, (unsigned)(p->launches->level_warps * processors));
    const dim3 grid(run ? 1 : (records + STEP_WARPS - 1) / STEP_WARPS, (g.count + g.span - 1) / g.span);
    if (run)
      on->dependent(run_kernel<T, M, R, PARTS>, grid, RUN_WARPS * 32, 0, !l, g, table, l, end);
    else
      on->dependent(step_kernel<T, M, R, PARTS>, grid, STEP_WARPS * 32, 0, !l, g, p->step[l], p->step[l + 1]);
    l = end;
  }
}

template <typename T, typename M> static void by_level_launch(const gik_rows_cuda *p, const gik_solve *s, launches *on)
{
  level_arguments<T> g = {};
  g.record = (const char *)p->record;
  g.head = (const uint4 *)p->head;
  g.b = (const T *)s->v.b;
  g.x = (T *)s->v.x;
  g.part = (T *)s->published;
  g.n = p->n_published;
  g.count = (unsigned)s->v.count;
  g.b_row = s->v.b_row;
  g.b_rhs = s->v.b_rhs;
  g.x_row = s->v.x_row;
  g.x_rhs = s->v.x_rhs;
  if (g.count == 1)
    (p->parts ? by_level_run<T, M, 1, true> : by_level_run<T, M, 1, false>)(p, g, s->processors, on);
  else
    (p->parts ? by_level_run<T, M, 2, true> : by_level_run<T, M, 2, false>)(p, g, s->processors, on);
}

} /* namespace gik */

extern "C" {

int gik_rows_cuda_launches(const gik_rows_cuda *p)
{
  return gik::level_launches(p->step, p->steps, gik::RUN_RECORDS);
}

gable_status gik_rows_cuda_solve_by_level(const gik_rows_cuda *p, gable_type vectors, const gik_solve *s)
{
  gik::launches on(s->stream);
  gik::by_types(vectors, p->stored, [&](auto v, auto m) { gik::by_level_launch<decltype(v), decltype(m)>(p, s, &on); });
  return on.status("rows by level");
}

} /* extern "C" */
