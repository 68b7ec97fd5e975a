/* join.c: several forests in one: concatenated, merged; and the forest of the ranks themselves. */
#include "base/checked.h"
#include "forest/algebra.h"

/* base [n * size]: where the roots of f[k] on rank r begin; number [leaves of all]: of the roots over all ranks. */
static gable_status check_parts(int64_t n, const gable_forest *const *f, gable_roots roots, const int64_t *offset,
                                int64_t **base, int64_t **number, gi_edge_list *l)
{
  gable_status status = GABLE_OK;
  gable_context *ctx = f[0]->ctx;
  int64_t edges = 0;
  GI_REQUIRE(roots >= GABLE_ROOTS_SHARED && roots <= GABLE_ROOTS_GLOBAL, GABLE_ERR_ARGUMENT, "no kind of roots %d",
             (int)roots);
  for (int64_t k = 0; k < n; k++) {
    GI_REQUIRE(f[k]->comm == f[0]->comm, GABLE_ERR_MISMATCH, "forest %lld has another comm", (long long)k);
    GI_REQUIRE(roots != GABLE_ROOTS_SHARED || f[k]->n_roots == f[0]->n_roots, GABLE_ERR_ARGUMENT,
               "forest %lld has %lld roots, forest 0 has %lld: they share none", (long long)k, (long long)f[k]->n_roots,
               (long long)f[0]->n_roots);
    GI_REQUIRE(offset[k] >= 0 && offset[k] < INT64_MAX - f[k]->leaf_space, GABLE_ERR_ARGUMENT, "offset[%lld] = %lld",
               (long long)k, (long long)offset[k]);
    edges += f[k]->n_leaves;
  }
  GI_ALLOC_ZERO(ctx, *base, (n + 1) * f[0]->comm->size);
  if (roots == GABLE_ROOTS_GLOBAL) GI_ALLOC(ctx, *number, edges);
  GI_TRY(gi_edge_list_init(ctx, l, edges));
done:
  return status;
}

/* base as above, summed over the forests. */
static gable_status find_bases(int64_t n, const gable_forest *const *f, int64_t *base)
{
  gable_status status = GABLE_OK;
  gable_comm *comm = f[0]->comm;
  const int size = comm->size;
  for (int64_t k = 0; k < n; k++) {
    GI_TRY(gi_comm_allgather(comm, &f[k]->n_roots, sizeof *base, base + (k + 1) * size));
    for (int r = 0; r < size; r++)
      GI_REQUIRE(!gi_add_off(base[(k + 1) * size + r], base[k * size + r], &base[(k + 1) * size + r]), GABLE_ERR_LIMIT,
                 "forests 0 to %lld have more than 2^63 roots on rank %d", (long long)k, r);
  }
done:
  return status;
}

/* base as above becomes the number of the first root of f[k] on rank r over all forests and ranks. */
static gable_status number_roots(int64_t n, int size, int64_t *base)
{
  gable_status status = GABLE_OK;
  int64_t first = 0;
  for (int64_t k = 0; k < n * size; k++) {
    const int64_t count = base[k + size] - base[k];
    base[k] = first;
    GI_REQUIRE(!gi_add_off(first, count, &first), GABLE_ERR_LIMIT, "the forests have more than 2^63 roots");
  }
done:
  return status;
}

gable_status gi_forest_concatenate(int64_t n, const gable_forest *const *f, gable_roots roots, const int64_t *offset,
                                   gable_forest **out)
{
  gable_status status = GABLE_OK;
  gable_comm *comm = f[0]->comm;
  const int size = comm->size;
  gi_edge_list l = {0, NULL, NULL};
  int64_t *base = NULL, *number = NULL, n_roots = f[0]->n_roots;
  static const char *const names[] = {"n", "roots"};
  const int64_t own[] = {n, roots};
  GI_TRY(gi_comm_alike(comm, check_parts(n, f, roots, offset, &base, &number, &l), "concatenations", 2, names, 2, own));
  if (roots != GABLE_ROOTS_SHARED) {
    GI_TRY(find_bases(n, f, base));
    n_roots = base[n * size + comm->rank];
  }
  if (roots == GABLE_ROOTS_GLOBAL) GI_TRY(number_roots(n, size, base));
  for (int64_t k = 0; k < n; k++) {
    gi_forest_edges(f[k], l.leaf + l.n, l.root + l.n);
    for (int64_t e = l.n; e < l.n + f[k]->n_leaves; e++) {
      l.leaf[e] += offset[k];
      l.root[e].index += base[k * size + l.root[e].rank];
      if (number) number[e] = l.root[e].index;
    }
    l.n += f[k]->n_leaves;
  }
  GI_TRY(roots == GABLE_ROOTS_GLOBAL ? gi_forest_global(comm, n_roots, l.n, l.leaf, number, out)
                                     : gi_forest_create(comm, n_roots, l.n, l.leaf, l.root, out));
done:
  GI_FREE(comm->ctx, base, number);
  gi_edge_list_release(comm->ctx, &l);
  return status;
}

/* taken [leaves of b]: their positions, sorted. */
static gable_status make_merge(const gable_forest *a, const gable_forest *b, int64_t **taken, gi_edge_list *l)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(a->comm == b->comm, GABLE_ERR_MISMATCH, "the forests have different comms");
  GI_REQUIRE(a->n_roots == b->n_roots, GABLE_ERR_ARGUMENT, "forests of %lld and %lld roots", (long long)a->n_roots,
             (long long)b->n_roots);
  GI_ALLOC(a->ctx, *taken, b->n_leaves);
  GI_TRY(gi_edge_list_init(a->ctx, l, a->n_leaves + b->n_leaves));
  gi_forest_edges(b, *taken, NULL);
  gi_sort_numbers(*taken, b->n_leaves);
done:
  return status;
}

gable_status gi_forest_merge(const gable_forest *a, const gable_forest *b, gable_forest **out)
{
  gable_status status = GABLE_OK;
  gi_edge_list l = {0, NULL, NULL};
  int64_t *taken = NULL;
  GI_AGREE(a->comm, make_merge(a, b, &taken, &l));
  gi_forest_edges(b, l.leaf, l.root);
  l.n = b->n_leaves;
  for (int k = 0; k < a->leaves.n; k++)
    for (int64_t e = a->leaves.ptr[k]; e < a->leaves.ptr[k + 1]; e++)
      if (!gi_is_among(taken, b->n_leaves, a->leaves.index[e]))
        gi_edge_list_add(&l, a->leaves.index[e], (gable_root){a->leaves.rank[k], a->leaf_root[e]});
  GI_TRY(gi_forest_create(a->comm, a->n_roots, l.n, l.leaf, l.root, out));
done:
  gi_free(a->ctx, taken);
  gi_edge_list_release(a->ctx, &l);
  return status;
}

/* numbers [roots.n], got [leaves.n]; counts [size] each */
static gable_status make_ranks(const gable_forest *f, int64_t **room, gi_edge_list *l)
{
  gable_status status = GABLE_OK;
  GI_ALLOC_ZERO(f->ctx, *room, 2 * (int64_t)f->comm->size + f->roots.n + f->leaves.n);
  GI_TRY(gi_edge_list_init(f->ctx, l, f->leaves.n));
done:
  return status;
}

gable_status gi_forest_ranks(const gable_forest *f, gable_forest **out)
{
  gable_status status = GABLE_OK;
  const int size = f->comm->size;
  gi_edge_list l = {0, NULL, NULL};
  int64_t *room = NULL;
  GI_AGREE_OUT(f->comm, out, make_ranks(f, &room, &l));
  int64_t *counts_out = room, *counts_in = room + size, *number = room + 2 * size, *got = number + f->roots.n;
  for (int k = 0; k < f->roots.n; k++) {
    counts_out[f->roots.rank[k]] = 1;
    number[k] = k;
  }
  for (int k = 0; k < f->leaves.n; k++) counts_in[f->leaves.rank[k]] = 1;
  GI_TRY(gi_trade(f->comm, counts_out, counts_in, sizeof *number, number, got));
  for (int k = 0; k < f->leaves.n; k++) gi_edge_list_add(&l, k, (gable_root){f->leaves.rank[k], got[k]});
  GI_TRY(gi_forest_create(f->comm, f->roots.n, l.n, l.leaf, l.root, out));
done:
  gi_free(f->ctx, room);
  gi_edge_list_release(f->ctx, &l);
  return status;
}
