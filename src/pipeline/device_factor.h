/* device_factor.h: the factor of a solver on a GPU (or the mirror): prepared, uploaded, and swept there. */
#ifndef GI_DEVICE_FACTOR_H
#define GI_DEVICE_FACTOR_H

#include "pipeline/arrangement.h"
#include "supernodal/cluster_solve.h"

typedef struct gi_device_factor {
  gi_clusters *clusters;
  gi_cluster_panels *panels;
  gi_cluster_solver *solver;
  double prepare_s, upload_s; /* of the last factorization */
} gi_device_factor;

/* Work vectors and staging of one solve in flight. */
typedef struct gi_device_sweep {
  gi_cluster_work *clusters;
  void *b, *x; /* [columns*n] doubles on the device */
} gi_device_sweep;

/* f's numbers on the device of ctx; lists are made anew where *d is NULL.  After an error *d is NULL. */
gable_status gi_device_factor_update(gable_context *ctx, const gi_arrangement *a, const gi_factor *f,
                                     gi_device_factor **d);
void gi_device_factor_destroy(gable_context *ctx, gi_device_factor **d); /* NULL is fine */

gable_status gi_device_sweep_create(gable_context *ctx, const gi_device_factor *d, gable_idx columns,
                                    gi_device_sweep **out);
void gi_device_sweep_destroy(gable_context *ctx, gi_device_sweep **w); /* NULL is fine */

/* gi_cluster_solve for count columns of doubles in host memory, leading dimensions ldb and ldx; waits for x. */
gable_status gi_device_sweep_host(gable_context *ctx, const gi_device_factor *d, gi_device_sweep *w, gable_op op,
                                  unsigned parts, gable_idx count, const double *b, gable_off ldb, double *x,
                                  gable_off ldx);

#endif
