/* tiles_cuda_multi_rhs.cu: tiles for Q right-hand sides at a time.
 *
 * The schedule and the records are those of tiles_cuda.cu, and so are the kinds of warps; a slot holds Q numbers,
 * one of each right-hand side, so that a record is read, a step begun and a border value waited for once for all of
 * them.  Accesses to b and x bound the time, so loading warps make both, by runs of neighbouring rows. */
#include "kernels/trisolve/tile_kernel.cuh"

namespace gik
{

/* The ring of records and right-hand sides: shorter than for one, since slots take the room.  With two copies instead
 * of four 7 points took 1.2 times as long, 27 points 1.4; six gained nothing. */
template <typename L, int KP, int W> struct short_ring {
  static constexpr int S = ring<L, KP, W>::S, D = 4;
};

/* Where a block's parts lie in shared memory. */
template <typename T, typename M, int P_, int KP_, int W, int Q>
struct multi_rhs_block : tile_in_hand<T, layout<M, P_, KP_, W>, short_ring<layout<M, P_, KP_, W>, KP_, W>, W, Q> {
  typedef layout<M, P_, KP_, W> L;
  typedef short_ring<L, KP_, W> K;
  typedef vec2<T> V; /* what a slot holds, H times, so many bytes apart */
  enum : unsigned { P = P_, KP = KP_, H = Q / 2, SLOT = sizeof(V), WRITES = 1 };
  V *x;             /* [H][capacity] slots: 0 is zero, then the window, then the border */
  V *b;             /* [D][S][H][R] */
  unsigned *border; /* published places of the border slots */
  unsigned capacity;

  static size_t bytes(size_t slots)
  {
    return slots * (Q * sizeof(T) + 4) + (size_t)K::D * K::S * (L::bytes + L::R * Q * sizeof(T)) + 2 * 8 * K::D;
  }
  __device__ __forceinline__ void place_in(char *memory, int slots)
  {
    capacity = (unsigned)slots;
    x = (V *)memory;
    b = x + (size_t)capacity * H;
    char *records = (char *)(b + K::D * K::S * L::R * H);
    unsigned long long *barriers = (unsigned long long *)(records + (size_t)K::D * K::S * L::bytes);
    border = (unsigned *)(barriers + 2 * K::D);
    this->slots = shared_address(x);
    this->make_ring(records, barriers);
  }
  static __device__ __forceinline__ unsigned position(unsigned e) { return e % K::S * L::R + e / K::S; }
  /* x of a row from its slot. */
  __device__ __forceinline__ void write(const tiles_arguments<T> &g, unsigned slot, unsigned row) const
  {
    T *x = (T *)(this->x_out + (size_t)row * g.x_step);
#pragma unroll
    for (unsigned h = 0; h < H; h++, x += 2 * g.x_rhs) {
      V v;
      load_shared(this->slots + slot * SLOT + h * plane(), &v);
      if (2 * h < this->here) store_weak(x, v.x);
      if (2 * h + 1 < this->here) store_weak(x + g.x_rhs, v.y);
    }
  }
  __device__ __forceinline__ unsigned plane() const
  {
    return capacity * SLOT;
  }
  __device__ __forceinline__ const V *b_at(unsigned copy) const
  {
    return b + copy * K::S * L::R * H;
  }
  __device__ __forceinline__ void clear(unsigned slot, bool zero) const
  {
    for (unsigned h = 0; h < H; h++) x[h * capacity + slot] = zero ? V{0, 0} : vec2_not_yet<T>();
  }
  /* at: record and row of a copy. */
  __device__ __forceinline__ void gather(const tiles_arguments<T> &g, unsigned into, unsigned at, const T *from) const
  {
#pragma unroll
    for (unsigned q = 0; q < Q; q++)
      copy_one_or_zero(into + (at / L::R * L::R * Q + (q / 2 * L::R + at % L::R) * 2 + q % 2) * (unsigned)sizeof(T),
                       from + (q < this->here ? q * g.b_rhs : 0), q < this->here);
  }
};

/* What a lane holds of a record; see step of tile_record.cuh. */
template <typename T, typename M, int P, int KP, int W, int Q> struct multi_rhs_step : coefficients<T, M, KP> {
  typedef layout<M, P, KP, W> L;
  using coefficients<T, M, KP>::a;
  enum { H = Q / 2, OPERANDS = 2 * KP };
  unsigned at[2 * KP]; /* where the operands are in shared memory */
  vec2<T> b[H];
  T inverse;
  unsigned place, row;

  __device__ __forceinline__ void fetch(const char *record, const vec2<T> *rhs, unsigned base, int t)
  {
    const int r = t / P;
    pair<M> *stored = this->stored();
#pragma unroll
    for (int k = 0; k < KP; k++) {
      stored[k] = ((const pair<M> *)record)[k * L::C + t];
      const unsigned slot = ((const unsigned *)(record + L::slots))[k * L::C + t];
      at[2 * k] = base + (slot & 0xffff) * (unsigned)sizeof(vec2<T>);
      at[2 * k + 1] = base + (slot >> 16) * (unsigned)sizeof(vec2<T>);
    }
    const uint2 m = ((const uint2 *)(record + L::meta))[r];
    place = m.x;
    row = m.y;
    inverse = (T)((const double *)(record + L::inverse))[r];
#pragma unroll
    for (int h = 0; h < H; h++) b[h] = rhs[h * L::R + r];
  }

  __device__ __forceinline__ void operands(vec2<T> (*v)[2 * KP], unsigned plane) const
  {
#pragma unroll
    for (int h = 0; h < H; h++)
#pragma unroll
      for (int k = 0; k < 2 * KP; k++) load_shared(at[k] + h * plane, &v[h][k]);
  }

  /* b - sum a v over the P lanes of a row, in every lane, in the order of step::dot. */
  __device__ __forceinline__ void dot(vec2<T> *s, const vec2<T> (*v)[2 * KP], int lane) const
  {
    const bool starts = (P == 1 || lane % P == 0) && (int)row >= 0;
#pragma unroll
    for (int h = 0; h < H; h++) {
      vec2<T> even = {starts ? inverse * b[h].x : (T)0, starts ? inverse * b[h].y : (T)0}, odd = {0, 0};
#pragma unroll
      for (int k = 0; k < KP; k++) {
        even.x = fma(-a[k].x, v[h][2 * k].x, even.x);
        even.y = fma(-a[k].x, v[h][2 * k].y, even.y);
        vec2<T> &second = KP == 1 ? even : odd;
        second.x = fma(-a[k].y, v[h][2 * k + 1].x, second.x);
        second.y = fma(-a[k].y, v[h][2 * k + 1].y, second.y);
      }
      s[h] = {KP == 1 ? even.x : even.x + odd.x, KP == 1 ? even.y : even.y + odd.y};
    }
#pragma unroll
    for (int d = P / 2; d > 0; d >>= 1)
#pragma unroll
      for (int h = 0; h < H; h++) {
        s[h].x += __shfl_xor_sync(ALL, s[h].x, d);
        s[h].y += __shfl_xor_sync(ALL, s[h].y, d);
      }
  }

  /* Whether the result may stem from a value that is not there: such a value is a NaN. */
  static __device__ __forceinline__ bool suspect(const vec2<T> *s)
  {
    bool m = false;
#pragma unroll
    for (int h = 0; h < H; h++) m |= s[h].x != s[h].x || s[h].y != s[h].y;
    return m;
  }

  __device__ __forceinline__ bool missing(unsigned plane) const
  {
    bool m = false;
#pragma unroll
    for (int k = 0; k < 2 * KP; k++)
#pragma unroll
      for (int h = 0; h < H; h++) {
        vec2<T> v;
        load_shared(at[k] + h * plane, &v);
        m |= not_yet(v);
      }
    return m;
  }
};

/* The published results of a lane on their way out: of the Q of a row, the pairs that are congruent to the lane modulo
 * P. */
template <typename T, int P, int Q> struct multi_rhs_outgoing {
  enum { H = Q / 2, E = P >= H ? 1 : H / P };
  vec2<T> r[E];
  unsigned place = NONE;

  __device__ __forceinline__ void take(const vec2<T> *s, unsigned own, unsigned plane, unsigned published, int part)
  {
#pragma unroll
    for (int h = 0; h < H; h++)
      if (h % P == part) {
        r[h / P] = s[h];
        store_shared(own + h * plane, s[h]);
      }
    place = part < H ? published : NONE;
  }

  template <typename B> __device__ __forceinline__ void leave(const B &k, int part) const
  {
    if (place == NONE) return;
#pragma unroll
    for (int e = 0; e < E; e++) {
      const size_t at = (size_t)place * Q + 2 * (e * P + part);
      store_vec2(k.mine + at, r[e]);
      store_vec2(k.next + at, vec2_not_yet<T>());
    }
  }
};

/* A step some of whose operands are not there yet: looks until they are, or the deadline has passed. */
template <typename S, typename T>
static __device__ __forceinline__ void await_multi_rhs(const S &now, vec2<T> *sum, unsigned plane, int lane,
                                                       gik_control *control, unsigned long long deadline_ns)
{
  patience p;
  for (;;) {
    const bool missing = now.missing(plane);
    if (!__any_sync(ALL, missing)) break;
    if (__any_sync(ALL, p.lost(control, deadline_ns, missing ? (int)(now.row & ~PART) : -1))) break;
  }
  vec2<T> v[S::H][S::OPERANDS];
  now.operands(v, plane);
  now.dot(sum, v, lane);
}

/* One computing warp's way through a tile; t: thread among the computing ones. */
template <typename T, typename M, int P, int KP, int W, int Q>
static __device__ __forceinline__ void compute(const multi_rhs_block<T, M, P, KP, W, Q> &k, const tiles_arguments<T> &g,
                                               cursor<short_ring<layout<M, P, KP, W>, KP, W>::D> &c, int t)
{
  typedef layout<M, P, KP, W> L;
  typedef short_ring<L, KP, W> K;
  typedef multi_rhs_step<T, M, P, KP, W, Q> S;
  const int lane = t % 32, part = lane % P;
  const unsigned number = (unsigned)sizeof(vec2<T>), wrap = k.local * number, own = k.slots + (1 + t / P) * number;
  S now, then;
  multi_rhs_outgoing<T, P, Q> last;
  unsigned offset = 0;
  if (!k.copies) return;
  barrier_wait(k.full + 8 * c.at, c.phase);
  now.fetch(k.record_at(c.at), k.b_at(c.at), k.slots, t);
  for (unsigned q = 0; q < k.copies; q++) {
    cursor<K::D> following = c;
    following.advance();
#pragma unroll
    for (int s = 0; s < K::S; s++) {
      vec2<T> sum[Q / 2], v[Q / 2][2 * KP];
      now.operands(v, k.plane());
      now.scale(now.inverse);
      last.leave(k, part);
      if (s + 1 < K::S) {
        then.fetch(k.record_at(c.at) + (s + 1) * L::bytes, k.b_at(c.at) + (s + 1) * L::R * (Q / 2), k.slots, t);
      } else if (q + 1 < k.copies) {
        barrier_wait(k.full + 8 * following.at, following.phase);
        then.fetch(k.record_at(following.at), k.b_at(following.at), k.slots, t);
      }
      now.dot(sum, v, lane);
      if (__any_sync(ALL, S::suspect(sum))) await_multi_rhs(now, sum, k.plane(), lane, g.control, g.deadline_ns);
      last.take(sum, own + offset, k.plane(), now.place, part);
      group_barrier<1, W>();
      offset += L::R * number;
      if (offset == wrap) offset = 0;
      now = then;
    }
    if (!lane) barrier_arrive(k.empty + 8 * c.at);
    c = following;
  }
  last.leave(k, part);
}

/* q: 2 or 4. */
template <typename T, typename M> struct several {
  int q;

  template <int P, int KP, int W> tile_variant<T> of() const
  {
    enum { NP = 4 };
    if (q == 2) return tile_variant_of<multi_rhs_block<T, M, P, KP, W, 2>, NP>();
    return tile_variant_of<multi_rhs_block<T, M, P, KP, W, 4>, NP>();
  }
};

template <typename T, typename M> static tile_variant<T> several_variant(const gik_tiles *t, int q)
{
  return tile_pick<T>(t, several<T, M>{q});
}

} /* namespace gik */

extern "C" {

int gik_tiles_multi_rhs_blocks(const gik_tiles *t, int q, gable_type vectors, int processors)
{
  return gik::by_types(vectors, t->stored, [=](auto v, auto m) {
    return gik::tile_blocks(gik::several_variant<decltype(v), decltype(m)>(t, q), t, processors);
  });
}

gable_status gik_tiles_solve_multi_rhs(const gik_tiles *t, int q, gable_type vectors, int blocks, const gik_solve *s)
{
  return gik::by_types(vectors, t->stored, [=](auto v, auto m) {
    return gik::tile_launch(gik::several_variant<decltype(v), decltype(m)>(t, q), t, q, s, blocks);
  });
}

} /* extern "C" */
