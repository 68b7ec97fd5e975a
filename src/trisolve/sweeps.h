/* sweeps.h: Gauss-Seidel and SOR on the schedules of the triangular solves. */
#ifndef GI_TRISOLVE_SWEEPS_H
#define GI_TRISOLVE_SWEEPS_H

#include <gable/smooth.h>

#include "trisolve/plan.h"

typedef struct gi_sweeps gi_sweeps;

/* shape: of a, with uplo of no meaning.  method: GI_SERIAL, GI_LEVR, GI_TILES or GI_AUTO. */
gable_status gi_sweeps_analyse(gable_context *ctx, const gi_shape *shape, const gable_matrix_view *a, gi_method method,
                               gable_sweep sweep, int threads, gable_idx *bad_row, gi_sweeps **out);
gable_status gi_sweeps_update(gi_sweeps *s, const void *val, gable_idx *bad_row);

/* One right-hand side, entries at b_step and x_step; history (NULL, or [sweeps+1]): squares of the norm are added. */
gable_status gi_sweeps_apply(gi_sweeps *s, gable_type type, const void *b, ptrdiff_t b_step, void *x, ptrdiff_t x_step,
                             double omega, int sweeps, double deadline_s, double *history);

void gi_sweeps_info(const gi_sweeps *s, gable_smoother_info *info);

/* NULL is fine. */
void gi_sweeps_release(gable_context *ctx, gi_sweeps *s);

#endif
