/* tiles_cuda.cu: warps that stream tiles.
 *
 * A block takes a tile by ticket; see tile_kernel.cuh.  Three kinds of warps share it.  W warps compute, in step with
 * each other: a record holds 32 W / P rows of one level, P lanes a row; the operands are slots of shared memory, so a
 * step is: load operands, multiply, store the result.  Others load: records by the copy engine into a ring, and b
 * gathered behind it.  NP warps poll the values that other tiles publish and copy them to border slots.  Results stay
 * in a window of the last records; an operand older than the window comes back as a border value. */
#include "kernels/trisolve/tile_kernel.cuh"

namespace gik
{

/* Where a block's parts lie in shared memory. */
template <typename T, typename M, int P_, int KP_, int W>
struct block : tile_in_hand<T, layout<M, P_, KP_, W>, ring<layout<M, P_, KP_, W>, KP_, W>, W, 1> {
  typedef layout<M, P_, KP_, W> L;
  typedef ring<L, KP_, W> K;
  typedef T V; /* what a slot holds, H times, so many bytes apart */
  enum : unsigned { P = P_, KP = KP_, H = 1, SLOT = sizeof(T), WRITES = 0 };
  T *x;             /* slots: 0 is zero, then the window, then the border */
  unsigned *border; /* published places of the border slots */
  T *b;             /* [D][S][R] */

  /* Bytes of a block whose largest tile has `slots` slots; the number of slots is a multiple of 16. */
  static size_t bytes(size_t slots)
  {
    return slots * (sizeof(T) + 4) + (size_t)K::D * K::S * (L::bytes + L::R * sizeof(T)) + 2 * 8 * K::D;
  }
  __device__ __forceinline__ void place_in(char *memory, int capacity)
  {
    x = (T *)memory;
    border = (unsigned *)(x + capacity);
    char *records = (char *)(border + capacity);
    b = (T *)(records + (size_t)K::D * K::S * L::bytes);
    this->slots = shared_address(x);
    this->make_ring(records, (unsigned long long *)(b + K::D * K::S * L::R));
  }
  static __device__ __forceinline__ unsigned position(unsigned e) { return e; }
  __device__ __forceinline__ unsigned plane() const { return 0; }
  __device__ __forceinline__ const T *b_at(unsigned copy) const { return b + copy * K::S * L::R; }
  __device__ __forceinline__ void clear(unsigned slot, bool zero) const
  {
    if (zero)
      x[slot] = 0;
    else
      store_not_yet(x + slot);
  }
  __device__ __forceinline__ void gather(const tiles_arguments<T> &, unsigned into, unsigned at, const T *from) const
  {
    copy_one(into + (unsigned)(at * sizeof(T)), from);
  }
};

/* A result on its way out: it leaves during the next step, while that one's operands are fetched. */
template <typename T> struct outgoing {
  T r = 0;
  unsigned place = NONE, row = NONE;

  /* What the first lane of a row has found; nothing for the others. */
  __device__ __forceinline__ void take(T result, bool first, unsigned published, unsigned of)
  {
    r = result;
    place = first ? published : NONE;
    row = first ? of : NONE;
  }

  __device__ __forceinline__ void leave(T *mine, T *next, char *x, unsigned x_step) const
  {
    if (place != NONE) {
      store_relaxed(mine + place, r);
      store_weak(next + place, word<T>::value());
    }
    if ((int)row >= 0) store_weak((T *)(x + (size_t)row * x_step), r);
  }
};

/* The operands of a step some of which are not there yet: looks again until they are, or the deadline has passed. */
template <typename T, typename M, int P, int KP, int W>
static __device__ __forceinline__ T await(const step<T, M, P, KP, W> &now, T rhs, T *v, T r, gik_control *control,
                                          unsigned long long deadline_ns)
{
  patience p;
  for (;;) {
    const bool missing = now.missing(v);
    if (!__any_sync(ALL, missing)) return r;
    if (__any_sync(ALL, p.lost(control, deadline_ns, missing ? (int)(now.row & ~PART) : -1))) return r;
    now.operands(v);
    r = now.dot(rhs, v);
  }
}

/* p by way of a shuffle: else it is computed again from its parts at every use. */
template <typename T> static __device__ __forceinline__ T *held(T *p)
{
  return (T *)__shfl_sync(ALL, (uintptr_t)p, 0);
}

/* The march of one computing warp through a tile; t: thread among the computing ones.  A software pipeline: step s uses
 * what was fetched before it.
 *
 *   before the loop   slots of steps 0 and 1, the record of step 0
 *   step s            1  read the operands of s from shared memory
 *                     2  fetch the slots of s + 2, store x of s - 1, fetch the record of s + 1
 *                     3  r = (b - sum of products) / d; where an operand is missing, poll until it is there
 *                     4  publish r in shared memory for the next steps
 *   after a record    give its place in the ring back to the warp that copies */
template <typename T, typename M, int P, int KP, int W>
static __device__ __forceinline__ void compute(const block<T, M, P, KP, W> &k, const tiles_arguments<T> &g,
                                               cursor<ring<layout<M, P, KP, W>, KP, W>::D> &c, int t)
{
  typedef layout<M, P, KP, W> L;
  typedef ring<L, KP, W> K;
  typedef step<T, M, P, KP, W> S;
  if (!k.copies) return;
  const int lane = t % 32;
  const bool first = P == 1 || lane % P == 0;
  const unsigned wrap = k.local * (unsigned)sizeof(T), own = k.slots + (1 + t / P) * (unsigned)sizeof(T);
  T *const mine = held(k.mine), *const next = held(k.next);
  char *const x = held(k.x_out);
  const unsigned x_step = __shfl_sync(ALL, g.x_step, 0);
  S now, then;
  outgoing<T> last;
  unsigned slot[KP], offset = 0;
  const char *record = k.record_at(c.at);
  const T *b = k.b_at(c.at);
  barrier_wait(k.full + 8 * c.at, c.phase);
  S::fetch_slots(slot, record, t);
  now.aim(slot, k.slots);
  S::fetch_slots(slot, record + L::bytes, t);
  now.fetch(record, b, t);
  for (unsigned q = 0; q < k.copies; q++) {
    cursor<K::D> following = c;
    following.advance();
    const char *record_then = k.record_at(following.at);
    const T *b_then = k.b_at(following.at);
    const bool more = q + 1 < k.copies;
#pragma unroll
    for (int s = 0; s < K::S; s++) {
      T v[2 * KP];
      now.operands(v);        /* 1 */
      now.scale(now.inverse); /* while they come */
      then.aim(slot, k.slots);
      if (s + 2 < K::S) { /* 2 */
        S::fetch_slots(slot, record + (s + 2) * L::bytes, t);
      } else if (more) {
        if (s + 2 == K::S) barrier_wait(k.full + 8 * following.at, following.phase);
        S::fetch_slots(slot, record_then + (s + 2 - K::S) * L::bytes, t);
      }
      last.leave(mine, next, x, x_step);
      if (s + 1 < K::S) {
        then.fetch(record + (s + 1) * L::bytes, b + (s + 1) * L::R, t);
      } else if (more) {
        then.fetch(record_then, b_then, t);
      }
      const T rhs = now.start(lane); /* 3 */
      T r = now.dot(rhs, v);
      if (__any_sync(ALL, S::suspect(v, r))) r = await(now, rhs, v, r, g.control, g.deadline_ns);
      if (first) store_shared(own + offset, r); /* 4 */
      last.take(r, first, now.place, now.row);
      group_barrier<1, W>();
      offset += L::R * (unsigned)sizeof(T);
      if (offset == wrap) offset = 0;
      now = then;
    }
    if (!lane) barrier_arrive(k.empty + 8 * c.at);
    c = following;
    record = record_then;
    b = b_then;
  }
  last.leave(mine, next, x, x_step);
}

/* Few chains are lone ones, whose borders are short. */
template <typename T, typename M> struct single {
  int pollers;

  template <int P, int KP, int W> tile_variant<T> of() const
  {
    typedef block<T, M, P, KP, W> B;
    return pollers <= 2 ? tile_variant_of<B, 2>() : tile_variant_of<B, 8>();
  }
};

template <typename T, typename M> static tile_variant<T> single_variant(const gik_tiles *t)
{
  return tile_pick<T>(t, single<T, M>{t->pollers});
}

} /* namespace gik */

extern "C" {

size_t gik_tiles_record_bytes(int lanes, int pairs, int warps, gable_type stored)
{
  const size_t size = stored == GABLE_TYPE_D ? 8 : 4, c = 32 * (size_t)warps, rows = c / (size_t)lanes,
               k = (size_t)pairs;
  return (k * c * (2 * size + 4) + rows * (8 + sizeof(double)) + 15) / 16 * 16;
}

int gik_tiles_blocks(const gik_tiles *t, gable_type vectors, int processors)
{
  return gik::by_types(vectors, t->stored, [=](auto v, auto m) {
    return gik::tile_blocks(gik::single_variant<decltype(v), decltype(m)>(t), t, processors);
  });
}

gable_status gik_tiles_solve(const gik_tiles *t, gable_type vectors, int blocks, const gik_solve *s)
{
  return gik::by_types(vectors, t->stored, [=](auto v, auto m) {
    return gik::tile_launch(gik::single_variant<decltype(v), decltype(m)>(t), t, 1, s, blocks);
  });
}

} /* extern "C" */
