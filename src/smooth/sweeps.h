/* sweeps.h: Gauss-Seidel and SOR on the schedules of the triangular solves. */
#ifndef GI_TRISOLVE_SWEEPS_H
#define GI_TRISOLVE_SWEEPS_H

#include <gable/smooth.h>

#include "trisolve/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One call of apply, for at most options.max_rhs right-hand sides: entry (i,j) of b at i*b_step + j*b_rhs, of x
 * likewise; one of the two is 1 unless there is one column. */
typedef struct gi_sweep_run {
  gable_type type;
  gable_space space; /* of b and x */
  const void *b;
  void *x;
  ptrdiff_t b_step, x_step, b_rhs, x_rhs;
  gable_idx count;
  int from_zero; /* 1: x is zero, whatever it holds */
  int sweeps;
  double *history; /* [sweeps+1] squares of norms of b - A x are added; NULL: none */
} gi_sweep_run;

/* Column j of it alone. */
gi_sweep_run gi_sweep_column(const gi_sweep_run *run, gable_idx j);

/* A way to sweep.  state is made by analyse, which frees what it has when it fails; apply does not change it.  A work
 * holds the vectors of one apply at a time; it is made after the first update and released before its state. */
typedef struct gi_sweep_kind {
  /* options: filled in.  shape: of a, with uplo of no meaning. */
  gable_status (*analyse)(gable_context *ctx, const gi_shape *shape, const gable_matrix_view *a, gi_method method,
                          const gable_smoother_options *options, gable_idx *bad_row, void **state);
  gable_status (*update)(void *state, const void *val, gable_idx *bad_row);
  gable_status (*work_create)(const void *state, void **work);
  gable_status (*apply)(void *work, const gi_sweep_run *run);
  /* The stream of later updates, and that of later applies, status and work_release, at first the context's own; NULL:
   * these sweeps have no use for one. */
  void (*set_stream)(void *state, void *stream);
  void (*work_set_stream)(void *work, void *stream);
  /* What went wrong in asynchronous sweeps with work since the last call; waits. */
  gable_status (*status)(void *work, gable_idx *row);
  void (*info)(const void *state, gable_smoother_info *info);
  void (*work_release)(void *work); /* NULL is fine */
  void (*release)(void *state);     /* the same */
} gi_sweep_kind;

/* On the CPU, one pass over lists of whole rows, in place where it can be: serial, levr, tiles, auto. */
extern const gi_sweep_kind gi_sweeps_lists;

/* On whole rows in the memory of the context's place, CPU or GPU: a product with the old values, then a triangular
 * solve by any method that this place has; on a GPU levr and elmr do both in one kernel. */
extern const gi_sweep_kind gi_sweeps_whole;

#ifdef __cplusplus
}
#endif

#endif
