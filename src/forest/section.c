/* section.c: points with several unknowns each: the counts and places of a root's unknowns go to its leaves. */
#include "base/checked.h"
#include "forest/algebra.h"

typedef struct span {
  int64_t count, offset;
} span;

/* at_root, at_leaf [edges]. */
static gable_status make_spans(const gable_forest *f, int64_t n_roots, const int64_t *count, const int64_t *offset,
                               const int64_t *leaf_offset, span **at_root, span **at_leaf)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(((count && offset) || !f->n_roots) && (leaf_offset || !f->n_leaves), GABLE_ERR_ARGUMENT,
             "counts or offsets are NULL");
  GI_ALLOC(f->ctx, *at_root, gi_edges(&f->roots));
  GI_ALLOC(f->ctx, *at_leaf, f->n_leaves);
  for (int64_t i = 0; i < f->n_roots; i++)
    GI_REQUIRE(count[i] >= 0 && offset[i] >= 0 && count[i] <= n_roots && offset[i] <= n_roots - count[i],
               GABLE_ERR_ARGUMENT, "point %lld has %lld roots from %lld on, of %lld", (long long)i, (long long)count[i],
               (long long)offset[i], (long long)n_roots);
  for (int64_t e = 0; e < gi_edges(&f->roots); e++)
    (*at_root)[e] = (span){count[f->roots.index[e]], offset[f->roots.index[e]]};
done:
  return status;
}

static gable_status make_edges(const gable_forest *f, const span *at_leaf, const int64_t *leaf_offset, gi_edge_list *l)
{
  gable_status status = GABLE_OK;
  int64_t n = 0;
  for (int64_t e = 0; e < f->n_leaves; e++) {
    const int64_t position = f->leaves.index[e], offset = leaf_offset[position], count = at_leaf[e].count;
    GI_REQUIRE(!gi_add_off(n, count, &n), GABLE_ERR_LIMIT, "the points have more than 2^63 leaves");
    GI_REQUIRE(offset >= 0 && offset <= INT64_MAX - count, GABLE_ERR_ARGUMENT,
               "the point at position %lld has %lld leaves from %lld on", (long long)position, (long long)count,
               (long long)offset);
  }
  GI_TRY(gi_edge_list_init(f->ctx, l, n));
done:
  return status;
}

gable_status gi_forest_section(gable_forest *points, int64_t n_roots, const int64_t *count, const int64_t *root_offset,
                               const int64_t *leaf_offset, gable_forest **out)
{
  gable_status status = GABLE_OK;
  const gi_forest_side *s = &points->leaves;
  span *at_root = NULL, *at_leaf = NULL;
  gi_edge_list l = {0, NULL, NULL};
  GI_AGREE_OUT(points->comm, out, make_spans(points, n_roots, count, root_offset, leaf_offset, &at_root, &at_leaf));
  GI_TRY(gi_forest_trade(points, 0, sizeof *at_root, at_root, at_leaf));
  GI_AGREE(points->comm, make_edges(points, at_leaf, leaf_offset, &l));
  for (int k = 0; k < s->n; k++)
    for (int64_t e = s->ptr[k]; e < s->ptr[k + 1]; e++)
      for (int64_t i = 0; i < at_leaf[e].count; i++)
        gi_edge_list_add(&l, leaf_offset[s->index[e]] + i, (gable_root){s->rank[k], at_leaf[e].offset + i});
  GI_TRY(gi_forest_create(points->comm, n_roots, l.n, l.leaf, l.root, out));
done:
  GI_FREE(points->ctx, at_root, at_leaf);
  gi_edge_list_release(points->ctx, &l);
  return status;
}
