/* multi.c: a root for each edge. */
#include "forest/algebra.h"

typedef struct slots {
  int64_t *numbers;          /* of gi_number_roots */
  int64_t *first;            /* where the new roots of each root begin */
  int64_t *slot, *leaf_slot; /* [edges] the new root of each edge, at both sides */
  gi_edge_list l;
} slots;

/* New roots by increasing (root, rank, position), which is the order of a root's edges. */
static gable_status make_slots(const gable_forest *f, slots *w)
{
  gable_status status = GABLE_OK;
  const int64_t edges = gi_edges(&f->roots), *number = NULL;
  int64_t count = 0;
  GI_TRY(gi_number_roots(f, &number, &w->numbers, &count));
  GI_ALLOC_ZERO(f->ctx, w->first, count + 1);
  GI_ALLOC(f->ctx, w->slot, edges);
  GI_ALLOC(f->ctx, w->leaf_slot, f->n_leaves);
  GI_TRY(gi_edge_list_init(f->ctx, &w->l, f->n_leaves));
  for (int64_t e = 0; e < edges; e++) w->first[number[e] + 1]++;
  for (int64_t r = 0; r < count; r++) w->first[r + 1] += w->first[r];
  for (int64_t e = 0; e < edges; e++) w->slot[e] = w->first[number[e]]++;
done:
  return status;
}

gable_status gi_forest_multi(const gable_forest *f, gable_forest **out)
{
  gable_status status = GABLE_OK;
  slots w = {NULL, NULL, NULL, NULL, {0, NULL, NULL}};
  GI_AGREE_OUT(f->comm, out, make_slots(f, &w));
  GI_TRY(gi_forest_trade(f, 0, sizeof *w.slot, w.slot, w.leaf_slot));
  gi_forest_edges(f, w.l.leaf, w.l.root);
  for (int64_t e = 0; e < f->n_leaves; e++) w.l.root[e].index = w.leaf_slot[e];
  GI_TRY(gi_forest_create(f->comm, gi_edges(&f->roots), f->n_leaves, w.l.leaf, w.l.root, out));
done:
  GI_FREE(f->ctx, w.numbers, w.first, w.slot, w.leaf_slot);
  gi_edge_list_release(f->ctx, &w.l);
  return status;
}
