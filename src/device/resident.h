/* resident.h: a copy of a host array in the memory of the context's device, which keeps its address as long as its
 * size stays: work that was captured in a graph reads the new numbers. */
#ifndef GI_DEVICE_RESIDENT_H
#define GI_DEVICE_RESIDENT_H

#include "device/device.h"

typedef struct gi_resident {
  void *at; /* device memory, or NULL: none yet */
  size_t bytes;
} gi_resident;

/* count elements of size bytes from host, in the order of the context's stream; host NULL: memory without numbers.
 * *moved becomes 1 where the address is another than before.  GABLE_ERR_MEMORY, and r is as it was or empty. */
gable_status gi_resident_bring(gable_context *ctx, gi_resident *r, const void *host, gable_off count, size_t size,
                               int *moved);
void gi_resident_release(gable_context *ctx, gi_resident *r); /* nothing there is fine */

#endif
