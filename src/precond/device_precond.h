/* device_precond.h: a matrix by rows in the memory of a GPU, and an approximation of its inverse there. */
#ifndef GI_DEVICE_PRECOND_H
#define GI_DEVICE_PRECOND_H

#include <gable/krylov.h>
#include <gable/trisolve.h>

#include "kernels/krylov/krylov_steps.h"
#include "smooth/resident_csr.h"
#include "smooth/sweeps.h"
#include "trisolve/level_order.h"

typedef struct gi_device_precond {
  gable_context *ctx;
  gable_preconditioner kind;
  gi_resident_csr rows;
  double *factor;                 /* ILU(0), IC(0): [nnz] in the pattern of the matrix; Jacobi: [n] the diagonal */
  double shift;                   /* IC(0) */
  gable_trisolve *first, *second; /* applied one after the other; second NULL: first again, with second_op */
  gable_op second_op;
  gable_work *first_work, *second_work;
  void *sweeps; /* a state of gi_sweeps_whole */
} gi_device_precond;

/* a: double, both triangles; host or device memory.  out must be zeroed.  GABLE_ERR_SINGULAR names the row of a pivot
 * that vanished. */
gable_status gi_device_precond_make(gable_context *ctx, gable_preconditioner kind, const char *method, int threads,
                                    const gable_matrix_view *a, gi_device_precond *out);
void gi_device_precond_release(gi_device_precond *p); /* fine on a zeroed one */

/* On the context's stream, x and y on the device: y = A x, and z ~ A^-1 r. */
gable_status gi_device_precond_multiply(const gi_device_precond *p, const double *x, double *y);
gable_status gi_device_precond_apply(gi_device_precond *p, const gik_krylov *k, const double *r, double *z);

/* Waits given up since the last call; waits for the device. */
gable_status gi_device_precond_status(gi_device_precond *p);

#endif
