/* method_spmv.h: the levels of a partitioned inverse as matrices of a library's SpMV (cuSPARSE on a GPU), for one solve
 * at a time. */
#ifndef GI_METHOD_SPMV_H
#define GI_METHOD_SPMV_H

#include "supernodal/methods/method_state.h"

typedef struct gi_method_spmv {
  gik_block_spmv *matrix; /* [count] every level of L forward and backward, then of U */
  gable_off first[2][2];  /* number of level 0: of L or U, forward or backward */
  double *room;           /* a level's product */
  void *products, *buffer;
} gi_method_spmv;

/* Describes and preprocesses all levels of s for rhs right-hand sides in vectors such as v, [n][rhs] on the device.
 * GABLE_ERR_MEMORY, GABLE_ERR_UNAVAILABLE; what was made so far is m's. */
gable_status gi_method_spmv_init(const gi_method_solver *s, gable_idx rhs, double *v, gi_method_spmv *m);
/* s may be gone; nothing there is fine. */
void gi_method_spmv_release(gable_context *ctx, const gik_block_steps *steps, gi_method_spmv *m);

/* v := Q v, Q the level of t, one of s's triangles; transposed: Q^T.  Asynchronous on the stream. */
gable_status gi_method_spmv_run(const gi_method_solver *s, const gi_method_spmv *m, const gi_method_triangle *t,
                                int transposed, gable_idx level, double *v, void *stream);

#endif
