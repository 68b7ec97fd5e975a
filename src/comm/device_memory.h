/* device_memory.h: device memory that kernels of several ranks reach. */
#ifndef GI_DEVICE_MEMORY_H
#define GI_DEVICE_MEMORY_H

#include "base/context.h"
#include "base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Loads the kernels that wait: later that might have to wait for one of them.  GABLE_ERR_ARGUMENT: ctx has no device.
 */
gable_status gi_load_waiting_kernels(gable_context *ctx, const char *transport);

/* CUDA IPC: memory of one process in another.  The calling thread has entered the device. */
enum { GI_IPC_HANDLE = 64, GI_IPC_DEVICE = 16 };

typedef struct gi_ipc {
  gable_status (*device)(int64_t id[GI_IPC_DEVICE / 8]); /* of the current one, the same in every process */

  /* release: of what allocate gave, when nobody has it open. */
  gable_status (*allocate)(int64_t bytes, void **p, unsigned char handle[GI_IPC_HANDLE]);
  void (*release)(void *p);

  /* In a process other than the handle's. */
  gable_status (*open)(const unsigned char handle[GI_IPC_HANDLE], void **p);
  void (*close)(void *p);
} gi_ipc;

extern const gi_ipc gi_ipc_cuda;

#ifdef __cplusplus
}
#endif

#endif
