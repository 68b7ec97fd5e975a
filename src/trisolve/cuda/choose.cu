/* choose.cu: the choice between tiles and rows, and the shape of a record. */
#include <cmath>

#include "trisolve/cuda/state.h"

namespace gi
{

const int lanes_of[GI_SHAPES] = {1, 1, 2, 1, 4, 8, 16, 32};
const int pairs_of[GI_SHAPES] = {1, 2, 2, 7, 2, 2, 2, 4};

/* Whether levels are many and most of them so narrow that a few tiles hold them: each step is a warp's own then,
 * however long the rows are (0.15 to 0.35 us on 17 real triangles of 10 to 29 entries a row, 0.53 on one). */
static int narrow_levels(const gi_profile *p, const gik_device_triangle *t)
{
  return p->levels >= 100 && (t->n < (double)GI_NARROW_LEVEL * p->levels || p->narrow > 0.6 * p->levels);
}

/* The shape of tiles' records: by the length that all but one row in fifty keep. */
static int shape_in_tiles(const gi_profile *p, const gik_device_triangle *t)
{
  return gi_limit_shape(p->within, p->longest, (unsigned)t->n, has_long_chains(p, t->n));
}

/* Long chains side by side whose entries reach far down while the longest path changes its chain at almost every row:
 * no grid (ff_heat3d 0.95 of its levels are chain levels; a grid of 27 points 0.43, 7 points 0.67). */
static int irregular(const gi_profile *p, const gik_device_triangle *t)
{
  return side_by_side(p, t->n) && p->near < 0.7 && p->chain_levels > 0.8 * p->levels;
}

/* Seconds a solve takes by tiles and by rows: levels times a step (docs/algorithms/auto.md says how well that fits).
 * Chains of one chain level share a tile and its steps; a third dimension costs journeys through L2 at every level.
 * Elsewhere, where levels are neither narrow nor of few chains, a tile takes as many steps a level as its rows have
 * lanes, and a level of rows takes longer the more values it waits for. */
static void predict(const gik_gpu_class *gpu, const gi_profile *p, const gik_device_triangle *t, double *tiles_s,
                    double *rows_s)
{
  const gik_trisolve_costs *m = &gpu->trisolve;
  const double n = t->n, levels = p->levels ? p->levels : 1, width = n / levels, mean = t->nnz / (n > 0 ? n : 1);
  const double bytes = 12.0 * t->nnz + 40.0 * n, beside = p->chain_levels ? (double)p->chains / p->chain_levels : 0;
  const double flood =
      width > m->flood_rows ? width - m->flood_rows : 0; /* rows that wait for more than their operands */
  double step = (m->step + m->step_entry * mean) * (beside > 1 ? beside : 1), hop = m->hop + m->hop_entry * mean;
  int scattered = irregular(p, t);
  const double crossings = scattered ? gpu->processors * m->crossing : 0; /* the longest path goes through every tile */
  if (side_by_side(p, t->n)) {
    step = m->side_step;
  } else if (narrow_levels(p, t)) {
    step = m->narrow_step + m->narrow_entry * mean;
  } else if (beside >= 4) {
    step = m->narrow_step + m->wide_row * width * lanes_of[shape_in_tiles(p, t)];
    scattered = 1;
  }
  if (scattered) hop = m->far_hop + m->far_entry * mean + m->far_log * log2(1 + t->nnz / (100 * levels));
  *rows_s = m->rows_start + p->levels * (hop + m->flood * flood * (1 + mean / 4)) + bytes / m->bytes_s;
  *tiles_s = m->tiles_start + p->levels * step + crossings + bytes / m->bytes_s;
}

/* Seconds that independent right-hand sides keep the whole GPU busy with tiles: scattered accesses to b and x, and the
 * matrix again for each. */
static double busy_s(const gik_gpu_class *gpu, const gik_device_triangle *t, double rhs)
{
  const gik_trisolve_costs *m = &gpu->trisolve;
  return rhs * (m->busy_row * t->n + m->busy_entry * t->nnz);
}

int tiles_are_busy(const gik_gpu_class *gpu, const gi_profile *p, const gik_device_triangle *t, double rhs)
{
  double tiles = 0, rows = 0;
  predict(gpu, p, t, &tiles, &rows);
  return rhs > 1 && side_by_side(p, t->n) && busy_s(gpu, t, rhs) > gpu->trisolve.busy_bar * tiles;
}

/* Their analysis takes longer, and the model is less sure of tiles, whose time depends on how they lie to one another.
 */
static int tiles_win(const gik_gpu_class *gpu, double tiles_s, double rows_s)
{
  return tiles_s < gpu->trisolve.tiles_bar * rows_s;
}

/* The same for several right-hand sides.  Independent ones share the GPU: tiles then take twice as long as for one.
 * Side by side they share each step, or each line of memory. */
static void predict_multi_rhs(const gik_gpu_class *gpu, const gi_profile *p, const gik_device_triangle *t, double rhs,
                              double *tiles_s, double *rows_s)
{
  const gik_trisolve_costs *m = &gpu->trisolve;
  const double busy = busy_s(gpu, t, rhs), width = (double)t->n / (p->levels + 1);
  const double tiles = tiles_are_busy(gpu, p, t, rhs)
                           ? m->busy_factor * busy
                           : (side_by_side(p, t->n) ? m->beside_factor : m->tiles_factor) * *tiles_s;
  *tiles_s = tiles_win(gpu, *tiles_s, *rows_s) ? tiles : 10 * tiles; /* slower for one: slower for many */
  const int beside = gik_rows_cuda_together(&gpu->rows, t->n, t->n ? (double)t->nnz / t->n : 0, width, (int)rhs);
  if (beside == 1)
    *rows_s = m->alone_factor * *rows_s + rhs * m->alone_row * t->n;
  else
    *rows_s = m->multi_rhs_start + m->multi_rhs_hop * p->levels +
              rhs * (m->multi_rhs_row * t->n + m->multi_rhs_entry * t->nnz);
  /* independent tiles took 1.3 to 2.2 times as long on each of five triangles of long rows in narrow levels */
  if (beside == 4 && !side_by_side(p, t->n) && *tiles_s < 2 * *rows_s) *tiles_s = 2 * *rows_s;
}

/* Whether tiles would be border for the most part: long rows, rows without chains, regular chains side by side of which
 * more than a few are broken where rows are split. */
static int all_border(const gi_profile *p, const gik_device_triangle *t)
{
  const double mean = t->n ? (double)t->nnz / t->n : 0;
  const unsigned split = (unsigned)t->n - p->within[shape_in_tiles(p, t)]; /* rows */
  if (narrow_levels(p, t)) return 0;
  return mean >= 15 || p->chains * 1.75 > t->n ||
         (side_by_side(p, t->n) && !irregular(p, t) && split > (unsigned)t->n / 4096);
}

/* Whether a solve is over so soon that the analysis of tiles, 0.3 ms however small they are, would be most of it all.
 */
static int soon_over(const gik_gpu_class *gpu, const gi_profile *p, const gik_device_triangle *t)
{
  return p->levels < gpu->trisolve.quick_levels && t->n < gpu->trisolve.quick_rows;
}

/* Seconds of rows that are taken level by level in so many launches. */
static double by_level_s(const gik_gpu_class *gpu, const gik_device_triangle *t, int launches, double rhs)
{
  const gik_trisolve_costs *m = &gpu->trisolve;
  if (rhs > 1)
    return m->rows_start + m->multi_rhs_launch * launches + rhs * (m->by_level_row * t->n + m->by_level_entry * t->nnz);
  return m->rows_start + m->further_launch * (launches - 1) + (12.0 * t->nnz + 40.0 * t->n) / m->bytes_s;
}

/* Launches of rows level by level, as a guess: one for each wide level and one for all others. */
static int launches_of(const gi_profile *p)
{
  return p->wide && p->wide + 1 < p->levels ? p->wide + 1 : p->levels;
}

/* 1: level by level is predicted to be faster than rows in one launch; *rows_s becomes its seconds. */
static int step_by_step(const gik_gpu_class *gpu, const gi_profile *p, const gik_device_triangle *t, int launches,
                        double rhs, double *rows_s)
{
  const double seconds = by_level_s(gpu, t, launches, rhs);
  if (p->levels < 2 || p->levels > GIK_MOST_STEPS || launches > gpu->trisolve.most_launches ||
      seconds >= gpu->trisolve.by_level_bar * *rows_s)
    return 0;
  *rows_s = seconds;
  return 1;
}

static void predict_for(const gik_gpu_class *gpu, const gi_profile *p, const gik_device_triangle *t, int rhs,
                        double *tiles_s, double *rows_s)
{
  predict(gpu, p, t, tiles_s, rows_s);
  if (rhs > 1) predict_multi_rhs(gpu, p, t, rhs, tiles_s, rows_s);
}

int asks_for_widths(const gik_gpu_class *gpu, const gi_profile *p, const gik_device_triangle *t, int rhs, int rows_only)
{
  gi_profile q = *p;
  double tiles = 0, rows = 0;
  predict_for(gpu, p, t, rhs, &tiles, &rows);
  if (p->levels > 3 && t->n > gpu->trisolve.survey_rows * p->levels && step_by_step(gpu, p, t, 3, rhs, &rows)) return 1;
  if (rows_only || rhs > 1 || p->levels < 100 || p->levels > GI_MOST_TALLIED || side_by_side(p, t->n)) return 0;
  if (narrow_levels(p, t) || (tiles_win(gpu, tiles, rows) && !all_border(p, t)))
    return 0; /* tiles, whatever the widths */
  q.narrow = p->levels;
  predict(gpu, &q, t, &tiles, &rows);
  return tiles_win(gpu, tiles, rows);
}

gi_method choose(const gi_profile *p, const gik_device_triangle *t, int rhs, op_plan *s)
{
  const gik_gpu_class *gpu = s->model;
  double tiles = 0, rows = 0;
  predict_for(gpu, p, t, rhs, &tiles, &rows);
  const int steps = step_by_step(gpu, p, t, launches_of(p), rhs, &rows);
  if (all_border(p, t) || soon_over(gpu, p, t)) tiles = 10 * rows;
  const gi_method best = tiles_win(gpu, tiles, rows) ? GI_TILES : GI_ROWS;
  s->model_s = best == GI_TILES ? tiles : rows;
  s->chosen = choice{t->n, p->levels, p->chains, steps, 0, (double)t->nnz / (t->n ? t->n : 1), tiles, rows};
  return best;
}

/* Records a ticket: one where levels are narrow, so that a level is spread over all processors; where they are so wide
 * that tickets themselves take time, up to the warps of a block (more than those was slower than one). */
int chunk_of(const gik_rows_cuda *p, int levels, int processors)
{
  if (!p->variable) return 1; /* of records that are all alike, 5 points at random lost 5%, kkt_CONT-300 up to 9% */
  const double spread =
      (double)p->n_records / (levels > 0 ? levels : 1) / ((double)p->launches->ticket_warps * processors);
  return spread >= GIK_ROWS_CUDA_WARPS ? GIK_ROWS_CUDA_WARPS : spread > 1 ? (int)spread : 1;
}

/* Whether rows are taken level by level. */
static int steps_of(const gable_trisolve *t, const op_plan *d)
{
  double tiles = 0, rows = 0;
  predict_for(d->model, &d->profile, &d->plain, t->options.typical_rhs, &tiles, &rows);
  return step_by_step(d->model, &d->profile, &d->plain, launches_of(&d->profile), t->options.typical_rhs, &rows);
}

/* As many lanes a row as its length asks for. */
static void mix(gik_rows_cuda *p)
{
  p->variable = 1;
  p->lanes = 1;
  p->pairs = GIK_VARIABLE_PAIRS;
}

void rows_shape(const gable_trisolve *t, op_plan *d, int k)
{
  const unsigned limit = gi_limit_of(k);
  const double width = (double)d->triangle.n / (d->profile.levels + 1);
  const double entries = d->triangle.n ? (double)d->triangle.nnz / d->triangle.n : 0;
  const gik_trisolve_costs *m = &d->model->trisolve;
  const double room = (double)d->triangle.n * limit;             /* entries of records that are all alike: */
  const int uneven = limit >= 8 && d->triangle.nnz * 1.3 < room; /* a quarter of them would be holes; */
  const int hollow = width > m->hollow_rows && d->triangle.nnz * 6.0 < room; /* five sixths */
  gik_rows_cuda *p = &d->rows;
  *p = gik_rows_cuda{lanes_of[k], pairs_of[k]};
  p->stored = t->shape.value_type;
  p->width = width;
  p->launches = &d->model->rows;
  p->unread = ~0u;
  p->blocks = p->launches->most_blocks;
  p->gated = pairs_of[k] * lanes_of[k] >= 7;
  if (steps_of(t, d)) {
    mix(p);
    p->steps = d->profile.levels;
  } else if (((width > m->uneven_rows && uneven) || hollow) &&
             gik_rows_cuda_together(p->launches, t->shape.n, entries, width, t->options.typical_rhs) == 1) {
    mix(p); /* several right-hand sides are independent pieces of work then */
    if (width > m->uneven_rows) {
      p->blocks = p->launches->uneven_blocks;
      p->gated = 0;
    }
  } else if (width > m->streamed_rows && uneven) {
    /* levels so wide that bytes count more than latency: more rows a record */
    p->blocks = p->launches->streamed_blocks;
    if (limit % 8 == 0) {
      p->lanes = (int)(limit / 8);
      p->pairs = 4;
    }
  }
}

int shape_of(const op_plan *d)
{
  const int wide_lane = has_long_chains(&d->profile, d->triangle.n);
  int k = gi_limit_shape(d->profile.within, d->profile.longest, (unsigned)d->plain.n, wide_lane);
  /* a few rows are longer than the limit, and they, or large parts of them, are whole */
  while (d->longest > gi_limit_of(k) && k < GI_SHAPES - 1)
    if (gi_limit_of(++k) == 14 && !wide_lane) k++;
  return k;
}

} /* namespace gi */
