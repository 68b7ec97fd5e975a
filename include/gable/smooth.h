/* smooth.h: Gauss-Seidel and SOR sweeps with a whole sparse matrix, exact and in the order of its rows.
 *
 * Forward: x_i = (1 - omega) x_i + omega (b_i - sum_{j != i} a_ij x_j) / a_ii for i = 0, 1, ..., each x_j as new as it
 * is then.  The sweep of each direction runs on the schedule of the triangle that it follows.  When the pattern of the
 * matrix is symmetric, it works in place; otherwise a second vector keeps the old values (Li and Zhang, section 5.2).
 */
#ifndef GABLE_SMOOTH_H
#define GABLE_SMOOTH_H

#include <gable/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gable_smoother gable_smoother;

typedef enum gable_sweep {
  GABLE_SWEEP_FORWARD = 1,
  GABLE_SWEEP_BACKWARD = 2,
  GABLE_SWEEP_SYMMETRIC = 3 /* forward, then backward */
} gable_sweep;

typedef struct gable_smoother_options {
  size_t size;        /* of this struct, so that it can grow */
  const char *method; /* "serial", "levr", "tiles" or "auto" (NULL) */
  gable_sweep sweep;
  double omega;      /* factor of relaxation, in (0,2); 1 is Gauss-Seidel */
  double deadline_s; /* as in gable_trisolve_options */
  int threads;       /* at most so many; 0: the context's */
} gable_smoother_options;
#define GABLE_SMOOTHER_OPTIONS_INIT                                                                                    \
  {                                                                                                                    \
    sizeof(gable_smoother_options), NULL, GABLE_SWEEP_SYMMETRIC, 1.0, 0.0, 0                                           \
  }

/* Local.  options may be NULL.  GABLE_ERR_UNAVAILABLE on a context of a GPU: sweeps run on the CPU so far. */
GABLE_API gable_status gable_smoother_create(gable_context *ctx, const gable_smoother_options *options,
                                             gable_smoother **out);

/* Local.  Pattern of the square matrix a (both triangles, host memory), not kept.  GABLE_ERR_SINGULAR: a row without a
 * diagonal entry. */
GABLE_API gable_status gable_smoother_analyse(gable_smoother *s, const gable_matrix_view *a);

/* Local.  Values in the order of the analysed matrix; errors as gable_trisolve_update. */
GABLE_API gable_status gable_smoother_update(gable_smoother *s, const void *val);

/* Local.  sweeps sweeps of A x = b from the x that is given; b and x do not overlap and have the matrix's type, or
 * double with a float matrix.  history: [sweeps+1] the 2-norm of b - A x (of all right-hand sides together) before the
 * first and after each sweep, or NULL.  Allocates nothing.  One call at a time per smoother. */
GABLE_API gable_status gable_smoother_apply(gable_smoother *s, const gable_vectors_view *b, gable_vectors_view *x,
                                            int sweeps, double *history);

typedef struct gable_smoother_info {
  size_t size;          /* of this struct, so that it can grow */
  char method_used[16]; /* of the forward sweep, or of the only one */
  char why[240];
  int in_place;                              /* 1: the pattern is symmetric */
  gable_idx levels_forward, levels_backward; /* 0 where that sweep is not asked for */
  gable_off nnz;                             /* of the matrix */
} gable_smoother_info;
#define GABLE_SMOOTHER_INFO_INIT                                                                                       \
  {                                                                                                                    \
    sizeof(gable_smoother_info), "", "", 0, 0, 0, 0                                                                    \
  }

/* Local.  After analyse. */
GABLE_API gable_status gable_smoother_get_info(const gable_smoother *s, gable_smoother_info *info);

/* NULL is fine; sets *s to NULL. */
GABLE_API void gable_smoother_destroy(gable_smoother **s);

#ifdef __cplusplus
}
#endif
#endif
