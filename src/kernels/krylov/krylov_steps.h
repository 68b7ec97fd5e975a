/* krylov_steps.h: the vector operations of CG, BiCGSTAB and GMRES, one table for each kind of device.
 *
 * The scalars of the recurrences stay beside the vectors, so no iteration of a GPU asks the host.
 *
 * Every sum is taken in a fixed order.  When an iteration has ended (state->stop), every step does nothing: x stays. */
#ifndef GIK_KRYLOV_STEPS_H
#define GIK_KRYLOV_STEPS_H

#include <gable/types.h>

#include "base/status.h"
#include "kernels/list.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GIK_STEP_SUMS = 2, GIK_HISTORY = 16 };

typedef enum gik_stop {
  GIK_RUNNING,
  GIK_STOP_CONVERGED,
  GIK_STOP_ITERATIONS,
  GIK_STOP_BREAKDOWN,
  GIK_STOP_NOT_FINITE
} gik_stop;

/* In the memory of the device; the host fetches it now and then. */
typedef struct gik_krylov_state {
  double tolerance, norm_b;
  int max_iterations, iteration, stop;
  unsigned arrived;            /* GPU: thread blocks of the reduction that runs */
  double residual;             /* ||r|| / ||b|| */
  double rz, alpha, beta;      /* CG; alpha and beta also BiCGSTAB's */
  double rho, omega;           /* BiCGSTAB */
  double norm;                 /* of measure's b, of residual's r; GMRES: of the vector that was made orthogonal */
  int again;                   /* GMRES: 1: much was cancelled, project once more; in combine: the update is finite */
  int column;                  /* GMRES: vectors of the basis that the operator was applied to */
  int cycling;                 /* GMRES: 1: the basis grows, 0: it is time for combine */
  double history[GIK_HISTORY]; /* of iteration k at k % GIK_HISTORY */
} gik_krylov_state;

/* Vectors: [n]; krylov/cg.c, bicgstab.c and gmres.c name them so too. */
typedef struct gik_krylov {
  gable_idx n;
  gik_krylov_state *state;
  double *parts; /* [step_parts * GIK_STEP_SUMS] scratch */
  void *stream;  /* GPU */
  int threads;   /* CPU */
} gik_krylov;

/* The basis of GMRES, and its small least squares problem, column by column, by Givens rotations. */
typedef struct gik_gmres {
  int restart;
  double *basis;  /* [restart+1][n] */
  double *h;      /* [restart][restart+1] the Hessenberg matrix by columns: R after the rotations */
  double *cosine; /* [restart] */
  double *sine;   /* [restart] */
  double *g;      /* [restart+1] rotated right-hand side: |g[k]| is the residual's norm after k columns; in combine y */
  double *dots;   /* [restart+1] of one projection */
  double *parts;  /* [dot_parts * (restart+1)] scratch */
} gik_gmres;

struct gik_krylov_steps {
  int step_parts, dot_parts; /* doubles of scratch for each sum of a step, and for each product of dots */

  /* norm = ||b||; norm_b too, but 1 instead of 0. */
  gable_status (*measure)(const gik_krylov *k, const double *b);
  /* r = b - q, state->norm = ||r||, which is the residual of iteration state->iteration. */
  gable_status (*residual)(const gik_krylov *k, const double *b, const double *q, double *r);

  gable_status (*cg_start)(const gik_krylov *k, const double *r, const double *z, double *p); /* p = z, rz */
  gable_status (*cg_curvature)(const gik_krylov *k, const double *p, const double *q);        /* alpha, or breakdown */
  gable_status (*cg_step)(const gik_krylov *k, const double *p, const double *q, double *x, double *r);
  gable_status (*cg_beta)(const gik_krylov *k, const double *r, const double *z); /* beta, rz */
  gable_status (*cg_direction)(const gik_krylov *k, const double *z, double *p);

  gable_status (*bi_start)(const gik_krylov *k, const double *r, double *shadow, double *p, double *v);
  gable_status (*bi_direction)(const gik_krylov *k, const double *r, const double *v, double *p);
  gable_status (*bi_alpha)(const gik_krylov *k, const double *shadow, const double *v);
  gable_status (*bi_half)(const gik_krylov *k, const double *r, const double *v, double *s);
  gable_status (*bi_omega)(const gik_krylov *k, const double *t, const double *s);
  gable_status (*bi_step)(const gik_krylov *k, const double *p_hat, const double *s_hat, const double *s,
                          const double *t, const double *shadow, double *x, double *r);

  /* The steps of GMRES; but for cycle and combine they do nothing unless state->cycling.  k stands for state->column.
   *
   * A cycle begins: basis_0 = r / norm for the r there, whose norm residual has left; column 0. */
  gable_status (*cycle)(const gik_krylov *k, const gik_gmres *q);
  /* dots_j = basis_j . v for j <= k, and dots_k+1 = ||v||; k < most.  second: only if state->again. */
  gable_status (*dots)(const gik_krylov *k, const gik_gmres *q, int most, const double *v, int second);
  /* v -= sum_j dots_j basis_j in the order of j; h_jk = dots_j; state->norm = ||v||, again = it is less than half of
   * what it was.  second: only if state->again, and h_jk += dots_j. */
  gable_status (*project)(const gik_krylov *k, const gik_gmres *q, double *v, int second);
  /* basis_k+1 = v / norm, where v may be; rotates column k, one more iteration; the cycle ends when the residual meets
   * the tolerance, with the last column, the last iteration, a column of zeros or one that is not finite. */
  gable_status (*enlarge)(const gik_krylov *k, const gik_gmres *q, const double *v);
  /* R y = g; step = Z y, [n]; state->again: all of it is finite; then x += step.  x may be NULL. */
  gable_status (*combine)(const gik_krylov *k, const gik_gmres *q, const double *z, double *step, double *x);

  gable_status (*scale)(const gik_krylov *k, const double *d, const double *r, double *z); /* z_i = r_i / d_i */
};

#ifdef __cplusplus
}
#endif

#endif
