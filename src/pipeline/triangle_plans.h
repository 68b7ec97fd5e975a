/* triangle_plans.h: plans of src/trisolve for the two triangles of imported factors, and scratch of solves with them.
 *
 * Plans are shared: they go when their owner and all works have let go of them, so that a work may outlive the factors
 * it was made for. */
#ifndef GI_TRIANGLE_PLANS_H
#define GI_TRIANGLE_PLANS_H

#include <gable/trisolve.h>

#include "sparse/csc.h"

typedef struct gi_triangle_plans gi_triangle_plans;

/* l: unit lower triangular with its ones stored, u: upper triangular; u NULL: l alone, with its diagonal.  on_host: 1:
 * for solves on the CPU, 0: where ctx is.  Values are rounded to type. */
gable_status gi_triangle_plans_create(gable_context *ctx, const gi_csc *l, const gi_csc *u, gable_type type,
                                      int on_host, gi_triangle_plans **out);
void gi_triangle_plans_release(gi_triangle_plans **p); /* NULL is fine */

gable_off gi_triangle_plans_host_bytes(const gi_triangle_plans *p);
gable_off gi_triangle_plans_device_bytes(const gi_triangle_plans *p);

/* Of one solve in flight.  Zeroed: none. */
typedef struct gi_triangle_works {
  gi_triangle_plans *plans;
  gable_trisolve_work *lower, *upper;
} gi_triangle_works;

gable_status gi_triangle_works_init(gi_triangle_plans *p, gable_idx max_rhs, gi_triangle_works *out);
void gi_triangle_works_release(gi_triangle_works *w);

/* op(L) v = v or (upper) op(U) v = v, in the order of stream, which may be captured. */
gable_status gi_triangle_works_solve(const gi_triangle_works *w, int upper, gable_op op, gable_vectors_view *v,
                                     void *stream);

/* Waits for stream.  The first fault of solves so far, with its row. */
gable_status gi_triangle_works_check(const gi_triangle_works *w, void *stream);

#endif
