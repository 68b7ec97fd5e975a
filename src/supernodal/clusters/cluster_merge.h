/* cluster_merge.h: which supernodes one cluster of the solve takes. */
#ifndef GI_CLUSTER_MERGE_H
#define GI_CLUSTER_MERGE_H

#include "supernodal/clusters/clusters.h"

/* root[s]: the last supernode of the cluster of s; itself where alone is 1 (NULL: nowhere).  A cluster takes a child's
 * cluster, the highest first, as long as the merged dense operator has at most (1 + growth) times the values of its
 * parts plus small; a child that stays ends it, since only all of the highest children together make the tree lower.
 * Each merge of a long chain adds little and all of them without bound: where the operators would have over `factor`
 * times the values of the supernodes and `all_values` more, all is done again with half the width.  These and defaults
 * of the options are those of the device's class (gik_merge_limits).  O(n_super log), times the log of the width. */
gable_status gi_cluster_merge(gable_context *ctx, const gi_layout *layout, const gi_cluster_options *options,
                              const unsigned char *alone, gable_idx *root);

#endif
