/* device.h: device memory, streams and events of a context, for vectors that stay on the GPU.
 *
 * Streams: every argument named stream is a cudaStream_t of the context's GPU, and the work is ordered on it.  NULL is
 * the context's own stream (gable_context_stream), which is non-blocking: it neither waits for CUDA's default stream
 * nor holds it up.  A program whose own work is on CUDA's default stream passes cudaStreamLegacy, or
 * cudaStreamPerThread.  Gable itself never uses the default stream and never synchronises a device.  Every call gives
 * the calling thread back the CUDA device that it had, and leaves a CUDA error that is pending (cudaGetLastError) where
 * it is.
 *
 * On the CPU the same calls work: its memory is the host's, its only stream is NULL, and everything is done when a call
 * returns.  A program written with them runs in both places. */
#ifndef GABLE_DEVICE_H
#define GABLE_DEVICE_H

#include <gable/context.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where memory of gable_device_alloc lies: GABLE_SPACE_DEVICE on a GPU, GABLE_SPACE_HOST on the CPU; for the space of a
 * view. */
GABLE_API gable_space gable_context_space(const gable_context *ctx);

/* The context's own stream (cudaStream_t): for an event that the program's work on another stream waits for, or the
 * other way round.  Owned by the context.  NULL without a GPU. */
GABLE_API void *gable_context_stream(const gable_context *ctx);

/* Local.  bytes of memory of the context's place, uninitialised, aligned to 256 bytes on a GPU and 64 on the CPU, ready
 * for every stream; 0 bytes give a valid pointer.  It belongs to the caller.  GABLE_ERR_MEMORY, _BACKEND. */
GABLE_API gable_status gable_device_alloc(gable_context *ctx, size_t bytes, void **out);

/* Local.  NULL is fine; sets *p to NULL. All work on p must be complete. */
GABLE_API void gable_device_free(gable_context *ctx, void **p);

/* Local.  bytes from the host to memory of the context's place, and back, in the order of the stream.  host
 * may be reused when copy_in returns, unless it is page-locked; copy_out has written host after
 * gable_device_synchronise.  GABLE_ERR_BACKEND. */
GABLE_API gable_status gable_device_copy_in(gable_context *ctx, void *device, const void *host, size_t bytes,
                                            void *stream);
GABLE_API gable_status gable_device_copy_out(gable_context *ctx, void *host, const void *device, size_t bytes,
                                             void *stream);

/* Local.  Every byte becomes byte, in the order of the stream.  GABLE_ERR_BACKEND. */
GABLE_API gable_status gable_device_fill(gable_context *ctx, void *device, int byte, size_t bytes, void *stream);

/* Local.  Waits until all work enqueued on the stream is complete.  GABLE_ERR_BACKEND: some of it failed. */
GABLE_API gable_status gable_device_synchronise(gable_context *ctx, void *stream);

/* Local.  A new stream (cudaStreamNonBlocking), ordered with no other, for the set_stream functions of all objects.  It
 * belongs to the caller.  NULL on the CPU.  GABLE_ERR_BACKEND. */
GABLE_API gable_status gable_stream_create(gable_context *ctx, void **out);

/* Local.  NULL is fine; sets *stream to NULL. Work that is enqueued still completes. */
GABLE_API void gable_stream_destroy(gable_context *ctx, void **stream);

/* A point in the order of a stream: a cudaEvent_t with timing; on the CPU a time. */
typedef struct gable_event gable_event;

/* Local.  ctx must outlive it.  GABLE_ERR_MEMORY, _BACKEND. */
GABLE_API gable_status gable_event_create(gable_context *ctx, gable_event **out);

/* Local.  Records e after all work enqueued on the stream so far; a later call replaces the record.  GABLE_ERR_BACKEND.
 */
GABLE_API gable_status gable_event_record(gable_event *e, void *stream);

/* Local.  Waits for end.  *seconds: elapsed from begin to end.  GABLE_ERR_STATE: an event was not recorded;
 * GABLE_ERR_BACKEND. */
GABLE_API gable_status gable_event_elapsed(gable_event *begin, gable_event *end, double *seconds);

/* NULL is fine; sets *e to NULL. */
GABLE_API void gable_event_destroy(gable_event **e);

#ifdef __cplusplus
}
#endif
#endif
