/* condition.h: how far an inverse stretches, from a few solves.
 *
 * W. W. Hager, Condition estimates, SIAM J. Sci. Stat. Comput. 5 (1984); N. J. Higham, FORTRAN codes for estimating the
 * one-norm of a real or complex matrix, ACM TOMS 14 (1988). */
#ifndef GI_CONDITION_H
#define GI_CONDITION_H

#include "device/device.h"
#include "kernels/refine/estimate_steps.h"
#include "krylov/refine.h"

/* Where the vectors of an estimate lie.  The host takes the decisions. */
typedef struct gi_estimate_place {
  gable_context *ctx;
  const gi_device *device; /* the context's, or gi_device_cpu */
  gik_estimate *state;     /* in the device's memory */
  void *stream;
} gi_estimate_place;

/* *state is zeroed. */
gi_estimate_place gi_estimate_on_host(gable_context *ctx, gik_estimate *state);

/* *out: what the operations on stream have left; waits for them. */
gable_status gi_estimate_look(const gi_estimate_place *at, gik_estimate *out);

/* What the norm is of. */
typedef struct gi_inverse {
  gable_idx n;
  gable_op op;
  const double *d;         /* [n] >= 0 there, NULL: ones */
  gi_near_inverse inverse; /* called with both ops, for vectors there */
  void *user;
  double enough; /* the search ends at an estimate of this size; 0: at none */
} gi_inverse;

/* *norm: a lower bound, nearly always within a factor of 3, of ||diag(d) op(A)^-1||_1.  (The infinity norm of A^-1
 * diag(d) is the 1-norm of diag(d) A^-T.)  work [2n] there.  INFINITY when the inverse gives what is not finite. */
gable_status gi_inverse_norm(const gi_estimate_place *at, const gi_inverse *of, double *work, double *norm);

#endif
