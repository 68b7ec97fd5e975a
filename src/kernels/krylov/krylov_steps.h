/* krylov_steps.h: the vector operations of CG, BiCGSTAB and GMRES, one table for each kind of device.
 *
 * The scalars of the recurrences stay beside the vectors, so no iteration of a GPU asks the host.
 *
 * Every sum is taken in a fixed order.  When an iteration has ended (state->stop), every step does nothing: x stays. */
#ifndef GIK_KRYLOV_STEPS_H
#define GIK_KRYLOV_STEPS_H

#include <gable/types.h>

#include "base/status.h"

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

typedef struct gik_krylov_steps {
  int step_parts, dot_parts; /* doubles of scratch for each sum of a step, and for each product of dots */

  /* norm = ||b||; norm_b too, but 1 instead of 0. */
  gable_status (*measure)(const gik_krylov *k, const double *b);
  /* r = b - q, state->norm = ||r||, which is the residual of iteration state->iteration. */
  gable_status (*residual)(const gik_krylov *k, const double *b, const double *q, double *r);

  gable_status (*cg_start)(const gik_krylov *k, const double *r, const double *z, double *p); /* p = z, rz */
  gable_status (*cg_curvature)(const gik_krylov *k, const double *p, const double *q);        /* alpha, or breakdown */
  gable_status (*cg_step)(const gik_krylov *k, const double *p, const double *q, double *x, double *r);
  gable_status (*cg_turn)(const gik_krylov *k, const double *r, const double *z); /* beta, rz */
  gable_status (*cg_direction)(const gik_krylov *k, const double *z, double *p);

  gable_status (*bi_start)(const gik_krylov *k, const double *r, double *shadow, double *p, double *v);
  gable_status (*bi_direction)(const gik_krylov *k, const double *r, const double *v, double *p);
  gable_status (*bi_alpha)(const gik_krylov *k, const double *shadow, const double *v);
  gable_status (*bi_half)(const gik_krylov *k, const double *r, const double *v, double *s);
  gable_status (*bi_omega)(const gik_krylov *k, const double *t, const double *s);
  gable_status (*bi_step)(const gik_krylov *k, const double *p_hat, const double *s_hat, const double *s,
                          const double *t, const double *shadow, double *x, double *r);

  /* h_j = basis_j . v for j < count, the columns of basis n apart, and h_count = ||v||; parts_h: [dot_parts *
   * (count+1)] scratch.  second: only if state->again. */
  gable_status (*dots)(const gik_krylov *k, int count, const double *basis, const double *v, double *parts_h, double *h,
                       int second);
  /* v -= sum_j h_j basis_j in the order of j; total_j = h_j; state->norm = ||v||, again = it is less than half of what
   * it was.  second: only if state->again, and total_j += h_j. */
  gable_status (*project)(const gik_krylov *k, int count, const double *basis, const double *h, double *v,
                          double *total, int second);
  gable_status (*normalise)(const gik_krylov *k, double *v, double *total_end); /* v /= norm; *total_end = norm */
  /* x += Z y, unless an entry of Z y is not finite; step: [n] scratch. */
  gable_status (*combine)(const gik_krylov *k, int count, const double *z, const double *y, double *step, double *x);

  gable_status (*scale)(const gik_krylov *k, const double *d, const double *r, double *z); /* z_i = r_i / d_i */
} gik_krylov_steps;

extern const gik_krylov_steps gik_krylov_steps_cpu;
extern const gik_krylov_steps gik_krylov_steps_cuda; /* empty in a build without CUDA */

#ifdef __cplusplus
}
#endif

#endif
