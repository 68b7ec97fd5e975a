/* algebra.h: forests from forests, as gable/forest.h says. */
#ifndef GI_FOREST_ALGEBRA_H
#define GI_FOREST_ALGEBRA_H

#include "forest/graph.h"

/* Edges that are being collected; room for so many as edge_list_init was asked for. */
typedef struct gi_edge_list {
  int64_t n;
  int64_t *leaf;
  gable_root *root;
} gi_edge_list;

gable_status gi_edge_list_init(gable_context *ctx, gi_edge_list *l, int64_t most);
void gi_edge_list_release(gable_context *ctx, gi_edge_list *l);
static inline void gi_edge_list_add(gi_edge_list *l, int64_t leaf, gable_root root)
{
  l->leaf[l->n] = leaf;
  l->root[l->n++] = root;
}

/* Collective: from [edges of one side] of each edge to its other end, to [edges]; up: from leaves to roots. */
gable_status gi_forest_trade(const gable_forest *f, int up, size_t bytes, const void *from, void *to);

gable_status gi_forest_multi(const gable_forest *f, gable_forest **out);
gable_status gi_forest_inverse(gable_forest *f, gable_forest **out);
gable_status gi_forest_ranks(const gable_forest *f, gable_forest **out);
gable_status gi_forest_embed_roots(gable_forest *f, int64_t n, const int64_t *keep, gable_forest **out);
gable_status gi_forest_embed_leaves(const gable_forest *f, int64_t n, const int64_t *keep, gable_forest **out);
gable_status gi_forest_compose(const gable_forest *a, gable_forest *b, gable_forest **out);
gable_status gi_forest_compose_inverse(const gable_forest *a, gable_forest *b, gable_forest **out);
gable_status gi_forest_concatenate(int64_t n, const gable_forest *const *f, gable_roots roots, const int64_t *offset,
                                   gable_forest **out);
gable_status gi_forest_merge(const gable_forest *a, const gable_forest *b, gable_forest **out);

/* sources: global.c, matching.c, pattern.c, grid.c, section.c */
gable_status gi_forest_global(gable_comm *comm, int64_t n_roots, int64_t n_leaves, const int64_t *leaf,
                              const int64_t *global, gable_forest **out);
gable_status gi_forest_matching(gable_comm *comm, int64_t n_roots, const int64_t *root_key, int64_t n_leaves,
                                const int64_t *leaf, const int64_t *leaf_key, gable_forest **out);
gable_status gi_forest_pattern(gable_comm *comm, gable_pattern pattern, int64_t n, gable_forest **out);
gable_status gi_forest_grid(gable_comm *comm, const gable_grid *grid, gable_forest **out);
gable_status gi_forest_section(gable_forest *points, int64_t n_roots, const int64_t *count, const int64_t *root_offset,
                               const int64_t *leaf_offset, gable_forest **out);

#endif
