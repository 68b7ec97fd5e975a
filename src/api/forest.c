/* forest.c: the public face of star forests: checks arguments, then calls down. */
#include <string.h>

#include "api/entry.h"
#include "api/structs.h"
#include "forest/algebra.h"

gable_status gable_forest_create(gable_comm *comm, gable_off n_roots, gable_off n_leaves, const gable_off *leaf,
                                 const gable_root *root, gable_forest **out)
{
  GI_GIVEN_TOGETHER(comm, "comm", out);
  return GI_TRACED(gi_forest_create(comm, n_roots, n_leaves, leaf, root, out));
}

gable_status gable_forest_create_global(gable_comm *comm, gable_off n_roots, gable_off n_leaves, const gable_off *leaf,
                                        const gable_off *global, gable_forest **out)
{
  GI_GIVEN_TOGETHER(comm, "comm", out);
  return GI_TRACED(gi_forest_global(comm, n_roots, n_leaves, leaf, global, out));
}

gable_status gable_forest_create_matching(gable_comm *comm, gable_off n_roots, const gable_off *root_key,
                                          gable_off n_leaves, const gable_off *leaf, const gable_off *leaf_key,
                                          gable_forest **out)
{
  GI_GIVEN_TOGETHER(comm, "comm", out);
  return GI_TRACED(gi_forest_matching(comm, n_roots, root_key, n_leaves, leaf, leaf_key, out));
}

gable_status gable_forest_create_pattern(gable_comm *comm, gable_pattern pattern, gable_off n, gable_forest **out)
{
  GI_GIVEN_TOGETHER(comm, "comm", out);
  return GI_TRACED(gi_forest_pattern(comm, pattern, n, out));
}

gable_status gable_forest_create_grid(gable_comm *comm, const gable_grid *grid, gable_forest **out)
{
  gable_status status = GABLE_OK;
  gable_grid own;
  GI_REQUIRE(comm, GABLE_ERR_ARGUMENT, "comm is NULL");
  if (out) *out = NULL;
  GI_AGREE_OUT(comm, out, gi_take_grid(grid, &own));
  GI_TRY(gi_forest_grid(comm, &own, out));
done:
  return status;
}

gable_status gable_forest_create_section(gable_forest *points, gable_off n_roots, const gable_off *root_count,
                                         const gable_off *root_offset, const gable_off *leaf_offset, gable_forest **out)
{
  GI_GIVEN_TOGETHER(points, "points", out);
  return GI_TRACED(gi_forest_section(points, n_roots, root_count, root_offset, leaf_offset, out));
}

void gable_forest_destroy(gable_forest **f)
{
  if (!f || !*f) return;
  gi_forest_release(*f);
  *f = NULL;
}

gable_status gable_forest_get_info(const gable_forest *f, gable_forest_info *info)
{
  gable_forest_info own = GABLE_FOREST_INFO_INIT;
  GI_CHECK(f && info, GABLE_ERR_ARGUMENT, "%s is NULL", f ? "info" : "f");
  own.n_roots = f->n_roots;
  own.n_leaves = f->n_leaves;
  own.leaf_space = f->leaf_space;
  own.local_edges = f->roots.self < 0 ? 0 : f->roots.map[f->roots.self].n;
  own.root_ranks = f->leaves.n;
  own.leaf_ranks = f->roots.n;
  own.max_degree = f->max_degree;
  return GI_TRACED(gi_give_forest_info(&own, info));
}

gable_status gable_forest_get_leaves(const gable_forest *f, gable_off *leaf, gable_root *root)
{
  gable_status status = GABLE_OK;
  int64_t *order = NULL, *room = NULL;
  gable_root *unsorted = NULL;
  GI_REQUIRE(f, GABLE_ERR_ARGUMENT, "f is NULL");
  GI_ALLOC(f->ctx, order, f->n_leaves);
  GI_ALLOC(f->ctx, room, f->n_leaves);
  GI_ALLOC(f->ctx, unsorted, f->n_leaves);
  gi_sort_order(f->leaves.index, f->n_leaves, order, room);
  gi_forest_edges(f, NULL, unsorted);
  for (int64_t i = 0; i < f->n_leaves; i++) {
    if (leaf) leaf[i] = f->leaves.index[order[i]];
    if (root) root[i] = unsorted[order[i]];
  }
done:
  if (f) {
    GI_FREE(f->ctx, order, room, unsorted);
  }
  return status;
}

gable_status gable_forest_get_degree(const gable_forest *f, gable_off *degree)
{
  GI_CHECK(f && (degree || !f->n_roots), GABLE_ERR_ARGUMENT, "%s is NULL", f ? "degree" : "f");
  for (int64_t i = 0; i < f->n_roots; i++) degree[i] = 0;
  for (int64_t e = 0; f->roots.n && e < f->roots.ptr[f->roots.n]; e++) degree[f->roots.index[e]]++;
  return GABLE_OK;
}

static gable_status check_neighbour(const gi_forest_side *s, int k)
{
  GI_CHECK(k >= 0 && k < s->n, GABLE_ERR_ARGUMENT, "neighbour %d of %d", k, s->n);
  return GABLE_OK;
}

static gable_status get_neighbour(const gi_forest_side *s, int k, int *rank, gable_off *edges, const char **codec)
{
  GI_PASS(check_neighbour(s, k));
  if (rank) *rank = s->rank[k];
  if (edges) *edges = s->map[k].n;
  if (codec) *codec = gik_map_name(s->map[k].kind);
  return GABLE_OK;
}

gable_status gable_forest_get_root_rank(const gable_forest *f, int k, int *rank, gable_off *edges, const char **codec)
{
  GI_GIVEN(f, "f");
  return GI_TRACED(get_neighbour(&f->leaves, k, rank, edges, codec));
}

gable_status gable_forest_get_leaf_rank(const gable_forest *f, int k, int *rank, gable_off *edges, const char **codec)
{
  GI_GIVEN(f, "f");
  return GI_TRACED(get_neighbour(&f->roots, k, rank, edges, codec));
}

/* Of the side's edges with neighbour k: to (NULL: nothing) = value [edges of the side]. */
static void copy_edges(const gi_forest_side *s, int k, const int64_t *value, gable_off *to)
{
  if (to) memcpy(to, value + s->ptr[k], (size_t)(s->ptr[k + 1] - s->ptr[k]) * sizeof *to);
}

gable_status gable_forest_get_root_rank_edges(const gable_forest *f, int k, gable_off *leaf, gable_off *root)
{
  GI_GIVEN(f, "f");
  GI_PASS(check_neighbour(&f->leaves, k));
  copy_edges(&f->leaves, k, f->leaves.index, leaf);
  copy_edges(&f->leaves, k, f->leaf_root, root);
  return GABLE_OK;
}

gable_status gable_forest_get_leaf_rank_edges(const gable_forest *f, int k, gable_off *root)
{
  GI_GIVEN(f, "f");
  GI_PASS(check_neighbour(&f->roots, k));
  copy_edges(&f->roots, k, f->roots.index, root);
  return GABLE_OK;
}
