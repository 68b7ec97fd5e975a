/* device_matrix.h: the matrix of a solver in the memory of a GPU (or the mirror), for residuals there. */
#ifndef GI_DEVICE_MATRIX_H
#define GI_DEVICE_MATRIX_H

#include "kernels/refine/refine_steps.h"
#include "pipeline/problem.h"

typedef struct gi_device_matrix gi_device_matrix;

/* A and A^T by rows, with the values that p has now, which are measured; lists are made anew where *m is NULL or of
 * another pattern.  replaced: pivots of the factor; singular: 1: numerically.  On the context's stream, which it
 * awaits.  After an error *m is NULL.  O(nnz). */
gable_status gi_device_matrix_update(gable_context *ctx, gi_problem *p, gable_idx replaced, int singular,
                                     gi_device_matrix **m);
void gi_device_matrix_destroy(gable_context *ctx, gi_device_matrix **m); /* NULL is fine */

gik_refine_matrix gi_device_matrix_of(const gi_device_matrix *m, gable_op op);
gable_off gi_device_matrix_bytes(const gi_device_matrix *m); /* of device memory; NULL: 0 */

#endif
