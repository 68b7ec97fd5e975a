/* algebra.c: inverse, embedded, composed and rank forests: what a rank must know of others comes by the forest itself.
 */
#include "forest/algebra.h"

#include <string.h>

#include "forest/plan.h"

/* A root as it is sent; rank -1: none. */
typedef struct sent_root {
  int64_t rank, index;
} sent_root;

gable_status gi_edge_list_init(gable_context *ctx, gi_edge_list *l, int64_t most)
{
  gable_status status = GABLE_OK;
  GI_ALLOC(ctx, l->leaf, most);
  GI_ALLOC(ctx, l->root, most);
done:
  return status;
}

void gi_edge_list_release(gable_context *ctx, gi_edge_list *l)
{
  gi_free(ctx, l->leaf);
  gi_free(ctx, l->root);
}

gable_status gi_forest_move(gable_forest *f, gable_direction direction, int64_t bytes, const void *from, void *to)
{
  gable_status status = GABLE_OK;
  gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
  gable_plan *plan = NULL;
  gable_exchange *x = NULL;
  o.direction = direction;
  o.unit = GABLE_UNIT_BYTES;
  o.count = bytes;
  GI_TRY(gi_forest_plan_create(f, &o, &plan));
  GI_TRY(gi_exchange_create(plan, NULL, &x));
  GI_TRY(gi_exchange_begin(x, from, to, NULL));
  GI_TRY(gi_exchange_end(x));
done:
  if (x) gi_exchange_destroy(x);
  gi_forest_plan_release(plan);
  return status;
}

static gable_status make_inverse(const gable_forest *f, sent_root **at_leaf, sent_root **at_root, gi_edge_list *l)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(f->max_degree <= 1, GABLE_ERR_ARGUMENT, "a root has %lld leaves: only one may be inverted",
             (long long)f->max_degree);
  GI_ALLOC(f->ctx, *at_leaf, f->leaf_space);
  GI_ALLOC(f->ctx, *at_root, f->n_roots);
  GI_TRY(gi_edge_list_init(f->ctx, l, f->n_roots));
  for (int64_t i = 0; i < f->leaf_space; i++) (*at_leaf)[i] = (sent_root){f->comm->rank, i};
  for (int64_t i = 0; i < f->n_roots; i++) (*at_root)[i] = (sent_root){-1, -1};
done:
  return status;
}

gable_status gi_forest_inverse(gable_forest *f, gable_forest **out)
{
  gable_status status = GABLE_OK;
  sent_root *at_leaf = NULL, *at_root = NULL;
  gi_edge_list l = {0, NULL, NULL};
  GI_AGREE(f->comm, make_inverse(f, &at_leaf, &at_root, &l));
  GI_TRY(gi_forest_move(f, GABLE_FOREST_REDUCE, sizeof *at_leaf, at_leaf, at_root));
  for (int64_t i = 0; i < f->n_roots; i++)
    if (at_root[i].rank >= 0) gi_edge_list_add(&l, i, (gable_root){(int32_t)at_root[i].rank, at_root[i].index});
  GI_TRY(gi_forest_create(f->comm, f->leaf_space, l.n, l.leaf, l.root, out));
done:
  gi_free(f->ctx, at_leaf);
  gi_free(f->ctx, at_root);
  gi_edge_list_release(f->ctx, &l);
  return status;
}

/* keep marks entries of flag [n]. */
static gable_status mark(gable_context *ctx, const char *what, int64_t n, const int64_t *keep, int64_t space,
                         unsigned char **flag)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(n >= 0 && (keep || !n), GABLE_ERR_ARGUMENT, "keep has %lld entries", (long long)n);
  GI_ALLOC_ZERO(ctx, *flag, space);
  for (int64_t i = 0; i < n; i++) {
    GI_REQUIRE(keep[i] >= 0 && keep[i] < space, GABLE_ERR_ARGUMENT, "keep[%lld] = %lld: no such %s", (long long)i,
               (long long)keep[i], what);
    (*flag)[keep[i]] = 1;
  }
done:
  return status;
}

static gable_status make_embedding(const gable_forest *f, unsigned char **flag, gi_edge_list *l)
{
  gable_status status = GABLE_OK;
  if (!*flag) GI_ALLOC_ZERO(f->ctx, *flag, f->leaf_space);
  GI_TRY(gi_edge_list_init(f->ctx, l, f->n_leaves));
done:
  return status;
}

/* The edges whose positions are flagged. */
static gable_status keep_flagged(const gable_forest *f, const unsigned char *flag, gi_edge_list *l, gable_forest **out)
{
  int64_t kept = 0;
  gi_forest_edges(f, l->leaf, l->root);
  for (int64_t e = 0; e < f->n_leaves; e++) {
    if (!flag[l->leaf[e]]) continue;
    l->leaf[kept] = l->leaf[e];
    l->root[kept++] = l->root[e];
  }
  return gi_forest_create(f->comm, f->n_roots, kept, l->leaf, l->root, out);
}

gable_status gi_forest_embed_roots(gable_forest *f, int64_t n, const int64_t *keep, gable_forest **out)
{
  gable_status status = GABLE_OK;
  unsigned char *root = NULL, *leaf = NULL;
  gi_edge_list l = {0, NULL, NULL};
  GI_AGREE(f->comm, mark(f->ctx, "root", n, keep, f->n_roots, &root));
  GI_AGREE(f->comm, make_embedding(f, &leaf, &l));
  GI_TRY(gi_forest_move(f, GABLE_FOREST_BCAST, 1, root, leaf));
  GI_TRY(keep_flagged(f, leaf, &l, out));
done:
  gi_free(f->ctx, root);
  gi_free(f->ctx, leaf);
  gi_edge_list_release(f->ctx, &l);
  return status;
}

gable_status gi_forest_embed_leaves(const gable_forest *f, int64_t n, const int64_t *keep, gable_forest **out)
{
  gable_status status = GABLE_OK;
  unsigned char *leaf = NULL;
  gi_edge_list l = {0, NULL, NULL};
  GI_AGREE(f->comm, mark(f->ctx, "leaf position", n, keep, f->leaf_space, &leaf));
  GI_AGREE(f->comm, make_embedding(f, &leaf, &l));
  GI_TRY(keep_flagged(f, leaf, &l, out));
done:
  gi_free(f->ctx, leaf);
  gi_edge_list_release(f->ctx, &l);
  return status;
}

static gable_status make_composition(const gable_forest *a, const gable_forest *b, sent_root **at_root,
                                     sent_root **at_leaf, gi_edge_list *l)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(a->comm == b->comm, GABLE_ERR_MISMATCH, "the forests have different comms");
  GI_ALLOC(a->ctx, *at_root, b->n_roots);
  GI_ALLOC(a->ctx, *at_leaf, b->leaf_space);
  GI_TRY(gi_edge_list_init(a->ctx, l, b->n_leaves));
  for (int64_t i = 0; i < b->n_roots; i++) (*at_root)[i] = (sent_root){-1, -1};
  for (int k = 0; k < a->leaves.n; k++)
    for (int64_t e = a->leaves.ptr[k]; e < a->leaves.ptr[k + 1]; e++)
      if (a->leaves.index[e] < b->n_roots)
        (*at_root)[a->leaves.index[e]] = (sent_root){a->leaves.rank[k], a->leaf_root[e]};
done:
  return status;
}

gable_status gi_forest_compose(const gable_forest *a, gable_forest *b, gable_forest **out)
{
  gable_status status = GABLE_OK;
  sent_root *at_root = NULL, *at_leaf = NULL;
  gi_edge_list l = {0, NULL, NULL};
  GI_AGREE(a->comm, make_composition(a, b, &at_root, &at_leaf, &l));
  GI_TRY(gi_forest_move(b, GABLE_FOREST_BCAST, sizeof *at_root, at_root, at_leaf));
  for (int64_t e = 0; e < b->n_leaves; e++) {
    const sent_root r = at_leaf[b->leaves.index[e]];
    if (r.rank >= 0) gi_edge_list_add(&l, b->leaves.index[e], (gable_root){(int32_t)r.rank, r.index});
  }
  GI_TRY(gi_forest_create(a->comm, a->n_roots, l.n, l.leaf, l.root, out));
done:
  gi_free(a->ctx, at_root);
  gi_free(a->ctx, at_leaf);
  gi_edge_list_release(a->ctx, &l);
  return status;
}

gable_status gi_forest_compose_inverse(const gable_forest *a, gable_forest *b, gable_forest **out)
{
  gable_status status = GABLE_OK;
  gable_forest *inverse = NULL;
  GI_TRY(gi_forest_inverse(b, &inverse));
  GI_TRY(gi_forest_compose(a, inverse, out));
done:
  gi_forest_release(inverse);
  return status;
}
