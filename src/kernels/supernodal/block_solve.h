/* block_solve.h: TRSM and GEMV of the block columns of one level (block_steps.h: solve). */
#ifndef GIK_BLOCK_SOLVE_H
#define GIK_BLOCK_SOLVE_H

#include "kernels/supernodal/block_steps.h"

#ifdef __cplusplus
extern "C" {
#endif

gable_status gik_solve_blocks(gable_context *ctx, const gik_block_batch *p, const gik_block_tiles *tiles, void *stream);

#ifdef __cplusplus
}
#endif

#endif
