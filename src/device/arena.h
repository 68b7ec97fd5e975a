/* arena.h: memory of a place, cut from a few blocks and given back all at once. */
#ifndef GI_DEVICE_ARENA_H
#define GI_DEVICE_ARENA_H

#include "device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of one analysis, one plan and the like. */
typedef struct gi_arena {
  gable_context *ctx;
  void *stream; /* the context's: on which all that uses the memory is queued, or after which it is ordered */
  int count;
  size_t bytes;
  char *at; /* what is left of the last block */
  size_t left;
  void *block[512];
} gi_arena;

/* A block has at least so many bytes, as many as all before it, or those of one array; see trisolve/cuda/bound.cu. */
enum { GI_ARENA_LEAST = 256 << 10, GI_ARENA_MOST = 32 << 20 };

/* Without memory yet. */
gi_arena gi_arena_of(gable_context *ctx);

/* *out = bytes of device memory that m owns, aligned to 256. */
gable_status gi_arena_take(gi_arena *m, size_t bytes, void **out);

/* The next arrays, of so many bytes in all, come from one block. */
gable_status gi_arena_reserve(gi_arena *m, size_t bytes);
void gi_arena_release(gi_arena *m);

/* A moment in the life of m: what was taken after it can be given back alone. */
typedef struct gi_arena_mark {
  int count;
  size_t bytes, left;
  char *at;
} gi_arena_mark;

static inline gi_arena_mark gi_arena_mark_of(const gi_arena *m)
{
  const gi_arena_mark mark = {m->count, m->bytes, m->left, m->at};
  return mark;
}

void gi_arena_release_since(gi_arena *m, gi_arena_mark mark);

#ifdef __cplusplus
}
#endif

#endif
