/* cluster_root.h: the operator of a cluster without rows: both sweeps as one product. */
#ifndef GI_CLUSTER_ROOT_H
#define GI_CLUSTER_ROOT_H

#include "supernodal/cluster_panels.h"

/* root_J of cluster_panels.h, from the operators and D^-1 that p holds; the same bits for any number of threads.
 * O(w^3) a root.  GABLE_ERR_MEMORY. */
gable_status gi_cluster_roots_update(gable_context *ctx, gi_cluster_panels *p);

#endif
