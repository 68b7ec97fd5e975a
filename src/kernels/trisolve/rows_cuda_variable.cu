/* rows_cuda_variable.cu: rows packed in level order, each record with as many lanes a row as its rows are long.
 *
 * For wide levels of uneven rows, where bytes and the number of records count.  What a row has no room for in one
 * record is in those that follow, whose turn is empty.  The heads of records lie apart and are read one record ahead,
 * so that only what a record uses is read, and brought into L2 before its turn. */
#include "cuda/launch.cuh"
#include "kernels/trisolve/rows_cuda_flow.cuh"
#include "kernels/trisolve/rows_cuda_variable.cuh"

namespace gik
{

/* A piece of a warp, and its record's head. */
struct variable_turn {
  unsigned piece;
  uint4 head; /* gik_head */

  __device__ __forceinline__ unsigned lane_bits() const { return head.w & 0xff; }
  __device__ __forceinline__ unsigned pairs() const { return head.y ? head.w >> 8 & 0xff : 0; }
  __device__ __forceinline__ unsigned after() const { return head.y ? head.w >> 24 : 0; }

  template <typename T> __device__ __forceinline__ void look(const rows_arguments<T> &g, const uint4 *heads)
  {
    piece = __shfl_sync(ALL, piece, 0);
    head = piece < g.pieces ? heads[piece / g.count] : make_uint4(0, 0, 0, 0);
  }
};

/* One warp takes one record and right-hand side at a time.  LONG: some rows go on in further records.
 *
 *   1  where x_j is published, and the lanes of each row, from the head that was read one record ahead
 *   2  entries, places and b of this record: loads that depend on no other row
 *   3  ticket and head of the next record, whose lines go into L2
 *   4  wait for the gate, then for every operand; the sum of the products; likewise for further records of long rows
 *   5  add over the lanes of a row, publish x, empty its other copy, write the caller's x */
template <typename T, typename M, bool LONG>
static __global__ void __launch_bounds__(GIK_ROWS_CUDA_WARPS * 32, 6)
    variable_kernel(const rows_arguments<T> g, const uint4 *heads)
{
  typedef variable_layout<M> L;
  enum { K = L::K };
  __shared__ dealer::shared dealt;
  const unsigned lane = threadIdx.x % 32, first_parity = g.control->parity[0];
  dealer deal(&dealt, g.control, g.chunk, g.pieces);
  variable_turn now = {}, then = {};
  if (!lane) now.piece = deal.draw();
  now.look(g, heads);
  for (; now.piece < g.pieces; now = then) {
    /* 1 */
    const unsigned rhs = now.piece % g.count, copy = copy_of(g.control, first_parity, rhs);
    const char *record = g.record + (size_t)(now.piece / g.count) * L::bytes;
    T *mine = g.published + (size_t)(2 * rhs + copy) * g.n_published;
    T *next = g.published + (size_t)(2 * rhs + (copy ^ 1)) * g.n_published;
    const unsigned bits = now.lane_bits(), r = lane >> bits, at = now.head.x + r;
    if (!lane) {
      deal.settle();
      then.piece = deal.draw();
    }
    const bool own = !(lane & ((1u << bits) - 1)) && r < now.head.y;
    const int row = r < now.head.y ? ((const int *)(record + L::row))[r] : 0;
    const bool scales = sizeof(M) == 4 ? r < now.head.y : own; /* coefficients, or b alone */
    const T inverse = scales ? (T)((const double *)(record + L::inverse))[r] : (T)0;
    coefficients<T, M, K> c; /* 2 */
    uint2 place[K];
    const unsigned long long policy = read_once();
    load_entries<M>(c.stored(), place, record, now.pairs(), lane, policy);
    T sum = own && row >= 0 ? g.b[row * g.b_row + rhs * g.b_rhs] * inverse : (T)0;
    T v[2 * K];
    const auto scale = [&] { c.scale(inverse); };
    if (!lane) deal.settle(); /* 3 */
    then.look(g, heads);
    if (then.piece < g.pieces)
      prefetch_variable<M>(g.record + (size_t)(then.piece / g.count) * L::bytes, then.pairs(), lane);
    if (g.gated && now.head.z != NONE) /* 4 */
      await_gate(mine + now.head.z, g.control, g.deadline_ns, r < now.head.y ? (int)(row & ~PART) : -1);
    await<T, K>(v, place, mine, g.control, g.deadline_ns, (int)(row & ~PART), scale);
    sum = minus_dot<T, K>(sum, c.a, v);
    for (unsigned q = LONG ? now.after() : 0; q > 0; q--) {
      record += L::bytes;
      load_entries<M>(c.stored(), place, record, K, lane, policy);
      await<T, K>(v, place, mine, g.control, g.deadline_ns, (int)(row & ~PART), scale);
      sum = minus_dot<T, K>(sum, c.a, v);
    }
    /* 5 */
    for (int d = (1 << bits) / 2; d > 0; d >>= 1) sum += __shfl_xor_sync(ALL, sum, d);
    if (own) {
      store_relaxed(mine + at, sum);
      store_not_yet(next + at);
      if (row >= 0) g.x[row * g.x_row + rhs * g.x_rhs] = sum;
    }
  }
  leave(g.control, g.count);
}

template <typename T, typename M> static void variable_launch(const gik_rows_cuda *p, const gik_solve *s, launches *on)
{
  const unsigned pieces = p->n_records * (unsigned)s->v.count;
  const rows_arguments<T> g = rows_arguments_of<T>(p, s, pieces);
  const unsigned grid = rows_grid(p, pieces, s->v.count, s->processors);
  void (*const f)(const rows_arguments<T>, const uint4 *) =
      p->long_rows ? variable_kernel<T, M, true> : variable_kernel<T, M, false>;
  on->launch(f, grid, GIK_ROWS_CUDA_WARPS * 32, 0, g, (const uint4 *)p->head);
}

} /* namespace gik */

extern "C" gable_status gik_rows_cuda_solve_variable(const gik_rows_cuda *p, gable_type vectors, const gik_solve *s)
{
  gik::launches on(s->stream);
  gik::by_types(vectors, p->stored, [&](auto v, auto m) { gik::variable_launch<decltype(v), decltype(m)>(p, s, &on); });
  return on.status("rows");
}
