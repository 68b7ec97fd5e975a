/* tile_flow.cuh: what flows into a block while it computes: records and right-hand sides by its loading warps, values
 * of other tiles by its polling warps. */
#ifndef GIK_TILE_FLOW_CUH
#define GIK_TILE_FLOW_CUH

#include "kernels/tile_record.cuh"

namespace gik
{

/* Warps of a block: W compute, L load, NP poll. */
template <int W, int NP> struct crew {
  static constexpr int L = W;
  static constexpr int compute = 32 * W, load = 32 * L, all = 32 * (W + L + NP);
};

/* The ring of records in shared memory.  An even number of copies; as many as leave room for a border. */
template <typename L, int KP, int W> struct ring {
  static constexpr int S = KP <= 2 && W == 1 ? 4 : 2;                                 /* records a copy */
  static constexpr int D = S * L::bytes <= 15000 ? 8 : S * L::bytes <= 23000 ? 6 : 4; /* copies in the ring */
};

/* The arguments of one kernel, by value. */
template <typename T> struct tiles_arguments {
  const gik_tile *tile;
  const char *record;
  const unsigned *row, *border;
  const T *b;
  T *x;
  T *published; /* [count][2][n_published] */
  gik_control *control;
  ptrdiff_t b_rhs, x_rhs;
  unsigned b_step, x_step;             /* bytes from row to row */
  unsigned n_published, pieces, count; /* pieces = tiles * count */
  int capacity, window;                /* slots, records */
  unsigned long long deadline_ns;
};

/* Where a block's parts lie in shared memory, and what of its tile all its warps know. */
template <typename T, int P, int KP, int W> struct block {
  typedef layout<T, P, KP, W> L;
  typedef ring<L, KP, W> K;
  T *x;                        /* slots: 0 is zero, then the window, then the border */
  unsigned *border;            /* published places of the border slots */
  char *records;               /* [D][S] */
  T *b;                        /* [D][S][R] */
  unsigned slots, full, empty; /* addresses: slots, and barriers [D] each */
  unsigned local, copies;
  const char *source, *b_in;
  const unsigned *row; /* rows of the tile's records, for b */
  char *x_out;
  T *mine, *next; /* published values of this solve, and those of the next, to be cleared */

  /* Bytes of a block whose largest tile has `slots` slots; the number of slots is a multiple of 16. */
  static size_t bytes(size_t slots)
  {
    return slots * (sizeof(T) + 4) + (size_t)K::D * K::S * (L::bytes + L::R * sizeof(T)) + 2 * 8 * K::D;
  }
  __device__ __forceinline__ void place_in(char *memory, int capacity)
  {
    x = (T *)memory;
    border = (unsigned *)(x + capacity);
    records = (char *)(border + capacity);
    b = (T *)(records + (size_t)K::D * K::S * L::bytes);
    unsigned long long *barriers = (unsigned long long *)(b + K::D * K::S * L::R);
    slots = shared_address(x);
    full = shared_address(barriers);
    empty = full + 8 * K::D;
    if (threadIdx.x) return;
    for (int i = 0; i < K::D; i++) {
      barrier_init(full + 8 * i, 1 + crew<W, 1>::load);
      barrier_init(empty + 8 * i, W);
    }
    barrier_init_fence();
  }
  __device__ __forceinline__ const char *record_at(unsigned copy) const
  {
    return records + (size_t)copy * K::S * L::bytes;
  }
  __device__ __forceinline__ const T *b_at(unsigned copy) const { return b + copy * K::S * L::R; }
};

/* A position in the ring, and the phase of its barriers. */
template <int D> struct cursor {
  unsigned at = 0, phase = 0;
  __device__ __forceinline__ void advance()
  {
    if (++at == D) {
      at = 0;
      phase ^= 1;
    }
  }
};

/* The loading warps of a block; t: thread among them.  The first one issues the copies of records, all gather b; the
 * row numbers that this needs are read two copies ahead, and brought into L2 earlier still. */
template <typename T, int P, int KP, int W> struct loader {
  typedef layout<T, P, KP, W> L;
  typedef ring<L, KP, W> K;
  enum { N = crew<W, 1>::load, COUNT = K::S * L::R, EACH = (COUNT + N - 1) / N, FAR = 8 };
  cursor<K::D> to;
  unsigned issued, row[2][EACH];

  __device__ __forceinline__ loader() { to.phase = 1; }

  __device__ __forceinline__ void look_ahead(const block<T, P, KP, W> &k, unsigned *ahead, unsigned copy, int t)
  {
    const unsigned *from = k.row + (size_t)copy * COUNT;
#pragma unroll
    for (int i = 0; i < EACH; i++) ahead[i] = COUNT % N == 0 || i * N + t < COUNT ? from[i * N + t] : 0;
    if (t * 32 < COUNT && copy + FAR < k.copies) prefetch_line(from + FAR * COUNT + t * 32);
  }

  __device__ __forceinline__ void issue(const block<T, P, KP, W> &k, unsigned b_step, unsigned *own, int t)
  {
    const T *from[EACH];
#pragma unroll
    for (int i = 0; i < EACH; i++) from[i] = (const T *)(k.b_in + (size_t)own[i] * b_step);
    const unsigned full = k.full + 8 * to.at, into = shared_address(k.b_at(to.at));
    if (issued + 2 < k.copies) look_ahead(k, own, issued + 2, t);
    barrier_wait(k.empty + 8 * to.at, to.phase);
    if (!t)
      copy_bulk(shared_address(k.record_at(to.at)), k.source + (size_t)issued * K::S * L::bytes, K::S * L::bytes, full);
    issued++;
#pragma unroll
    for (int i = 0; i < EACH; i++)
      if (COUNT % N == 0 || i * N + t < COUNT) copy_one(into + (unsigned)((i * N + t) * sizeof(T)), from[i]);
    copy_arrive(full);
    to.advance();
  }

  /* Copies up to number `most`, which is even or the last. */
  __device__ __forceinline__ void run(const block<T, P, KP, W> &k, unsigned b_step, unsigned most, int t)
  {
    while (issued < most) {
      issue(k, b_step, row[0], t);
      if (issued < most) issue(k, b_step, row[1], t);
    }
  }

  /* The first copies do not wait for the block's barrier. */
  __device__ __forceinline__ void begin(const block<T, P, KP, W> &k, unsigned b_step, int t)
  {
    issued = 0;
    if (k.copies) look_ahead(k, row[0], 0, t);
    if (k.copies > 1) look_ahead(k, row[1], 1, t);
    run(k, b_step, k.copies < K::D ? k.copies : K::D, t);
  }
};

/* Entries of the border are dealt to the lanes of NP warps; every lane goes its own way through its share.  Values come
 * about in the order of the list, which is that of their levels.  Before a tile's first value has come, only the first
 * warp looks: most tiles that are held wait for their turn.  To look more often than once per journey to L2 and back
 * (by further warps, or by loads in flight together) was slower each time it was measured. */
template <typename T, int NP>
static __device__ __forceinline__ void poll(const unsigned *list, unsigned n, const T *mine, unsigned to,
                                            gik_control *control, unsigned long long deadline_ns, int t)
{
  patience p;
  unsigned e = (unsigned)t, place = e < n ? list[e] : 0;
  if (t >= 32)
    for (;;) {
      T first = 0;
      if (n) load_shared(to, &first);
      if (!not_yet(first) || p.lost(control, deadline_ns, -1)) break;
      __nanosleep(40);
    }
  __syncwarp();
  for (;;) {
    bool got = false;
    if (e < n) {
      const T v = load_relaxed(mine + place);
      if (!not_yet(v)) {
        store_shared(to + e * (unsigned)sizeof(T), v);
        e += 32 * NP;
        if (e < n) place = list[e];
        got = true;
      }
    }
    if (!__any_sync(ALL, e < n)) break;
    if (!__any_sync(ALL, got) && __any_sync(ALL, p.lost(control, deadline_ns, -1))) break;
  }
}

} /* namespace gik */

#endif
