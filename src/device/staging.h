/* staging.h: copies of pageable host memory to the device through pinned buffers, which all threads fill. */
#ifndef GI_DEVICE_STAGING_H
#define GI_DEVICE_STAGING_H

#include "device/device.h"

/* A buffer is filled while others are copied.  Bytes: of one at most, 90 us of PCIe 5. */
enum { GI_STAGING_ROOMS = 3, GI_STAGING_BYTES = 4 << 20 };

typedef struct gi_staging {
  void *room[GI_STAGING_ROOMS];  /* pinned */
  void *event[GI_STAGING_ROOMS]; /* the last copy out of each */
  size_t bytes;                  /* of each buffer */
  int turn;
} gi_staging;

/* For copies of most bytes at a time.  GABLE_ERR_MEMORY; release is fine on a zeroed one. */
gable_status gi_staging_init(gable_context *ctx, size_t most, gi_staging *s);
void gi_staging_release(gable_context *ctx, gi_staging *s);

/* bytes of host memory to the device, in the order of stream; returns when host may change. */
gable_status gi_staging_copy(gable_context *ctx, gi_staging *s, void *device, const void *host, size_t bytes,
                             void *stream);

#endif
