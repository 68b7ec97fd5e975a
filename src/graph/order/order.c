#include "graph/order/order.h"

#include <string.h>

#include "graph/order/order_parts.h"
#include "graph/order/order_problem.h"

const char *gi_order_name(gi_order_method method)
{
  static const char *const names[GI_ORDER_METHODS] = {"auto", "metis", "amd", "colamd", "natural", "user"};
  return method >= GI_ORDER_AUTO && method < GI_ORDER_METHODS ? names[method] : "?";
}

/* Puts a permutation of the whole matrix into the places of its blocks; scratch [n]. */
static void keep_blocks(const gi_order_problem *p, gable_idx *perm, gable_idx *next, gable_idx *scratch)
{
  if (!p->block_of) return;
  memcpy(scratch, perm, (size_t)p->n * sizeof *perm);
  memcpy(next, p->block, (size_t)p->n_blocks * sizeof *next);
  for (gable_idx k = 0; k < p->n; k++) perm[next[p->block_of[scratch[k]]]++] = scratch[k];
}

static gable_status order_by(gable_context *ctx, const gi_order_problem *p, const gi_order_options *options,
                             gable_idx *perm, gi_order_report *report)
{
  gable_status status = GABLE_OK;
  gable_idx *work = NULL;
  GI_ALLOC(ctx, work, 2 * (gable_off)p->n);
  report->used = options->method;
  report->long_rows = p->n_long;
  switch (options->method) {
  case GI_ORDER_AUTO: GI_TRY(gi_order_by_fill(ctx, p, options->solves, perm, options->tree, report)); break;
  case GI_ORDER_METIS: GI_TRY(gi_order_by_metis(ctx, p, NULL, perm)); break;
  case GI_ORDER_AMD: GI_TRY(gi_order_by_amd(ctx, p, perm)); break;
  case GI_ORDER_COLAMD: GI_TRY(gi_order_colamd(ctx, p->n, p->ptr, p->idx, p->block_of, perm)); break;
  case GI_ORDER_NATURAL:
    for (gable_idx k = 0; k < p->n; k++) perm[k] = k;
    break;
  case GI_ORDER_USER:
    GI_REQUIRE(options->user, GABLE_ERR_ARGUMENT, "the user's order was asked for, and none was given");
    GI_TRY(gi_order_check(ctx, p->n, options->user));
    memcpy(perm, options->user, (size_t)p->n * sizeof *perm);
    break;
  default: GI_REQUIRE(0, GABLE_ERR_ARGUMENT, "no ordering method has the number %d", (int)options->method);
  }
  keep_blocks(p, perm, work, work + p->n);
done:
  gi_free(ctx, work);
  return status;
}

gable_status gi_order(gable_context *ctx, gable_idx n, const gable_off *ptr, const gable_idx *idx,
                      const gi_order_options *options, gable_idx *perm, gi_order_report *report)
{
  gable_status status = GABLE_OK;
  const gi_order_options defaults = {0};
  gi_order_report ignored;
  gi_order_problem p = {0};
  if (!options) options = &defaults;
  if (!report) report = &ignored;
  *report = (gi_order_report){0};
  GI_TRY(gi_progress(ctx, "order", 0));
  GI_TRY(gi_order_problem_init(ctx, n, ptr, idx, options, perm, &p));
  GI_TRY(order_by(ctx, &p, options, perm, report));
  GI_TRY(gi_progress(ctx, "order", 1));
done:
  gi_order_problem_release(ctx, &p);
  return status;
}
