#include "graph/order/order_parts.h"

int gi_order_has_metis(void)
{
  return 0;
}

gable_status gi_order_metis(gable_context *ctx, const gi_adjacency *g, gi_order_share share,
                            int (*is_moot)(const void *user), const void *user, gable_idx *perm,
                            gi_metis_outcome *outcome)
{
  (void)ctx, (void)g, (void)share, (void)is_moot, (void)user, (void)perm, (void)outcome;
  return gi_raise(GABLE_ERR_UNAVAILABLE, __FILE__, __LINE__, __func__,
                  "METIS is not in this build: install it (Debian: libmetis-dev) and build again, or use --order amd");
}
