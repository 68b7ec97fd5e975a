/* work.h: what work.c, solve.c and estimate.c share about one solve in flight. */
#ifndef GI_PIPELINE_WORK_H
#define GI_PIPELINE_WORK_H

#include "pipeline/pipeline.h"
#include "sparse/vectors.h"

/* GABLE_ERR_STATE unless s has a factor that w fits; a w of an earlier analysis is made to fit where its arrays are
 * large enough. */
gable_status gi_work_check(const gable_solver *s, gable_solver_work *w);

/* The same, and views that s can take: of one size, both in one memory, which is the device's only where the factor is
 * there. */
gable_status gi_work_take_vectors(const gable_solver *s, gable_solver_work *w, const gable_vectors_view *b,
                                  const gable_vectors_view *x, gi_sharing sharing, gi_vectors_pair *own);

/* gi_near_inverse by the factor of the CPU; work is a gable_solver_work. */
gable_status gi_work_near_inverse(void *work, gable_op op, gable_idx count, const double *b, double *x);

/* Of solutions of this type: what rounding to single adds has its half of the tolerance. */
gi_refine_options gi_work_refine_options(const gable_solver *s, gable_type type, gable_idx most_gmres);

/* The same for a solve on the device. */
gi_device_refine_options gi_work_device_options(const gable_solver *s, gable_type type, gable_idx most_gmres,
                                                gi_refine_report report);

/* Columns first .. first+count-1 of v, in host memory, as columns of doubles one after another. */
void gi_work_copy_in(const gable_vectors_view *v, gable_idx first, gable_idx count, double *to);

/* Vectors of an estimate in device memory. */
gable_status gi_estimate_room_create(gable_context *ctx, gable_idx n, gi_estimate_room **out);
void gi_estimate_room_destroy(gable_context *ctx, gi_estimate_room **room); /* NULL is fine */

#endif
