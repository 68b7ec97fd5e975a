#include "factor/threads.h"

#include <math.h>

#include "factor/numeric.h"
#include "factor/schedule.h"
#include "kernels/dense/dense_ldlt.h"

static const double flops_worth_a_thread = 1e6;
static const double flops_of_a_look = 1e7; /* some milliseconds of one thread */

int gi_factor_threads(const gi_layout *y, int threads)
{
  const double worth = y->flops / flops_worth_a_thread;
  return threads > worth ? 1 + (int)worth : threads;
}

/* How far the work has come, for the caller to hear. */
typedef struct report {
  atomic_llong done; /* flops */
  double step;       /* flops of one thread between two looks; 0: nobody listens */
} report;

static void worker_release(gable_context *ctx, gi_worker *w)
{
  GI_FREE(ctx, w->map, w->rows, w->columns, w->column, w->tools.pack, w->scaled);
}

/* What is held as L D at a time: the operand of one product, or the columns that gik_ldlt keeps. */
static gable_off scaled_values(const gi_factor *f, gable_idx widest)
{
  return f->kind == GI_LDLT ? (gable_off)widest * (widest > GIK_LDLT_STEP ? widest : GIK_LDLT_STEP + 1) : 0;
}

/* Values in the column and row of a worker; 0: no supernode is one column. */
static gable_off column_values(const gi_factor *f)
{
  gable_idx j = 0;
  while (j < f->layout->n_super && !gi_factor_is_column(f, j)) j++;
  return j == f->layout->n_super ? 0 : f->kind == GI_LU ? 2 * (gable_off)f->layout->n : f->layout->n;
}

static gable_status worker_init(gable_context *ctx, const gi_factor *f, gi_worker *w)
{
  gable_status status = GABLE_OK;
  const gable_off rows = gi_tile_rows(f);
  w->failed = -1;
  GI_ALLOC_ZERO(ctx, w->map, f->layout->n);
  GI_ALLOC(ctx, w->rows, rows);
  GI_ALLOC(ctx, w->columns, f->plan->widest);
  const gable_off widest = f->plan->widest, pack = gik_pack_size(rows, widest, widest);
  const size_t value_size = f->type == GABLE_TYPE_S ? sizeof(float) : sizeof(double);
  const gable_off sums = column_values(f);
  w->tools.pack = gi_alloc(ctx, pack, value_size);
  w->column = gi_alloc_zero(ctx, sums, value_size);
  if (f->kind == GI_LDLT) w->scaled = gi_alloc(ctx, scaled_values(f, f->plan->widest), value_size);
  GI_REQUIRE_MEMORY(w->tools.pack && w->column && (w->scaled || f->kind != GI_LDLT),
                    (double)value_size * (double)(pack + sums + scaled_values(f, f->plan->widest)),
                    "a thread of the factorization");
  w->row = (char *)w->column + (size_t)f->layout->n * value_size;
done:
  return status;
}

gable_off gi_factor_run_bytes(const gi_factor *f, gable_idx widest, size_t value_size, int threads)
{
  const gable_off n = f->layout->n, rows = gi_tile_rows(f);
  const gable_off values = gik_pack_size(rows, widest, widest) + scaled_values(f, widest) + column_values(f);
  const gable_off worker = (n + rows + widest) * (gable_off)sizeof(gable_idx) + values * (gable_off)value_size;
  const gable_off flags = f->layout->n_super * (gable_off)(sizeof(atomic_uchar) + sizeof(atomic_int));
  return gi_schedule_bytes(f->layout) + threads * (worker + (gable_off)sizeof(gi_worker)) + flags;
}

/* So many flops are done; thread 0, the caller's, tells. */
static int advance(gi_numeric *x, gi_worker *w, report *r, double flops)
{
  if (r->step == 0) return 0;
  w->flops += flops;
  if (w->flops < r->step) return 0;
  const double done = (double)(atomic_fetch_add(&r->done, (long long)w->flops)) + w->flops;
  w->flops = 0;
  if (w->number > 0) return 0;
  w->status = gi_pulse_tell(&x->pulse, done / x->plan->flops);
  return w->status != GABLE_OK;
}

static int factor_tile(gi_numeric *x, gi_worker *w, gable_idx j, gable_idx t)
{
  return x->f->type == GABLE_TYPE_S ? gi_factor_tile_s(x, w, j, t) : gi_factor_tile_d(x, w, j, t);
}

static int factor_chunk(gi_numeric *x, gi_worker *w, report *r, const gable_idx *member, gable_idx count)
{
  for (gable_idx i = 0; i < count; i++) {
    const gable_idx tiles = gi_tile_count(x->f, member[i]);
    const double flops = x->plan->work[member[i]] / (double)tiles;
    for (gable_idx t = 0; t < tiles; t++)
      if (factor_tile(x, w, member[i], t) || advance(x, w, r, flops)) return 1;
    if (x->parallel && atomic_load_explicit(&x->stop, memory_order_relaxed)) return 1;
  }
  return 0;
}

/* The place in the top of the tile with this number. */
static gable_idx owner_of(const gi_schedule *s, gable_off tile)
{
  gable_idx low = 0, high = s->n_top - 1;
  while (low < high) {
    const gable_idx mid = low + (high - low + 1) / 2;
    if (s->tile_ptr[mid] <= tile)
      low = mid;
    else
      high = mid - 1;
  }
  return low;
}

/* Whether this thread leaves the rest to others: the team has lost, and this is not the last thread at work. */
static int leaves(gi_numeric *x)
{
  if (!x->parallel || !atomic_load_explicit(&x->team.lost, memory_order_relaxed)) return 0;
  int others = atomic_load_explicit(&x->at_work, memory_order_relaxed);
  while (others > 1)
    if (atomic_compare_exchange_weak_explicit(&x->at_work, &others, others - 1, memory_order_relaxed,
                                              memory_order_relaxed))
      return 1;
  return 0;
}

static void take_tickets(gi_numeric *x, gi_worker *w, report *r, const gi_schedule *s, atomic_llong *next)
{
  const long long tickets = s->n_chunks + (s->n_top ? s->tile_ptr[s->n_top] : 0);
  long long ticket;
  while (!leaves(x) && (ticket = atomic_fetch_add(next, 1)) < tickets) {
    int stop;
    if (ticket < s->n_chunks) {
      const gable_idx begin = s->chunk_ptr[ticket], end = s->chunk_ptr[ticket + 1];
      stop = factor_chunk(x, w, r, s->member + begin, end - begin);
    } else {
      const gable_off tile = ticket - s->n_chunks;
      const gable_idx i = owner_of(s, tile), j = s->top[i];
      stop = factor_tile(x, w, j, (gable_idx)(tile - s->tile_ptr[i])) ||
             advance(x, w, r, x->plan->work[j] / (double)(s->tile_ptr[i + 1] - s->tile_ptr[i]));
    }
    if (stop) {
      atomic_store(&x->stop, 1);
      return;
    }
  }
}

static gable_status init_flags(gi_numeric *x)
{
  gable_status status = GABLE_OK;
  GI_ALLOC(x->ctx, x->ready, x->y->n_super);
  GI_ALLOC(x->ctx, x->tiles, x->y->n_super);
  for (gable_idx j = 0; j < x->y->n_super; j++) {
    atomic_init(x->ready + j, 0);
    atomic_init(x->tiles + j, gi_tile_count(x->f, j));
  }
done:
  return status;
}

/* What the workers found, into f; the first failed column that any of them met. */
static gable_status collect(gi_factor *f, const gi_worker *workers, int threads)
{
  gable_status status = workers[0].status;
  gable_idx failed = -1;
  if (status) goto done;
  for (int t = 0; t < threads; t++) {
    const gi_worker *w = workers + t;
    if (w->failed >= 0 && (failed < 0 || w->failed < failed)) failed = w->failed;
    f->perturbed += w->perturbed;
    if (!(w->largest <= f->max_factor) && !isnan(f->max_factor)) f->max_factor = w->largest;
  }
  GI_REQUIRE(failed < 0, GABLE_ERR_SINGULAR,
             "not positive definite: pivot %d of the elimination (counted from 0) is not positive; other methods "
             "factor such a matrix",
             failed);
done:
  return status;
}

/* What one thread needs to take tickets. */
typedef struct crew {
  gi_numeric *x;
  gi_worker *workers;
  report *r;
  const gi_schedule *schedule;
  atomic_llong *next;
} crew;

static void take_tickets_alone(void *user)
{
  const crew *c = user;
  take_tickets(c->x, c->workers, c->r, c->schedule, c->next);
}

/* What each thread of several does. */
static void take_tickets_together(const crew *c, int number)
{
  gi_numeric *x = c->x;
  gi_worker *w = c->workers + number;
  const double entered = gi_processor_seconds();
  gi_team_enter(&x->team);
  atomic_fetch_add_explicit(&x->at_work, 1, memory_order_relaxed);
  take_tickets(x, w, c->r, c->schedule, c->next);
  gi_team_used(&x->team, gi_processor_seconds() - entered - w->watched);
  if (number == 0) gi_team_gather(&x->team, omp_get_num_threads());
  gi_team_leave(&x->team);
}

/* An OpenBLAS that threads by OpenMP stays on the thread that calls it: inside a region of several threads, and in a
 * task that may use no others. */
static void take_all(const crew *c, int threads, int has_blas)
{
  if (threads > 1) {
    GI_OMP(parallel num_threads(threads))
    {
      omp_set_num_threads(1);
      take_tickets_together(c, omp_get_thread_num());
    }
    gi_team_join(&c->x->team);
  } else if (has_blas) {
    gik_blas_alone(take_tickets_alone, (void *)(uintptr_t)c);
  } else {
    take_tickets(c->x, c->workers, c->r, c->schedule, c->next);
  }
}

gable_status gi_factor_run(gable_context *ctx, gi_factor *f, const gi_csc *a, const gi_csc *at,
                           const gi_factor_options *how)
{
  gable_status status = GABLE_OK;
  gi_schedule *schedule = NULL;
  gi_worker *workers = NULL;
  atomic_llong next = 0;
  const int team = gi_plan_threads(f->plan, gi_factor_threads(f->layout, how->threads));
  const int threads = f->choice.alone ? 1 : team;
  const double start = gi_now();
  double worked = gi_processor_seconds();
  report r = {.step = ctx->options.progress ? fmin(f->plan->flops / 100 / threads + 1, flops_of_a_look) : 0};
  gi_numeric x = {.ctx = ctx, .f = f, .y = f->layout, .plan = f->plan, .a = a, .at = at, .tiny = how->tiny};
  x.parallel = threads > 1;
  x.pulse = gi_pulse_begin(ctx, "factor");
  GI_TRY(gi_pulse_tell(&x.pulse, 0));
  GI_ALLOC_ZERO(ctx, workers, threads);
  for (int t = 0; t < threads; t++) {
    workers[t].number = t;
    workers[t].tools.blas = how->blas;
    GI_TRY(worker_init(ctx, f, workers + t));
  }
  GI_TRY(gi_schedule_create(ctx, f, threads, &schedule));
  if (x.parallel) GI_TRY(init_flags(&x));
  gi_team_begin(&x.team, INFINITY, threads);
  take_all(&(crew){&x, workers, &r, schedule, &next}, threads, how->blas != NULL);
  worked = threads > 1 ? gi_team_work(&x.team) : gi_processor_seconds() - worked;
  if (team > 1) gi_team_choice_learn(&f->choice, gi_now() - start, worked);
  GI_TRY(collect(f, workers, threads));
done:
  for (int t = 0; workers && t < threads; t++) worker_release(ctx, workers + t);
  GI_FREE(ctx, workers, x.ready, x.tiles);
  gi_schedule_destroy(ctx, &schedule);
  return status;
}
