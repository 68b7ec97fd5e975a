/* rows_cuda.cu: rows packed in level order, every value through L2.
 *
 * A warp takes a record of 32/P rows of one level by ticket, P lanes a row, loads everything that it can, and polls the
 * values it needs.  Published values lie in schedule order, so that neighbours in a level poll neighbouring words.
 * With a gate the warp first waits for one value some levels up, so that rows far from their turn leave L2 alone. */
#include "cuda/launch.cuh"
#include "kernels/trisolve/rows_cuda_flow.cuh"

namespace gik
{

/* head {first place, rows, gate, -} | row [32/P] | 1/diagonal [32/P] | values [KP][32] pairs | places
 * [KP][32] pairs */
template <typename M, int P, int KP> struct rows_layout {
  static constexpr int R = 32 / P;
  static constexpr int row = 16, inverse = (row + R * 4 + 7) / 8 * 8;
  static constexpr int values = (inverse + R * (int)sizeof(double) + 15) / 16 * 16;
  static constexpr int places = values + KP * 64 * (int)sizeof(M), bytes = places + KP * 256;
};

template <typename T, typename M, int P, int KP>
static __global__ void __launch_bounds__(GIK_ROWS_CUDA_WARPS * 32) rows_kernel(const rows_arguments<T> g)
{
  typedef rows_layout<M, P, KP> L;
  __shared__ dealer::shared dealt;
  const int lane = threadIdx.x % 32, r = lane / P;
  const unsigned first_parity = g.control->parity[0];
  dealer deal(&dealt, g.control, g.chunk, g.pieces);
  unsigned piece = 0;
  if (!lane) piece = deal.draw();
  piece = __shfl_sync(ALL, piece, 0);
  while (piece < g.pieces) {
    const unsigned rhs = piece % g.count, copy = copy_of(g.control, first_parity, rhs);
    const char *record = g.record + (size_t)(piece / g.count) * L::bytes;
    T *mine = g.published + (size_t)(2 * rhs + copy) * g.n_published;
    T *next = g.published + (size_t)(2 * rhs + (copy ^ 1)) * g.n_published;
    unsigned later = 0;
    if (!lane) {
      deal.settle();
      later = deal.draw();
    }
    const uint4 head = *(const uint4 *)record;
    const int row = ((const int *)(record + L::row))[r];
    const T inverse = (T)((const double *)(record + L::inverse))[r];
    const bool own = lane % P == 0 && (unsigned)r < head.y;
    coefficients<T, M, KP> c;
    uint2 place[KP];
#pragma unroll
    for (int k = 0; k < KP; k++) {
      c.stored()[k] = ((const pair<M> *)(record + L::values))[k * 32 + lane];
      place[k] = ((const uint2 *)(record + L::places))[k * 32 + lane];
    }
    T sum = own && row >= 0 ? g.b[row * g.b_row + rhs * g.b_rhs] * inverse : (T)0;
    T v[2 * KP];
    if (!lane) deal.settle();
    /* a lane without a row names none */
    if (g.gated && head.z != NONE)
      await_gate(mine + head.z, g.control, g.deadline_ns, (unsigned)r < head.y ? (int)(row & ~PART) : -1);
    await<T, KP>(v, place, mine, g.control, g.deadline_ns, (int)(row & ~PART), [&] { c.scale(inverse); });
    sum = minus_dot<T, KP>(sum, c.a, v);
#pragma unroll
    for (int d = P / 2; d > 0; d >>= 1) sum += __shfl_xor_sync(ALL, sum, d);
    if (own) {
      store_relaxed(mine + head.x + r, sum);
      store_not_yet(next + head.x + r);
      if (row >= 0) g.x[row * g.x_row + rhs * g.x_rhs] = sum;
    }
    piece = __shfl_sync(ALL, later, 0);
  }
  leave(g.control, g.count);
}

#define GIK_SHAPES(X) X(1, 1) X(1, 2) X(1, 4) X(1, 7) X(2, 2) X(2, 4) X(4, 2) X(4, 4) X(8, 2) X(16, 2) X(8, 4) X(32, 4)

template <typename T> using rows_function = void (*)(const rows_arguments<T>);

template <typename T, typename M> static rows_function<T> rows_pick(int lanes, int pairs)
{
#define GIK_PICK(P, KP)                                                                                                \
  if (lanes == P && pairs == KP) return rows_kernel<T, M, P, KP>;
  GIK_SHAPES(GIK_PICK)
#undef GIK_PICK
  return nullptr;
}

template <typename T, typename M> static void rows_launch(const gik_rows_cuda *p, const gik_solve *s, launches *on)
{
  const rows_function<T> f = rows_pick<T, M>(p->lanes, p->pairs);
  const unsigned pieces = p->n_records * (unsigned)s->v.count;
  const rows_arguments<T> g = rows_arguments_of<T>(p, s, pieces);
  const unsigned grid = rows_grid(p, pieces, s->v.count, s->processors);
  on->launch(f, grid, GIK_ROWS_CUDA_WARPS * 32, 0, g);
}

} /* namespace gik */

extern "C" {

gik_record_layout gik_record_layout_of(const gik_rows_cuda *p)
{
  const size_t size = p->stored == GABLE_TYPE_D ? 8 : 4, rows = 32 / (size_t)p->lanes, k = (size_t)p->pairs;
  gik_record_layout l = {16};
  if (p->variable) {
    l.places = k * 64 * size;
    l.inverse = l.places + k * 256;
    l.row = l.inverse + rows * sizeof(double);
    l.bytes = l.row + rows * 4;
    return l;
  }
  l.inverse = (l.row + rows * 4 + 7) / 8 * 8;
  l.values = (l.inverse + rows * sizeof(double) + 15) / 16 * 16;
  l.places = l.values + k * 64 * size;
  l.bytes = l.places + k * 256;
  return l;
}

gable_status gik_rows_cuda_solve(const gik_rows_cuda *p, gable_type vectors, const gik_solve *s)
{
  gable_status status = GABLE_OK;
  gik::launches on(s->stream);
  GI_TRY(gik::countable("rows", (double)p->n_records * s->v.count));
  if (p->variable) return gik_rows_cuda_solve_variable(p, vectors, s);
  gik::by_types(vectors, p->stored, [&](auto v, auto m) { gik::rows_launch<decltype(v), decltype(m)>(p, s, &on); });
  GI_TRY(on.status("rows"));
done:
  return status;
}

} /* extern "C" */
