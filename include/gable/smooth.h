/* smooth.h: Gauss-Seidel and SOR sweeps with a sparse matrix, in the order of its rows (no colouring, no block Jacobi).
 *
 *   create -> analyse (pattern) -> update (values, as often as they change) -> work -> work_apply
 *
 * Shortcuts: apply and status have a work that the smoother owns.
 *
 * Forward: x_i = (1 - omega) x_i + omega (b_i - sum_{j != i} a_ij x_j) / a_ii for i = 0, 1, ..., with the newest value
 * of each x_j.  A forward sweep has the schedule of the lower triangle, a backward sweep that of the upper one.
 *
 *   One pass    reads whole rows; in place when the pattern of the matrix is symmetric, otherwise a second vector keeps
 *               the old values (Li and Zhang, section 5.2)
 *   Two passes  a product with the old values, then a triangular solve for the new ones (equation 5.3)
 */
#ifndef GABLE_SMOOTH_H
#define GABLE_SMOOTH_H

#include <gable/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gable_smoother gable_smoother;
typedef struct gable_smoother_work gable_smoother_work;

typedef enum gable_sweep {
  GABLE_SWEEP_FORWARD = 1,
  GABLE_SWEEP_BACKWARD = 2,
  GABLE_SWEEP_SYMMETRIC = 3 /* forward, then backward */
} gable_sweep;

typedef struct gable_smoother_options {
  size_t size; /* of this struct, so that it can grow */
  /* A name of gable_trisolve_methods, NULL is "auto".  One pass: serial, levr, tiles and auto on the CPU, levr and elmr
   * on a GPU; all others two. */
  const char *method;
  gable_sweep sweep;
  double omega;      /* relaxation factor, in (0,2); 1 is Gauss-Seidel.  Methods of two passes store a_ii / omega in the
                      * matrix's type: with a float matrix omega is rounded by 6e-8. */
  double deadline_s; /* as in gable_trisolve_options */
  int threads;       /* at most so many; 0: the context's */
  gable_idx max_rhs; /* right-hand sides swept together; apply splits more into groups; 0: 1. Memory grows with it.
                        One-pass methods sweep them one by one. */
  int64_t solves;    /* sweeps expected with one analysis, for "auto", as in gable_trisolve_options; 0: many */
} gable_smoother_options;
#define GABLE_SMOOTHER_OPTIONS_INIT                                                                                    \
  {                                                                                                                    \
    sizeof(gable_smoother_options), NULL, GABLE_SWEEP_SYMMETRIC, 1.0, 0.0, 0, 0, 10                                    \
  }

/* Local.  options may be NULL.  ctx must outlive the smoother.  GABLE_ERR_UNAVAILABLE: the method does not run at this
 * place. */
GABLE_API gable_status gable_smoother_create(gable_context *ctx, const gable_smoother_options *options,
                                             gable_smoother **out);

/* Local.  Analyses the pattern of the square matrix a (both triangles; device memory on a GPU only) and keeps no
 * pointer to it.  GABLE_ERR_SINGULAR: a row without a diagonal entry; GABLE_ERR_ARGUMENT: an index out of range or out
 * of order, with its row, or an entry without the mirror image that a symmetry declared by a (host memory) promises;
 * GABLE_ERR_LIMIT: 2^31 entries or more, except for methods of one pass on the CPU.  An error may leave the smoother
 * without an analysis: call analyse again before update. */
GABLE_API gable_status gable_smoother_analyse(gable_smoother *s, const gable_matrix_view *a);

/* Local.  Sets the stream of later updates and of gable_smoother_apply; analyse reads a matrix in device memory in its
 * order, too.  NULL, the default: gable_context_stream.  The new stream first waits for the old one.  The stream must
 * outlive its use by the smoother.  No effect on the CPU. */
GABLE_API gable_status gable_smoother_set_stream(gable_smoother *s, void *stream);

/* Local.  Replaces the values: val [nnz] in the order, type and memory of the analysed matrix; no analysis.  Errors as
 * gable_trisolve_update.
 *
 * On a GPU the update is ordered on the smoother's stream.  Events order it after all earlier applies with works of the
 * smoother, on any stream, and before all later ones.  Two threads must not call apply and update of one smoother at
 * the same time.  With val in device memory the call is asynchronous, and gable_smoother_status and
 * gable_smoother_work_status report a bad diagonal until the next update.  With val in host memory the call waits for
 * the stream and returns that status.
 *
 * In a CUDA graph: with val in device memory an update may be captured (GABLE_ERR_STATE from host memory, for the fault
 * is read back), also with applies.  Replays follow the rules of gable_trisolve_update. */
GABLE_API gable_status gable_smoother_update(gable_smoother *s, const void *val);

/* Local.  Does the given number of sweeps on A x = b, starting from x, on the stream of s, with a work that s owns. The
 * first update that is not captured creates that work (GABLE_ERR_STATE: there was none).  b and x do not overlap, are
 * in the same memory space and have the matrix's type, or double with a float matrix. history: [sweeps+1] (host) the
 * 2-norm of b - A x (of all right-hand sides together) before the first and after each sweep, or NULL; on the
 * CPU its last bits may differ after another analysis (tiles, auto).  Allocates nothing.  One call at a time per
 * smoother.  On a GPU, with vectors in device memory and without history, it is ordered on the smoother's stream, does
 * not synchronise and may be captured in a CUDA graph; gable_smoother_status returns its errors.  GABLE_ERR_DEADLINE
 * names the row whose value did not come. GABLE_ERR_CANCELLED, between two sweeps: x has the result of the sweeps so
 * far. */
GABLE_API gable_status gable_smoother_apply(gable_smoother *s, const gable_vectors_view *b, gable_vectors_view *x,
                                            int sweeps, double *history);

/* Local.  gable_smoother_work_status of the work that s owns. */
GABLE_API gable_status gable_smoother_status(gable_smoother *s, gable_idx *row);

/* Local.  Scratch memory and stream for one apply at a time, so that threads share a smoother.  Any number of works per
 * smoother.  The caller owns it and destroys it before s.  Create it again after analyse.  GABLE_ERR_STATE: before
 * analyse; GABLE_ERR_MEMORY. */
GABLE_API gable_status gable_smoother_work_create(const gable_smoother *s, gable_smoother_work **out);

/* Local.  gable_smoother_apply with w, on the stream of w.  No analyse of the smoother may run at the same time; call
 * gable_smoother_work_status before it.  GABLE_ERR_MISMATCH: w is of an earlier analysis. */
GABLE_API gable_status gable_smoother_work_apply(gable_smoother_work *w, const gable_vectors_view *b,
                                                 gable_vectors_view *x, int sweeps, double *history);

/* Local.  Sets the stream of applies with w.  NULL, the default: gable_context_stream.  The new stream first waits for
 * the old one.  The stream must outlive its use by w.  No effect on the CPU. */
GABLE_API gable_status gable_smoother_work_set_stream(gable_smoother_work *w, void *stream);

/* Local.  Waits for the stream of w.  Returns the error of asynchronous applies with w since the last call, or of the
 * last update from device memory: GABLE_OK, GABLE_ERR_SINGULAR, GABLE_ERR_NOT_FINITE, GABLE_ERR_LIMIT or
 * GABLE_ERR_DEADLINE.  *row (may be NULL): its row from 0, or -1. */
GABLE_API gable_status gable_smoother_work_status(gable_smoother_work *w, gable_idx *row);

/* NULL is fine; sets *w to NULL. */
GABLE_API void gable_smoother_work_destroy(gable_smoother_work **w);

typedef struct gable_smoother_info {
  size_t size;          /* of this struct, so that it can grow */
  char method_used[16]; /* of the forward sweep, or of the only one */
  char why[240];
  int in_place;                              /* 1: the pattern is symmetric; a sweep in one pass is in place */
  gable_idx levels_forward, levels_backward; /* 0 where that sweep is not asked for */
  gable_off nnz;                             /* of the matrix */
  size_t plan_bytes_host, plan_bytes_device; /* that the analysis took, from the allocators of the context */
} gable_smoother_info;
#define GABLE_SMOOTHER_INFO_INIT                                                                                       \
  {                                                                                                                    \
    sizeof(gable_smoother_info), "", "", 0, 0, 0, 0, 0, 0                                                              \
  }

/* Local.  Upper bounds of the bytes that an analysis of n rows and nnz entries of value_type (GABLE_TYPE_S or _D), the
 * diagonal included, will leave (info's plan_bytes_host and plan_bytes_device); after create and before any analysis.
 * An analysis takes some more memory while it runs.  On a GPU as loose as gable_trisolve_plan_bound. */
GABLE_API gable_status gable_smoother_plan_bound(const gable_smoother *s, gable_idx n, gable_off nnz,
                                                 gable_type value_type, size_t *host, size_t *device);

/* Local.  After analyse. */
GABLE_API gable_status gable_smoother_get_info(const gable_smoother *s, gable_smoother_info *info);

/* NULL is fine; sets *s to NULL. */
GABLE_API void gable_smoother_destroy(gable_smoother **s);

#ifdef __cplusplus
}
#endif
#endif
