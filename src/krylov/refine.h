/* refine.h: the componentwise backward error, and the iteration that makes it small.
 *
 * W. Oettli and W. Prager, Numer. Math. 6 (1964); M. Arioli, J. W. Demmel and I. S. Duff, Solving sparse linear systems
 * with sparse backward error, SIAM J. Matrix Anal. Appl. 10 (1989). */
#ifndef GI_REFINE_H
#define GI_REFINE_H

#include "krylov/iteration.h"
#include "sparse/csc.h"

/* The matrix as the caller gave it, unscaled, and what its rows and columns weigh. */
typedef struct gi_system {
  gable_idx n;
  const gi_csc *rows;              /* A by rows: column i of this is row i of A */
  const double *row_sum, *row_max; /* [n] of |a_ij| over row i */
  const double *col_sum, *col_max; /* [n] of |a_ij| over column j */
  int threads;
} gi_system;

/* The sums and maxima of a, by rows, into four arrays [n]; those of the columns may be NULL together: not wanted. */
void gi_system_norms(const gi_csc *rows, double *row_sum, double *row_max, double *col_sum, double *col_max);

/* y = op(A) x. */
void gi_system_apply(const gi_system *a, gable_op op, const double *x, double *y);

typedef struct gi_errors {
  double backward; /* omega_1 + omega_2 of Arioli, Demmel and Duff; INFINITY when x or r is not finite */
  double strict;   /* of Oettli and Prager, max |r_i| / w_i over all rows */
} gi_errors;

/* r = b - op(A) x and w = |op(A)| |x| + |b|, each [n], and the backward error:
 *   omega_1 = max |r_i| / w_i over the rows with w_i > t_i = 1000 n eps (max_j |a_ij| ||x||_inf + |b_i|),
 *   omega_2 = max |r_i| / ((|A||x|)_i + sum_j |a_ij| ||x||_inf) over the others; 0/0 = 0. */
gi_errors gi_backward_error(const gi_system *a, gable_op op, const double *b, const double *x, double *r, double *w);

/* The errors [count] of count columns, 1 <= count <= GI_ERROR_COLUMNS, in one pass over A: those of gi_backward_error,
 * bit by bit.  scratch, more: [GI_ERROR_COLUMNS n] each.  The same for every number of threads. */
enum { GI_ERROR_COLUMNS = 4 };
void gi_backward_errors(const gi_system *a, gable_op op, gable_idx count, const double *b, gable_off ldb,
                        const double *x, gable_off ldx, double *scratch, double *more, gi_errors *errors);

/* X = op(A)^-1 B nearly, for count columns with leading dimension n; X may be B. */
typedef gable_status (*gi_near_inverse)(void *user, gable_op op, gable_idx count, const double *b, double *x);

typedef struct gi_refine_options {
  gable_idx max_steps; /* corrections by the factor; 0: the first solve must do */
  gable_idx max_gmres; /* iterations of GMRES once the corrections stall */
  double tolerance;
} gi_refine_options;

typedef enum gi_refine_reason {
  GI_REFINE_DONE = 0,
  GI_REFINE_STEPS = 1,     /* max_steps, and no GMRES was allowed */
  GI_REFINE_STALLED = 2,   /* neither the corrections nor GMRES make it smaller */
  GI_REFINE_NOT_FINITE = 3 /* the factor gives NaN or infinity */
} gi_refine_reason;

typedef struct gi_refine_result {     /* the worst column's */
  double backward_error, first_error; /* at the end; of the unrefined solve */
  gable_idx steps, gmres_iterations;
  gi_refine_reason reason;
  gable_idx worst; /* the column */
} gi_refine_result;

typedef struct gi_refine_work gi_refine_work;
enum { GI_REFINE_COLUMNS = 16, GI_GMRES_RESTART = 24 };

/* Room for up to GI_REFINE_COLUMNS columns at a time, and for a basis of restart vectors of GMRES; restart 0: for
 * corrections alone, max_gmres is 0 then. */
gable_status gi_refine_work_create(gable_context *ctx, gable_idx n, gable_idx columns, gable_idx restart,
                                   gi_refine_work **out);
void gi_refine_work_destroy(gable_context *ctx, gi_refine_work **work); /* NULL is fine */

/* Betters the columns of x, [n] each at ldx, until the strict backward error of each is at most the tolerance, or
 * nothing helps; a correction that makes a column worse is taken back.  Missing the tolerance is no error: result says
 * it. Allocates nothing. */
gable_status gi_refine(const gi_system *a, gable_op op, gi_near_inverse inverse, void *user, gable_idx count,
                       const double *b, gable_off ldb, double *x, gable_off ldx, const gi_refine_options *options,
                       gi_refine_work *work, gi_refine_result *result);

#endif
