/* arena.c: see arena.h. */
#include "device/arena.h"

gi_arena gi_arena_of(gable_context *ctx)
{
  return (gi_arena){.ctx = ctx, .stream = gi_own_stream(ctx)};
}

/* What was left of the last block is lost. */
static gable_status add_block(gi_arena *m, size_t bytes)
{
  gable_status status = GABLE_OK;
  void *block = NULL;
  GI_REQUIRE(m->count < (int)(sizeof m->block / sizeof *m->block), GABLE_ERR_LIMIT, "too many device arrays");
  GI_TRY(m->ctx->device->alloc(m->ctx, bytes, &block));
  m->block[m->count++] = block;
  m->bytes += bytes;
  m->at = block;
  m->left = bytes;
done:
  return status;
}

gable_status gi_arena_take(gi_arena *m, size_t bytes, void **out)
{
  gable_status status = GABLE_OK;
  const size_t padded = (bytes + 255) / 256 * 256;
  const size_t again = m->bytes < GI_ARENA_LEAST ? GI_ARENA_LEAST : m->bytes < GI_ARENA_MOST ? m->bytes : GI_ARENA_MOST;
  if (padded > m->left) GI_TRY(add_block(m, padded < again ? again : padded));
  *out = m->at;
  m->at += padded;
  m->left -= padded;
done:
  return status;
}

gable_status gi_arena_reserve(gi_arena *m, size_t bytes)
{
  return bytes > m->left ? add_block(m, bytes) : GABLE_OK;
}

void gi_arena_release_since(gi_arena *m, gi_arena_mark mark)
{
  while (m->count > mark.count) m->ctx->device->release(m->ctx, m->block[--m->count]);
  m->bytes = mark.bytes;
  m->left = mark.left;
  m->at = mark.at;
}

void gi_arena_release(gi_arena *m)
{
  gi_arena_release_since(m, (gi_arena_mark){0});
}
