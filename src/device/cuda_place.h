/* cuda_place.h: what the CUDA device keeps for its context: a pool of memory, and pinned host memory for small results.
 */
#ifndef GI_CUDA_PLACE_H
#define GI_CUDA_PLACE_H

#include "device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of the context's GPU, as CUDA counts them. */
int gi_cuda_ordinal(const gable_context *ctx);

/* Multiprocessors of the context's GPU. */
int gi_cuda_processors(const gable_context *ctx);

enum { GI_CUDA_LANDING = 4096 };

/* GI_CUDA_LANDING bytes of pinned memory that kernels may write to; NULL: all are taken. */
void *gi_cuda_take_mailbox(gable_context *ctx);
void gi_cuda_give_mailbox(gable_context *ctx, void *mailbox); /* NULL is fine */

/* Looks at the host's memory until a kernel on the stream has written there, and now and then whether the stream has
 * failed. */
gable_status gi_cuda_await(void *stream, const volatile unsigned *flag, const char *what);

/* Small results, in the order of the stream: waits until they are there. */
gable_status gi_cuda_fetch(gable_context *ctx, void *stream, void *host, const void *device, size_t bytes);
gable_status gi_cuda_fetch_two(gable_context *ctx, void *stream, void *host_a, const void *a, size_t bytes_a,
                               void *host_b, const void *b, size_t bytes_b);

#ifdef __cplusplus
}
#endif

#endif
