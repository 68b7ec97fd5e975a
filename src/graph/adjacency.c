#include "graph/adjacency.h"

#include <string.h>

#include "sparse/csc.h"

void gi_adjacency_release(gable_context *ctx, gi_adjacency *g)
{
  GI_FREE(ctx, g->ptr, g->idx, g->weight);
  *g = (gi_adjacency){0};
}

/* Appends the neighbours of j in one list that have not been seen, and returns the end. */
static inline gable_off add_neighbours(gable_idx j, const gable_idx *list, gable_off count, const gable_idx *block_of,
                                       gable_idx *seen, gable_idx *out, gable_off end)
{
  for (gable_off p = 0; p < count; p++) {
    const gable_idx i = list[p];
    if (seen[i] == j || (block_of && block_of[i] != block_of[j])) continue;
    seen[i] = j;
    out[end++] = i;
  }
  return end;
}

/* A without its diagonal and what leaves a block. */
static gable_off copy_lists(gable_idx n, const gable_off *ptr, const gable_idx *idx, const gable_idx *block_of,
                            gi_adjacency *g)
{
  gable_off end = 0;
  for (gable_idx j = 0; j < n; j++) {
    g->ptr[j] = end;
    for (gable_off p = ptr[j]; p < ptr[j + 1]; p++) {
      const gable_idx i = idx[p];
      g->idx[end] = i; /* and stays when it counts */
      end += i != j && (!block_of || block_of[i] == block_of[j]);
    }
  }
  return end;
}

/* A + A^T: each list and that of the transpose, what both have once. */
static gable_off join_lists(const gi_csc *a, const gi_csc *t, const gable_idx *block_of, gable_idx *seen,
                            gi_adjacency *g)
{
  gable_off end = 0;
  for (gable_idx j = 0; j < a->n_cols; j++) {
    g->ptr[j] = end;
    seen[j] = j;
    end = add_neighbours(j, a->idx + a->ptr[j], a->ptr[j + 1] - a->ptr[j], block_of, seen, g->idx, end);
    end = add_neighbours(j, t->idx + t->ptr[j], t->ptr[j + 1] - t->ptr[j], block_of, seen, g->idx, end);
  }
  return end;
}

gable_status gi_adjacency_build(gable_context *ctx, gable_idx n, const gable_off *ptr, const gable_idx *idx,
                                const gable_idx *block_of, int mirrored, gi_adjacency *out)
{
  gable_status status = GABLE_OK;
  const gi_csc a = {.n_rows = n, .n_cols = n, .ptr = (gable_off *)ptr, .idx = (gable_idx *)idx}; /* only read */
  gi_csc t = {0};
  gable_idx *seen = NULL;
  gi_adjacency g = {.n = n};
  GI_ALLOC(ctx, g.ptr, (gable_off)n + 1);
  if (mirrored) {
    GI_ALLOC(ctx, g.idx, ptr[n] + 1);
    g.ptr[n] = copy_lists(n, ptr, idx, block_of, &g);
  } else {
    GI_TRY(gi_csc_transpose(ctx, &a, &t));
    GI_ALLOC(ctx, seen, n);
    GI_ALLOC(ctx, g.idx, 2 * ptr[n]);
    if (n) memset(seen, 0xff, (size_t)n * sizeof *seen);
    g.ptr[n] = join_lists(&a, &t, block_of, seen, &g);
  }
  *out = g;
  g = (gi_adjacency){0};
done:
  gi_adjacency_release(ctx, &g);
  gi_csc_release(ctx, &t);
  gi_free(ctx, seen);
  return status;
}

gable_status gi_adjacency_induce(gable_context *ctx, const gi_adjacency *g, gable_idx count, const gable_idx *node,
                                 gable_idx *local, gi_adjacency *out)
{
  gable_status status = GABLE_OK;
  gi_adjacency h = {.n = count};
  gable_off most = 0, end = 0;
  for (gable_idx k = 0; k < count; k++) most += g->ptr[node[k] + 1] - g->ptr[node[k]];
  GI_ALLOC(ctx, h.ptr, (gable_off)count + 1);
  GI_ALLOC(ctx, h.idx, most);
  if (g->weight) {
    GI_ALLOC(ctx, h.weight, count);
    for (gable_idx k = 0; k < count; k++) h.weight[k] = g->weight[node[k]];
  }
  for (gable_idx k = 0; k < count; k++) local[node[k]] = k;
  for (gable_idx k = 0; k < count; k++) {
    h.ptr[k] = end;
    for (gable_off p = g->ptr[node[k]]; p < g->ptr[node[k] + 1]; p++) {
      if (local[g->idx[p]] >= 0) h.idx[end++] = local[g->idx[p]];
    }
  }
  h.ptr[count] = end;
  for (gable_idx k = 0; k < count; k++) local[node[k]] = -1;
  *out = h;
  h = (gi_adjacency){0};
done:
  gi_adjacency_release(ctx, &h);
  return status;
}

/* A sum over the closed neighbourhood that does not depend on its order. */
static uint64_t neighbourhood_hash(const gi_adjacency *g, gable_idx v)
{
  uint64_t sum = ((uint64_t)v + 1) * 0x9E3779B97F4A7C15u;
  for (gable_off p = g->ptr[v]; p < g->ptr[v + 1]; p++) sum += ((uint64_t)g->idx[p] + 1) * 0x9E3779B97F4A7C15u;
  return sum ^ (sum >> 29);
}

/* Are u and v neighbours with the same other neighbours?  seen [n] holds the number of the last node marked there. */
static int same_neighbourhood(const gi_adjacency *g, gable_idx u, gable_idx v, gable_idx *seen)
{
  if (g->ptr[u + 1] - g->ptr[u] != g->ptr[v + 1] - g->ptr[v]) return 0;
  if (seen[u] != u) {
    seen[u] = u;
    for (gable_off p = g->ptr[u]; p < g->ptr[u + 1]; p++) seen[g->idx[p]] = u;
  }
  if (seen[v] != u) return 0;
  for (gable_off p = g->ptr[v]; p < g->ptr[v + 1]; p++) {
    if (seen[g->idx[p]] != u) return 0;
  }
  return 1;
}

/* leader[v]: the first node with v's closed neighbourhood.  Only neighbours can share it, so each node looks among the
 * smaller of its own.  Returns the number of leaders. */
static gable_idx find_leaders(const gi_adjacency *g, const uint64_t *hash, gable_idx *leader, gable_idx *seen)
{
  gable_idx leaders = 0;
  memset(seen, 0xff, (size_t)g->n * sizeof *seen);
  for (gable_idx v = 0; v < g->n; v++) leader[v] = -1;
  for (gable_idx u = 0; u < g->n; u++) {
    if (leader[u] >= 0) continue;
    leader[u] = u;
    leaders++;
    for (gable_off p = g->ptr[u]; p < g->ptr[u + 1]; p++) {
      const gable_idx v = g->idx[p];
      if (v > u && leader[v] < 0 && hash[v] == hash[u] && same_neighbourhood(g, u, v, seen)) leader[v] = u;
    }
  }
  return leaders;
}

gable_status gi_adjacency_compress(gable_context *ctx, const gi_adjacency *g, gable_idx *of, gi_adjacency *out)
{
  gable_status status = GABLE_OK;
  uint64_t *hash = NULL;
  gable_idx *leader = NULL, *seen = NULL;
  gi_adjacency h = {0};
  GI_ALLOC(ctx, hash, g->n);
  GI_ALLOC(ctx, leader, g->n);
  GI_ALLOC(ctx, seen, g->n);
  for (gable_idx v = 0; v < g->n; v++) hash[v] = neighbourhood_hash(g, v);
  h.n = find_leaders(g, hash, leader, seen);
  GI_ALLOC(ctx, h.ptr, (gable_off)h.n + 1);
  GI_ALLOC_ZERO(ctx, h.weight, h.n);
  gable_off most = 0;
  gable_idx k = 0;
  for (gable_idx v = 0; v < g->n; v++) {
    if (leader[v] == v) {
      most += g->ptr[v + 1] - g->ptr[v];
      of[v] = k++;
    } else {
      of[v] = of[leader[v]];
    }
    h.weight[of[v]]++;
  }
  GI_ALLOC(ctx, h.idx, most);
  gable_off end = 0;
  for (gable_idx v = 0; v < g->n; v++) {
    if (leader[v] != v) continue;
    h.ptr[of[v]] = end;
    for (gable_off p = g->ptr[v]; p < g->ptr[v + 1]; p++) {
      const gable_idx u = g->idx[p];
      if (leader[u] == u) h.idx[end++] = of[u];
    }
  }
  h.ptr[h.n] = end;
  *out = h;
  h = (gi_adjacency){0};
done:
  gi_adjacency_release(ctx, &h);
  GI_FREE(ctx, hash, leader, seen);
  return status;
}
