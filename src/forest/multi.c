/* multi.c: a root for each edge. */
#include "forest/algebra.h"

/* slot [edges of the roots side]: the new root of each edge; and this rank's own edges, to be joined anew. */
typedef struct slots {
  int64_t *first; /* [n_roots + 1] */
  int64_t *slot, *leaf_slot;
  int64_t *counts_out, *counts_in;
  int64_t *leaf;
  gable_root *root;
} slots;

static void count_edges(const gi_forest_side *s, int64_t *count)
{
  for (int k = 0; k < s->n; k++) count[s->rank[k]] = s->ptr[k + 1] - s->ptr[k];
}

static gable_status make_slots(const gable_forest *f, slots *w)
{
  gable_status status = GABLE_OK;
  const gi_forest_side *s = &f->roots;
  const int64_t edges = s->n ? s->ptr[s->n] : 0;
  GI_ALLOC_ZERO(f->ctx, w->first, f->n_roots + 1);
  GI_ALLOC(f->ctx, w->slot, edges);
  GI_ALLOC(f->ctx, w->leaf_slot, f->n_leaves);
  GI_ALLOC_ZERO(f->ctx, w->counts_out, f->comm->size);
  GI_ALLOC_ZERO(f->ctx, w->counts_in, f->comm->size);
  GI_ALLOC(f->ctx, w->leaf, f->n_leaves);
  GI_ALLOC(f->ctx, w->root, f->n_leaves);
  for (int64_t e = 0; e < edges; e++) w->first[s->index[e] + 1]++;
  for (int64_t r = 0; r < f->n_roots; r++) w->first[r + 1] += w->first[r];
  for (int64_t e = 0; e < edges; e++) w->slot[e] = w->first[s->index[e]]++;
  count_edges(s, w->counts_out);
  count_edges(&f->leaves, w->counts_in);
done:
  return status;
}

gable_status gi_forest_multi(const gable_forest *f, gable_forest **out)
{
  gable_status status = GABLE_OK;
  gable_comm *comm = f->comm;
  slots w = {NULL, NULL, NULL, NULL, NULL, NULL, NULL};
  GI_AGREE(comm, make_slots(f, &w));
  GI_TRY(gi_trade(comm, w.counts_out, w.counts_in, sizeof *w.slot, w.slot, w.leaf_slot));
  gi_forest_edges(f, w.leaf, w.root);
  for (int64_t e = 0; e < f->n_leaves; e++) w.root[e].index = w.leaf_slot[e];
  GI_TRY(gi_forest_create(comm, f->roots.n ? f->roots.ptr[f->roots.n] : 0, f->n_leaves, w.leaf, w.root, out));
done:
  gi_free(f->ctx, w.first);
  gi_free(f->ctx, w.slot);
  gi_free(f->ctx, w.leaf_slot);
  gi_free(f->ctx, w.counts_out);
  gi_free(f->ctx, w.counts_in);
  gi_free(f->ctx, w.leaf);
  gi_free(f->ctx, w.root);
  return status;
}
