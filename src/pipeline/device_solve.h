/* device_solve.h: refined solves with vectors in the memory of the context's GPU (or the mirror). */
#ifndef GI_DEVICE_SOLVE_H
#define GI_DEVICE_SOLVE_H

#include "pipeline/device_factor.h"
#include "pipeline/device_matrix.h"

/* Corrections that a solve there does at most where the options name no number: each is enqueued, needed or not. */
enum { GI_DEVICE_STEPS = 2 };

/* Vectors and states of one refined solve in flight. */
typedef struct gi_device_refinement gi_device_refinement;

gable_status gi_device_refinement_create(gable_context *ctx, gable_idx n, gable_idx columns,
                                         gi_device_refinement **out);
void gi_device_refinement_destroy(gable_context *ctx, gi_device_refinement **w); /* NULL is fine */

/* op(A) x = b for vectors of any layout in device memory; x may be b.  At most max_steps corrections by the factor,
 * fewer where the strict backward error meets the tolerance or they stop to help.  Ordered on stream, waits for
 * nothing, allocates nothing; what came of it is told by gi_device_refinement_look. */
gable_status gi_device_solve(gable_context *ctx, const gi_device_factor *d, const gi_device_matrix *m,
                             gi_device_sweep *sweep, gi_device_refinement *w, gable_op op, double tolerance,
                             int max_steps, const gable_vectors_view *b, const gable_vectors_view *x, void *stream);

/* The worst of all solves since the last look; waits for the stream. */
gable_status gi_device_refinement_look(gable_context *ctx, gi_device_refinement *w, void *stream,
                                       gik_refine_summary *out);

#endif
