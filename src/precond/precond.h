/* precond.h: a matrix by rows, and an approximation of its inverse made of triangular solves or sweeps. */
#ifndef GI_PRECOND_H
#define GI_PRECOND_H

#include <gable/krylov.h>
#include <gable/smooth.h>
#include <gable/trisolve.h>

#include "base/context.h"
#include "sparse/csc.h"

typedef struct gi_precond {
  gable_preconditioner kind;
  gi_csc rows;                    /* A by rows */
  double *factor;                 /* ILU(0): [nnz]; IC(0): [lower nnz]; Jacobi: [n] reciprocals */
  gi_csc lower;                   /* IC(0): the lower triangle by rows */
  double shift;                   /* IC(0) */
  gable_trisolve *first, *second; /* applied one after the other */
  gable_op second_op;
  gable_work *first_work, *second_work;
  gable_smoother *smoother;
  double seconds; /* spent in gi_precond_apply so far */
} gi_precond;

/* Takes the rows (they are released with p). */
gable_status gi_precond_make(gable_context *ctx, gable_preconditioner kind, const char *method, int threads,
                             gi_csc *rows, gi_precond *p);
void gi_precond_release(gable_context *ctx, gi_precond *p);

/* y = A x, in parallel over the rows, the same bits for any number of threads. */
void gi_precond_multiply(const gi_precond *p, int threads, const double *x, double *y);

/* z ~ A^-1 r. */
gable_status gi_precond_apply(gi_precond *p, const double *r, double *z);

#endif
