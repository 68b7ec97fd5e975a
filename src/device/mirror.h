/* mirror.h: the pretended device: CPU kernels under a GPU's memory rules.
 *
 * Its memory is apart from the host's and closed to everybody: whoever touches it outside of a kernel or a copy is
 * killed by the system at once, in any build.  So code that takes a device pointer for a host pointer fails on a
 * machine without a GPU, and a host pointer that is called a device pointer is refused. */
#ifndef GI_MIRROR_H
#define GI_MIRROR_H

#include "device/device.h"

extern const gi_device gi_device_mirror;

/* Around a kernel: the context's device memory is open between them, for all threads.  Pairs nest. */
void gi_mirror_enter(gable_context *ctx);
void gi_mirror_leave(gable_context *ctx);

/* GABLE_ERR_ARGUMENT unless bytes from p on lie in one block of the context's device memory; 0 bytes always do. */
gable_status gi_mirror_require(gable_context *ctx, const void *p, size_t bytes, const char *name);

#endif
