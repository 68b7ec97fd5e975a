/* device.h: the table of a place where kernels run, reached only through the context.
 *
 * One const instance per file: cpu.c, cuda.cu (or cuda_absent.c). */
#ifndef GI_DEVICE_H
#define GI_DEVICE_H

#include "base/context.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum gi_device_kind { GI_ON_CPU, GI_ON_MIRROR, GI_ON_CUDA } gi_device_kind;

typedef struct gi_device {
  const char *name; /* "cpu", "mirror", "cuda" */
  gi_device_kind kind;

  /* *state for ordinal, or GABLE_ERR_UNAVAILABLE with what is missing. */
  gable_status (*open)(int ordinal, void **state);
  void (*close)(void *state);

  /* The calling thread's launches go to this device from here on; cheap. */
  gable_status (*enter)(const gable_context *ctx);

  /* Memory of this device. */
  gable_status (*alloc)(gable_context *ctx, size_t bytes, void **out);
  void (*release)(gable_context *ctx, void *p);

  /* Ordered on the stream (NULL: the default one); blocking where the host side is not pinned. */
  gable_status (*copy_in)(gable_context *ctx, void *device, const void *host, size_t bytes, void *stream);
  gable_status (*copy_out)(gable_context *ctx, void *host, const void *device, size_t bytes, void *stream);
  gable_status (*synchronise)(gable_context *ctx, void *stream);
  gable_status (*fill)(gable_context *ctx, void *device, int byte, size_t bytes, void *stream);

  gable_status (*stream_create)(gable_context *ctx, void **out);
  void (*stream_destroy)(gable_context *ctx, void *stream);

  /* Moments in a stream; elapsed waits for end. */
  gable_status (*event_create)(gable_context *ctx, void **out);
  gable_status (*event_record)(gable_context *ctx, void *event, void *stream);
  gable_status (*event_elapsed)(gable_context *ctx, void *begin, void *end, double *seconds);
  void (*event_destroy)(gable_context *ctx, void *event);
} gi_device;

extern const gi_device gi_device_cpu;
extern const gi_device gi_device_cuda;

#ifdef __cplusplus
}
#endif

#endif
