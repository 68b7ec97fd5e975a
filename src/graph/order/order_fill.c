/* The default order: AMD and METIS are compared by the fill that they lead to, block by block.  With two threads they
 * run side by side, and METIS stops when AMD turns out to do; the outcome is the same as with one. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/timer.h"
#include "graph/order/order_parts.h"
#include "graph/order/order_problem.h"
#include "graph/symbolic/symbolic_symmetric.h"

/* Blocks below the first size are AMD's: dissection gains nothing there.  Below the second a thread costs more. */
enum { SMALL_BLOCK = 400, SMALL_MATRIX = 4000 };

/* AMD is enough when L has at most LINEAR_FILL entries for each one of the lower triangle of A + A^T, or the
 * factorization at most LINEAR_WORK operations: AMD is ahead in fill below the first, over the real matrices of the
 * test collection; below the second dissection saved at most a sixth of the fill.
 *
 * Else METIS is asked where it is expected to earn its time.  Operations of the factorization are the unit: dissection
 * takes DISSECTION of them for each entry of the lower triangle of the graph that METIS sees, with indistinguishable
 * nodes gathered; it saves SAVED_WORK of the factorization, and in each solve SAVED_SOLVE for each entry of L (an entry
 * takes 28, and a third of them is saved). */
static const double LINEAR_FILL = 3, LINEAR_WORK = 1700;
static const double DISSECTION = 18000, SAVED_WORK = 0.5, SAVED_SOLVE = 9, DEFAULT_SOLVES = 10;

typedef struct contest {
  gable_context *ctx;
  const gi_order_problem *p;
  double solves;                    /* expected with the factor */
  gable_idx *amd, *metis;           /* [n] the two orders */
  gable_off *fill_amd, *fill_metis; /* [n_blocks] nnz(L) */
  gi_tree tree_amd, tree_metis;
  double amd_s, metis_s;   /* seconds that the trees took */
  unsigned char *linear;   /* [n_blocks] AMD is enough */
  unsigned char *starved;  /* [n_blocks] METIS had too little memory */
  atomic_int amd_is_known; /* 1: fill_amd and linear are */
} contest;

/* perm is postordered.  fill [n_blocks]: nnz(L). */
static gable_status predict(const contest *c, gable_idx *perm, gable_off *fill, gi_tree *tree, double *seconds)
{
  gable_status status = GABLE_OK;
  const gi_order_problem *p = c->p;
  const gi_symbolic_options options = {0};
  const double begin = gi_now();
  GI_TRY(gi_tree_of_graph(c->ctx, &p->graph, perm, &options, tree));
  for (gable_idx b = 0; b < p->n_blocks; b++) {
    fill[b] = 0;
    for (gable_idx k = p->block[b]; k < p->block[b + 1]; k++) fill[b] += tree->count[k];
  }
  *seconds = gi_now() - begin;
done:
  return status;
}

/* entries [n_blocks]: the lower triangle of A + A^T, of the graph as METIS sees it. */
static gable_status count_gathered(const contest *c, gable_off *entries)
{
  gable_status status = GABLE_OK;
  const gi_order_problem *p = c->p;
  gi_adjacency small = {0};
  gable_idx *of = NULL, next = 0;
  GI_ALLOC(c->ctx, of, p->n);
  GI_TRY(gi_adjacency_compress(c->ctx, &p->graph, of, &small));
  memset(entries, 0, (size_t)p->n_blocks * sizeof *entries);
  for (gable_idx v = 0; v < p->n; v++) {
    if (of[v] != next) continue; /* gathered into one before */
    entries[p->block_of ? p->block_of[v] : 0] += small.ptr[next + 1] - small.ptr[next] + 2;
    next++;
  }
  for (gable_idx b = 0; b < p->n_blocks; b++) entries[b] /= 2;
done:
  gi_adjacency_release(c->ctx, &small);
  gi_free(c->ctx, of);
  return status;
}

/* Fills c->linear from AMD's tree. */
static gable_status judge_amd(contest *c)
{
  gable_status status = GABLE_OK;
  const gi_order_problem *p = c->p;
  gable_off *gathered = NULL;
  for (gable_idx b = 0; b < p->n_blocks; b++) {
    gable_off twice = 0; /* off-diagonal entries of A + A^T */
    double work = 0;
    for (gable_idx k = p->block[b]; k < p->block[b + 1]; k++) {
      twice += p->graph.ptr[c->amd[k] + 1] - p->graph.ptr[c->amd[k]];
      work += (double)c->tree_amd.count[k] * c->tree_amd.count[k];
    }
    const double entries = (double)(twice / 2 + p->block[b + 1] - p->block[b]);
    c->linear[b] = (double)c->fill_amd[b] <= LINEAR_FILL * entries || work <= LINEAR_WORK * entries;
    const double saved = SAVED_WORK * work + SAVED_SOLVE * c->solves * (double)c->fill_amd[b];
    if (c->linear[b] || p->ordered[b] < SMALL_BLOCK || saved > DISSECTION * entries) continue;
    if (!gathered) {
      GI_ALLOC(c->ctx, gathered, p->n_blocks);
      GI_TRY(count_gathered(c, gathered));
    }
    c->linear[b] = saved <= DISSECTION * (double)gathered[b];
  }
done:
  gi_free(c->ctx, gathered);
  return status;
}

static int wants_metis(const void *user, gable_idx b)
{
  const contest *c = user;
  if (c->p->ordered[b] < SMALL_BLOCK || c->starved[b]) return 0;
  return !atomic_load_explicit(&c->amd_is_known, memory_order_acquire) || !c->linear[b];
}

static void note_starved(void *user, gable_idx b)
{
  contest *c = user;
  c->starved[b] = 1;
}

static gable_status run_amd(contest *c)
{
  gable_status status = GABLE_OK;
  GI_TRY(gi_order_by_amd(c->ctx, c->p, c->amd));
  GI_TRY(predict(c, c->amd, c->fill_amd, &c->tree_amd, &c->amd_s));
  GI_TRY(judge_amd(c));
  atomic_store_explicit(&c->amd_is_known, 1, memory_order_release);
done:
  return status;
}

/* Memory that is lacking around METIS is as good a reason for AMD's order as memory that METIS lacks. */
static gable_status run_metis(contest *c)
{
  const gi_block_filter filter = {wants_metis, note_starved, c};
  const gable_status status = gi_order_by_metis(c->ctx, c->p, &filter, c->metis);
  if (status != GABLE_ERR_MEMORY) return status;
  for (gable_idx b = 0; b < c->p->n_blocks; b++) c->starved[b] = c->p->ordered[b] >= SMALL_BLOCK;
  return GABLE_OK;
}

/* METIS on the thread of the caller, whom it tells the progress; AMD on another. */
static gable_status run_both(contest *c)
{
  gable_status status = GABLE_OK, amd = GABLE_OK, metis = GABLE_OK;
  gi_error of_amd;
  GI_OMP(parallel num_threads(2))
  {
    if (omp_get_thread_num() == 1 || omp_get_num_threads() == 1) {
      amd = run_amd(c);
      if (amd) gi_keep_error(&of_amd);
    }
    if (omp_get_thread_num() == 0) metis = run_metis(c);
  }
  if (amd) gi_adopt_error(&of_amd);
  GI_TRY(amd);
  GI_TRY(metis);
done:
  return status;
}

static void give_tree(gi_tree *from, double seconds, gi_tree *tree, gi_order_report *report)
{
  if (!tree) return;
  *tree = *from;
  *from = (gi_tree){0};
  report->tree_s = seconds;
}

/* perm: AMD's order, and METIS's of the blocks where it is better. */
static gable_status take_better(contest *c, gable_idx *perm, gi_tree *tree, gi_order_report *report)
{
  gable_status status = GABLE_OK;
  const gi_order_problem *p = c->p;
  gable_idx asked = 0, taken = 0;
  memcpy(perm, c->amd, (size_t)p->n * sizeof *perm);
  for (gable_idx b = 0; b < p->n_blocks; b++) {
    const size_t begin = (size_t)p->block[b], size = (size_t)p->block[b + 1] - begin;
    report->fill_amd += c->fill_amd[b];
    report->metis_starved |= c->starved[b] && !c->linear[b];
    if (!wants_metis(c, b))
      memcpy(c->metis + begin, c->amd + begin, size * sizeof *perm);
    else
      asked++;
  }
  if (asked) GI_TRY(predict(c, c->metis, c->fill_metis, &c->tree_metis, &c->metis_s));
  for (gable_idx b = 0; asked && b < p->n_blocks; b++) {
    const size_t begin = (size_t)p->block[b], size = (size_t)p->block[b + 1] - begin;
    report->fill_metis += c->fill_metis[b];
    if (!wants_metis(c, b) || c->fill_metis[b] >= c->fill_amd[b]) continue;
    memcpy(perm + begin, c->metis + begin, size * sizeof *perm);
    taken++;
  }
  report->used = taken ? GI_ORDER_METIS : GI_ORDER_AMD;
  if (taken == 0) give_tree(&c->tree_amd, c->amd_s, tree, report);
  if (taken > 0 && taken == asked) give_tree(&c->tree_metis, c->metis_s, tree, report);
done:
  return status;
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

gable_status gi_order_by_fill(gable_context *ctx, const gi_order_problem *p, double solves, gable_idx *perm,
                              gi_tree *tree, gi_order_report *report)
{
  gable_status status = GABLE_OK;
  contest c = {.ctx = ctx, .p = p, .solves = solves > 0 ? solves : DEFAULT_SOLVES};
  if (!gi_order_has_amd()) return order_without_amd(ctx, p, perm, report);
  GI_ALLOC(ctx, c.amd, p->n);
  GI_ALLOC(ctx, c.metis, p->n);
  GI_ALLOC(ctx, c.fill_amd, p->n_blocks);
  GI_ALLOC(ctx, c.fill_metis, p->n_blocks);
  GI_ALLOC(ctx, c.linear, p->n_blocks);
  GI_ALLOC_ZERO(ctx, c.starved, p->n_blocks);
  atomic_init(&c.amd_is_known, 0);
  if (gi_order_has_metis() && ctx->threads > 1 && p->n >= SMALL_MATRIX) {
    GI_TRY(run_both(&c));
  } else {
    GI_TRY(run_amd(&c));
    if (gi_order_has_metis())
      GI_TRY(run_metis(&c));
    else
      memset(c.linear, 1, (size_t)p->n_blocks);
  }
  GI_TRY(take_better(&c, perm, tree, report));
  if (report->metis_starved)
    gi_log(ctx, GABLE_LOG_WARNING, "METIS had too little memory: AMD orders what it was asked for");
done:
  GI_FREE(ctx, c.amd, c.metis, c.fill_amd, c.fill_metis, c.linear, c.starved);
  gi_tree_release(ctx, &c.tree_amd);
  gi_tree_release(ctx, &c.tree_metis);
  return status;
}
