/* trisolve_packed_many.cu: rows packed in level order for several right-hand sides at once.
 *
 * Q right-hand sides lie side by side in the published values, so that an entry's operand is one line of memory, read
 * by Q/2 lanes; the matrix and the waiting are shared by all of them.  A warp takes 64/Q rows of a record, or, where a
 * record has fewer, several groups of lanes share a row's entries.  A block takes the records' pieces by ticket, one a
 * warp. */
#include "kernels/cuda_status.cuh"
#include "kernels/value_twins.cuh"
#include "kernels/vector_turn.cuh"

namespace gik
{

enum { MANY_WARPS = 4 };

template <typename T> struct many_arguments {
  const char *record;
  unsigned n_published, pieces, chunks, count;
  unsigned ticket, unread;         /* pieces a ticket; no row waits for places from here on */
  unsigned lane_bits, rows, split; /* of a record: log2 of lanes a row, rows; pieces of a record */
  unsigned entries;                /* places of a row */
  unsigned bytes, inverse, values, places;
  const T *b;
  T *x, *published; /* [chunks][2][n_published][Q] */
  gik_control *control;
  ptrdiff_t b_row, b_rhs, x_row, x_rhs;
  int turned; /* b is in place already, and x stays there */
  unsigned long long deadline_ns;
};

/* The next entries of a row that one group of lanes has to do, as they stand in the record. */
template <typename T, int ENTRIES> struct batch {
  unsigned place[ENTRIES];
  T a[ENTRIES];

  /* Entries first, first + step, ... of those below end. */
  __device__ __forceinline__ void fetch(const many_arguments<T> &g, const char *record, unsigned slot, unsigned first,
                                        unsigned step, unsigned end)
  {
#pragma unroll
    for (int u = 0; u < ENTRIES; u++) {
      const unsigned j = first + u * step, e = j >> g.lane_bits;
      const unsigned lane = (slot << g.lane_bits) + (j & ((1u << g.lane_bits) - 1));
      const unsigned at = (e / 2 * 32 + lane) * 2 + e % 2;
      place[u] = j < end ? ((const unsigned *)(record + g.places))[at] : NONE;
      a[u] = j < end ? ((const T *)(record + g.values))[at] : (T)0;
    }
  }

  /* Whether any row of the warp has entries here; rows fill their entries from the first on. */
  __device__ __forceinline__ bool used() const
  {
    return __any_sync(ALL, place[0] != NONE);
  }

  /* s minus the sum over the entries; waits for all of them together. */
  template <int Q>
  __device__ __forceinline__ void subtract(twin<T> *s, const T *mine, const many_arguments<T> &g, int row) const
  {
    twin<T> v[ENTRIES];
    patience p;
#pragma unroll
    for (int u = 0; u < ENTRIES; u++) {
      v[u] = {0, 0};
      if (place[u] != NONE) v[u] = load_twin(mine + (size_t)place[u] * Q);
    }
    for (;;) {
      bool missing = false;
#pragma unroll
      for (int u = 0; u < ENTRIES; u++) missing |= not_yet(v[u].x) || not_yet(v[u].y);
      if (!__any_sync(ALL, missing)) break;
      if (__any_sync(ALL, p.lost(g.control, g.deadline_ns, missing ? row & 0x7fffffff : -1))) break;
#pragma unroll
      for (int u = 0; u < ENTRIES; u++)
        if (not_yet(v[u].x) || not_yet(v[u].y)) v[u] = load_twin(mine + (size_t)place[u] * Q);
    }
#pragma unroll
    for (int u = 0; u < ENTRIES; u++) {
      s->x = fma(-a[u], v[u].x, s->x);
      s->y = fma(-a[u], v[u].y, s->y);
    }
  }
};

/* Which rows and right-hand sides a warp does of a piece, and which of them this lane. */
template <typename T, int Q> struct many_task {
  static constexpr unsigned L = Q / 2, GROUPS = 32 / L;
  unsigned rows, part, parts, slot, chunk, rhs;
  const char *record;

  __device__ __forceinline__ many_task(const many_arguments<T> &g, unsigned piece)
  {
    const unsigned lane = threadIdx.x % 32, group = lane / L, rest = piece % (g.split * g.chunks);
    rows = g.rows < GROUPS ? g.rows : GROUPS;
    part = group / rows;
    parts = GROUPS / rows;
    chunk = rest / g.split;
    slot = rest % g.split * rows + group % rows;
    rhs = chunk * Q + lane % L * 2;
    record = g.record + (size_t)(piece / (g.split * g.chunks)) * g.bytes;
  }
};

/* A piece of a record for one chunk of Q right-hand sides, by one warp: everything that is known beforehand is asked
 * for before the first operand is awaited.  b lies where the next solve's values will. */
template <typename T, int Q, int E>
static __device__ __forceinline__ void many_piece(const many_arguments<T> &g, unsigned piece)
{
  const many_task<T, Q> m(g, piece);
  const unsigned copy = copy_of(g.control, g.control->parity[0], m.chunk), mate = threadIdx.x % 32 % m.L * 2;
  const bool one = m.rhs < g.count, both = m.rhs + 1 < g.count;
  T *half = g.published + (size_t)(2 * m.chunk + copy) * g.n_published * Q + mate;
  T *other = g.published + (size_t)(2 * m.chunk + (copy ^ 1)) * g.n_published * Q + mate;
  const unsigned end = one ? g.entries : 0, step = m.parts, stride = E * step;
  batch<T, E> next;
  next.fetch(g, m.record, m.slot, m.part, step, end);
  const uint4 head = *(const uint4 *)m.record;
  const int row = ((const int *)(m.record + 16))[m.slot];
  const T inverse = ((const T *)(m.record + g.inverse))[m.slot];
  const bool own = m.slot < head.y && !m.part, real = own && row >= 0;
  const size_t at = (size_t)(head.x + m.slot) * Q;
  twin<T> s = {0, 0};
  if (g.turned) {
    if (real && one) s = load_twin(other + at);
  } else {
    if (real && one) s.x = g.b[row * g.b_row + m.rhs * g.b_rhs];
    if (real && both) s.y = g.b[row * g.b_row + (m.rhs + 1) * g.b_rhs];
  }
  s.x *= inverse;
  s.y *= inverse;
  if (!real) s = {0, 0};
  for (unsigned j = stride; next.used(); j += stride) {
    const batch<T, E> now = next;
    if (j < g.entries) next.fetch(g, m.record, m.slot, m.part + j, step, end);
    now.template subtract<Q>(&s, half, g, row);
    if (j >= g.entries) break;
  }
  for (unsigned d = m.rows * m.L; d < 32; d *= 2) {
    s.x += __shfl_xor_sync(ALL, s.x, d);
    s.y += __shfl_xor_sync(ALL, s.y, d);
  }
  if (!own) return;
  if (head.x + m.slot < g.unread) {
    if (one) store_twin(half + at, s);
    store_twin(other + at, twin_not_yet<T>());
  }
  if (g.turned) return;
  if (real && one) g.x[row * g.x_row + m.rhs * g.x_rhs] = s.x;
  if (real && both) g.x[row * g.x_row + (m.rhs + 1) * g.x_rhs] = s.y;
}

template <typename T, int Q, int E>
static __global__ void __launch_bounds__(MANY_WARPS * 32) many_kernel(const many_arguments<T> g)
{
  const int lane = threadIdx.x % 32;
  unsigned piece = 0, later = 0;
  if (!lane) piece = atomicAdd(&g.control->ticket, g.ticket);
  for (piece = __shfl_sync(ALL, piece, 0); piece < g.pieces; piece = __shfl_sync(ALL, later, 0)) {
    const unsigned end = piece + g.ticket < g.pieces ? piece + g.ticket : g.pieces;
    if (!lane) later = atomicAdd(&g.control->ticket, g.ticket);
    for (; piece < end; piece++) {
      many_piece<T, Q, E>(g, piece);
      __syncwarp();
    }
  }
  leave(g.control, g.chunks);
}

template <typename T, int Q, int E> static void many_solve(const many_arguments<T> &g, unsigned grid, cudaStream_t s)
{
  many_kernel<T, Q, E><<<grid, MANY_WARPS * 32, 0, s>>>(g);
}

/* b into the half of the next solve's values, the solve, and x out of it again. */
template <typename T, int Q>
static void many_steps(const gik_packed *p, const many_arguments<T> &g, int processors, cudaStream_t stream)
{
  const unsigned wanted = (g.pieces + MANY_WARPS - 1) / MANY_WARPS, most = 8 * (unsigned)processors;
  const unsigned grid = wanted < most ? wanted : most;
  const turning<T> t = {g.b,       g.x,           g.published, g.b_row,  g.b_rhs, g.x_row,    g.x_rhs,
                        g.control, g.n_published, g.count,     g.chunks, p->row,  p->position};
  if (g.turned) turn_in_kernel<T, Q><<<turn_grid(t, processors), TURN_THREADS, 0, stream>>>(t);
  (g.entries <= 4 ? many_solve<T, Q, 4> : many_solve<T, Q, 8>)(g, grid, stream);
  if (g.turned) turn_out_kernel<T, Q><<<turn_grid(t, processors), TURN_THREADS, 0, stream>>>(t);
}

template <typename T>
static void many_run(const gik_packed *p, int q, const many_arguments<T> &g, int processors, cudaStream_t stream)
{
  switch (q) {
  case 4: many_steps<T, 4>(p, g, processors, stream); break;
  case 8: many_steps<T, 8>(p, g, processors, stream); break;
  default: many_steps<T, 16>(p, g, processors, stream);
  }
}

/* Pieces a ticket of one warp.  Tickets of one piece take 0.76 ns each, which bounds levels so wide that warps enough
 * are busy with more. */
static unsigned many_ticket(double pieces_of_level)
{
  return pieces_of_level >= 16e3 ? 4 : pieces_of_level >= 6e3 ? 2 : 1;
}

template <typename T> static void many_launch(const gik_packed *p, int q, gable_type type, const gik_solve *s)
{
  const size_t size = sizeof(T), rows = 32 / (size_t)p->lanes, groups = 64 / (size_t)q;
  many_arguments<T> g = {};
  g.record = (const char *)p->record[type == GABLE_D];
  g.n_published = p->n_published;
  g.chunks = (unsigned)((s->v.count + q - 1) / q);
  g.count = (unsigned)s->v.count;
  while (1 << g.lane_bits < p->lanes) g.lane_bits++;
  g.rows = (unsigned)rows;
  g.split = (unsigned)(rows > groups ? rows / groups : 1);
  g.pieces = p->n_records * g.split * g.chunks;
  g.entries = 2 * (unsigned)p->lanes * (unsigned)p->pairs;
  g.bytes = (unsigned)gik_packed_record_bytes(p->lanes, p->pairs, type);
  g.inverse = (unsigned)((16 + rows * 4 + 7) / 8 * 8);
  g.values = (unsigned)((g.inverse + rows * size + 15) / 16 * 16);
  g.places = g.bytes - (unsigned)p->pairs * 256;
  g.b = (const T *)s->v.b;
  g.x = (T *)s->v.x;
  g.published = (T *)s->published;
  g.control = s->control;
  g.b_row = s->v.b_row;
  g.b_rhs = s->v.b_rhs;
  g.x_row = s->v.x_row;
  g.x_rhs = s->v.x_rhs;
  g.deadline_ns = s->deadline_ns;
  /* rows of a level lie far apart in every column: where the vectors are large and levels many, they are turned */
  g.turned = (s->v.b_rhs != 1 || s->v.x_rhs != 1) && p->width < p->n_published / 16.0 &&
             (double)p->n_published * s->v.count * size > 30e6;
  g.ticket = many_ticket(p->width * g.chunks * q / 64);
  g.unread = g.turned ? NONE : p->unread; /* turned: x is fetched from there */
  many_run<T>(p, q, g, s->processors, (cudaStream_t)s->stream);
}

} /* namespace gik */

extern "C" {

int gik_packed_together(int n, double entries, double width, int count)
{
  if (count <= 1) return 1;
  /* what the GPU holds at once, and narrow levels, are solved for one right-hand side each, which takes less waiting;
   * but where rows are long tickets would take more: four, as long as L2 holds what is published (27 points 32x32x2048
   * took 20 ms so instead of 5) */
  if ((double)n * count < 400e3 || width < 600)
    return count >= 4 && entries >= 4 && width >= 80 && (double)n * count < 4e6 ? 4 : 1;
  /* a warp takes 64/Q rows: with 8 a whole record of rows that take four lanes (cage11 0.102 to 0.082 ms) */
  return count <= 4 ? 4 : count <= 8 || entries >= 6 ? 8 : 16;
}

gable_status gik_packed_solve_many(const gik_packed *p, int q, gable_type vectors, const gik_solve *s)
{
  gable_status status = GABLE_OK;
  GI_TRY(gik::countable("rows", 8.0 * p->n_records * ((s->v.count + q - 1) / q))); /* at most 8 pieces a record */
  if (vectors == GABLE_D)
    gik::many_launch<double>(p, q, vectors, s);
  else
    gik::many_launch<float>(p, q, vectors, s);
  GI_TRY(gik::launched("rows"));
done:
  return status;
}

} /* extern "C" */
