/* orders.c: packs each candidate with zeros for values, and times a few solves. */
#include <string.h>

#include "base/timer.h"
#include "trisolve/cpu/orders.h"
#include "trisolve/cpu/windows.h"

enum { TRIES = 5, ROUNDS = 12, NARROWEST = 64, WIDEST = 4096 };
static const gable_idx one_run = INT32_MAX; /* blocks of any kind together */
static const double sample_s = 15e-6;       /* a sample is as many solves as take so long */
static const double long_s = 5e-3;          /* solves beyond are tried twice */
static const double clear_gain = 0.85;      /* of it: not doubted */
static const double gain_wanted = 0.97;     /* of the time before, for a less natural order */

void gi_best_order_release(gable_context *ctx, gi_best_order *o)
{
  gi_lists_release(ctx, &o->lists);
  gi_free(ctx, o->order);
  memset(o, 0, sizeof *o);
}

typedef struct trial {
  gable_context *ctx;
  const gi_block_order_problem *p;
  const gik_substitution *kernels;
  gik_vectors v;
  unsigned char *kind; /* [blocks] */
  gi_best_order *best;
  gi_lists plain; /* the natural order as one run, once another is better */
} trial;

/* Seconds of a solve, from so many one after the other. */
static double sample_of(const trial *t, const gik_lists *m, int batch)
{
  const double start = gi_now();
  for (int j = 0; j < batch; j++) t->kernels->packed(m, 0, m->runs, &t->v);
  return (gi_now() - start) / batch;
}

static int batch_for(double once)
{
  return once < sample_s ? (int)(sample_s / (once + 1e-8)) + 1 : 1;
}

/* Seconds of one solve: the fastest of a few samples, after one to warm up. */
static double time_of(const trial *t, const gik_lists *m)
{
  const double once = sample_of(t, m, 1);
  const int batch = batch_for(once), tries = once > long_s ? 2 : TRIES;
  double least = sample_of(t, m, batch);
  for (int k = 1; k < tries; k++) {
    const double s = sample_of(t, m, batch);
    if (s < least) least = s;
  }
  return least;
}

/* Times an order, which it takes: it is kept when it is the best so far (*gained), else freed. */
static gable_status try_order(trial *t, gable_idx *order, gable_idx width, gable_idx least, int *gained)
{
  gable_status status = GABLE_OK;
  gi_best_order *best = t->best;
  gi_lists lists;
  *gained = 0;
  memset(&lists, 0, sizeof lists);
  GI_TRY(gi_progress(t->ctx, "tiles", 0.4));
  GI_TRY(gi_lists_pack(t->ctx, t->p->t, &t->p->blocks, order, NULL, 0, least, t->p->value_type, &lists));
  const double s = time_of(t, &lists.m);
  if (!best->lists.m.run) best->natural_s = s;
  if (best->lists.m.run && s > gain_wanted * best->seconds) goto done;
  *gained = 1;
  if (best->lists.m.run && !t->plain.m.run) {
    t->plain = best->lists; /* the first one tried */
    memset(&best->lists, 0, sizeof best->lists);
  }
  gi_lists_release(t->ctx, &best->lists);
  gi_free(t->ctx, best->order);
  best->lists = lists;
  best->order = order;
  best->width = width;
  best->seconds = s;
  memset(&lists, 0, sizeof lists);
  order = NULL;
done:
  gi_lists_release(t->ctx, &lists);
  gi_free(t->ctx, order);
  return status;
}

static gable_status try_interleaved(trial *t)
{
  gable_status status = GABLE_OK;
  const gable_idx n = t->p->blocks.count, *given = t->p->interleaved;
  gable_idx *order = NULL, moved = 0;
  int gained;
  for (gable_idx k = 0; given && k < n; k++) moved += given[k] != k;
  if (!moved) goto done;
  GI_ALLOC(t->ctx, order, n);
  memcpy(order, given, (size_t)n * sizeof *order);
  GI_TRY(try_order(t, order, 0, GI_RUN, &gained));
done:
  return status;
}

static gable_status try_window(trial *t, gable_idx width, int *gained)
{
  gable_status status = GABLE_OK;
  const gable_idx n = t->p->blocks.count;
  const gi_window_rows rows = {n, t->p->ptr, t->p->col, t->kind};
  gable_idx *order = NULL, *cuts = NULL, windows = 0;
  GI_ALLOC(t->ctx, order, n);
  GI_ALLOC(t->ctx, cuts, n / width + 2);
  for (gable_idx k = 0; k < n; windows++, k = n - k < width ? n : k + width) cuts[windows] = k;
  cuts[windows] = n;
  GI_TRY(gi_windows_sort(t->ctx, &rows, NULL, cuts, windows, order));
  gable_idx *given = order;
  order = NULL;
  GI_TRY(try_order(t, given, width, GI_RUN, gained));
done:
  GI_FREE(t->ctx, order, cuts);
  return status;
}

static gable_status try_windows(trial *t)
{
  gable_status status = GABLE_OK;
  int gained = 1;
  for (gable_idx width = NARROWEST; width <= WIDEST && (gained || width == 4 * NARROWEST); width *= 4) {
    GI_TRY(try_window(t, width, &gained));
    if (t->p->blocks.count <= width) break;
  }
done:
  return status;
}

/* The best order as one run, where its runs are short. */
static gable_status try_one_run(trial *t)
{
  gable_status status = GABLE_OK;
  const gi_best_order *best = t->best;
  const gable_idx n = t->p->blocks.count;
  gable_idx *order = NULL;
  int gained;
  if (!best->order || best->lists.m.runs < 2 || n / best->lists.m.runs > 4 * GI_RUN) goto done;
  GI_ALLOC(t->ctx, order, n);
  memcpy(order, best->order, (size_t)n * sizeof *order);
  GI_TRY(try_order(t, order, best->width, one_run, &gained));
done:
  return status;
}

/* The plain order and the best one take turns, since a machine is not as fast at one moment as at the next; a gain that
 * does not last goes back to the plain one. */
static void settle(trial *t)
{
  gi_best_order *best = t->best;
  double plain, least;
  if (!t->plain.m.run || best->seconds < clear_gain * best->natural_s || best->seconds > long_s) return;
  const int batch = batch_for(best->seconds);
  plain = least = 1e9;
  for (int k = 0; k < ROUNDS; k++) {
    const double p = sample_of(t, &t->plain.m, batch), s = sample_of(t, &best->lists.m, batch);
    if (p < plain) plain = p;
    if (s < least) least = s;
  }
  best->natural_s = plain;
  best->seconds = least;
  if (least <= gain_wanted * plain) return;
  gi_lists_release(t->ctx, &best->lists);
  gi_free(t->ctx, best->order);
  best->lists = t->plain;
  memset(&t->plain, 0, sizeof t->plain);
  best->order = NULL;
  best->width = 0;
  best->seconds = plain;
}

void gi_row_block_kinds(const gi_block_order_problem *p, unsigned char *kind)
{
  for (gable_idx u = 0; u < p->blocks.count; u++) {
    const gable_idx row = p->blocks.start ? p->blocks.start[u] : u;
    const gable_idx rows = p->blocks.start ? p->blocks.start[u + 1] - row : 1;
    const gable_off len = p->t->ptr[row + 1] - p->t->ptr[row];
    kind[u] = (unsigned char)(rows > 1 ? GIK_ROWS + rows - 1 : len <= GIK_SHORT ? len : GIK_ROWS);
  }
}

gable_status gi_best_order_find(gable_context *ctx, const gi_block_order_problem *p, gi_best_order *out)
{
  gable_status status = GABLE_OK;
  trial t = {.ctx = ctx,
             .p = p,
             .kernels = gik_substitution_for(p->value_type, p->value_type),
             .v = {.b_row = 1, .x_row = 1, .count = 1},
             .best = out};
  double *b = NULL, *x = NULL;
  int gained;
  memset(out, 0, sizeof *out);
  GI_ALLOC_ZERO(ctx, b, p->t->n);
  GI_ALLOC_ZERO(ctx, x, p->t->n);
  GI_ALLOC(ctx, t.kind, p->blocks.count);
  t.v.b = b;
  t.v.x = x;
  gi_row_block_kinds(p, t.kind);
  GI_TRY(try_order(&t, NULL, 0, one_run, &gained));
  GI_TRY(try_order(&t, NULL, 0, GI_RUN, &gained));
  GI_TRY(try_interleaved(&t));
  GI_TRY(try_windows(&t));
  GI_TRY(try_one_run(&t));
  settle(&t);
done:
  gi_lists_release(ctx, &t.plain);
  GI_FREE(ctx, b, x, t.kind);
  if (status) gi_best_order_release(ctx, out);
  return status;
}
