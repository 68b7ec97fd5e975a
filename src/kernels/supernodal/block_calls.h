/* block_calls.h: one block column by calls of cuBLAS, which is opened at run time (block_steps.h: calls). */
#ifndef GIK_BLOCK_CALLS_H
#define GIK_BLOCK_CALLS_H

#include "kernels/supernodal/block_steps.h"

#ifdef __cplusplus
extern "C" {
#endif

gable_status gik_calls_open(gable_context *ctx, void *room, size_t bytes, void **calls);
void gik_calls_close(gable_context *ctx, void **calls);
gable_status gik_calls_begin(gable_context *ctx, void *calls, void *stream);
gable_status gik_call(gable_context *ctx, void *calls, const gik_block_call *p, void *stream);

#ifdef __cplusplus
}
#endif

#endif
