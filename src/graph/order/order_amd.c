#include <limits.h>
#include <suitesparse/amd.h>
#include <suitesparse/camd.h>
#include <suitesparse/colamd.h>

#include "graph/order/order_parts.h"

#define BODY_INT int
#define BODY_NAME(name) name##_short
#define BODY_AMD amd_2
#define BODY_CAMD camd_2
#define BODY_COLAMD colamd
#define BODY_COLAMD_SIZE colamd_recommended
#define BODY_COLAMD_DEFAULTS colamd_set_defaults
#include "graph/order/order_amd.inc"

#define BODY_INT SuiteSparse_long
#define BODY_NAME(name) name##_long
#define BODY_AMD amd_l2
#define BODY_CAMD camd_l2
#define BODY_COLAMD colamd_l
#define BODY_COLAMD_SIZE colamd_l_recommended
#define BODY_COLAMD_DEFAULTS colamd_l_set_defaults
#include "graph/order/order_amd.inc"

int gi_order_has_amd(void)
{
  return 1;
}

/* Memory that the graph is eliminated in, as AMD recommends it. */
static gable_off room_for(const gi_adjacency *g)
{
  return g->ptr[g->n] + g->ptr[g->n] / 5 + g->n + 1;
}

gable_status gi_order_amd(gable_context *ctx, const gi_adjacency *g, gable_idx *perm)
{
  const gable_off room = room_for(g);
  return room < INT_MAX ? amd_short(ctx, g, room, perm) : amd_long(ctx, g, room, perm);
}

gable_status gi_order_camd(gable_context *ctx, const gi_adjacency *g, const gable_idx *member, gable_idx *perm)
{
  const gable_off room = room_for(g);
  return room < INT_MAX ? camd_short(ctx, g, room, member, perm) : camd_long(ctx, g, room, member, perm);
}

gable_status gi_order_colamd(gable_context *ctx, gable_idx n, const gable_off *ptr, const gable_idx *idx,
                             const gable_idx *block_of, gable_idx *perm)
{
  /* COLAMD asks for about 2.2 nnz + 20 n. */
  const gable_off room = 3 * ptr[n] + 24 * ((gable_off)n + 1);
  return room < INT_MAX ? colamd_short(ctx, n, ptr, idx, block_of, perm)
                        : colamd_long(ctx, n, ptr, idx, block_of, perm);
}
