/* device_krylov.h: CG, BiCGSTAB and GMRES with vectors on a GPU.
 *
 * The recurrences are those of cg.h, bicgstab.h and gmres.h.  Scalars stay beside the vectors, and the device itself
 * notices the end: the host asks once in some iterations, at most once in each (GMRES: once in each).  Norms are plain
 * sums of squares.  GMRES makes its basis orthogonal by classical Gram-Schmidt, twice when much
 * was cancelled. */
#ifndef GI_DEVICE_KRYLOV_H
#define GI_DEVICE_KRYLOV_H

#include "kernels/krylov/krylov_steps.h"
#include "krylov/cg.h"
#include "krylov/hessenberg.h"

typedef struct gi_device_krylov {
  gable_context *ctx;
  const gik_krylov_steps *steps;
  gik_krylov k;
  double *vectors; /* [count * n] */
  double *z;       /* GMRES with a preconditioner: [restart * n] */
  double *small;   /* GMRES: coefficients, and partial sums of them */
  gi_hessenberg q; /* GMRES */
  int batch;       /* iterations between two looks at the state */
} gi_device_krylov;

/* restart: of GMRES; 0: the vectors of CG and BiCGSTAB.  preconditioned: solves will have a preconditioner.  out must
 * be zeroed, and is released by its owner even after an error. */
gable_status gi_device_krylov_init(gable_context *ctx, const gik_krylov_steps *steps, gable_idx n, gable_idx restart,
                                   int preconditioned, gi_device_krylov *out);
void gi_device_krylov_release(gi_device_krylov *w); /* fine on a zeroed one */

/* The state of a fresh iteration, with the norm of b. */
gable_status gi_device_krylov_begin(gi_device_krylov *w, const double *b, const gi_iteration *how);

/* Waits for the device; notes what happened since iteration *seen in result and how->history. */
gable_status gi_device_krylov_look(gi_device_krylov *w, const gi_iteration *how, gable_idx *seen,
                                   gik_krylov_state *state, gi_iteration_result *result);

/* As gi_cg, gi_bicgstab and gi_gmres: b and x [n] on the device; the operators work on the context's stream and need
 * not wait for it.  how->work is not used. */
gable_status gi_device_cg(gi_device_krylov *w, gi_operator apply, gi_operator precondition, void *user, const double *b,
                          double *x, const gi_iteration *how, gi_iteration_result *result);
gable_status gi_device_bicgstab(gi_device_krylov *w, gi_operator apply, gi_operator precondition, void *user,
                                const double *b, double *x, const gi_iteration *how, gi_iteration_result *result);
gable_status gi_device_gmres(gi_device_krylov *w, gi_operator apply, gi_operator precondition, void *user,
                             const double *b, double *x, const gi_iteration *how, gi_iteration_result *result);

#endif
