/* METIS keeps state of the process: it seeds the C library's random numbers, and for the length of a call it handles
 * SIGABRT and SIGTERM to come back from an allocation that failed.  So one lock lets one call in at a time; a program
 * whose other threads draw them meanwhile gets another, equally good, order.  Its memory is its own, from malloc. */
#include <limits.h>
#include <metis.h>
#include <pthread.h>

#include "graph/order_parts.h"

static pthread_mutex_t metis_lock = PTHREAD_MUTEX_INITIALIZER;

int gi_order_has_metis(void)
{
  return 1;
}

static int call_metis(idx_t n, idx_t *ptr, idx_t *idx, idx_t *weight, idx_t *perm, idx_t *place)
{
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_NUMBERING] = 0;
  options[METIS_OPTION_SEED] = 1;
  options[METIS_OPTION_COMPRESS] = 0; /* done already */
  pthread_mutex_lock(&metis_lock);
  const int result = METIS_NodeND(&n, ptr, idx, weight, options, perm, place);
  pthread_mutex_unlock(&metis_lock);
  return result;
}

/* perm [g->n] of a graph that has been compressed. */
static gable_status order_compressed(gable_context *ctx, const gi_adjacency *g, idx_t *perm)
{
  gable_status status = GABLE_OK;
  idx_t *ptr = NULL, *place = NULL;
  GI_REQUIRE(g->ptr[g->n] <= IDX_MAX, GABLE_ERR_LIMIT,
             "METIS of this build counts edges in %d bits, and the graph has %lld: use --order amd", IDXTYPEWIDTH,
             (long long)g->ptr[g->n]);
  GI_ALLOC(ctx, ptr, (gable_off)g->n + 1);
  GI_ALLOC(ctx, place, g->n);
  for (gable_idx k = 0; k <= g->n; k++) ptr[k] = (idx_t)g->ptr[k];
  const int result = call_metis(g->n, ptr, g->idx, g->weight, perm, place);
  GI_REQUIRE(result != METIS_ERROR_MEMORY, GABLE_ERR_MEMORY, "METIS ran out of memory: use --order amd");
  GI_REQUIRE(result == METIS_OK, GABLE_ERR_BACKEND, "METIS failed (its status is %d)", result);
done:
  gi_free(ctx, ptr);
  gi_free(ctx, place);
  return status;
}

gable_status gi_order_metis(gable_context *ctx, const gi_adjacency *g, gable_idx *perm)
{
  _Static_assert(sizeof(idx_t) == sizeof(gable_idx), "METIS with 32-bit indices");
  gable_status status = GABLE_OK;
  const gable_idx n = g->n;
  gi_adjacency small = {0};
  gable_idx *of = NULL, *order = NULL, *start = NULL;
  GI_ALLOC(ctx, of, n);
  GI_TRY(gi_adjacency_compress(ctx, g, of, &small));
  GI_ALLOC(ctx, order, small.n);
  GI_ALLOC(ctx, start, small.n);
  if (small.n <= 1 || small.ptr[small.n] == 0) {
    for (gable_idx k = 0; k < small.n; k++) order[k] = k;
  } else {
    GI_TRY(order_compressed(ctx, &small, order));
  }
  gable_idx next = 0;
  for (gable_idx k = 0; k < small.n; k++) {
    start[order[k]] = next;
    next += small.weight[order[k]];
  }
  for (gable_idx v = 0; v < n; v++) perm[start[of[v]]++] = v;
done:
  gi_adjacency_release(ctx, &small);
  gi_free(ctx, of);
  gi_free(ctx, order);
  gi_free(ctx, start);
  return status;
}
