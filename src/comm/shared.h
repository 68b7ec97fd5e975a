/* shared.h: symmetric memory: as many bytes on each rank, which all ranks read and write by address.
 *
 * Who writes tells who waits in one of two ways.  A stored value is its own flag: one 8-byte word that is GI_NOT_YET
 * until it is there, stored and polled without any other order of memory.  Or bytes are put and then a flag is raised:
 * a count that only grows, stored with release after the bytes and polled with acquire.  Kernels do the same by
 * cuda/symmetric.cuh. */
#ifndef GI_COMM_SHARED_H
#define GI_COMM_SHARED_H

#include <stdatomic.h>
#include <string.h>

#include "comm/comm.h"

struct gi_shared {
  gable_comm *comm;
  int64_t bytes;                 /* of each rank, a multiple of 64 */
  char **at;                     /* [size] where each rank's are in this rank's memory, aligned to 64 */
  void *state;                   /* the transport's */
  void (*destroy)(gi_shared *s); /* Local; awaits nobody */
  gable_context **ctx;           /* [size] of device memory of this process: whose each rank's is; else NULL */
};

/* A signalling NaN, which no arithmetic returns: a computed NaN is a quiet one, so it is a value (device_wait.cuh has
 * the same pattern). */
#define GI_NOT_YET UINT64_C(0x7ff4deadbeef0001)

/* Collective.  All bytes are zero.  GABLE_ERR_UNAVAILABLE: the transport has none, or a rank is on another node. */
gable_status gi_shared_create(gable_comm *comm, int64_t bytes, gi_shared **out);

/* Collective.  The same in device memory, which kernels of every rank reach; path: see comm.h. */
gable_status gi_shared_create_on_device(gable_comm *comm, int64_t bytes, gable_path path, gi_shared **out);
void gi_shared_destroy(gi_shared *s); /* Local; awaits nobody; NULL is fine */

/* Local.  n words at offset of this rank's bytes become "not yet".  The others may put after a barrier. */
void gi_shared_clear(gi_shared *s, int64_t offset, int64_t n);

/* Local.  The word at offset, a multiple of 8, of a rank's bytes. */
static inline _Atomic uint64_t *gi_shared_word(const gi_shared *s, int rank, int64_t offset)
{
  return (_Atomic uint64_t *)(void *)(s->at[rank] + offset);
}

/* A value that is its own flag, to the word at offset of rank. */
static inline void gi_put_value(gi_shared *s, int rank, int64_t offset, double value)
{
  uint64_t word;
  memcpy(&word, &value, sizeof word);
  atomic_store_explicit(gi_shared_word(s, rank, offset), word, memory_order_relaxed);
}

/* Whether the value in this rank's word at offset is there. */
static inline int gi_value_here(const gi_shared *s, int64_t offset, double *value)
{
  const uint64_t word = atomic_load_explicit(gi_shared_word(s, s->comm->rank, offset), memory_order_relaxed);
  memcpy(value, &word, sizeof word);
  return word != GI_NOT_YET;
}

/* Waits for the value in this rank's word at offset, which rank puts. */
gable_status gi_wait_value(gi_shared *s, int64_t offset, int rank, double *value);

static inline atomic_uint *gi_shared_flag(const gi_shared *s, int rank, int64_t offset)
{
  return (atomic_uint *)(void *)(s->at[rank] + offset);
}

/* bytes of from to offset of rank, then its flag at flag_offset, a multiple of 4, becomes value. */
static inline void gi_put_with_flag(gi_shared *s, int rank, int64_t offset, const void *from, int64_t bytes,
                                    int64_t flag_offset, unsigned value)
{
  memcpy(s->at[rank] + offset, from, (size_t)bytes);
  atomic_store_explicit(gi_shared_flag(s, rank, flag_offset), value, memory_order_release);
}

/* The same, and the flag grows by 1: it counts what several ranks put. */
static inline void gi_put_with_count(gi_shared *s, int rank, int64_t offset, const void *from, int64_t bytes,
                                     int64_t flag_offset)
{
  memcpy(s->at[rank] + offset, from, (size_t)bytes);
  atomic_fetch_add_explicit(gi_shared_flag(s, rank, flag_offset), 1, memory_order_release);
}

/* Until one of this rank's n flags from flag_offset on, 4 bytes each, whose bit of mask is set has come to value
 * (modulo 2^32): *k, whose bit is cleared.  The search goes round from *k on.  from [n]: the rank that raises each
 * flag. GABLE_ERR_STATE: no bit is set. */
gable_status gi_wait_any(gi_shared *s, int64_t flag_offset, int64_t n, uint64_t *mask, unsigned value, const int *from,
                         int64_t *k);

#endif
