/* The default order: AMD and METIS are compared by the fill that they lead to, block by block. */
#include <string.h>

#include "graph/order_parts.h"
#include "graph/order_problem.h"
#include "graph/symbolic_symmetric.h"

/* Blocks below this size are AMD's: dissection gains nothing there. */
enum { SMALL_BLOCK = 400 };

/* AMD's fill is linear when L has at most this many entries for each one of the lower triangle of A + A^T, or the
 * factorization at most this many operations: then dissection takes longer than what it could save (over the real
 * matrices of the test collection AMD is ahead in fill below 3; METIS costs about as much as 2000 operations an entry).
 */
static const double LINEAR_FILL = 3, LINEAR_WORK = 1000;

/* Per block. */
typedef struct choice {
  gable_off *fill_amd, *fill_metis; /* nnz(L) */
  double *work_amd;                 /* sum of squares of the columns' counts */
  unsigned char *wanted;            /* METIS is to be asked */
} choice;

/* fill, work (or NULL) [n_blocks]; perm is postordered. */
static gable_status predict(gable_context *ctx, const gi_order_problem *p, gable_idx *perm, gable_off *fill,
                            double *work)
{
  gable_status status = GABLE_OK;
  const gi_symbolic_options options = {.n_blocks = p->n_blocks, .block = p->block};
  gi_tree tree = {0};
  GI_TRY(gi_tree_analyse(ctx, p->n, p->ptr, p->idx, perm, &options, &tree));
  for (gable_idx b = 0; b < p->n_blocks; b++) {
    fill[b] = 0;
    double squares = 0;
    for (gable_idx k = p->block[b]; k < p->block[b + 1]; k++) {
      fill[b] += tree.count[k];
      squares += (double)tree.count[k] * tree.count[k];
    }
    if (work) work[b] = squares;
  }
done:
  gi_tree_release(ctx, &tree);
  return status;
}

static gable_off lower_entries(const gi_order_problem *p, gable_idx b)
{
  gable_off twice = 0;
  for (gable_idx k = p->block[b]; k < p->block[b + 1]; k++)
    twice += p->graph.ptr[p->node[k] + 1] - p->graph.ptr[p->node[k]];
  return twice / 2 + (p->block[b + 1] - p->block[b]);
}

static gable_status order_with_amd(gable_context *ctx, const gi_order_problem *p, gable_idx *perm, choice *c)
{
  gable_status status = GABLE_OK;
  GI_TRY(gi_order_by_amd(ctx, p, perm));
  GI_TRY(predict(ctx, p, perm, c->fill_amd, c->work_amd));
done:
  return status;
}

static gable_status order_with_metis(gable_context *ctx, const gi_order_problem *p, gable_idx *perm, choice *c)
{
  gable_status status = GABLE_OK;
  GI_TRY(gi_order_by_metis(ctx, p, c->wanted, perm));
  GI_TRY(predict(ctx, p, perm, c->fill_metis, NULL));
done:
  return status;
}

static int is_linear(const gi_order_problem *p, gable_idx b, const choice *c)
{
  const double entries = (double)lower_entries(p, b);
  return (double)c->fill_amd[b] <= LINEAR_FILL * entries || c->work_amd[b] <= LINEAR_WORK * entries;
}

/* Which blocks are large, and not well ordered already; returns their number. */
static gable_idx want_metis(const gi_order_problem *p, choice *c)
{
  gable_idx wanted = 0;
  for (gable_idx b = 0; b < p->n_blocks; b++) {
    c->wanted[b] = p->ordered[b] >= SMALL_BLOCK && !is_linear(p, b, c);
    wanted += c->wanted[b];
  }
  return wanted;
}

/* Takes METIS's order of the blocks where it is better. */
static void take_better(const gi_order_problem *p, const gable_idx *metis, const choice *c, gable_idx *perm,
                        gi_order_report *report)
{
  for (gable_idx b = 0; b < p->n_blocks; b++) {
    const size_t begin = (size_t)p->block[b], size = (size_t)p->block[b + 1] - begin;
    report->fill_amd += c->fill_amd[b];
    report->fill_metis += c->wanted[b] ? c->fill_metis[b] : c->fill_amd[b];
    if (!c->wanted[b] || c->fill_metis[b] >= c->fill_amd[b]) continue;
    memcpy(perm + begin, metis + begin, size * sizeof *perm);
    report->used = GI_ORDER_METIS;
  }
}

/* METIS alone, or, with neither library, the matrix as it comes. */
static gable_status order_without_amd(gable_context *ctx, const gi_order_problem *p, gable_idx *perm,
                                      gi_order_report *report)
{
  if (gi_order_has_metis()) {
    report->used = GI_ORDER_METIS;
    return gi_order_by_metis(ctx, p, NULL, perm);
  }
  gi_log(ctx, GABLE_LOG_WARNING, "neither AMD nor METIS is in this build: the matrix keeps its natural order");
  report->used = GI_ORDER_NATURAL;
  memcpy(perm, p->node, (size_t)p->n * sizeof *perm);
  return GABLE_OK;
}

gable_status gi_order_by_fill(gable_context *ctx, const gi_order_problem *p, gable_idx *perm, gi_order_report *report)
{
  gable_status status = GABLE_OK;
  gable_idx *metis = NULL;
  choice c = {0};
  GI_ALLOC(ctx, metis, p->n);
  GI_ALLOC(ctx, c.fill_amd, p->n_blocks);
  GI_ALLOC(ctx, c.fill_metis, p->n_blocks);
  GI_ALLOC(ctx, c.work_amd, p->n_blocks);
  GI_ALLOC(ctx, c.wanted, p->n_blocks);
  if (!gi_order_has_amd()) {
    GI_TRY(order_without_amd(ctx, p, perm, report));
    goto done;
  }
  report->used = GI_ORDER_AMD;
  GI_TRY(order_with_amd(ctx, p, perm, &c));
  GI_TRY(gi_progress(ctx, "order", 0.3));
  if (gi_order_has_metis() && want_metis(p, &c)) {
    memcpy(metis, perm, (size_t)p->n * sizeof *metis);
    GI_TRY(order_with_metis(ctx, p, metis, &c));
    take_better(p, metis, &c, perm, report);
  } else {
    for (gable_idx b = 0; b < p->n_blocks; b++) report->fill_amd += c.fill_amd[b];
  }
done:
  gi_free(ctx, metis);
  gi_free(ctx, c.fill_amd);
  gi_free(ctx, c.fill_metis);
  gi_free(ctx, c.work_amd);
  gi_free(ctx, c.wanted);
  return status;
}
