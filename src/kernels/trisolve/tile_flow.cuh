/* tile_flow.cuh: what flows into a block while it computes: records and right-hand sides by its loading warps, values
 * of other tiles by its polling warps.
 *
 * B, the block of a kernel, derives from tile_in_hand; a slot of its shared memory holds B::Q numbers. */
#ifndef GIK_TILE_FLOW_CUH
#define GIK_TILE_FLOW_CUH

#include "cuda/vec2.cuh"
#include "kernels/trisolve/tile_record.cuh"
#include "kernels/trisolve/trisolve_cuda.h"

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
  T *published; /* [sets][2][n_published][Q] */
  gik_control *control;
  ptrdiff_t b_rhs, x_rhs;
  unsigned b_step, x_step;                   /* bytes from row to row */
  unsigned n_published, pieces, sets, count; /* sets of Q right-hand sides; pieces = tiles * sets */
  int capacity, window;                      /* slots, records */
  unsigned long long deadline_ns;
};

/* What all warps of a block know of its ring K of records L, and of the tile that they do for a set of Q_ right-hand
 * sides. */
template <typename T_, typename L_, typename K_, int W_, int Q_> struct tile_in_hand {
  typedef T_ T;
  typedef L_ L;
  typedef K_ K;
  static constexpr int W = W_, Q = Q_;
  char *records;               /* [D][S] */
  unsigned slots, full, empty; /* addresses: slots, and barriers [D] each */
  unsigned local, copies;      /* slots of the window; copies of the tile */
  unsigned here;               /* right-hand sides of the set */
  const char *source, *b_in;
  const unsigned *row; /* rows of the tile's records, for b */
  char *x_out;
  T *mine, *next; /* published values of this solve, and those of the next, to be cleared */

  /* barriers: [2][D], for which nobody may have waited. */
  __device__ __forceinline__ void make_ring(char *memory, unsigned long long *barriers)
  {
    records = memory;
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

  __device__ __forceinline__ void take(const tiles_arguments<T> &g, const gik_tile &tile, unsigned set, unsigned half)
  {
    const unsigned rhs = set * Q, rest = g.count - rhs;
    here = rest < Q ? rest : Q;
    copies = (tile.end - tile.first) / K::S;
    source = g.record + (size_t)tile.first * L::bytes;
    row = g.row + (size_t)tile.first * L::R;
    b_in = (const char *)(g.b + rhs * g.b_rhs);
    x_out = (char *)(g.x + rhs * g.x_rhs);
    mine = g.published + (size_t)(2 * set + half) * g.n_published * Q;
    next = g.published + (size_t)(2 * set + (half ^ 1)) * g.n_published * Q;
  }
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
 * row numbers that this needs are read two copies ahead, and brought into L2 earlier still.  Where B::WRITES they also
 * write x, from the window, once a copy has been computed.  B::position deals the rows of a copy to lanes: where the S
 * rows of a slot, which are mostly neighbours in b and x, go to neighbouring lanes, an access has fewer lines. */
template <typename B> struct loader {
  typedef typename B::T T;
  typedef typename B::L L;
  typedef typename B::K K;
  enum { N = crew<B::W, 1>::load, COUNT = K::S * L::R, EACH = (COUNT + N - 1) / N, FAR = 8 };
  cursor<K::D> to, done;
  unsigned issued, row[2][EACH];

  __device__ __forceinline__ loader() { to.phase = 1; }

  static __device__ __forceinline__ bool has(int i, int t) { return COUNT % N == 0 || i * N + t < COUNT; }

  __device__ __forceinline__ void look_ahead(const B &k, unsigned *ahead, unsigned copy, int t)
  {
    const unsigned *from = k.row + (size_t)copy * COUNT;
#pragma unroll
    for (int i = 0; i < EACH; i++) ahead[i] = has(i, t) ? from[B::position((unsigned)(i * N + t))] : 0;
    if (t * 32 < COUNT && copy + FAR < k.copies) prefetch_line(from + FAR * COUNT + t * 32);
  }

  __device__ __forceinline__ void issue(const B &k, const tiles_arguments<T> &g, unsigned *own, int t)
  {
    const T *from[EACH];
#pragma unroll
    for (int i = 0; i < EACH; i++) from[i] = (const T *)(k.b_in + (size_t)own[i] * g.b_step);
    const unsigned full = k.full + 8 * to.at, into = shared_address(k.b_at(to.at));
    if (issued + 2 < k.copies) look_ahead(k, own, issued + 2, t);
    if (!B::WRITES) barrier_wait(k.empty + 8 * to.at, to.phase);
    if (!t)
      copy_bulk(shared_address(k.record_at(to.at)), k.source + (size_t)issued * K::S * L::bytes, K::S * L::bytes, full);
    issued++;
#pragma unroll
    for (int i = 0; i < EACH; i++)
      if (has(i, t)) k.gather(g, into, B::position((unsigned)(i * N + t)), from[i]);
    copy_arrive(full);
    to.advance();
  }

  /* Copies up to number `most`, which is even or the last. */
  __device__ __forceinline__ void run(const B &k, const tiles_arguments<T> &g, unsigned most, int t)
  {
    while (issued < most) {
      issue(k, g, row[0], t);
      if (issued < most) issue(k, g, row[1], t);
    }
  }

  /* The first copies do not wait for the block's barrier. */
  __device__ __forceinline__ void begin(const B &k, const tiles_arguments<T> &g, int t)
  {
    issued = 0;
    if (k.copies) look_ahead(k, row[0], 0, t);
    if (k.copies > 1) look_ahead(k, row[1], 1, t);
    run(k, g, k.copies < K::D ? k.copies : K::D, t);
  }

  /* x of the next copy to be computed, when it has been; then its place in the ring is free.  window: its first slot.
   */
  __device__ __forceinline__ void write(const B &k, const tiles_arguments<T> &g, unsigned window, int t)
  {
    barrier_wait(k.empty + 8 * done.at, done.phase);
#pragma unroll
    for (int i = 0; i < EACH; i++)
      if (has(i, t)) {
        const unsigned at = B::position((unsigned)(i * N + t));
        const char *record = k.record_at(done.at) + at / L::R * L::bytes;
        const unsigned of = ((const uint2 *)(record + L::meta))[at % L::R].y;
        if ((int)of >= 0) k.write(g, window + at, of);
      }
    group_barrier<2, crew<B::W, 1>::L>();
    done.advance();
  }

  /* The rest of a tile's copies. */
  __device__ __forceinline__ void finish(const B &k, const tiles_arguments<T> &g, int t)
  {
    if constexpr (!B::WRITES) {
      run(k, g, k.copies, t);
    } else {
      unsigned window = 1;
      for (unsigned q = 0; q < k.copies; q++) {
        write(k, g, window, t);
        window += COUNT;
        if (window == 1 + k.local) window = 1;
        if (issued == k.copies) continue;
        if (issued % 2)
          issue(k, g, row[1], t);
        else
          issue(k, g, row[0], t);
      }
    }
  }
};

/* Through L2, between blocks. */
template <typename T> static __device__ __forceinline__ void load_published(const T *p, T *v)
{
  *v = load_relaxed(p);
}
template <typename T> static __device__ __forceinline__ void load_published(const T *p, vec2<T> *v)
{
  *v = load_vec2(p);
}

/* The values V, H of them a slot and `plane` bytes apart, of a border of n slots, which begins at shared address `to`;
 * list: their published places.  They are dealt to the lanes of NP warps; every lane goes its own way through its
 * share. Values come about in the order of the list, which is that of their levels.  Before a tile's first value has
 * come, only the first warp looks: most tiles that are held wait for their turn.  To look more often than once per
 * journey to L2 and back (by further warps, or by loads in flight together) was slower each time it was measured. */
template <typename V, int NP, int H, typename T>
static __device__ __forceinline__ void poll(const unsigned *list, unsigned n, const T *mine, unsigned to,
                                            unsigned plane, gik_control *control, unsigned long long deadline_ns, int t)
{
  enum { PART = sizeof(V) / sizeof(T), Q = PART * H }; /* numbers */
  patience p;
  unsigned e = (unsigned)t, place = e < n * H ? list[e / H] : 0;
  if (t >= 32)
    for (;;) {
      V first = {};
      if (n) load_shared(to, &first);
      if (!not_yet(first) || p.lost(control, deadline_ns, -1)) break;
      __nanosleep(40);
    }
  __syncwarp();
  for (;;) {
    bool got = false;
    if (e < n * H) {
      V v;
      load_published(mine + (size_t)place * Q + e % H * PART, &v);
      if (!not_yet(v)) {
        store_shared(to + e / H * (unsigned)sizeof v + e % H * plane, v);
        e += 32 * NP;
        if (e < n * H) place = list[e / H];
        got = true;
      }
    }
    if (!__any_sync(ALL, e < n * H)) break;
    if (!__any_sync(ALL, got) && __any_sync(ALL, p.lost(control, deadline_ns, -1))) break;
  }
}

} /* namespace gik */

#endif
