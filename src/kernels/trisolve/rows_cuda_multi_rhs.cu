/* rows_cuda_multi_rhs.cu: rows packed in level order for several right-hand sides at once.
 *
 * Q right-hand sides lie side by side in the published values, so that an entry's operand is one line of memory, read
 * by Q/2 lanes; the matrix and the waiting are shared by all of them.  A warp takes 64/Q rows of a record, or, where a
 * record has fewer, several groups of lanes share a row's entries.  A block takes the records' pieces by ticket, one a
 * warp. */
#include "cuda/launch.cuh"
#include "cuda/transpose.cuh"
#include "cuda/vec2.cuh"
#include "kernels/trisolve/stored.cuh"

namespace gik
{

enum { MULTI_RHS_WARPS = 4 };

template <typename T> struct multi_rhs_arguments {
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
  int transposed; /* b is in place already, and x stays there */
  unsigned long long deadline_ns;
};

/* Entries that one group of lanes does at once, as they stand in the record, and the values at their places. */
template <typename T, typename M, int E> struct batch {
  unsigned place[E];
  M a[E];
  vec2<T> v[E];

  /* Entries first, first + step, ... of those below end. */
  __device__ __forceinline__ void fetch(const multi_rhs_arguments<T> &g, const char *record, unsigned slot,
                                        unsigned first, unsigned step, unsigned end)
  {
#pragma unroll
    for (int u = 0; u < E; u++) {
      const unsigned j = first + u * step, e = j >> g.lane_bits;
      const unsigned lane = (slot << g.lane_bits) + (j & ((1u << g.lane_bits) - 1));
      const unsigned at = (e / 2 * 32 + lane) * 2 + e % 2;
      place[u] = j < end ? ((const unsigned *)(record + g.places))[at] : NONE;
      a[u] = j < end ? ((const M *)(record + g.values))[at] : (M)0;
    }
  }

  /* Whether any row of the warp has entries here; rows fill their entries from the first on. */
  __device__ __forceinline__ bool used() const
  {
    return __any_sync(ALL, place[0] != NONE);
  }

  /* A first look at all values, of places of Q. */
  template <int Q> __device__ __forceinline__ void look(const T *mine)
  {
#pragma unroll
    for (int u = 0; u < E; u++) {
      v[u] = {0, 0};
      if (place[u] != NONE) v[u] = load_vec2(mine + (size_t)place[u] * Q);
    }
  }

  /* s minus the sum over the entries; waits for all of them together. */
  template <int Q>
  __device__ __forceinline__ void subtract(vec2<T> *s, T inverse, const T *mine, const multi_rhs_arguments<T> &g,
                                           int row)
  {
    patience p;
    T c[E];
#pragma unroll
    for (int u = 0; u < E; u++) c[u] = coefficient(a[u], inverse);
    for (;;) {
      bool missing = false;
#pragma unroll
      for (int u = 0; u < E; u++) missing |= not_yet(v[u]);
      if (!__any_sync(ALL, missing)) break;
      if (__any_sync(ALL, p.lost(g.control, g.deadline_ns, missing ? (int)(row & ~PART) : -1))) break;
#pragma unroll
      for (int u = 0; u < E; u++)
        if (not_yet(v[u])) v[u] = load_vec2(mine + (size_t)place[u] * Q);
    }
#pragma unroll
    for (int u = 0; u < E; u++) {
      s->x = fma(-c[u], v[u].x, s->x);
      s->y = fma(-c[u], v[u].y, s->y);
    }
  }
};

/* Which rows and right-hand sides a warp does of a piece, and which of them this lane. */
template <typename T, int Q> struct multi_rhs_task {
  static constexpr unsigned L = Q / 2, GROUPS = 32 / L;
  unsigned rows, part, parts, slot, chunk, rhs;
  const char *record;

  multi_rhs_task() = default;
  __device__ __forceinline__ multi_rhs_task(const multi_rhs_arguments<T> &g, unsigned piece)
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

/* A piece of a record for one chunk of Q right-hand sides, as a warp comes to know it: what stands in the record, then
 * b and a first look at the values of its first entries. */
template <typename T, typename M, int Q, int E> struct multi_rhs_piece {
  multi_rhs_task<T, Q> m;
  uint4 head;
  int row;
  T inverse;
  batch<T, M, E> first;
  vec2<T> b;
  T *mine, *next; /* published values of this solve and of the next one, from those of this lane on */

  __device__ __forceinline__ void fetch(const multi_rhs_arguments<T> &g, unsigned piece)
  {
    m = multi_rhs_task<T, Q>(g, piece);
    first.fetch(g, m.record, m.slot, m.part, m.parts, end(g));
    head = *(const uint4 *)m.record;
    row = ((const int *)(m.record + 16))[m.slot];
    inverse = (T)((const double *)(m.record + g.inverse))[m.slot];
  }

  /* b lies in the caller's vectors, or where the next solve's values will. */
  __device__ __forceinline__ void look(const multi_rhs_arguments<T> &g, unsigned first_parity)
  {
    const unsigned copy = copy_of(g.control, first_parity, m.chunk), mate = threadIdx.x % 32 % m.L * 2;
    mine = g.published + (size_t)(2 * m.chunk + copy) * g.n_published * Q + mate;
    next = g.published + (size_t)(2 * m.chunk + (copy ^ 1)) * g.n_published * Q + mate;
    b = {0, 0};
    if (g.transposed) {
      if (real() && one(g)) b = load_vec2(next + at());
    } else {
      if (real() && one(g)) b.x = g.b[row * g.b_row + m.rhs * g.b_rhs];
      if (real() && both(g)) b.y = g.b[row * g.b_row + (m.rhs + 1) * g.b_rhs];
    }
    first.template look<Q>(mine);
  }

  __device__ __forceinline__ vec2<T> solve(const multi_rhs_arguments<T> &g)
  {
    const unsigned stride = E * m.parts;
    vec2<T> s = {b.x * inverse, b.y * inverse};
    if (!real()) s = {0, 0};
    batch<T, M, E> now = first, later;
    for (unsigned j = stride;; j += stride) {
      if (j < g.entries) later.fetch(g, m.record, m.slot, m.part + j, m.parts, end(g));
      now.template subtract<Q>(&s, inverse, mine, g, row);
      if (j >= g.entries || !later.used()) break;
      now = later;
      now.template look<Q>(mine);
    }
    for (unsigned d = m.rows * m.L; d < 32; d *= 2) {
      s.x += __shfl_xor_sync(ALL, s.x, d);
      s.y += __shfl_xor_sync(ALL, s.y, d);
    }
    return s;
  }

  __device__ __forceinline__ void store(const multi_rhs_arguments<T> &g, vec2<T> s) const
  {
    if (!own()) return;
    if (head.x + m.slot < g.unread) {
      if (one(g)) store_vec2(mine + at(), s);
      store_vec2(next + at(), vec2_not_yet<T>());
    }
    if (g.transposed) return;
    if (real() && one(g)) g.x[row * g.x_row + m.rhs * g.x_rhs] = s.x;
    if (real() && both(g)) g.x[row * g.x_row + (m.rhs + 1) * g.x_rhs] = s.y;
  }

private:
  __device__ __forceinline__ bool one(const multi_rhs_arguments<T> &g) const { return m.rhs < g.count; }
  __device__ __forceinline__ bool both(const multi_rhs_arguments<T> &g) const { return m.rhs + 1 < g.count; }
  __device__ __forceinline__ bool own() const { return m.slot < head.y && !m.part; }
  __device__ __forceinline__ bool real() const { return own() && row >= 0; }
  __device__ __forceinline__ size_t at() const { return (size_t)(head.x + m.slot) * Q; }
  __device__ __forceinline__ unsigned end(const multi_rhs_arguments<T> &g) const { return one(g) ? g.entries : 0; }
};

/* A warp reads the record of its next piece while it waits for the values of the one at hand. */
template <typename T, typename M, int Q, int E>
static __global__ void __launch_bounds__(MULTI_RHS_WARPS * 32) multi_rhs_kernel(const multi_rhs_arguments<T> g)
{
  const int lane = threadIdx.x % 32;
  const unsigned first_parity = g.control->parity[0];
  unsigned piece = 0, later = 0, left = g.ticket; /* left: of this ticket, the piece at hand included */
  multi_rhs_piece<T, M, Q, E> coming;
  if (!lane) piece = atomicAdd(&g.control->ticket, g.ticket);
  piece = __shfl_sync(ALL, piece, 0);
  if (piece < g.pieces) coming.fetch(g, piece);
  next_launch();
  after_last_launch(); /* b is transposed */
  while (piece < g.pieces) {
    multi_rhs_piece<T, M, Q, E> now = coming;
    if (left == 1 && !lane) later = atomicAdd(&g.control->ticket, g.ticket);
    now.look(g, first_parity);
    piece = left > 1 ? piece + 1 : __shfl_sync(ALL, later, 0);
    left = left > 1 ? left - 1 : g.ticket;
    if (piece < g.pieces) coming.fetch(g, piece);
    now.store(g, now.solve(g));
    __syncwarp();
  }
  leave(g.control, g.chunks);
}

/* In the mean, of so many chunks of q right-hand sides. */
static double pieces_of_level(const gik_rows_cuda *p, unsigned chunks, int q)
{
  return p->width * chunks * q / 64;
}

/* Blocks a processor, by the pieces of a level: more would only wait for longer. */
static unsigned multi_rhs_blocks(const gik_rows_launches *l, double pieces)
{
  return (unsigned)l->multi_rhs_blocks[(pieces >= l->few_pieces) + (pieces >= l->many_pieces)];
}

/* b into the half of the next solve's values, the solve, and x out of it again. */
template <typename T, typename M, int Q>
static void multi_rhs_steps(const gik_rows_cuda *p, const multi_rhs_arguments<T> &g, int processors, launches *on)
{
  const unsigned most = multi_rhs_blocks(p->launches, pieces_of_level(p, g.chunks, Q)) * (unsigned)processors;
  const unsigned wanted = (g.pieces + MULTI_RHS_WARPS - 1) / MULTI_RHS_WARPS, grid = wanted < most ? wanted : most;
  const transposition<T> t = {g.b,       g.x,           g.published, g.b_row,  g.b_rhs, g.x_row,    g.x_rhs,
                              g.control, g.n_published, g.count,     g.chunks, p->row,  p->position};
  const dim3 transposers = transpose_grid<T, Q>(t, processors);
  if (g.transposed) on->launch(transpose_in_kernel<T, Q>, transposers, TRANSPOSE_THREADS, 0, t);
  on->dependent(g.entries <= 4 ? multi_rhs_kernel<T, M, Q, 4> : multi_rhs_kernel<T, M, Q, 8>, grid,
                MULTI_RHS_WARPS * 32, 0, !g.transposed, g);
  if (g.transposed) on->dependent(transpose_out_kernel<T, Q>, transposers, TRANSPOSE_THREADS, 0, false, t);
}

template <typename T, typename M>
static void multi_rhs_run(const gik_rows_cuda *p, int q, const multi_rhs_arguments<T> &g, int processors, launches *on)
{
  switch (q) {
  case 4: multi_rhs_steps<T, M, 4>(p, g, processors, on); break;
  case 8: multi_rhs_steps<T, M, 8>(p, g, processors, on); break;
  default: multi_rhs_steps<T, M, 16>(p, g, processors, on);
  }
}

/* Pieces a ticket of one warp, by those of a level.  Tickets of one piece each bound levels so wide that warps enough
 * are busy with more. */
static unsigned multi_rhs_ticket(const gik_rows_launches *l, double pieces)
{
  return pieces >= l->four_a_ticket ? 4 : pieces >= l->two_a_ticket ? 2 : 1;
}

template <typename T, typename M>
static void multi_rhs_launch(const gik_rows_cuda *p, int q, const gik_solve *s, launches *on)
{
  const size_t size = sizeof(T), rows = 32 / (size_t)p->lanes, groups = 64 / (size_t)q;
  const gik_record_layout l = gik_record_layout_of(p);
  multi_rhs_arguments<T> g = {};
  g.record = (const char *)p->record;
  g.n_published = p->n_published;
  g.chunks = (unsigned)((s->v.count + q - 1) / q);
  g.count = (unsigned)s->v.count;
  while (1 << g.lane_bits < p->lanes) g.lane_bits++;
  g.rows = (unsigned)rows;
  g.split = (unsigned)(rows > groups ? rows / groups : 1);
  g.pieces = p->n_records * g.split * g.chunks;
  g.entries = 2 * (unsigned)p->lanes * (unsigned)p->pairs;
  g.bytes = (unsigned)l.bytes;
  g.inverse = (unsigned)l.inverse;
  g.values = (unsigned)l.values;
  g.places = (unsigned)l.places;
  g.b = (const T *)s->v.b;
  g.x = (T *)s->v.x;
  g.published = (T *)s->published;
  g.control = s->control;
  g.b_row = s->v.b_row;
  g.b_rhs = s->v.b_rhs;
  g.x_row = s->v.x_row;
  g.x_rhs = s->v.x_rhs;
  g.deadline_ns = s->deadline_ns;
  /* rows of a level lie far apart in every column: where the vectors are large and levels many, they are transposed */
  g.transposed = (s->v.b_rhs != 1 || s->v.x_rhs != 1) && p->width < p->n_published / p->launches->transposed_levels &&
                 (double)p->n_published * s->v.count * size > p->launches->transposed_bytes;
  g.ticket = multi_rhs_ticket(p->launches, pieces_of_level(p, g.chunks, q));
  g.unread = g.transposed ? NONE : p->unread; /* transposed: x is fetched from there */
  multi_rhs_run<T, M>(p, q, g, s->processors, on);
}

} /* namespace gik */

extern "C" {

int gik_rows_cuda_together(const gik_rows_launches *l, int n, double entries, double width, int count)
{
  const double numbers = (double)n * count;
  if (count <= 1 || (count < 4 && numbers < l->together_numbers)) return 1;
  /* a warp takes 64/Q rows: with 8 a whole record of rows that take four lanes (cage11 0.102 to 0.082 ms) */
  if (width >= l->together_rows) return count <= 4 ? 4 : count <= 8 || entries >= 6 ? 8 : 16;
  /* narrow levels are solved for one right-hand side each, which takes less waiting; but where rows are long tickets
   * would take more: four, as long as L2 holds what is published (27 points 32x32x2048 took 20 ms so instead of 5) */
  const int long_rows =
      (entries >= 4 && width >= l->four_entries_rows) || (entries >= 3 && width >= l->three_entries_rows && count >= 8);
  return long_rows && count >= 4 && numbers < l->kept_numbers ? 4 : 1;
}

gable_status gik_rows_cuda_solve_multi_rhs(const gik_rows_cuda *p, int q, gable_type vectors, const gik_solve *s)
{
  gable_status status = GABLE_OK;
  gik::launches on(s->stream);
  GI_TRY(gik::countable("rows", 8.0 * p->n_records * ((s->v.count + q - 1) / q))); /* at most 8 pieces a record */
  gik::by_types(vectors, p->stored,
                [&](auto v, auto m) { gik::multi_rhs_launch<decltype(v), decltype(m)>(p, q, s, &on); });
  GI_TRY(on.status("rows"));
done:
  return status;
}

} /* extern "C" */
