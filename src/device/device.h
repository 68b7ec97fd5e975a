/* device.h: the table of a place where kernels run, reached only through the context.
 *
 * One const instance per file: cpu.c, cuda.cu (or cuda_absent.c). */
#ifndef GI_DEVICE_H
#define GI_DEVICE_H

#include "base/context.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gi_device {
  const char *name; /* "cpu", "mirror", "cuda" */

  /* *state for ordinal, or GABLE_ERR_UNAVAILABLE with what is missing. */
  gable_status (*open)(int ordinal, void **state);
  void (*close)(void *state);

  /* Memory of this device. */
  gable_status (*alloc)(gable_context *ctx, size_t bytes, void **out);
  void (*release)(gable_context *ctx, void *p);

  /* Ordered on the stream (NULL: the default one); blocking where the host side is not pinned. */
  gable_status (*copy_in)(gable_context *ctx, void *device, const void *host, size_t bytes, void *stream);
  gable_status (*copy_out)(gable_context *ctx, void *host, const void *device, size_t bytes, void *stream);
  gable_status (*synchronise)(gable_context *ctx, void *stream);
} gi_device;

extern const gi_device gi_device_cpu;
extern const gi_device gi_device_cuda;

#ifdef __cplusplus
}
#endif

#endif
