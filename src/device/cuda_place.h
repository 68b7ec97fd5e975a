/* cuda_place.h: what the CUDA device keeps for its context: a pool of memory, and mailboxes for small results. */
#ifndef GI_CUDA_PLACE_H
#define GI_CUDA_PLACE_H

#include "cuda/attributes.h"
#include "device/device.h"

/* Of the context's GPU, as CUDA counts them. */
int gi_cuda_ordinal(const gable_context *ctx);

/* What the driver says of it. */
const gik_gpu *gi_cuda_gpu(const gable_context *ctx);

struct gi_mailboxes *gi_cuda_mailboxes(const gable_context *ctx);

#endif
