/* device.h: the table of a place where kernels run, reached only through the context.
 *
 * One const instance per file: cpu.c, cuda.cu (or cuda_absent.c).
 *
 * All memory of a GPU is its alloc's, with one exception: src/comm/ipc.cu calls cudaMalloc and cudaFree for memory that
 * other processes open, since memory of a pool has no cudaIpcMemHandle.  cudaFree may wait for the device. */
#ifndef GI_DEVICE_H
#define GI_DEVICE_H

#include "base/context.h"
#include "cuda/gpu_class.h"
#include "kernels/list.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A place in tables of what differs between devices above this floor; nothing asks for one of them by name. */
typedef enum gi_device_kind { GI_ON_CPU, GI_ON_MIRROR, GI_ON_CUDA, GI_DEVICE_KINDS } gi_device_kind;

/* Enqueues launches on stream. */
typedef gable_status gi_launches(void *user, void *stream);

typedef struct gi_device {
  const char *name; /* "cpu", "mirror", "cuda" */
  gi_device_kind kind;
  gable_space space; /* of its memory, as views name it */
  const gik_kernels *kernels;
  int in_host; /* 1: its memory is the host's, and a call that takes a stream returns when all is done */

  /* *state for ordinal, or GABLE_ERR_UNAVAILABLE with what is missing. */
  gable_status (*open)(int ordinal, void **state);
  void (*close)(void *state);

  /* What was measured of the device's class; of CPU and mirror, whose plans are cut as a GPU's: the generic one. */
  const gik_gpu_class *(*gpu_class)(const gable_context *ctx);

  /* Between the two the calling thread's launches go to this device; leave gives it back the device that it had, which
   * enter has put in *before.  Pairs nest.  leave after a failed enter does nothing, nor does GI_NOT_ENTERED.  The
   * functions of this table enter by themselves. */
  gable_status (*enter)(const gable_context *ctx, int *before);
  void (*leave)(const gable_context *ctx, int before);

  /* Memory of this device, in the order of the context's stream: alloc returns what that stream may use next, release
   * takes what it has been asked to use so far. */
  gable_status (*alloc)(gable_context *ctx, size_t bytes, void **out);
  void (*release)(gable_context *ctx, void *p);

  /* GABLE_ERR_ARGUMENT where bytes from p on, which the caller calls device memory, are none that ctx can use; name:
   * what p is called.  NULL: that is not known. */
  gable_status (*require)(gable_context *ctx, const void *p, size_t bytes, const char *name);

  /* Streams, here and below: NULL is the context's own.  Blocking where the host side is not pinned. */
  gable_status (*copy_in)(gable_context *ctx, void *device, const void *host, size_t bytes, void *stream);
  gable_status (*copy_out)(gable_context *ctx, void *host, const void *device, size_t bytes, void *stream);
  gable_status (*synchronise)(gable_context *ctx, void *stream);
  gable_status (*fill)(gable_context *ctx, void *device, int byte, size_t bytes, void *stream);

  void *(*own_stream)(const gable_context *ctx);
  gable_status (*stream_create)(gable_context *ctx, void **out);
  void (*stream_destroy)(gable_context *ctx, void *stream);

  /* What stream is asked from now on begins when all that earlier was asked so far is done.  Waits for nothing;
   * does nothing where either is being captured in a graph. */
  gable_status (*order_after)(gable_context *ctx, void *stream, void *earlier);

  /* *out = 1: the stream is being captured in a graph. */
  gable_status (*is_capturing)(gable_context *ctx, void *stream, int *out);

  /* Moments in a stream; elapsed waits for end. */
  gable_status (*event_create)(gable_context *ctx, void **out);
  gable_status (*event_record)(gable_context *ctx, void *event, void *stream);
  gable_status (*event_elapsed)(gable_context *ctx, void *begin, void *end, double *seconds);
  void (*event_destroy)(gable_context *ctx, void *event);

  /* What stream is asked from now on begins when what stood before the event in its stream is done; in a capture too,
   * which stream then joins. */
  gable_status (*await_event)(gable_context *ctx, void *stream, void *event);

  /* Whether what stood before the event in its stream is done; wait: waits for it. */
  int (*event_done)(gable_context *ctx, void *event, int wait);

  /* Host memory, of zeros, that kernels of this device and copies reach without the driver's help.  Both may wait for
   * the device. */
  gable_status (*pinned_alloc)(gable_context *ctx, size_t bytes, void **out);
  void (*pinned_release)(gable_context *ctx, void *p);

  /* From now on kernels of other's device reach memory of ctx.  GABLE_ERR_UNAVAILABLE where the hardware cannot. */
  gable_status (*open_to)(gable_context *ctx, const gable_context *other);

  /* 1: kernels of other's device, to which ctx is open, are known to reach memory at p, which kernels of ctx do. */
  int (*reached_by)(gable_context *ctx, const void *p, const gable_context *other);

  /* Around kernels: between the two they may touch memory of ctx.  Pairs nest.  NULL: they always may. */
  void (*kernels_begin)(gable_context *ctx);
  void (*kernels_end)(gable_context *ctx);

  /* What loop.h asks of a GPU; all NULL: the host looks at the flag and repeats. */
  gable_status (*loop)(gable_context *ctx, void *stream, const int *flag, gi_launches *body, void *user);
  gable_status (*capture)(gable_context *ctx, gi_launches *launches, void *user, void **graph);
  gable_status (*play)(void *graph, gi_launches *launches, void *user, void *stream);
  void (*graph_destroy)(void *graph);
} gi_device;

enum { GI_NOT_ENTERED = -1 };

/* Whether the device has memory apart from what views call the host's. */
static inline int gi_has_device_memory(const gable_context *ctx)
{
  return ctx->device->space == GABLE_SPACE_DEVICE;
}

static inline void gi_kernels_begin(gable_context *ctx)
{
  if (ctx->device->kernels_begin) ctx->device->kernels_begin(ctx);
}

static inline void gi_kernels_end(gable_context *ctx)
{
  if (ctx->device->kernels_end) ctx->device->kernels_end(ctx);
}

/* Runs kernels: call, a status, may touch memory of ctx; in a function with status and done. */
#define GI_KERNELS(ctx, call)                                                                                          \
  do {                                                                                                                 \
    gi_kernels_begin(ctx);                                                                                             \
    status = (call);                                                                                                   \
    gi_kernels_end(ctx);                                                                                               \
    if (status) goto done;                                                                                             \
  } while (0)

/* The context's own stream; NULL without a GPU. */
static inline void *gi_own_stream(const gable_context *ctx)
{
  return ctx->device->own_stream(ctx);
}

/* The stream that a caller names: NULL is the context's own. */
static inline void *gi_stream_of(const gable_context *ctx, void *stream)
{
  return stream ? stream : gi_own_stream(ctx);
}

extern const gi_device gi_device_cpu;
extern const gi_device gi_device_cuda;

#ifdef __cplusplus
}
#endif

#endif
