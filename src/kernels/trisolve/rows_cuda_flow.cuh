/* rows_cuda_flow.cuh: what the kernels of packed rows share: their arguments, and the wait for a row's operands. */
#ifndef GIK_ROWS_CUDA_FLOW_CUH
#define GIK_ROWS_CUDA_FLOW_CUH

#include "cuda/device_wait.cuh"
#include "kernels/trisolve/stored.cuh"

namespace gik
{

template <typename T> struct rows_arguments {
  const char *record;
  unsigned n_records, n_published, pieces, count, chunk;
  int gated;
  const T *b;
  T *x, *published;
  gik_control *control;
  ptrdiff_t b_row, b_rhs, x_row, x_rhs;
  unsigned long long deadline_ns;
};

/* pieces: records times right-hand sides. */
template <typename T>
static rows_arguments<T> rows_arguments_of(const gik_rows_cuda *p, const gik_solve *s, unsigned pieces)
{
  return {(const char *)p->record,
          p->n_records,
          p->n_published,
          pieces,
          (unsigned)s->v.count,
          (unsigned)p->chunk,
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
}

/* Blocks of a solve of so many right-hand sides: enough for the rows of the few levels that can be at work together.
 * More would poll for longer, and those that others wait for would come later.  But records that L2 cannot keep, and
 * nothing reads ahead, come from memory while others are being solved. */
static inline unsigned rows_grid(const gik_rows_cuda *p, unsigned pieces, int count, int processors)
{
  const gik_rows_launches *l = p->launches;
  const double rows = p->width * count, each = p->variable ? l->variable_rows : l->packed_rows;
  const double most = l->blocks[count > 1] + rows / each;
  const int large = !p->variable && 64.0 * p->pairs * p->n_records > l->large_entries && p->width > l->large_rows;
  const int all = large || most > p->blocks;
  const unsigned allowed = (unsigned)(all ? p->blocks : most) * (unsigned)processors;
  const unsigned wanted = (pieces + GIK_ROWS_CUDA_WARPS - 1) / GIK_ROWS_CUDA_WARPS;
  return wanted < allowed ? wanted : allowed;
}

/* Deals pieces of work to the warps of a block, in order: a ticket of the whole grid is for `chunk` pieces, because
 * such tickets take 0.76 ns each on an H200 however many warps ask.  The block keeps one ticket ahead.  The calls are
 * for one lane of a warp, and between draw and settle it waits for nobody's values: others may be waiting for the
 * ticket. */
struct dealer {
  struct shared {
    unsigned long long now; /* first piece << 32 | pieces drawn; more than chunk: somebody is about to turn it over */
    unsigned ahead;         /* the next ticket, NONE: not yet known */
  };
  shared *block;
  unsigned *ticket, chunk, end, fetched;

  __device__ __forceinline__ dealer(shared *s, gik_control *c, unsigned chunk, unsigned pieces)
      : block(s), ticket(&c->ticket), chunk(chunk), end(pieces), fetched(NONE)
  {
    if (chunk == 1) return;
    if (!threadIdx.x) {
      s->now = (unsigned long long)atomicAdd(ticket, chunk) << 32;
      s->ahead = atomicAdd(ticket, chunk);
    }
    __syncthreads();
  }

  __device__ __forceinline__ unsigned draw()
  {
    if (chunk == 1) return atomicAdd(ticket, 1u);
    for (;;) {
      const unsigned long long w = atomicAdd(&block->now, 1ull);
      const unsigned first = (unsigned)(w >> 32), drawn = (unsigned)w;
      if (drawn < chunk || first >= end) return first + drawn;
      if (drawn == chunk) return turn_over();
      while ((unsigned)(*(volatile unsigned long long *)&block->now >> 32) == first) {
      }
    }
  }

  /* The ticket that draw asked for, if it did. */
  __device__ __forceinline__ void settle()
  {
    if (fetched != NONE) *(volatile unsigned *)&block->ahead = fetched;
    fetched = NONE;
  }

private:
  __device__ __forceinline__ unsigned turn_over()
  {
    unsigned next;
    while ((next = *(volatile unsigned *)&block->ahead) == NONE) {
    }
    if (next < end) {
      *(volatile unsigned *)&block->ahead = NONE;
      fetched = atomicAdd(ticket, chunk);
    }
    atomicExch(&block->now, (unsigned long long)next << 32 | 1);
    return next;
  }
};

/* Waits for one value, politely: rows far from their turn leave L2 alone. */
template <typename T>
static __device__ __forceinline__ void await_gate(const T *value, gik_control *control, unsigned long long deadline_ns,
                                                  int row)
{
  patience p;
  while (not_yet(load_relaxed(value)) && !p.lost(control, deadline_ns, row)) __nanosleep(20);
  __syncwarp();
}

/* rhs - sum a v, always in the same order. */
template <typename T, int KP> static __device__ __forceinline__ T minus_dot(T rhs, const pair<T> *a, const T *v)
{
  T even = rhs, odd = 0;
#pragma unroll
  for (int k = 0; k < KP; k++) {
    even = fma(-a[k].x, v[2 * k], even);
    odd = fma(-a[k].y, v[2 * k + 1], odd);
  }
  return even + odd;
}

/* Polls until all of v is there; meanwhile(): what is done once they have been asked for. */
template <typename T, int KP, typename F>
static __device__ __forceinline__ void await(T *v, const uint2 *place, const T *mine, gik_control *control,
                                             unsigned long long deadline_ns, int row, const F &meanwhile)
{
  patience p;
#pragma unroll
  for (int k = 0; k < KP; k++) {
    v[2 * k] = v[2 * k + 1] = 0;
    if (place[k].x != NONE) v[2 * k] = load_relaxed(mine + place[k].x);
    if (place[k].y != NONE) v[2 * k + 1] = load_relaxed(mine + place[k].y);
  }
  meanwhile();
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

} /* namespace gik */

#endif
