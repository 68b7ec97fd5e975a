#include "graph/order/order_parts.h"

int gi_order_has_amd(void)
{
  return 0;
}

static gable_status missing(const char *name)
{
  return gi_raise(GABLE_ERR_UNAVAILABLE, __FILE__, __LINE__, __func__,
                  "%s is not in this build: install SuiteSparse (Debian: libsuitesparse-dev) and build again", name);
}

gable_status gi_order_amd(gable_context *ctx, const gi_adjacency *g, gable_idx *perm)
{
  (void)ctx, (void)g, (void)perm;
  return missing("AMD");
}

gable_status gi_order_camd(gable_context *ctx, const gi_adjacency *g, const gable_idx *member, gable_idx *perm)
{
  (void)ctx, (void)g, (void)member, (void)perm;
  return missing("CAMD");
}

gable_status gi_order_colamd(gable_context *ctx, gable_idx n, const gable_off *ptr, const gable_idx *idx,
                             const gable_idx *block_of, gable_idx *perm)
{
  (void)ctx, (void)n, (void)ptr, (void)idx, (void)block_of, (void)perm;
  return missing("COLAMD");
}
