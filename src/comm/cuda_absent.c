/* cuda_absent.c: this build has no CUDA; no context can lead to this table. */
#include "comm/device_memory.h"

const gi_ipc gi_ipc_cuda = {0};
