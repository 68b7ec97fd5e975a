/* trisolve_packed_many.cu: rows packed in level order for several right-hand sides at once.
 *
 * Q right-hand sides lie side by side in the published values, so that an entry's operand is one line of memory, read
 * by Q/2 lanes; the matrix and the waiting are shared by all of them.  A warp takes 64/Q rows of a record, or, where a
 * record has fewer, several groups of lanes share a row's entries.  A block takes the records' pieces by ticket, one a
 * warp. */
#include "kernels/device_wait.cuh"

namespace gik
{

enum { MANY_WARPS = 8 };

template <typename T> struct __align__(2 * sizeof(T)) twin
{
  T x, y;
};

static __device__ __forceinline__ twin<double> load_twin(const double *p)
{
  twin<double> v;
  asm volatile("ld.relaxed.gpu.global.v2.f64 {%0, %1}, [%2];" : "=d"(v.x), "=d"(v.y) : "l"(p) : "memory");
  return v;
}
static __device__ __forceinline__ twin<float> load_twin(const float *p)
{
  twin<float> v;
  asm volatile("ld.relaxed.gpu.global.v2.f32 {%0, %1}, [%2];" : "=f"(v.x), "=f"(v.y) : "l"(p) : "memory");
  return v;
}
static __device__ __forceinline__ void store_twin(double *p, double x, double y)
{
  asm volatile("st.relaxed.gpu.global.v2.f64 [%0], {%1, %2};" ::"l"(p), "d"(x), "d"(y) : "memory");
}
static __device__ __forceinline__ void store_twin(float *p, float x, float y)
{
  asm volatile("st.relaxed.gpu.global.v2.f32 [%0], {%1, %2};" ::"l"(p), "f"(x), "f"(y) : "memory");
}

template <typename T> struct many_arguments {
  const char *record;
  unsigned n_published, pieces, chunks, count;
  unsigned lanes, rows, split; /* of a record: lanes a row, rows; pieces of a record */
  unsigned entries;            /* places of a row */
  unsigned bytes, inverse, values, places;
  int gated, classed;
  const T *b;
  T *x, *published; /* [chunks][2][n_published][Q] */
  gik_control *control;
  ptrdiff_t b_row, b_rhs, x_row, x_rhs;
  unsigned long long deadline_ns;
};

/* One row for the right-hand sides of one lane. */
template <typename T, int Q> struct many_row {
  enum { BATCH = 4 };
  const char *record;
  const T *mine;
  int row;
  bool own;

  /* Minus the sum over entries first, first + step, ...: batches in flight together, each in a fixed order. */
  __device__ __forceinline__ twin<T> sum(const many_arguments<T> &g, unsigned slot, unsigned first, unsigned step,
                                         unsigned entries) const
  {
    twin<T> s = {0, 0};
    patience p;
    for (unsigned j0 = 0; j0 < entries; j0 += BATCH * step) {
      unsigned place[BATCH];
      T a[BATCH];
      twin<T> v[BATCH];
#pragma unroll
      for (int u = 0; u < BATCH; u++) {
        const unsigned j = j0 + first + u * step, e = j / g.lanes, lane = slot * g.lanes + j % g.lanes;
        const unsigned at = (e / 2 * 32 + lane) * 2 + e % 2;
        place[u] = own && j < entries ? ((const unsigned *)(record + g.places))[at] : NONE;
        a[u] = place[u] != NONE ? ((const T *)(record + g.values))[at] : (T)0;
      }
      if (!__any_sync(ALL, place[0] != NONE)) break;
#pragma unroll
      for (int u = 0; u < BATCH; u++) {
        v[u] = {0, 0};
        if (place[u] != NONE) v[u] = load_twin(mine + (size_t)place[u] * Q);
      }
      for (;;) {
        bool missing = false;
#pragma unroll
        for (int u = 0; u < BATCH; u++) missing |= not_yet(v[u].x) || not_yet(v[u].y);
        if (!__any_sync(ALL, missing)) break;
        if (__any_sync(ALL, p.lost(g.control, g.deadline_ns, missing ? row & 0x7fffffff : -1))) break;
#pragma unroll
        for (int u = 0; u < BATCH; u++)
          if (not_yet(v[u].x) || not_yet(v[u].y)) v[u] = load_twin(mine + (size_t)place[u] * Q);
      }
#pragma unroll
      for (int u = 0; u < BATCH; u++) {
        s.x = fma(-a[u], v[u].x, s.x);
        s.y = fma(-a[u], v[u].y, s.y);
      }
    }
    return s;
  }
};

/* A piece of a record for one chunk of Q right-hand sides, by one warp. */
template <typename T, int Q>
static __device__ __forceinline__ void many_piece(const many_arguments<T> &g, unsigned piece)
{
  constexpr unsigned L = Q / 2, GROUPS = 32 / L;
  const unsigned lane = threadIdx.x % 32, group = lane / L, rows = g.rows < GROUPS ? g.rows : GROUPS;
  const unsigned part = group / rows, parts = GROUPS / rows;
  const unsigned record = piece / (g.split * g.chunks), rest = piece % (g.split * g.chunks);
  const unsigned chunk = rest / g.split, slot = rest % g.split * rows + group % rows;
  const unsigned copy = copy_of(g.control, g.control->parity[0], chunk), rhs = chunk * Q + lane % L * 2;
  const bool one = rhs < g.count, both = rhs + 1 < g.count;
  const char *r = g.record + (size_t)record * g.bytes;
  T *half = g.published + (size_t)(2 * chunk + copy) * g.n_published * Q;
  T *other = g.published + (size_t)(2 * chunk + (copy ^ 1)) * g.n_published * Q;
  const uint4 head = *(const uint4 *)r;
  many_row<T, Q> m = {r, half + lane % L * 2, ((const int *)(r + 16))[slot], slot < head.y};
  const bool real = m.own && m.row >= 0 && !part;
  const T inverse = ((const T *)(r + g.inverse))[slot];
  const unsigned entries = g.classed ? min(2 * head.w * g.lanes, g.entries) : g.entries;
  twin<T> s = {0, 0}, t;
  if (real && one) s.x = g.b[m.row * g.b_row + rhs * g.b_rhs] * inverse;
  if (real && both) s.y = g.b[m.row * g.b_row + (rhs + 1) * g.b_rhs] * inverse;
  if (g.gated && head.z != NONE) {
    patience p;
    while (not_yet(load_relaxed(half + (size_t)head.z * Q)) && !p.lost(g.control, g.deadline_ns, m.row & 0x7fffffff))
      __nanosleep(20);
  }
  __syncwarp();
  const bool owned = m.own;
  m.own = owned && one;
  t = m.sum(g, slot, part, parts, entries);
  for (unsigned d = rows * L; d < 32; d *= 2) {
    t.x += __shfl_xor_sync(ALL, t.x, d);
    t.y += __shfl_xor_sync(ALL, t.y, d);
  }
  if (!owned || part) return;
  s.x += t.x;
  s.y += t.y;
  if (one) store_twin(half + (size_t)(head.x + slot) * Q + lane % L * 2, s.x, s.y);
  twin<T> clear;
  store_not_yet(&clear.x);
  store_twin(other + (size_t)(head.x + slot) * Q + lane % L * 2, clear.x, clear.x);
  if (real && one) g.x[m.row * g.x_row + rhs * g.x_rhs] = s.x;
  if (real && both) g.x[m.row * g.x_row + (rhs + 1) * g.x_rhs] = s.y;
}

template <typename T, int Q>
static __global__ void __launch_bounds__(MANY_WARPS * 32) many_kernel(const many_arguments<T> g)
{
  __shared__ unsigned ticket[2];
  if (!threadIdx.x) ticket[0] = atomicAdd(&g.control->ticket, 1u);
  __syncthreads();
  for (unsigned turn = 0;; turn ^= 1) {
    const unsigned first = ticket[turn] * MANY_WARPS, piece = first + threadIdx.x / 32;
    if (first >= g.pieces) break;
    unsigned later = 0;
    if (!threadIdx.x) later = atomicAdd(&g.control->ticket, 1u);
    if (piece < g.pieces) many_piece<T, Q>(g, piece);
    if (!threadIdx.x) ticket[turn ^ 1] = later;
    __syncthreads();
  }
  leave(g.control, g.chunks);
}

template <typename T> static void many_launch(const gik_packed *p, int q, gable_type type, const gik_solve *s)
{
  const size_t size = sizeof(T), rows = 32 / (size_t)p->lanes, groups = 64 / (size_t)q;
  many_arguments<T> g = {};
  g.record = (const char *)p->record[type == GABLE_D];
  g.n_published = p->n_published;
  g.chunks = (unsigned)((s->v.count + q - 1) / q);
  g.count = (unsigned)s->v.count;
  g.lanes = (unsigned)p->lanes;
  g.rows = (unsigned)rows;
  g.split = (unsigned)(rows > groups ? rows / groups : 1);
  g.pieces = p->n_records * g.split * g.chunks;
  g.entries = 2 * g.lanes * (unsigned)p->pairs;
  g.bytes = (unsigned)gik_packed_record_bytes(p->lanes, p->pairs, type);
  g.inverse = (unsigned)((16 + rows * 4 + 7) / 8 * 8);
  g.values = (unsigned)((g.inverse + rows * size + 15) / 16 * 16);
  g.places = g.bytes - (unsigned)p->pairs * 256;
  g.gated = p->gated;
  g.classed = p->classed;
  g.b = (const T *)s->v.b;
  g.x = (T *)s->v.x;
  g.published = (T *)s->published;
  g.control = s->control;
  g.b_row = s->v.b_row;
  g.b_rhs = s->v.b_rhs;
  g.x_row = s->v.x_row;
  g.x_rhs = s->v.x_rhs;
  g.deadline_ns = s->deadline_ns;
  const unsigned wanted = (g.pieces + MANY_WARPS - 1) / MANY_WARPS, most = 4 * (unsigned)s->processors;
  const unsigned grid = wanted < most ? wanted : most;
  cudaStream_t stream = (cudaStream_t)s->stream;
  switch (q) {
  case 4: many_kernel<T, 4><<<grid, MANY_WARPS * 32, 0, stream>>>(g); break;
  case 8: many_kernel<T, 8><<<grid, MANY_WARPS * 32, 0, stream>>>(g); break;
  default: many_kernel<T, 16><<<grid, MANY_WARPS * 32, 0, stream>>>(g);
  }
}

} /* namespace gik */

extern "C" {

int gik_packed_together(int count)
{
  return count <= 1 ? 1 : count <= 4 ? 4 : count <= 8 ? 8 : 16;
}

gable_status gik_packed_solve_many(const gik_packed *p, int q, gable_type vectors, const gik_solve *s)
{
  gable_status status = GABLE_OK;
  cudaError_t e = cudaSuccess;
  if (vectors == GABLE_D)
    gik::many_launch<double>(p, q, vectors, s);
  else
    gik::many_launch<float>(p, q, vectors, s);
  e = cudaGetLastError();
  GI_REQUIRE(!e, GABLE_ERR_BACKEND, "rows: %s", cudaGetErrorString(e));
done:
  return status;
}

} /* extern "C" */
