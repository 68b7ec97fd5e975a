#include "graph/order/order_problem.h"

#include <math.h>
#include <string.h>

#include "graph/order/order_parts.h"

void gi_order_problem_release(gable_context *ctx, gi_order_problem *p)
{
  GI_FREE(ctx, p->block, p->block_of, p->node, p->ordered);
  gi_adjacency_release(ctx, &p->graph);
  *p = (gi_order_problem){0};
}

static gable_status read_blocks(gable_context *ctx, const gi_order_options *options, const gable_idx *perm,
                                gi_order_problem *p)
{
  gable_status status = GABLE_OK;
  p->n_blocks = options->n_blocks > 1 ? options->n_blocks : 1;
  GI_ALLOC(ctx, p->node, p->n);
  GI_ALLOC(ctx, p->ordered, p->n_blocks);
  GI_ALLOC(ctx, p->block, (gable_off)p->n_blocks + 1);
  for (gable_idx k = 0; k < p->n; k++) p->node[k] = p->n_blocks > 1 ? perm[k] : k;
  p->block[0] = 0;
  p->block[p->n_blocks] = p->n;
  if (p->n_blocks == 1) return GABLE_OK;
  memcpy(p->block, options->block, ((size_t)p->n_blocks + 1) * sizeof *p->block);
  GI_ALLOC(ctx, p->block_of, p->n);
  for (gable_idx b = 0; b < p->n_blocks; b++) {
    for (gable_idx k = p->block[b]; k < p->block[b + 1]; k++) p->block_of[perm[k]] = b;
  }
done:
  return status;
}

static gable_off degree(const gi_adjacency *g, gable_idx v)
{
  return g->ptr[v + 1] - g->ptr[v];
}

/* Such rows hide the shape of the rest and fill whatever comes after them.  apart [n] is scratch. */
static void set_long_rows_apart(gi_order_problem *p, gable_idx b, gable_idx *apart)
{
  const gi_adjacency *g = &p->graph;
  gable_idx *node = p->node + p->block[b];
  const gable_idx size = p->block[b + 1] - p->block[b];
  const gable_off limit = (gable_off)fmax(16, 10 * sqrt(size));
  gable_idx n_apart = 0, kept = 0;
  for (gable_idx k = 0; k < size; k++) n_apart += degree(g, node[k]) > limit;
  p->ordered[b] = size;
  if (n_apart == 0 || n_apart > size / 10) return;
  p->ordered[b] = size - n_apart;
  p->n_long += n_apart;
  n_apart = 0;
  for (gable_idx k = 0; k < size; k++) {
    const gable_idx v = node[k];
    if (degree(g, v) <= limit) {
      node[kept++] = v;
      continue;
    }
    /* Sorted by insertion: there are at most nnz / (10 sqrt(size)) of them. */
    gable_idx at = n_apart++;
    for (; at > 0 && degree(g, apart[at - 1]) > degree(g, v); at--) apart[at] = apart[at - 1];
    apart[at] = v;
  }
  memcpy(node + kept, apart, (size_t)n_apart * sizeof *node);
}

gable_status gi_order_problem_init(gable_context *ctx, gable_idx n, const gable_off *ptr, const gable_idx *idx,
                                   const gi_order_options *options, const gable_idx *perm, gi_order_problem *out)
{
  gable_status status = GABLE_OK;
  gable_idx *apart = NULL;
  gi_order_problem *p = out;
  p->n = n;
  p->ptr = ptr;
  p->idx = idx;
  GI_TRY(read_blocks(ctx, options, perm, p));
  GI_TRY(gi_adjacency_build(ctx, n, ptr, idx, p->block_of, options->mirrored, &p->graph));
  GI_ALLOC(ctx, apart, n);
  for (gable_idx b = 0; b < p->n_blocks; b++) set_long_rows_apart(p, b, apart);
done:
  gi_free(ctx, apart);
  return status;
}

/* Nodes that are ordered, block after block, into list; returns their number. */
static gable_idx list_ordered(const gi_order_problem *p, gable_idx *list)
{
  gable_idx count = 0;
  for (gable_idx b = 0; b < p->n_blocks; b++) {
    memcpy(list + count, p->node + p->block[b], (size_t)p->ordered[b] * sizeof *list);
    count += p->ordered[b];
  }
  return count;
}

/* order: the ordered nodes of all blocks mixed; each goes to its block, the order among them kept. */
static void sort_into_blocks(const gi_order_problem *p, gable_idx count, const gable_idx *order, gable_idx *next,
                             gable_idx *perm)
{
  memcpy(perm, p->node, (size_t)p->n * sizeof *perm); /* the long rows stay at the end of their block */
  memcpy(next, p->block, (size_t)p->n_blocks * sizeof *next);
  for (gable_idx k = 0; k < count; k++) {
    const gable_idx b = p->block_of ? p->block_of[order[k]] : 0;
    perm[next[b]++] = order[k];
  }
}

gable_status gi_order_by_amd(gable_context *ctx, const gi_order_problem *p, gable_idx *perm)
{
  gable_status status = GABLE_OK;
  gable_idx *list = NULL, *order = NULL, *local = NULL;
  gi_adjacency part = {0};
  GI_ALLOC(ctx, order, p->n);
  GI_ALLOC(ctx, local, (gable_off)p->n + 1); /* an empty matrix has a block, too */
  gable_idx count = p->n;
  if (p->n_long == 0) {
    GI_TRY(gi_order_amd(ctx, &p->graph, order));
  } else {
    GI_ALLOC(ctx, list, p->n);
    count = list_ordered(p, list);
    memset(local, 0xff, (size_t)p->n * sizeof *local);
    GI_TRY(gi_adjacency_induce(ctx, &p->graph, count, list, local, &part));
    GI_TRY(gi_order_amd(ctx, &part, order));
    for (gable_idx k = 0; k < count; k++) order[k] = list[order[k]];
  }
  sort_into_blocks(p, count, order, local, perm);
done:
  gi_adjacency_release(ctx, &part);
  GI_FREE(ctx, list, order, local);
  return status;
}

/* One question of METIS's. */
typedef struct question {
  const gi_block_filter *filter;
  gable_idx block;
} question;

static int is_moot(const void *user)
{
  const question *q = user;
  return q->filter && !q->filter->wanted(q->filter->user, q->block);
}

/* perm [size of block b]: nodes.  order [n], local [n] (-1 everywhere) are scratch. */
static gable_status order_block(gable_context *ctx, const gi_order_problem *p, const question *q, gable_idx *perm,
                                gable_idx *order, gable_idx *local)
{
  gable_status status = GABLE_OK;
  const gable_idx b = q->block, count = p->ordered[b], size = p->block[b + 1] - p->block[b];
  const gable_idx *node = p->node + p->block[b];
  gi_adjacency part = {0};
  const gi_order_share share = {p->block[b], p->n};
  gi_metis_outcome outcome = GI_METIS_DONE;
  int (*moot)(const void *) = q->filter ? is_moot : NULL;
  memcpy(perm, node, (size_t)size * sizeof *perm);
  if (size < 3) goto done;
  if (p->n_blocks == 1 && p->n_long == 0) {
    GI_TRY(gi_order_metis(ctx, &p->graph, share, moot, q, perm, &outcome));
    goto done;
  }
  GI_TRY(gi_adjacency_induce(ctx, &p->graph, count, node, local, &part));
  GI_TRY(gi_order_metis(ctx, &part, share, moot, q, order, &outcome));
  for (gable_idx k = 0; k < count && !outcome; k++) perm[k] = node[order[k]];
done:
  if (outcome == GI_METIS_STARVED) q->filter->starved(q->filter->user, b);
  gi_adjacency_release(ctx, &part);
  return status;
}

gable_status gi_order_by_metis(gable_context *ctx, const gi_order_problem *p, const gi_block_filter *filter,
                               gable_idx *perm)
{
  gable_status status = GABLE_OK;
  gable_idx *order = NULL, *local = NULL;
  GI_ALLOC(ctx, order, p->n);
  GI_ALLOC(ctx, local, p->n);
  if (p->n) memset(local, 0xff, (size_t)p->n * sizeof *local);
  for (gable_idx b = 0; b < p->n_blocks; b++) {
    const question q = {filter, b};
    if (!is_moot(&q)) GI_TRY(order_block(ctx, p, &q, perm + p->block[b], order, local));
  }
done:
  GI_FREE(ctx, order, local);
  return status;
}
