/* device_triangles.h: imported factors solved element by element on the context's GPU (or the mirror). */
#ifndef GI_DEVICE_TRIANGLES_H
#define GI_DEVICE_TRIANGLES_H

#include "pipeline/arrangement.h"
#include "pipeline/triangles.h"

typedef struct gi_device_triangles gi_device_triangles;           /* const in a solve; several works share it */
typedef struct gi_device_triangles_work gi_device_triangles_work; /* of one solve in flight */

/* Plans of t's triangles on the device of ctx, and the permutations and scalings of a.  Waits for the device. */
gable_status gi_device_triangles_create(gable_context *ctx, const gi_arrangement *a, const gi_triangles *t,
                                        gi_device_triangles **out);
void gi_device_triangles_destroy(gi_device_triangles **d); /* NULL is fine */

gable_off gi_device_triangles_bytes(const gi_device_triangles *d);    /* of device memory */
double gi_device_triangles_floor_bytes(const gi_device_triangles *d); /* a solve of one right-hand side */

gable_status gi_device_triangles_work_create(const gi_device_triangles *d, gable_idx max_rhs,
                                             gi_device_triangles_work **out);
void gi_device_triangles_work_destroy(gi_device_triangles_work **w); /* NULL is fine */

/* As gi_triangles_solve for vectors of any layout in device memory; x may be b.  Ordered on stream, waits for nothing,
 * allocates nothing, and can be captured. */
gable_status gi_device_triangles_solve(const gi_device_triangles *d, gi_device_triangles_work *w, gable_op op,
                                       unsigned parts, const gable_vectors_view *b, const gable_vectors_view *x,
                                       void *stream);

/* Waits for stream.  GABLE_ERR_DEADLINE names the row that a solve has awaited. */
gable_status gi_device_triangles_check(gi_device_triangles_work *w, void *stream);

#endif
