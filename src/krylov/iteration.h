/* iteration.h: CG, BiCGSTAB and restarted flexible GMRES, written once over the vector operations of a device.
 *
 * Operators are callbacks.  The scalars of a recurrence lie beside the vectors, in gik_krylov_state, and the device
 * itself notices the end: the host looks once in a batch of iterations.
 *
 * M. R. Hestenes and E. Stiefel, Methods of conjugate gradients for solving linear systems, J. Res. NBS 49 (1952);
 * H. A. van der Vorst, Bi-CGSTAB: a fast and smoothly converging variant of Bi-CG for the solution of nonsymmetric
 * linear systems, SIAM J. Sci. Stat. Comput. 13 (1992); Y. Saad, A flexible inner-outer preconditioned GMRES
 * algorithm, SIAM J. Sci. Comput. 14 (1993); M. Arioli and I. S. Duff, Using FGMRES to obtain backward stability in
 * mixed precision, ETNA 33 (2009). */
#ifndef GI_ITERATION_H
#define GI_ITERATION_H

#include "device/device.h"
#include "kernels/krylov/krylov_steps.h"

/* y = operator x; x and y [n] in the memory of the vectors, they do not overlap.  On a GPU ordered on the stream
 * of the vectors. */
typedef gable_status (*gi_operator)(void *user, const double *x, double *y);

typedef struct gi_iteration {
  double tolerance; /* on ||b - A x|| / ||b|| */
  gable_idx max_iterations;
  double *history; /* [max_iterations+1] relative residuals of the recurrence, or NULL */
  gable_status (*monitor)(void *user, gable_idx iteration, double residual); /* of each from 0 on, in order, or NULL; an
                                                                              * error ends the solve */
  void *user;
} gi_iteration;

typedef enum gi_stop { GI_STOP_CONVERGED, GI_STOP_ITERATIONS, GI_STOP_BREAKDOWN, GI_STOP_NOT_FINITE } gi_stop;

typedef struct gi_iteration_result {
  gi_stop stop;
  gable_idx iterations; /* GMRES: in all, applications of the operator that enlarged a basis */
  double residual;      /* of the recurrence, relative; GMRES recomputes it at every restart */
} gi_iteration_result;

typedef struct gi_krylov_vectors {
  gable_context *ctx;
  const gi_device *device; /* ctx->device, or gi_device_cpu for vectors in host memory */
  const gik_krylov_steps *steps;
  gik_krylov k;    /* its stream: the context's own, until the owner sets another */
  double *vectors; /* [count * n]; of GMRES the basis and step */
  double *z;       /* GMRES with a preconditioner: [restart * n] the basis preconditioned, of which updates are made */
  double *step;    /* GMRES: [n] the update */
  double *small;   /* GMRES: coefficients, and partial sums of them, those of q */
  gik_gmres q;     /* GMRES */
  int batch;       /* iterations between two looks at the state */
} gi_krylov_vectors;

/* Vectors of n entries in the memory of device.  restart: of GMRES; 0: the vectors of CG and BiCGSTAB.
 * preconditioned: solves will have a preconditioner.  threads: of a CPU.  out must be zeroed, and is released by its
 * owner even after an error. */
gable_status gi_krylov_vectors_init(gable_context *ctx, const gi_device *device, gable_idx n, gable_idx restart,
                                    int preconditioned, int threads, gi_krylov_vectors *out);
void gi_krylov_vectors_release(gi_krylov_vectors *w); /* fine on a zeroed one */

/* *norm = ||b||; *norm = ||b - A x||.  They wait for the device. */
gable_status gi_krylov_norm(gi_krylov_vectors *w, const double *b, double *norm);
gable_status gi_krylov_residual(gi_krylov_vectors *w, gi_operator apply, void *user, const double *b, const double *x,
                                double *norm);

/* A x = b for b and x [n]; x is the start on entry; b is not 0.  They stop when ||b - A x|| <= tolerance ||b|| or after
 * max_iterations.  precondition (x ~ A^-1) may be NULL.  Missing the tolerance is no error: result says it.  Allocate
 * nothing.  Errors are those of the callbacks.
 *
 * CG: A and the preconditioner symmetric positive definite; breakdown: p^T A p <= 0 or r^T z <= 0, one of them is not.
 * BiCGSTAB: A regular; an iteration applies A and the right preconditioner twice; breakdown: a scalar of the recurrence
 * vanished.
 * GMRES: A regular; right preconditioner, which may change (flexible); the update is made of the very vectors that A
 * was applied to, since a preconditioner of huge condition gives others when applied to their combination.  Classical
 * Gram-Schmidt, twice when much was cancelled.  x stays as it was when the update is not finite. */
gable_status gi_cg(gi_krylov_vectors *w, gi_operator apply, gi_operator precondition, void *user, const double *b,
                   double *x, const gi_iteration *how, gi_iteration_result *result);
gable_status gi_bicgstab(gi_krylov_vectors *w, gi_operator apply, gi_operator precondition, void *user, const double *b,
                         double *x, const gi_iteration *how, gi_iteration_result *result);
gable_status gi_gmres(gi_krylov_vectors *w, gi_operator apply, gi_operator precondition, void *user, const double *b,
                      double *x, const gi_iteration *how, gi_iteration_result *result);

/* The end of an iteration of GMRES: v, A z_k, is made orthogonal to the basis and enlarges it; at most `most` vectors
 * are there before. */
gable_status gi_gmres_orthogonalise(const gik_krylov_steps *steps, const gik_krylov *k, const gik_gmres *q, int most,
                                    double *v);

/* For the three: puts a fresh state with the norm of b on the device; waits for the device and notes what happened
 * since iteration *seen in result and how->history. */
gable_status gi_krylov_begin(gi_krylov_vectors *w, const double *b, const gi_iteration *how);
gable_status gi_krylov_look(gi_krylov_vectors *w, const gi_iteration *how, gable_idx *seen, gik_krylov_state *state,
                            gi_iteration_result *result);

#endif
