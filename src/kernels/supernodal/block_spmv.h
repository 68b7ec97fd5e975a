/* block_spmv.h: levels of a partitioned inverse by cuSPARSE, which is opened at run time (block_steps.h: spmv). */
#ifndef GIK_BLOCK_SPMV_H
#define GIK_BLOCK_SPMV_H

#include "kernels/supernodal/block_steps.h"

#ifdef __cplusplus
extern "C" {
#endif

gable_status gik_spmv_open(gable_context *ctx, const gik_block_spmv *matrix, gable_off count, size_t *bytes,
                           void **products);
gable_status gik_spmv_prepare(gable_context *ctx, void *products, void *room, void *stream);
void gik_spmv_close(gable_context *ctx, void **products);
gable_status gik_spmv(gable_context *ctx, void *products, gable_off number, const gik_block_spmv *p, void *stream);

#ifdef __cplusplus
}
#endif

#endif
