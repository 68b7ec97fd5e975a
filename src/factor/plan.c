#include "factor/plan.h"

#include "factor/numeric.h"

static const double least_share = 0.3; /* of its time that the last thread must be busy */

/* Walks the supernodes that k updates, in order.  At each, l..l_end and u..u_end are its rows and columns there. */
typedef struct gi_walk {
  const gable_idx *row, *column; /* lrow and ucol of k */
  gable_idx nl, nu, l, u, l_end, u_end, j;
} gi_walk;

static gi_walk walk_begin(const gi_layout *y, gable_idx k)
{
  return (gi_walk){
      .row = y->lrow + y->lptr[k], .column = y->ucol + y->uptr[k], .nl = gi_layout_nl(y, k), .nu = gi_layout_nu(y, k)};
}

static int walk_next(const gi_layout *y, gi_walk *w)
{
  w->l = w->l_end;
  w->u = w->u_end;
  if (w->l == w->nl && w->u == w->nu) return 0;
  gable_idx first = y->n;
  if (w->l < w->nl) first = w->row[w->l];
  if (w->u < w->nu && w->column[w->u] < first) first = w->column[w->u];
  w->j = y->of[first];
  const gable_idx end = y->super[w->j + 1];
  while (w->l_end < w->nl && w->row[w->l_end] < end) w->l_end++;
  if (y->symmetric)
    w->u_end = w->l_end;
  else
    while (w->u_end < w->nu && w->column[w->u_end] < end) w->u_end++;
  return 1;
}

static double own_flops(double w, double nl, double nu, int cholesky)
{
  return cholesky ? w * w * w / 3 + nl * w * w : 2 * w * w * w / 3 + (nl + nu) * w * w;
}

static gable_off count_updates(const gi_layout *y, gable_off *count)
{
  gable_off total = 0;
  for (gable_idx k = 0; k < y->n_super; k++)
    for (gi_walk w = walk_begin(y, k); walk_next(y, &w); total++)
      if (count) count[w.j + 1]++;
  return total;
}

/* Tiles of supernode j, about: threads share the work of one. */
static double tiles_of(const gi_layout *y, gable_idx j, int cholesky)
{
  const double rows = gi_layout_width(y, j) + gi_layout_nl(y, j) + (cholesky ? 0 : gi_layout_nu(y, j));
  return rows <= GI_TILE_WHOLE ? 1 : rows / GI_TILE;
}

/* The updates of each supernode, their work, and the critical path: end[j], zero at first, is when the updates of j are
 * done if each supernode has threads of its own, which apply them in order.  All updates of j come from supernodes
 * before it, so that end[j] is final when the loop comes to j. */
static void fill_updates(const gi_layout *y, int cholesky, gable_off *next, double *end, gi_plan *plan)
{
  for (gable_idx k = 0; k < y->n_super; k++) {
    const double width = gi_layout_width(y, k);
    end[k] += GI_BEGIN + own_flops(width, gi_layout_nl(y, k), gi_layout_nu(y, k), cholesky) / tiles_of(y, k, cholesky);
    if (end[k] > plan->path) plan->path = end[k];
    for (gi_walk w = walk_begin(y, k); walk_next(y, &w);) {
      plan->update[next[w.j]++] = (gi_update){k, w.l, w.u};
      const double n = w.u_end - w.u, m = w.nl - w.l;
      double flops = 2 * width * n * m;
      if (cholesky)
        flops -= width * n * (n - 1);
      else
        flops += 2 * width * (double)(w.l_end - w.l) * (double)(w.nu - w.u_end);
      plan->work[w.j] += flops;
      if (end[w.j] < end[k] + GI_HAND_OVER) end[w.j] = end[k] + GI_HAND_OVER;
      end[w.j] += GI_BEGIN + flops / tiles_of(y, w.j, cholesky);
    }
  }
}

int gi_plan_threads(const gi_plan *plan, int threads)
{
  const double busy = plan->path > 0 ? plan->effort / plan->path + 1 - least_share : 1;
  return threads <= busy ? threads : busy > 1 ? (int)busy : 1;
}

gable_off gi_plan_bytes(const gi_layout *y)
{
  return (gable_off)sizeof(gi_plan) + (y->n_super + 1) * (gable_off)(2 * sizeof(gable_off) + 2 * sizeof(double)) +
         count_updates(y, NULL) * (gable_off)sizeof(gi_update);
}

gable_status gi_plan_create(gable_context *ctx, const gi_layout *y, int cholesky, gi_plan **out)
{
  gable_status status = GABLE_OK;
  gable_off *next = NULL;
  double *end = NULL;
  gi_plan *plan = NULL;
  GI_ALLOC_ZERO(ctx, plan, 1);
  GI_ALLOC_ZERO(ctx, plan->ptr, y->n_super + 1);
  GI_ALLOC_ZERO(ctx, plan->work, y->n_super);
  GI_ALLOC(ctx, next, y->n_super + 1);
  GI_ALLOC_ZERO(ctx, end, y->n_super);
  count_updates(y, plan->ptr);
  for (gable_idx j = 0; j < y->n_super; j++) {
    next[j] = plan->ptr[j];
    plan->ptr[j + 1] += plan->ptr[j];
    const gable_idx w = gi_layout_width(y, j);
    if (w > plan->widest) plan->widest = w;
    plan->work[j] = own_flops(w, gi_layout_nl(y, j), gi_layout_nu(y, j), cholesky);
  }
  GI_ALLOC(ctx, plan->update, plan->ptr[y->n_super]);
  fill_updates(y, cholesky, next, end, plan);
  for (gable_idx j = 0; j < y->n_super; j++) plan->flops += plan->work[j];
  plan->effort = plan->flops + GI_BEGIN * (double)(y->n_super + plan->ptr[y->n_super]);
  plan->bytes = (gable_off)sizeof(gi_plan) + (y->n_super + 1) * (gable_off)(sizeof(gable_off) + sizeof(double)) +
                plan->ptr[y->n_super] * (gable_off)sizeof(gi_update);
  *out = plan;
  plan = NULL;
done:
  GI_FREE(ctx, next, end);
  gi_plan_destroy(ctx, &plan);
  return status;
}

void gi_plan_destroy(gable_context *ctx, gi_plan **plan)
{
  if (!plan || !*plan) return;
  gi_free(ctx, (*plan)->ptr);
  gi_free(ctx, (*plan)->update);
  gi_free(ctx, (*plan)->work);
  gi_free(ctx, *plan);
  *plan = NULL;
}
