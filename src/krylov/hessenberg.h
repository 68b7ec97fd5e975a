/* hessenberg.h: the small least squares problem of GMRES, column by column, by Givens rotations. */
#ifndef GI_HESSENBERG_H
#define GI_HESSENBERG_H

#include "base/context.h"

typedef struct gi_hessenberg {
  gable_idx restart;
  double *h;      /* [(restart+1) * restart] column major, ld = restart+1: R after the rotations */
  double *cosine; /* [restart] */
  double *sine;   /* [restart] */
  double *g;      /* [restart+1] rotated right-hand side; |g[k]| is the residual's norm after k columns */
} gi_hessenberg;

gable_status gi_hessenberg_init(gable_context *ctx, gable_idx restart, gi_hessenberg *out);
void gi_hessenberg_release(gable_context *ctx, gi_hessenberg *q); /* fine on a zeroed one */

/* Column k, [k+2] entries of which the caller has put there. */
static inline double *gi_hessenberg_column(gi_hessenberg *q, gable_idx k)
{
  return q->h + (gable_off)k * (q->restart + 1);
}

/* Applies the old rotations to column k and makes the one that clears h(k+1,k). */
void gi_hessenberg_rotate(gi_hessenberg *q, gable_idx k);

/* g[0..k) = y, R y = g, over the first k columns. */
void gi_hessenberg_solve(gi_hessenberg *q, gable_idx k);

#endif
