/* graph.c: a forest from (rank, root) pairs.
 *
 *   1  each rank checks and counts its leaves, then sorts its edges by (rank of the root, position)
 *   2  ranks tell each other how many roots they have, how many edges they share, and then which roots
 *   3  each rank finds the map of each neighbour's indices
 *
 * After each step that can fail on one rank alone, all agree, by the message that comes next where there is one. */
#include "forest/graph.h"
#include "kernels/forest/wide_tree.h"

/* What one rank brings: the caller's n_roots, n, leaf, root; order and room only where positions do not increase. */
typedef struct edges {
  int64_t n_roots, n;
  const int64_t *leaf;
  const gable_root *root;
  int64_t *order, *room;      /* [n] leaves by increasing position; NULL: as they are */
  int64_t *counts, *incoming; /* [size] edges with roots, and with leaves, of each rank */
  uint64_t *most;             /* [size] the largest root on each rank, of negative ones too */
} edges;

static int64_t position_of(const edges *e, int64_t i)
{
  return e->leaf ? e->leaf[i] : i;
}

static int64_t leaf_at(const edges *e, int64_t k)
{
  return e->order ? e->order[k] : k;
}

/* Leaves are where they may be, and each place is taken once; counts, most. */
static gable_status check_leaves(gable_comm *comm, edges *e)
{
  gable_status status = GABLE_OK;
  int increasing = 1;
  GI_REQUIRE(e->n_roots >= 0 && e->n >= 0, GABLE_ERR_ARGUMENT, "%lld roots, %lld leaves", (long long)e->n_roots,
             (long long)e->n);
  GI_REQUIRE(e->root || !e->n, GABLE_ERR_ARGUMENT, "root is NULL");
  GI_ALLOC_ZERO(comm->ctx, e->counts, comm->size);
  GI_ALLOC_ZERO(comm->ctx, e->incoming, comm->size);
  GI_ALLOC_ZERO(comm->ctx, e->most, comm->size);
  for (int64_t i = 0; i < e->n; i++) {
    const int64_t position = position_of(e, i);
    GI_REQUIRE(position >= 0 && position < INT64_MAX, GABLE_ERR_ARGUMENT, "leaf %lld has position %lld", (long long)i,
               (long long)position);
    increasing &= !i || position_of(e, i - 1) < position;
    const gable_root r = e->root[i];
    GI_REQUIRE(r.rank >= 0 && r.rank < comm->size, GABLE_ERR_ARGUMENT, "leaf %lld has its root on rank %d of %d",
               (long long)i, (int)r.rank, comm->size);
    e->counts[r.rank]++;
    if ((uint64_t)r.index > e->most[r.rank]) e->most[r.rank] = (uint64_t)r.index;
  }
  if (increasing) goto done;
  GI_ALLOC(comm->ctx, e->order, e->n);
  GI_ALLOC(comm->ctx, e->room, e->n);
  gi_sort_order(e->leaf, e->n, e->order, e->room);
  for (int64_t k = 1; k < e->n; k++)
    GI_REQUIRE(e->leaf[e->order[k - 1]] != e->leaf[e->order[k]], GABLE_ERR_ARGUMENT,
               "leaves %lld and %lld have the same position %lld", (long long)e->order[k - 1], (long long)e->order[k],
               (long long)e->leaf[e->order[k]]);
done:
  return status;
}

/* Every leaf's root is there: the ranks have told each other how many roots they have. */
static gable_status check_roots(const gable_comm *comm, const edges *e)
{
  gable_status status = GABLE_OK;
  const int64_t *n_roots = comm->words;
  int right = 1;
  for (int r = 0; r < comm->size; r++) right &= !e->counts[r] || e->most[r] < (uint64_t)n_roots[r];
  for (int64_t i = 0; i < e->n && !right; i++) {
    const gable_root r = e->root[i];
    GI_REQUIRE(r.index >= 0 && r.index < n_roots[r.rank], GABLE_ERR_ARGUMENT,
               "leaf %lld at position %lld: rank %d has %lld roots, and no root %lld", (long long)i,
               (long long)position_of(e, i), (int)r.rank, (long long)n_roots[r.rank], (long long)r.index);
  }
done:
  return status;
}

/* The leaves side: edges by (rank, position), from order, which is by position. */
static gable_status build_leaves(gable_forest *f, edges *e)
{
  gable_status status = GABLE_OK;
  gable_context *ctx = f->ctx;
  int64_t *index = NULL;
  GI_TRY(check_roots(f->comm, e));
  f->leaf_space = e->n ? position_of(e, leaf_at(e, e->n - 1)) + 1 : 0;
  GI_ALLOC(ctx, index, e->n);
  GI_ALLOC(ctx, f->leaf_root, e->n);
  GI_TRY(gi_forest_side_init(ctx, &f->leaves, f->comm->rank, f->comm->size, e->counts, index));
  index = NULL;
  int64_t *next = e->incoming; /* free until counts are traded */
  for (int k = 0; k < f->leaves.n; k++) next[f->leaves.rank[k]] = f->leaves.ptr[k];
  for (int64_t k = 0; k < e->n; k++) {
    const int64_t i = leaf_at(e, k), at = next[e->root[i].rank]++;
    f->leaves.index[at] = position_of(e, i);
    f->leaf_root[at] = e->root[i].index;
  }
done:
  gi_free(ctx, index);
  return status;
}

enum { ROOTS_AN_EDGE = 4, FEW_ROOTS = 1024 };

gable_status gi_number_roots(const gable_forest *f, const int64_t **number, int64_t **made, int64_t *count)
{
  gable_status status = GABLE_OK;
  const int64_t *index = f->roots.index, n = gi_edges(&f->roots);
  int64_t *order = NULL, *room = NULL;
  *number = index;
  *count = f->n_roots;
  if (f->n_roots / ROOTS_AN_EDGE <= n + FEW_ROOTS) goto done;
  GI_ALLOC(f->ctx, order, n);
  GI_ALLOC(f->ctx, room, n);
  GI_ALLOC(f->ctx, *made, n);
  gi_sort_order(index, n, order, room);
  *number = *made;
  *count = 0;
  for (int64_t k = 0; k < n; k++) {
    if (!k || index[order[k]] != index[order[k - 1]]) ++*count;
    (*made)[order[k]] = *count - 1;
  }
done:
  GI_FREE(f->ctx, order, room);
  return status;
}

static int in_run(const gik_map *m, int64_t root)
{
  return root >= m->start && root - m->start < m->n;
}

/* look_at_roots where each neighbour's roots are one run, without a look at each edge: most runs overlap where one of
 * them begins.  0: they are not, or a root may be wide. */
static int look_at_runs(gable_forest *f)
{
  const gi_forest_side *s = &f->roots;
  if (s->n > GIK_WIDE_DEGREE) return 0;
  for (int k = 0; k < s->n; k++)
    if (s->map[k].kind != GIK_MAP_CONTIGUOUS) return 0;
  for (int k = 0; k < s->n; k++) {
    const gik_map *m = &s->map[k];
    int64_t degree = 0;
    for (int j = 0; j < s->n; j++) degree += in_run(&s->map[j], m->start);
    if (degree > f->max_degree) f->max_degree = degree;
    if (k < s->self && (in_run(m, s->map[s->self].start) || in_run(&s->map[s->self], m->start))) f->self_first = 0;
    f->apart[k] = 1;
  }
  return 1;
}

/* Degrees, and whether roots meet more than once; seen: zeros at first. */
static gable_status look_at_roots(gable_forest *f)
{
  gable_status status = GABLE_OK;
  const gi_forest_side *s = &f->roots;
  const int64_t *number = NULL;
  int64_t *seen = NULL, *degree = NULL, *made = NULL, count = 0;
  GI_ALLOC(f->ctx, f->apart, s->n);
  f->self_first = 1;
  if (look_at_runs(f)) goto done;
  GI_TRY(gi_number_roots(f, &number, &made, &count));
  GI_ALLOC_ZERO(f->ctx, seen, count);
  GI_ALLOC_ZERO(f->ctx, degree, count);
  for (int k = 0; k < s->n; k++) {
    f->apart[k] = 1;
    for (int64_t e = s->ptr[k]; e < s->ptr[k + 1]; e++) {
      const int64_t r = number[e];
      if (seen[r] == k + 1) f->apart[k] = 0;
      if (k == s->self && degree[r] && seen[r] != k + 1) f->self_first = 0;
      seen[r] = k + 1;
      if (++degree[r] > f->max_degree) f->max_degree = degree[r];
    }
  }
  GI_TRY(gi_wide_create(f, number, degree, count));
done:
  GI_FREE(f->ctx, made, seen, degree);
  return status;
}

/* Maps of both sides, and how far the roots' array reaches. */
static gable_status build_maps(gable_forest *f)
{
  gable_status status = GABLE_OK;
  for (int64_t e = 0; e < gi_edges(&f->roots); e++)
    if (f->roots.index[e] >= f->root_space) f->root_space = f->roots.index[e] + 1;
  GI_TRY(gi_forest_side_maps(f->ctx, &f->leaves));
  GI_TRY(gi_forest_side_maps(f->ctx, &f->roots));
  GI_TRY(look_at_roots(f));
done:
  return status;
}

/* The roots side: room for what the ranks with leaves say. */
static gable_status make_roots(gable_forest *f, const edges *e)
{
  gable_status status = GABLE_OK;
  int64_t *index = NULL, n = 0;
  for (int r = 0; r < f->comm->size; r++) n += e->incoming[r];
  GI_ALLOC(f->ctx, index, n);
  GI_TRY(gi_forest_side_init(f->ctx, &f->roots, f->comm->rank, f->comm->size, e->incoming, index));
  index = NULL;
done:
  gi_free(f->ctx, index);
  return status;
}

static gable_status take_leaves(gable_comm *comm, edges *e, gable_forest **out)
{
  gable_status status = GABLE_OK;
  gable_forest *f = NULL;
  GI_TRY(check_leaves(comm, e));
  GI_ALLOC_ZERO(comm->ctx, f, 1);
  *f = (gable_forest){.comm = comm, .ctx = comm->ctx, .references = 1, .n_roots = e->n_roots, .n_leaves = e->n};
  *out = f;
done:
  return status;
}

gable_status gi_forest_create(gable_comm *comm, int64_t n_roots, int64_t n_leaves, const int64_t *leaf,
                              const gable_root *root, gable_forest **out)
{
  gable_status status = GABLE_OK;
  gable_context *ctx = comm->ctx;
  edges e = {.n_roots = n_roots, .n = n_leaves, .leaf = leaf, .root = root};
  gable_forest *f = NULL;
  GI_TRY(gi_comm_agree_on(comm, GI_OUT(out, take_leaves(comm, &e, &f)), 1, &n_roots));
  GI_TRY(gi_trade_counts(comm, build_leaves(f, &e), e.counts, e.incoming));
  GI_AGREE(comm, make_roots(f, &e));
  GI_TRY(gi_trade(comm, e.counts, e.incoming, sizeof *f->leaf_root, f->leaf_root, f->roots.index));
  GI_AGREE(comm, build_maps(f));
  *out = f;
  f = NULL;
done:
  gi_forest_release(f);
  GI_FREE(ctx, e.order, e.room, e.counts, e.incoming, e.most);
  return status;
}

void gi_forest_release(gable_forest *f)
{
  if (!f || --f->references) return;
  gable_context *ctx = f->ctx;
  gi_forest_release(f->multi);
  gi_forest_side_release(ctx, &f->leaves);
  gi_forest_side_release(ctx, &f->roots);
  GI_FREE(ctx, f->leaf_root, f->apart);
  gi_wide_release(ctx, f->wide);
  gi_free(ctx, f);
}

void gi_forest_edges(const gable_forest *f, int64_t *leaf, gable_root *root)
{
  for (int k = 0; k < f->leaves.n; k++)
    for (int64_t e = f->leaves.ptr[k]; e < f->leaves.ptr[k + 1]; e++) {
      if (leaf) leaf[e] = f->leaves.index[e];
      if (root) root[e] = (gable_root){f->leaves.rank[k], f->leaf_root[e]};
    }
}
