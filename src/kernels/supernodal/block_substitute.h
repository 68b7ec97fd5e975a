/* block_substitute.h: TRSM of the block columns of one level (block_steps.h: substitute). */
#ifndef GIK_BLOCK_SUBSTITUTE_H
#define GIK_BLOCK_SUBSTITUTE_H

#include "kernels/supernodal/block_steps.h"

#ifdef __cplusplus
extern "C" {
#endif

gable_status gik_substitute(gable_context *ctx, const gik_block_batch *p, const gik_block_tiles *tiles, void *stream);

#ifdef __cplusplus
}
#endif

#endif
