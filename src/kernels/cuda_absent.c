/* cuda_absent.c: this build has no CUDA; no context can lead to this table. */
#include "kernels/list.h"

const gik_kernels gik_kernels_cuda = {0};
