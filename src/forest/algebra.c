/* algebra.c: inverse, embedded and composed forests: what a rank must know of others comes along the edges.
 *
 * Nothing grows with the numbers of roots or of positions: what is looked up is sorted. */
#include "forest/algebra.h"

#include <stdlib.h>

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
  GI_FREE(ctx, l->leaf, l->root);
}

gable_status gi_forest_trade(const gable_forest *f, int up, size_t bytes, const void *from, void *to)
{
  gable_status status = GABLE_OK;
  int64_t *roots = NULL;
  GI_AGREE_ALLOC(f->comm, roots, 2 * (int64_t)f->comm->size);
  int64_t *leaves = roots + f->comm->size;
  for (int k = 0; k < f->roots.n; k++) roots[f->roots.rank[k]] = f->roots.ptr[k + 1] - f->roots.ptr[k];
  for (int k = 0; k < f->leaves.n; k++) leaves[f->leaves.rank[k]] = f->leaves.ptr[k + 1] - f->leaves.ptr[k];
  GI_TRY(gi_trade(f->comm, up ? leaves : roots, up ? roots : leaves, bytes, from, to));
done:
  gi_free(f->ctx, roots);
  return status;
}

static gable_status make_inverse(const gable_forest *f, int64_t **position, gi_edge_list *l)
{
  gable_status status = GABLE_OK;
  const int64_t edges = gi_edges(&f->roots);
  GI_REQUIRE(f->max_degree <= 1, GABLE_ERR_ARGUMENT, "a root has %lld leaves: only one may be inverted",
             (long long)f->max_degree);
  GI_ALLOC(f->ctx, *position, edges);
  GI_TRY(gi_edge_list_init(f->ctx, l, edges));
done:
  return status;
}

/* Leaves tell their roots where they are. */
gable_status gi_forest_inverse(gable_forest *f, gable_forest **out)
{
  gable_status status = GABLE_OK;
  const gi_forest_side *s = &f->roots;
  int64_t *position = NULL;
  gi_edge_list l = {0, NULL, NULL};
  GI_AGREE_OUT(f->comm, out, make_inverse(f, &position, &l));
  GI_TRY(gi_forest_trade(f, 1, sizeof *position, f->leaves.index, position));
  for (int k = 0; k < s->n; k++)
    for (int64_t e = s->ptr[k]; e < s->ptr[k + 1]; e++)
      gi_edge_list_add(&l, s->index[e], (gable_root){s->rank[k], position[e]});
  GI_TRY(gi_forest_create(f->comm, f->leaf_space, l.n, l.leaf, l.root, out));
done:
  gi_free(f->ctx, position);
  gi_edge_list_release(f->ctx, &l);
  return status;
}

/* What an embedding keeps: numbers, sorted; and a flag for each edge of both sides. */
typedef struct kept {
  int64_t *sorted; /* [n] */
  unsigned char *at_root, *at_leaf;
  gi_edge_list l;
} kept;

static gable_status make_kept(const gable_forest *f, const char *what, int64_t n, const int64_t *keep, int64_t space,
                              kept *w)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(n >= 0 && (keep || !n), GABLE_ERR_ARGUMENT,
             n < 0 ? "keep has %lld entries" : "keep has %lld entries, and is NULL", (long long)n);
  GI_ALLOC(f->ctx, w->sorted, n);
  for (int64_t i = 0; i < n; i++) {
    GI_REQUIRE(keep[i] >= 0 && keep[i] < space, GABLE_ERR_ARGUMENT, "keep[%lld] = %lld: no such %s", (long long)i,
               (long long)keep[i], what);
    w->sorted[i] = keep[i];
  }
  gi_sort_numbers(w->sorted, n);
  GI_ALLOC(f->ctx, w->at_root, gi_edges(&f->roots));
  GI_ALLOC(f->ctx, w->at_leaf, f->n_leaves);
  GI_TRY(gi_edge_list_init(f->ctx, &w->l, f->n_leaves));
done:
  return status;
}

static void release_kept(gable_context *ctx, kept *w)
{
  GI_FREE(ctx, w->sorted, w->at_root, w->at_leaf);
  gi_edge_list_release(ctx, &w->l);
}

/* The edges whose flag is set. */
static gable_status keep_flagged(const gable_forest *f, kept *w, gable_forest **out)
{
  int64_t n = 0;
  gi_forest_edges(f, w->l.leaf, w->l.root);
  for (int64_t e = 0; e < f->n_leaves; e++) {
    if (!w->at_leaf[e]) continue;
    w->l.leaf[n] = w->l.leaf[e];
    w->l.root[n++] = w->l.root[e];
  }
  return gi_forest_create(f->comm, f->n_roots, n, w->l.leaf, w->l.root, out);
}

gable_status gi_forest_embed_roots(gable_forest *f, int64_t n, const int64_t *keep, gable_forest **out)
{
  gable_status status = GABLE_OK;
  kept w = {NULL, NULL, NULL, {0, NULL, NULL}};
  GI_AGREE_OUT(f->comm, out, make_kept(f, "root", n, keep, f->n_roots, &w));
  for (int64_t e = 0; e < gi_edges(&f->roots); e++)
    w.at_root[e] = (unsigned char)gi_is_among(w.sorted, n, f->roots.index[e]);
  GI_TRY(gi_forest_trade(f, 0, 1, w.at_root, w.at_leaf));
  GI_TRY(keep_flagged(f, &w, out));
done:
  release_kept(f->ctx, &w);
  return status;
}

gable_status gi_forest_embed_leaves(const gable_forest *f, int64_t n, const int64_t *keep, gable_forest **out)
{
  gable_status status = GABLE_OK;
  kept w = {NULL, NULL, NULL, {0, NULL, NULL}};
  GI_AGREE_OUT(f->comm, out, make_kept(f, "leaf position", n, keep, f->leaf_space, &w));
  for (int64_t e = 0; e < f->n_leaves; e++) w.at_leaf[e] = (unsigned char)gi_is_among(w.sorted, n, f->leaves.index[e]);
  GI_TRY(keep_flagged(f, &w, out));
done:
  release_kept(f->ctx, &w);
  return status;
}

/* A root as it is sent; rank -1: none. */
typedef struct sent_root {
  int64_t rank, index;
} sent_root;

/* A leaf's position and its root. */
typedef struct placed_root {
  int64_t position;
  sent_root root;
} placed_root;

static int by_position(const void *a, const void *b)
{
  const placed_root *x = a, *y = b;
  return x->position < y->position ? -1 : x->position > y->position;
}

/* What a composition holds: a's leaves by position, the roots that b's roots are, at both sides of b's edges. */
typedef struct composition {
  placed_root *placed;          /* [leaves of a] */
  sent_root *at_root, *at_leaf; /* [edges] */
  gi_edge_list l;
} composition;

static gable_status make_composition(const gable_forest *a, const gable_forest *b, composition *w)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(a->comm == b->comm, GABLE_ERR_MISMATCH, "the forests have different comms");
  GI_ALLOC(a->ctx, w->placed, a->n_leaves);
  GI_ALLOC(a->ctx, w->at_root, gi_edges(&b->roots));
  GI_ALLOC(a->ctx, w->at_leaf, b->n_leaves);
  GI_TRY(gi_edge_list_init(a->ctx, &w->l, b->n_leaves));
  for (int k = 0; k < a->leaves.n; k++)
    for (int64_t e = a->leaves.ptr[k]; e < a->leaves.ptr[k + 1]; e++)
      w->placed[e] = (placed_root){a->leaves.index[e], {a->leaves.rank[k], a->leaf_root[e]}};
  if (a->n_leaves) qsort(w->placed, (size_t)a->n_leaves, sizeof *w->placed, by_position);
  for (int64_t e = 0; e < gi_edges(&b->roots); e++) {
    const placed_root wanted = {b->roots.index[e], {-1, -1}};
    const placed_root *found =
        a->n_leaves ? bsearch(&wanted, w->placed, (size_t)a->n_leaves, sizeof wanted, by_position) : NULL;
    w->at_root[e] = found ? found->root : wanted.root;
  }
done:
  return status;
}

gable_status gi_forest_compose(const gable_forest *a, gable_forest *b, gable_forest **out)
{
  gable_status status = GABLE_OK;
  composition w = {NULL, NULL, NULL, {0, NULL, NULL}};
  GI_AGREE(a->comm, make_composition(a, b, &w));
  GI_TRY(gi_forest_trade(b, 0, sizeof *w.at_root, w.at_root, w.at_leaf));
  for (int64_t e = 0; e < b->n_leaves; e++)
    if (w.at_leaf[e].rank >= 0)
      gi_edge_list_add(&w.l, b->leaves.index[e], (gable_root){(int32_t)w.at_leaf[e].rank, w.at_leaf[e].index});
  GI_TRY(gi_forest_create(a->comm, a->n_roots, w.l.n, w.l.leaf, w.l.root, out));
done:
  GI_FREE(a->ctx, w.placed, w.at_root, w.at_leaf);
  gi_edge_list_release(a->ctx, &w.l);
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
