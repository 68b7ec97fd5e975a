#include "factor/schedule.h"

#include "factor/numeric.h"

static size_t size_of(const gi_factor *f)
{
  return f->type == GABLE_S ? sizeof(float) : sizeof(double);
}

static int factor_supernode(gi_numeric *x, gi_worker *w, gable_idx j)
{
  const gable_idx tiles = gi_tile_count(x->f, j);
  for (gable_idx t = 0; t < tiles; t++)
    if (x->f->type == GABLE_S ? gi_factor_tile_s(x, w, j, t) : gi_factor_tile_d(x, w, j, t)) return 1;
  return 0;
}

static void worker_release(gable_context *ctx, gi_worker *w)
{
  gi_free(ctx, w->map);
  gi_free(ctx, w->rows);
  gi_free(ctx, w->columns);
  gi_free(ctx, w->product);
}

static gable_status worker_init(gable_context *ctx, const gi_factor *f, gi_worker *w)
{
  gable_status status = GABLE_OK;
  const gable_idx rows = gi_tile_rows(f);
  *w = (gi_worker){.failed = -1};
  GI_ALLOC_ZERO(ctx, w->map, f->layout->n);
  GI_ALLOC(ctx, w->rows, rows);
  GI_ALLOC(ctx, w->columns, f->plan->widest);
  w->product = gi_alloc(ctx, (gable_off)rows * f->plan->widest, size_of(f));
  GI_REQUIRE(w->product, GABLE_ERR_MEMORY, "out of memory: work space of the factorization");
done:
  return status;
}

gable_off gi_worker_bytes(const gi_factor *f, gable_idx widest, size_t size)
{
  const gable_off rows = gi_tile_rows(f);
  return (f->layout->n + rows + widest) * (gable_off)sizeof(gable_idx) + rows * widest * (gable_off)size;
}

gable_off gi_schedule_bytes(const gi_layout *y)
{
  return y->n_super * (gable_off)(sizeof(atomic_uchar) + sizeof(atomic_int));
}

gable_status gi_schedule_run(gable_context *ctx, gi_factor *f, const gi_csc *a, const gi_csc *at, double tiny,
                             int threads)
{
  (void)threads;
  gable_status status = GABLE_OK;
  gi_worker w = {0};
  gi_numeric x = {.ctx = ctx, .f = f, .y = f->layout, .plan = f->plan, .a = a, .at = at, .tiny = tiny};
  GI_TRY(worker_init(ctx, f, &w));
  for (gable_idx j = 0; j < x.y->n_super; j++)
    if (factor_supernode(&x, &w, j)) break;
  GI_REQUIRE(w.failed < 0, GABLE_ERR_SINGULAR, "not positive definite: the pivot of column %d is not positive",
             w.failed);
  f->perturbed = w.perturbed;
  f->max_factor = w.largest;
done:
  worker_release(ctx, &w);
  return status;
}
