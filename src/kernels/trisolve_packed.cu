/* trisolve_packed.cu: rows packed in level order, every value through L2.
 *
 * A warp takes a record of 32/P rows of one level by ticket, P lanes a row, loads everything that it can, and polls the
 * values it needs.  Published values lie in schedule order, so that neighbours in a level poll neighbouring words.
 * With a gate the warp first waits for one value some levels up, so that rows far from their turn leave L2 alone. */
#include "kernels/cuda_status.cuh"
#include "kernels/device_wait.cuh"

namespace gik
{

enum { WARPS = 4 };

/* head {first place, rows, gate, pairs in use} | row [32/P] | 1/diagonal [32/P] | values [KP][32] pairs | places
 * [KP][32] pairs */
template <typename T, int P, int KP> struct packed_layout {
  static constexpr int R = 32 / P;
  static constexpr int row = 16, inverse = (row + R * 4 + 7) / 8 * 8;
  static constexpr int values = (inverse + R * (int)sizeof(T) + 15) / 16 * 16;
  static constexpr int places = values + KP * 64 * (int)sizeof(T), bytes = places + KP * 256;
};

template <typename T> struct packed_arguments {
  const char *record;
  unsigned n_records, n_published, pieces, count;
  int gated;
  const T *b;
  T *x, *published;
  gik_control *control;
  ptrdiff_t b_row, b_rhs, x_row, x_rhs;
  unsigned long long deadline_ns;
};

template <typename T> struct __align__(2 * sizeof(T)) two
{
  T x, y;
};

/* The head and used pairs of a record into L2, by all lanes. */
template <typename T, int P, int KP>
static __device__ __forceinline__ void prefetch_record(const char *record, unsigned used, int lane)
{
  typedef packed_layout<T, P, KP> L;
  const unsigned lines = 64 * (unsigned)sizeof(T) / 128 * used, line = (unsigned)lane;
  if (line * 128 < (unsigned)L::values) prefetch_line(record + line * 128);
  if (line < lines)
    prefetch_line(record + L::values + line * 128);
  else if (line - lines < 2 * used)
    prefetch_line(record + L::places + (line - lines) * 128);
}

/* Polls until all of v is there. */
template <typename T, int KP>
static __device__ __forceinline__ void await(T *v, const uint2 *place, const T *mine, gik_control *control,
                                             unsigned long long deadline_ns, int row)
{
  patience p;
#pragma unroll
  for (int k = 0; k < KP; k++) {
    v[2 * k] = v[2 * k + 1] = 0;
    if (place[k].x != NONE) v[2 * k] = load_relaxed(mine + place[k].x);
    if (place[k].y != NONE) v[2 * k + 1] = load_relaxed(mine + place[k].y);
  }
  for (;;) {
    bool missing = false;
#pragma unroll
    for (int k = 0; k < 2 * KP; k++) missing |= not_yet(v[k]);
    if (!__any_sync(ALL, missing)) return;
    if (__any_sync(ALL, p.lost(control, deadline_ns, missing ? row : -1))) return;
#pragma unroll
    for (int k = 0; k < KP; k++) {
      if (not_yet(v[2 * k])) v[2 * k] = load_relaxed(mine + place[k].x);
      if (not_yet(v[2 * k + 1])) v[2 * k + 1] = load_relaxed(mine + place[k].y);
    }
  }
}

/* CLASSED: the pairs of a record that its rows do not use are not read, and the next record is brought into L2; its
 * head says how many pairs, so this costs a latency and pays where levels are wide. */
template <typename T, int P, int KP, bool CLASSED>
static __global__ void __launch_bounds__(WARPS * 32) packed_kernel(const packed_arguments<T> g)
{
  typedef packed_layout<T, P, KP> L;
  const int lane = threadIdx.x % 32, r = lane / P;
  const unsigned first_parity = g.control->parity[0];
  unsigned piece = 0;
  if (!lane) piece = atomicAdd(&g.control->ticket, 1u);
  piece = __shfl_sync(ALL, piece, 0);
  while (piece < g.pieces) {
    const unsigned rhs = piece % g.count, copy = copy_of(g.control, first_parity, rhs);
    const char *record = g.record + (size_t)(piece / g.count) * L::bytes;
    T *mine = g.published + (size_t)(2 * rhs + copy) * g.n_published;
    T *next = g.published + (size_t)(2 * rhs + (copy ^ 1)) * g.n_published;
    unsigned later = 0;
    if (!lane) later = atomicAdd(&g.control->ticket, 1u);
    const uint4 head = *(const uint4 *)record;
    const int row = ((const int *)(record + L::row))[r];
    const T inverse = ((const T *)(record + L::inverse))[r];
    const bool own = lane % P == 0 && (unsigned)r < head.y;
    const unsigned used = CLASSED ? head.w : KP;
    two<T> a[KP];
    uint2 place[KP];
#pragma unroll
    for (int k = 0; k < KP; k++) {
      a[k] = {0, 0};
      place[k] = make_uint2(NONE, NONE);
      if (!CLASSED || k < used) {
        a[k] = ((const two<T> *)(record + L::values))[k * 32 + lane];
        place[k] = ((const uint2 *)(record + L::places))[k * 32 + lane];
      }
    }
    T even = own && row >= 0 ? g.b[row * g.b_row + rhs * g.b_rhs] * inverse : (T)0, odd = 0;
    T v[2 * KP];
    if (g.gated && head.z != NONE) {
      patience p;
      const int blamed = (unsigned)r < head.y ? row & 0x7fffffff : -1; /* a lane without a row names none */
      while (not_yet(load_relaxed(mine + head.z)) && !p.lost(g.control, g.deadline_ns, blamed)) __nanosleep(20);
    }
    __syncwarp();
    if (CLASSED) {
      later = __shfl_sync(ALL, later, 0);
      if (later < g.pieces) prefetch_record<T, P, KP>(g.record + (size_t)(later / g.count) * L::bytes, used, lane);
    }
    await<T, KP>(v, place, mine, g.control, g.deadline_ns, row & 0x7fffffff);
#pragma unroll
    for (int k = 0; k < KP; k++) {
      even = fma(-a[k].x, v[2 * k], even);
      odd = fma(-a[k].y, v[2 * k + 1], odd);
    }
    even += odd;
#pragma unroll
    for (int d = P / 2; d > 0; d >>= 1) even += __shfl_xor_sync(ALL, even, d);
    if (own) {
      store_relaxed(mine + head.x + r, even);
      store_not_yet(next + head.x + r);
      if (row >= 0) g.x[row * g.x_row + rhs * g.x_rhs] = even;
    }
    piece = CLASSED ? later : __shfl_sync(ALL, later, 0);
  }
  leave(g.control, g.count);
}

#define GIK_SHAPES(X)                                                                                                  \
  X(1, 1) X(1, 2) X(1, 4) X(1, 7) X(2, 2) X(2, 4) X(4, 1) X(4, 2) X(4, 4) X(8, 2) X(16, 2) X(8, 4) X(32, 4)

template <typename T> using packed_function = void (*)(const packed_arguments<T>);

template <typename T> static packed_function<T> packed_pick(int lanes, int pairs, int classed)
{
#define GIK_PICK(P, KP)                                                                                                \
  if (lanes == P && pairs == KP) return classed ? packed_kernel<T, P, KP, true> : packed_kernel<T, P, KP, false>;
  GIK_SHAPES(GIK_PICK)
#undef GIK_PICK
  return nullptr;
}

template <typename T> static void packed_launch(const gik_packed *p, gable_type type, const gik_solve *s)
{
  const packed_function<T> f = packed_pick<T>(p->lanes, p->pairs, p->classed);
  const unsigned pieces = p->n_records * (unsigned)s->v.count;
  const unsigned wanted = (pieces + WARPS - 1) / WARPS, most = (unsigned)(p->blocks * s->processors);
  const packed_arguments<T> g = {(const char *)p->record[type == GABLE_D],
                                 p->n_records,
                                 p->n_published,
                                 pieces,
                                 (unsigned)s->v.count,
                                 p->gated,
                                 (const T *)s->v.b,
                                 (T *)s->v.x,
                                 (T *)s->published,
                                 s->control,
                                 s->v.b_row,
                                 s->v.b_rhs,
                                 s->v.x_row,
                                 s->v.x_rhs,
                                 s->deadline_ns};
  const unsigned grid = wanted < most ? wanted : most;
  f<<<grid, WARPS * 32, 0, (cudaStream_t)s->stream>>>(g);
}

} /* namespace gik */

extern "C" {

size_t gik_packed_record_bytes(int lanes, int pairs, gable_type vectors)
{
  const size_t size = vectors == GABLE_D ? 8 : 4, rows = 32 / (size_t)lanes, k = (size_t)pairs;
  const size_t inverse = (16 + rows * 4 + 7) / 8 * 8, values = (inverse + rows * size + 15) / 16 * 16;
  return values + k * 64 * size + k * 256;
}

int gik_packed_shape(int lanes, int pairs)
{
  return gik::packed_pick<double>(lanes, pairs, 0) != nullptr;
}

gable_status gik_packed_solve(const gik_packed *p, gable_type vectors, const gik_solve *s)
{
  if (vectors == GABLE_D)
    gik::packed_launch<double>(p, vectors, s);
  else
    gik::packed_launch<float>(p, vectors, s);
  return gik::launched("rows");
}

} /* extern "C" */
