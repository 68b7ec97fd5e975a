/* cluster_inverse.h: the inverse of a cluster's diagonal block: both sweeps as one product. */
#ifndef GI_CLUSTER_INVERSE_H
#define GI_CLUSTER_INVERSE_H

#include "supernodal/cluster_panels.h"

/* inverse_J of cluster_panels.h, from the operators and D^-1 that p holds; the same bits for any number of threads.
 * O(w^3) a cluster.  GABLE_ERR_MEMORY. */
gable_status gi_cluster_inverses_update(gable_context *ctx, gi_cluster_panels *p);

#endif
