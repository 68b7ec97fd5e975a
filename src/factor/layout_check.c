#include "factor/layout_check.h"

#include "factor/plan.h"

/* One side of all supernodes: the rows of L, or the columns of U; across: the other side. */
typedef struct panels {
  const gable_off *ptr, *across_ptr;
  const gable_idx *row, *across;
  const gi_csc *a; /* whose columns the panels hold */
  int lower;
} panels;

/* Is every row idx[k], k from begin, of the panel of j: inside its block, after its last row, or marked? */
static int has_place(const gable_idx *idx, gable_off begin, gable_off end, gable_idx after_block, gable_idx last,
                     const gable_idx *mark, gable_idx j)
{
  for (gable_off k = begin; k < end; k++)
    if (idx[k] >= after_block && idx[k] <= last && mark[idx[k]] != j) return 0;
  return 1;
}

/* mark [n]: of the supernodes before j, or -1. */
static int panel_is_closed(const gi_layout *y, const gi_plan *plan, const panels *p, gable_idx j, gable_idx *mark)
{
  const gable_off begin = p->ptr[j], end = p->ptr[j + 1];
  const gable_idx first = y->super[j], after = y->super[j + 1];
  if (begin == end) return 1;
  const gable_idx last = p->row[end - 1];
  for (gable_off k = begin; k < end; k++) mark[p->row[k]] = j;
  for (gable_idx c = first; c < after; c++)
    if (!has_place(p->a->idx, p->a->ptr[c], p->a->ptr[c + 1], after, last, mark, j)) return 0;
  for (gable_off q = plan->ptr[j]; q < plan->ptr[j + 1]; q++) {
    const gi_update *u = plan->update + q;
    const gable_off from = p->ptr[u->k] + (p->lower ? u->l : u->u);
    const gable_off across = p->across_ptr[u->k] + (p->lower ? u->u : u->l);
    if (across == p->across_ptr[u->k + 1] || p->across[across] >= after) continue; /* brings nothing to this side */
    if (!has_place(p->row, from, p->ptr[u->k + 1], after, last, mark, j)) return 0;
  }
  return 1;
}

gable_status gi_factor_is_closed(gable_context *ctx, const gi_layout *y, gi_factor_kind kind, const gi_csc *a,
                                 const gi_csc *at, int *closed)
{
  gable_status status = GABLE_OK;
  gable_idx *mark = NULL;
  gi_plan *plan = NULL;
  const panels sides[2] = {{y->lptr, y->uptr, y->lrow, y->ucol, a, 1}, {y->uptr, y->lptr, y->ucol, y->lrow, at, 0}};
  GI_ALLOC(ctx, mark, y->n);
  GI_TRY(gi_plan_create(ctx, y, kind != GI_LU, &plan));
  *closed = 1;
  for (int s = 0; s < (kind == GI_LU ? 2 : 1) && *closed; s++) {
    for (gable_idx i = 0; i < y->n; i++) mark[i] = -1;
    for (gable_idx j = 0; j < y->n_super && *closed; j++) *closed = panel_is_closed(y, plan, &sides[s], j, mark);
  }
done:
  gi_free(ctx, mark);
  gi_plan_destroy(ctx, &plan);
  return status;
}
