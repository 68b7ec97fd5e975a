/* resident.c: see resident.h. */
#include "device/resident.h"

gable_status gi_resident_bring(gable_context *ctx, gi_resident *r, const void *host, gable_off count, size_t size,
                               int *moved)
{
  gable_status status = GABLE_OK;
  const size_t bytes = (size_t)count * size;
  if (!r->at || r->bytes != bytes) {
    gi_resident_release(ctx, r);
    GI_TRY(ctx->device->alloc(ctx, bytes, &r->at));
    r->bytes = bytes;
    *moved = 1;
  }
  if (host && bytes) GI_TRY(ctx->device->copy_in(ctx, r->at, host, bytes, NULL));
done:
  return status;
}

void gi_resident_release(gable_context *ctx, gi_resident *r)
{
  if (r->at) ctx->device->release(ctx, r->at);
  *r = (gi_resident){0};
}
