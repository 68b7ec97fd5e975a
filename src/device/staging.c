#include "device/staging.h"

#include <string.h>

gable_status gi_staging_init(gable_context *ctx, size_t most, gi_staging *s)
{
  enum { LEAST = 4096 };
  gable_status status = GABLE_OK;
  s->bytes = most < LEAST ? LEAST : most < GI_STAGING_BYTES ? most : GI_STAGING_BYTES;
  for (int k = 0; k < GI_STAGING_ROOMS; k++) {
    GI_TRY(ctx->device->pinned_alloc(ctx, s->bytes, &s->room[k]));
    GI_TRY(ctx->device->event_create(ctx, &s->event[k]));
  }
done:
  return status;
}

void gi_staging_release(gable_context *ctx, gi_staging *s)
{
  for (int k = 0; k < GI_STAGING_ROOMS; k++) {
    if (s->event[k]) ctx->device->event_destroy(ctx, s->event[k]);
    ctx->device->pinned_release(ctx, s->room[k]);
  }
  memset(s, 0, sizeof *s);
}

gable_status gi_staging_copy(gable_context *ctx, gi_staging *s, void *device, const void *host, size_t bytes,
                             void *stream)
{
  enum { SLICE = 64 << 10, MOST = 8 };
  gable_status status = GABLE_OK;
  const int threads = ctx->threads < MOST ? ctx->threads : MOST; /* more do not fill a buffer faster */
  (void)threads;                                                 /* without OpenMP */
  for (size_t at = 0, part; at < bytes; at += part, s->turn = (s->turn + 1) % GI_STAGING_ROOMS) {
    char *room = s->room[s->turn];
    const char *from = (const char *)host + at;
    part = bytes - at < s->bytes ? bytes - at : s->bytes;
    const size_t slices = (part + SLICE - 1) / SLICE;
    ctx->device->event_done(ctx, s->event[s->turn], 1);
    GI_OMP(parallel for num_threads(threads) if (slices > 4) schedule(static))
    for (size_t k = 0; k < slices; k++)
      memcpy(room + k * SLICE, from + k * SLICE, k + 1 < slices ? SLICE : part - k * SLICE);
    GI_TRY(ctx->device->copy_in(ctx, (char *)device + at, room, part, stream));
    GI_TRY(ctx->device->event_record(ctx, s->event[s->turn], stream));
  }
done:
  return status;
}
