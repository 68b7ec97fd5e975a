/* exchange_steps.cu: see exchange_steps.h.
 *
 * A launch has a row of blocks (blockIdx.y) for each neighbour, then for the own edges (send) or for shared roots, the
 * wide ones last (receive); fetch has shared roots alone.
 *
 *   1  where few blocks have to wait, they do so themselves: thread k of each for neighbour k; else, and where rows
 *      have targets, a kernel of one block has waited before
 *   2  the blocks of a row move its items, each its share
 *   3  the last block of a row raises the row's flag, at system scope after a fence; receive and fetch, whose slots
 *      several rows read, raise all flags at the end
 *   4  the last row counts the round; own edges are not counted, since nobody waits for them but the next launch
 *
 * Sums are those of the CPU bit for bit: each root has one thread, which takes its values in order, or, for a wide one,
 * a warp, which takes them by the tree. */
#include <cstddef>

#include "kernels/forest/exchange_rows.cuh"
#include "kernels/forest/exchange_together.h"

using gik::after_last_launch;
using gik::ALL_FLAGGED;
using gik::all_hold;
using gik::await_kernel;
using gik::await_rows;
using gik::BLOCK;
using gik::checked;
using gik::combine_shared;
using gik::copy_run;
using gik::dependent_launch;
using gik::EITHER;
using gik::empty_kernel;
using gik::filled_kernel;
using gik::flagged_copy;
using gik::FLAGGED_SHARED;
using gik::FREE_SLOTS;
using gik::last_of_row;
using gik::last_row;
using gik::launches;
using gik::LONG_RESIDENT;
using gik::long_side;
using gik::MESSAGES;
using gik::most_blocks;
using gik::move_long;
using gik::narrow_numbers;
using gik::next_launch;
using gik::NO_FLAGGED;
using gik::publish_kernel;
using gik::receive_numbers;
using gik::receive_row;
using gik::receive_rows;
using gik::receive_rows_of;
using gik::REPLY_SLOTS;
using gik::row_blocks;
using gik::row_of;
using gik::row_work;
using gik::send_numbers;
using gik::send_row;
using gik::send_rows;
using gik::share_of;
using gik::state;
using gik::state_of;
using gik::store_emptied;
using gik::store_flag;
using gik::store_flagged;
using gik::take_flagged;

/* See gik_exchange_step. */
static_assert(offsetof(gik_exchange_step, few) == 48, "what every kernel reads is one line of arguments");
static_assert(offsetof(gik_row, mine) + offsetof(gik_indices, stride) == 64, "and of the first row one more");

namespace
{

template <typename T, int FLAGGED>
__global__ void __launch_bounds__(BLOCK)
    send_kernel(const __grid_constant__ gik_exchange_step s, bool waits, unsigned most)
{
  send_row<T, FLAGGED>(s, (int)blockIdx.y, waits, most);
}

template <typename T, int FLAGGED>
__global__ void __launch_bounds__(BLOCK, 2)
    receive_kernel(const __grid_constant__ gik_exchange_step s, bool waits, unsigned most, receive_rows rows)
{
  receive_row<T, int, FLAGGED>(s, rows, (int)blockIdx.y, waits, most);
}

/* Of steps with long_blocks; those of a receive have no flagged words. */
template <typename T, int FLAGGED>
__global__ void __launch_bounds__(BLOCK, LONG_RESIDENT)
    send_long_kernel(const __grid_constant__ gik_exchange_step s, bool waits, unsigned most)
{
  send_row<T, FLAGGED, true>(s, (int)blockIdx.y, waits, most);
}

/* Own edges that are apart, which nobody waits for and nobody counts.  They begin beside the send of the messages: each
 * of its blocks has waited for whatever came before (state_of) when it lets the next kernel begin, so what that has
 * written is here, behind a fence.  One block waits for the messages in the end, since what comes next waits for this
 * kernel alone, and may write what they are packed from. */
template <typename T>
__global__ void __launch_bounds__(BLOCK, LONG_RESIDENT) own_long_kernel(const __grid_constant__ gik_exchange_step s)
{
  const long_side<T> to = {(T *)s.to, &s.own_to, s.to_stride}, from = {(T *)s.from, &s.own_from, s.from_stride};
  if (s.n_rows)
    __threadfence();
  else
    after_last_launch();
  next_launch();
  move_long(s.op, to, from, share_of(s.own, gridDim.x), s.fields, s.roots.shared);
  if (s.n_rows && !blockIdx.x) after_last_launch();
}

template <typename T>
__global__ void __launch_bounds__(BLOCK, LONG_RESIDENT)
    receive_long_kernel(const __grid_constant__ gik_exchange_step s, bool waits, unsigned most, receive_rows rows)
{
  receive_row<T, int, NO_FLAGGED, true>(s, rows, (int)blockIdx.y, waits, most);
}

/* Of steps whose rows are all plain (all_plain): messages of flagged words that are one run of the array, and replace
 * what is there.  One kernel serves every unit; a launch of a few microseconds may have to fetch its code from memory,
 * and of this there is little. */
__global__ void __launch_bounds__(BLOCK) send_plain_kernel(const __grid_constant__ gik_exchange_step s, bool, unsigned)
{
  const int k = (int)blockIdx.y;
  const state now = state_of(s);
  const gik_row &r = row_of(s, k);
  const unsigned parts = (unsigned)r.parts, blocks = parts < gridDim.x ? parts : gridDim.x;
  if (blockIdx.x >= blocks) return;
#pragma unroll 1
  for (unsigned j = blockIdx.x; j < parts; j += blocks) {
    const gik_flagged_part p = gik_flagged_part_of(&r, j, s.item);
    copy_run((char *)flagged_copy(), s.from + (r.mine.start + p.first) * s.item, p.items * s.item);
    if (!store_flagged(s, r, p, now)) return;
    if (j + blocks < parts) __syncthreads(); /* flagged_copy() has been read */
  }
  if ((blocks == 1 || last_of_row(s, (unsigned)k, blocks, false)) && !threadIdx.x)
    last_row(s, (unsigned)s.n_rows, now.round);
}

__global__ void __launch_bounds__(BLOCK)
    receive_plain_kernel(const __grid_constant__ gik_exchange_step s, bool, unsigned, receive_rows)
{
  const int k = (int)blockIdx.y;
  const state now = state_of(s);
  const gik_row &r = row_of(s, k);
  const unsigned parts = (unsigned)r.parts, blocks = parts < gridDim.x ? parts : gridDim.x;
  if (blockIdx.x >= blocks) return;
#pragma unroll 1
  for (unsigned j = blockIdx.x; j < parts; j += blocks) {
    const gik_flagged_part p = gik_flagged_part_of(&r, j, s.item);
    if (!take_flagged(s, r, p, now)) return;
    copy_run(s.to + (r.mine.start + p.first) * s.item, (const char *)flagged_copy(), p.items * s.item);
    if (j + blocks < parts) __syncthreads(); /* flagged_copy() has been read */
  }
  if ((blocks == 1 || last_of_row(s, (unsigned)k, blocks, false)) && !threadIdx.x)
    last_row(s, (unsigned)s.n_rows, now.round);
}

/* Whether every row of the step is plain; op: what it does with the numbers of a message. */
bool all_plain(const gik_exchange_step *s, gable_forest_op op)
{
  bool plain = s->n_rows > 0 && s->n_rows <= GIK_ROWS_INLINE && s->flagged == s->n_rows && s->fields == 1 &&
               op == GABLE_FOREST_OP_REPLACE;
  for (int k = 0; plain && k < s->n_rows; k++) plain = s->few[k].mine.kind == GIK_MAP_CONTIGUOUS;
  return plain;
}

template <typename T>
__global__ void __launch_bounds__(BLOCK)
    fetch_kernel(const __grid_constant__ gik_exchange_step s, bool waits, unsigned most)
{
  const unsigned blocks = row_blocks(narrow_numbers(s), most);
  const state now = state_of(s);
  const unsigned round = now.round;
  if (blockIdx.x >= blocks || !await_rows(s, waits ? MESSAGES | REPLY_SLOTS : 0, now, 0, s.n_rows)) return;
  combine_shared<T, false>(s, now, true, blockIdx.x * BLOCK + threadIdx.x, (int64_t)blocks * BLOCK);
  if (!last_of_row(s, 0, blocks, true) || threadIdx.x) return;
  last_row(s, 1, round);
  if (!all_hold(s, round + 1)) return;
  for (int j = 0; j < s.n_rows; j++) {
    if (s.reply[j].raise) store_flag(s.reply[j].raise, round + 1);
    if (row_of(s, j).raise) store_emptied(row_of(s, j).raise, round + 1);
  }
}

typedef void (*send_function)(gik_exchange_step, bool, unsigned);
typedef void (*own_function)(gik_exchange_step);
typedef void (*receive_function)(gik_exchange_step, bool, unsigned, receive_rows);

typedef struct kernels {
  send_function send[3];      /* NO_FLAGGED, ALL_FLAGGED, EITHER */
  send_function send_long[2]; /* NO_FLAGGED, EITHER */
  own_function own_long;
  receive_function receive, receive_flagged, receive_flagged_shared, receive_long;
  send_function fetch;
} kernels;

template <typename T> kernels kernels_of()
{
  return {{send_kernel<T, NO_FLAGGED>, send_kernel<T, ALL_FLAGGED>, send_kernel<T, EITHER>},
          {send_long_kernel<T, NO_FLAGGED>, send_long_kernel<T, EITHER>},
          own_long_kernel<T>,
          receive_kernel<T, NO_FLAGGED>,
          receive_kernel<T, ALL_FLAGGED>,
          receive_kernel<T, FLAGGED_SHARED>,
          receive_long_kernel<T>,
          fetch_kernel<T>};
}

kernels kernels_for(gable_unit_type unit)
{
  switch (unit) {
#define OF_UNIT(unit, ...)                                                                                             \
  case unit: return kernels_of<__VA_ARGS__>();
    GIK_EXCHANGE_UNITS(OF_UNIT)
#undef OF_UNIT
  default: return kernels_of<signed char>();
  }
}

/* A grid of rows with numbers in the largest.  Few blocks wait themselves, before more a kernel of one block does;
 * those of a send's own edges wait for nobody. */
template <typename... A, typename... B>
gable_status launch_rows(const char *name, const gik_exchange_step *s, void *stream, void (*kernel)(A...), int what,
                         int64_t numbers, unsigned rows, B... more)
{
  launches on(stream);
  if (!rows) return GABLE_OK;
  const unsigned most = s->long_blocks
                            ? (unsigned)s->long_blocks
                            : most_blocks(row_work(*s, what != FREE_SLOTS, numbers), rows, (unsigned)s->waiting);
  const unsigned x = row_blocks(numbers, most);
  const unsigned waiting = what == FREE_SLOTS ? row_blocks(s->largest, most) * (unsigned)s->n_rows : x * rows;
  const bool waits = s->windows && !s->targets && waiting <= (unsigned)s->waiting;
  if (s->windows && s->n_rows && !waits) {
    on.dependent(await_kernel, 1, BLOCK, 0, false, *s, what);
    ++*s->launches;
  }
  ++*s->launches;
  on.dependent(kernel, dim3(x, rows), BLOCK, 0, false, *s, waits, most, more...);
  return on.status(name);
}

gable_status send(const gik_exchange_step *s, void *stream)
{
  const kernels k = kernels_for(s->unit);
  const int flagged = !s->flagged ? NO_FLAGGED : s->flagged == s->n_rows ? ALL_FLAGGED : EITHER;
  const bool apart = s->own_apart, plain = (apart || !s->own) && all_plain(s, GABLE_FOREST_OP_REPLACE);
  const gable_status status =
      launch_rows("forest send", s, stream,
                  plain            ? send_plain_kernel
                  : s->long_blocks ? k.send_long[flagged > 0]
                                   : k.send[flagged],
                  FREE_SLOTS, apart ? s->largest : send_numbers(*s), apart ? (unsigned)s->n_rows : send_rows(*s));
  if (status || !apart) return status;
  ++*s->launches; /* behind the messages, which others wait for */
  return dependent_launch("forest own edges", stream, k.own_long, row_blocks(s->own, GIK_LONG_BLOCKS), BLOCK, 0, *s);
}

gable_status receive(const gik_exchange_step *s, void *stream)
{
  const receive_rows rows = receive_rows_of(*s);
  const kernels k = kernels_for(s->unit);
  const bool plain = !s->roots.n && all_plain(s, s->op);
  return launch_rows("forest receive", s, stream,
                     plain            ? receive_plain_kernel
                     : s->long_blocks ? k.receive_long
                     : !s->flagged    ? k.receive
                     : s->roots.n     ? k.receive_flagged_shared
                                      : k.receive_flagged,
                     MESSAGES, receive_numbers(*s), rows.all(), rows);
}

gable_status fetch(const gik_exchange_step *s, void *stream)
{
  return launch_rows("forest fetch", s, stream, kernels_for(s->unit).fetch, MESSAGES | REPLY_SLOTS, narrow_numbers(*s),
                     s->roots.n > 0);
}

gable_status one_block(const char *name, void (*kernel)(gik_exchange_step), const gik_exchange_step *s, void *stream)
{
  launches on(stream);
  ++*s->launches;
  on.dependent(kernel, 1, BLOCK, 0, false, *s);
  return on.status(name);
}

gable_status empty(const gik_exchange_step *s, void *stream)
{
  return one_block("forest empty slots", empty_kernel, s, stream);
}

gable_status filled(const gik_exchange_step *s, void *stream)
{
  return one_block("forest filled slots", filled_kernel, s, stream);
}

gable_status publish(const gik_exchange_step *s, void *stream)
{
  return one_block("forest targets", publish_kernel, s, stream);
}

gable_status copy(void *to, const void *from, size_t bytes, void *stream)
{
  return checked(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, (cudaStream_t)stream), "forest copy");
}

gable_status load_one(const void *kernel)
{
  cudaFuncAttributes about;
  return checked(cudaFuncGetAttributes(&about, kernel), "loading of kernels");
}

/* A kernel is loaded when it is first asked for, which may have to wait for kernels that run, and these for it. */
gable_status load()
{
  gable_status status = GABLE_OK;
  GI_TRY(load_one((const void *)await_kernel));
  GI_TRY(load_one((const void *)empty_kernel));
  GI_TRY(load_one((const void *)filled_kernel));
  GI_TRY(load_one((const void *)publish_kernel));
  GI_TRY(load_one((const void *)send_plain_kernel));
  GI_TRY(load_one((const void *)receive_plain_kernel));
  GI_TRY(gik_together_load());
  for (int unit = GABLE_UNIT_CHAR; unit <= GABLE_UNIT_PAIR_D; unit++) {
    const kernels k = kernels_for((gable_unit_type)unit);
    for (send_function f : k.send) GI_TRY(load_one((const void *)f));
    for (send_function f : k.send_long) GI_TRY(load_one((const void *)f));
    for (receive_function f : {k.receive, k.receive_flagged, k.receive_flagged_shared, k.receive_long})
      GI_TRY(load_one((const void *)f));
    GI_TRY(load_one((const void *)k.own_long));
    GI_TRY(load_one((const void *)k.fetch));
  }
done:
  return status;
}

} /* namespace */

extern "C" const gik_exchange_steps gik_exchange_steps_cuda = {
    load, send, receive, fetch, gik_together_send, gik_together_receive, empty, filled, copy, publish};
