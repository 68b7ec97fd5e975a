/* exchange_flags.cuh: how the kernels of exchange_steps.cu wait for rounds of other ranks, and tell them of theirs. */
#ifndef GIK_FOREST_EXCHANGE_FLAGS_CUH
#define GIK_FOREST_EXCHANGE_FLAGS_CUH

#include "cuda/launch.cuh"
#include "cuda/system_wait.cuh"
#include "kernels/forest/exchange_steps.h"

namespace gik
{

enum { BLOCK = 256 };

/* Flags, at system scope. */
static __device__ __forceinline__ unsigned load_flag(const unsigned *p)
{
  unsigned v;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}
static __device__ __forceinline__ void store_flag(unsigned *p, unsigned v)
{
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}

/* Of a slot whose items have been read: their values had come before the block's barrier, since they have been stored
 * elsewhere, and a relaxed store does not wait for these stores. */
static __device__ __forceinline__ void store_emptied(unsigned *p, unsigned v)
{
  asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}

/* All steps of the exchange; fault: of gik_exchange_step. */
static __device__ void give_up(const gik_exchange_step &s, int fault)
{
  if (atomicExch(&s.control->aborted, 1)) return;
  for (int k = 0; k < GIK_EXCHANGE_STEPS; k++) *(volatile int *)&s.controls[k].aborted = 1;
  *(volatile int *)s.fault = fault;
  __threadfence_system();
}

/* Whether a wait for rank goes on, after so many polls: not past the deadline, nor once the exchange was given up.
 * until: 0 at first. */
static __device__ __forceinline__ bool goes_on(const gik_exchange_step &s, unsigned polls, unsigned long long *until,
                                               int rank)
{
  if (polls % PATIENCE) return true;
  if (*(volatile int *)&s.control->aborted) return false;
  const unsigned long long now = now_ns();
  if (!*until) *until = now + (unsigned long long)(1e9 * s.deadline_s);
  if (now < *until) return true;
  give_up(s, 1 + rank);
  return false;
}

/* Whether the flag has come to round, modulo 2^32, before the deadline and before the exchange was given up. */
static __device__ bool await_round(const gik_exchange_step &s, const unsigned *flag, unsigned round, int rank)
{
  unsigned long long until = 0;
  for (unsigned polls = 1; (int)(load_flag(flag) - round) < 0; polls++)
    if (!goes_on(s, polls, &until, rank)) return false;
  return true;
}

static __device__ __forceinline__ const gik_row &row_of(const gik_exchange_step &s, int k)
{
  return s.n_rows <= GIK_ROWS_INLINE ? s.few[k] : s.rows[k];
}

/* Whether the row's slot has the message of round, counted from 1; else the exchange is given up. */
static __device__ bool holds(const gik_exchange_step &s, const gik_row &r, unsigned round)
{
  if (!r.holds || load_flag(r.holds) == round) return true;
  give_up(s, -1 - r.rank);
  return false;
}

/* The same of all rows, by one thread, after their messages have been read. */
static __device__ bool all_hold(const gik_exchange_step &s, unsigned round)
{
  bool all = true;
  for (int k = 0; k < s.n_rows && all; k++) all = holds(s, row_of(s, k), round);
  return all;
}

/* Waits for the row's message; whether it has come, and is of this round. */
static __device__ bool await_message(const gik_exchange_step &s, const gik_row &r, unsigned round)
{
  return await_round(s, r.await, round, r.rank) && holds(s, r, round);
}

/* Words of a flagged message's part in the slot of round. */
static __device__ __forceinline__ char *words_of(const gik_row &r, const gik_flagged_part &p, unsigned round)
{
  return gik_slot_of(&r, round) + (size_t)8 * p.before;
}

/* Of a flagged message; the others may come later. */
static __device__ bool await_last_word(const gik_exchange_step &s, const gik_row &r, unsigned round)
{
  const gik_flagged_part p = gik_flagged_part_of(&r, (unsigned)r.parts - 1, s.fields * s.item);
  return await_round(s, (const unsigned *)words_of(r, p, round) + 2 * p.words - 1, round + 1, r.rank);
}

/* Of a row: its target and the receiver's word, {} where there are none; steps without targets do not look for one in
 * memory.  Both may be read before the last launch is over. */
static __device__ __forceinline__ gik_row_target row_target_of(const gik_exchange_step &s, int k)
{
  return s.targets ? s.targets[k] : gik_row_target{};
}

/* Where the row's message goes in this round, whose slot is free.  It is claimed before it is looked at, so that the
 * receiver, which withdraws it before it looks whether it is claimed, misses no message.  The launch behind this one
 * learns it. */
static __device__ void choose_target(const gik_exchange_step &s, const gik_row &r, gik_target *t, unsigned round)
{
  *(volatile unsigned *)&t->claimed = round + 1;
  __threadfence_system();
  const unsigned long long until = now_ns() + (unsigned long long)gik_patience_ns(r.mine.n * s.item);
  bool published;
  do published = load_flag(&t->round) == round + 1;
  while (!published && now_ns() < until);
  t->to = published ? *(char *volatile *)&t->array : nullptr;
}

/* Before the step gives up: a message that may be on its way to the array is awaited. */
static __device__ void withdraw_target(const gik_exchange_step &s, const gik_row &r, gik_target *t, unsigned round)
{
  const unsigned long long until = now_ns() + (unsigned long long)(1e9 * s.deadline_s);
  *(volatile unsigned *)&t->round = round;
  __threadfence_system();
  if (*(volatile unsigned *)&t->claimed != round + 1) return;
  while ((int)(load_flag(r.await) - (round + 1)) < 0 && now_ns() < until) continue;
}

/* Whether the message lies in the array; once it is here. */
static __device__ __forceinline__ bool is_stored(const gik_row_target &t, unsigned round)
{
  return t.at && *(volatile unsigned *)t.stored == round + 1;
}

/* What a step's blocks wait for: messages, and free slots. */
enum { FREE_SLOTS = 1, MESSAGES = 2, REPLY_SLOTS = 4 };

/* The step's round, and whether the exchange has been given up. */
struct state {
  unsigned round;
  bool aborted;
};

static __device__ __forceinline__ state state_of(const gik_exchange_step &s)
{
  after_last_launch();
  const uint4 all = *(const uint4 *)s.control;
  return {all.x, all.z != 0};
}

/* Waits for rows first .. last-1; all threads of the block get the same answer.  ALONE: of a kernel of one block, as
 * steps with targets have it. */
template <bool ALONE>
static __device__ bool rows_here(const gik_exchange_step &s, int what, state now, int first, int last)
{
  const unsigned round = now.round;
  bool here = !now.aborted;
  for (int k = first + (int)threadIdx.x; k < last && here; k += BLOCK) {
    const gik_row &r = row_of(s, k);
    if (what & FREE_SLOTS && r.await) here = await_round(s, r.await, gik_emptied_before(&r, round), r.rank);
    if (what & MESSAGES && r.await)
      here = ALONE && r.flagged ? await_last_word(s, r, round) : await_message(s, r, round + 1);
    if (here && what & REPLY_SLOTS && s.reply[k].await) here = await_round(s, s.reply[k].await, round - 1, r.rank);
  }
  here = __syncthreads_and(here);
  for (int k = first + (int)threadIdx.x; ALONE && s.targets && k < last && !here && what & MESSAGES; k += BLOCK)
    if (gik_target *t = row_target_of(s, k).at) withdraw_target(s, row_of(s, k), t, round);
  return here;
}

static __device__ bool await_rows(const gik_exchange_step &s, int what, state now, int first, int last)
{
  const bool here = rows_here<false>(s, what, now, first, last);
  next_launch(); /* not before the wait is over: blocks of the next kernel take room on the GPU */
  return here;
}

/* By a kernel of one block, of a send whose slots are free.  It takes no longer than gik_patience_ns, and the next
 * kernel may begin. */
static __device__ void choose_targets(const gik_exchange_step &s, state now)
{
  for (int k = (int)threadIdx.x; s.targets && k < s.n_rows; k += BLOCK)
    if (gik_target *t = row_target_of(s, k).at) choose_target(s, row_of(s, k), t, now.round);
}

/* A block's own copy of a part of a flagged message. */
static __device__ __forceinline__ uint2 *flagged_copy()
{
  __shared__ uint4 message[GIK_FLAGGED_BYTES / sizeof(uint4)];
  return (uint2 *)message;
}

/* By the threads of a block that has packed the part in flagged_copy(): its words to the row's slot, once that is
 * free; false: it has waited in vain.  The last thread has the least to pack, so it waits. */
static __device__ bool store_flagged(const gik_exchange_step &s, const gik_row &r, const gik_flagged_part &p, state now)
{
  const unsigned pairs = p.words / 2;
  const unsigned long long flag = (unsigned long long)(now.round + 1) << 32;
  char *to = words_of(r, p, now.round);
  bool here = !now.aborted;
  if (here && threadIdx.x == BLOCK - 1) here = await_round(s, r.await, gik_emptied_before(&r, now.round), r.rank);
  here = __syncthreads_and(here);
  next_launch();
  for (unsigned i = threadIdx.x; here && i < pairs; i += BLOCK) {
    const uint2 v = flagged_copy()[i];
    asm volatile("st.relaxed.sys.global.v2.b64 [%0], {%1, %2};" ::"l"(to + 16 * i), "l"(flag | v.x), "l"(flag | v.y)
                 : "memory");
  }
  return here;
}

/* By the threads of a block: the part to flagged_copy(), each word once it is of this round. */
static __device__ bool take_flagged(const gik_exchange_step &s, const gik_row &r, const gik_flagged_part &p, state now)
{
  const unsigned pairs = p.words / 2;
  const char *from = words_of(r, p, now.round);
  bool here = !now.aborted, all = false;
  unsigned long long until = 0;
  if (!threadIdx.x && !p.first) store_emptied(r.raise, now.round);
  for (unsigned polls = 1; here && !all; polls++) {
    unsigned long long v[GIK_FLAGGED_BYTES / 8 / BLOCK][2];
    all = true;
#pragma unroll
    for (unsigned u = 0; u < GIK_FLAGGED_BYTES / 8 / BLOCK; u++)
      if (threadIdx.x + u * BLOCK < pairs)
        asm volatile("ld.relaxed.sys.global.v2.b64 {%0, %1}, [%2];"
                     : "=l"(v[u][0]), "=l"(v[u][1])
                     : "l"(from + 16 * (threadIdx.x + u * BLOCK)));
#pragma unroll
    for (unsigned u = 0; u < GIK_FLAGGED_BYTES / 8 / BLOCK; u++) {
      const unsigned i = threadIdx.x + u * BLOCK;
      if (i >= pairs) continue;
      all &= v[u][0] >> 32 == now.round + 1 && v[u][1] >> 32 == now.round + 1;
      flagged_copy()[i] = make_uint2((unsigned)v[u][0], (unsigned)v[u][1]);
    }
    if (!all) here = goes_on(s, polls, &until, r.rank);
  }
  here = __syncthreads_and(here);
  next_launch();
  return here;
}

/* A number of a flagged message's part: the words that it lies in. */
template <typename T> struct flagged_number {
  enum { WORDS = (sizeof(T) + 3) / 4 };
  unsigned half[WORDS];

  /* Whether they are of the round, counted from 1. */
  __device__ __forceinline__ bool load(const char *words, unsigned round)
  {
    bool all = true;
#pragma unroll
    for (int j = 0; j < WORDS; j++) {
      unsigned long long v;
      asm volatile("ld.relaxed.sys.global.b64 %0, [%1];" : "=l"(v) : "l"(words + 8 * j));
      half[j] = (unsigned)v;
      all &= v >> 32 == round;
    }
    return all;
  }

  /* byte: where it begins in the part. */
  __device__ __forceinline__ T number(unsigned byte) const
  {
    T value;
    if (sizeof(T) == 1)
      *(unsigned char *)&value = (unsigned char)(half[0] >> 8 * (byte % 4));
    else
      memcpy(&value, half, sizeof value);
    return value;
  }
};

/* A kernel of one block for steps whose blocks are too many to wait. */
static __global__ void __launch_bounds__(BLOCK) await_kernel(const __grid_constant__ gik_exchange_step s, int what)
{
  const state now = state_of(s);
  const bool here = rows_here<true>(s, what, now, 0, s.n_rows);
  next_launch();
  if (here && what & FREE_SLOTS) choose_targets(s, now);
}

/* One block; see exchange_steps.h. */
static __global__ void __launch_bounds__(BLOCK) empty_kernel(const __grid_constant__ gik_exchange_step s)
{
  const state now = state_of(s);
  for (int k = (int)threadIdx.x; k < s.n_rows; k += BLOCK) {
    const gik_row &r = row_of(s, k);
    const bool empty = !now.aborted && await_round(s, r.await, now.round, r.rank);
    if (!empty && r.raise) store_flag(r.raise, now.round + 2);
  }
  __syncthreads();
  if (!threadIdx.x) s.control->round = now.round + 1;
}

static __global__ void __launch_bounds__(BLOCK) publish_kernel(const __grid_constant__ gik_exchange_step s)
{
  const state now = state_of(s);
  for (int k = (int)threadIdx.x; k < s.n_rows && !now.aborted; k += BLOCK) {
    const gik_row &r = row_of(s, k);
    gik_target *t = row_target_of(s, k).at;
    if (!t) continue;
    *(char *volatile *)&t->array = s.target ? s.target + r.mine.start * s.item : nullptr;
    store_flag(&t->round, now.round + 1);
  }
}

static __global__ void __launch_bounds__(BLOCK) filled_kernel(const __grid_constant__ gik_exchange_step s)
{
  const state now = state_of(s);
  for (int k = (int)threadIdx.x; k < s.n_rows; k += BLOCK) store_flag(row_of(s, k).raise, now.round + now.aborted);
}

} /* namespace gik */

#endif
