/* cuts.cu: how the rows of a matrix are cut into tiles. */
#include "trisolve/cuda/state.h"

namespace gi
{

/* Chains that run side by side (many of one chain level: a grid with a third dimension) are cut by chain level and by
 * index into blocks of 64 chains, or of 32 where rows are long, for two warps (with many right-hand sides 32 for one,
 * since blocks are enough then); lone chains 32 at a time; otherwise intervals of index. */
static void choose_cuts(const gik_gpu_class *gpu, const gi_profile *p, int n, int busy, gi_tile_shape *s)
{
  const double beside = p->chain_levels ? (double)p->chains / p->chain_levels : 0;
  const double length = p->chains ? (double)n / p->chains : 0;
  const gik_tile_cuts *c = &gpu->tiles;
  s->window = s->lanes == 1 ? 16 : 64;
  s->pollers = 8;
  if (s->lanes == 1 && side_by_side(p, n) && p->gap > 0 && n > (double)c->grid_rows * p->levels) {
    const int long_rows = s->pairs > 2;
    s->warps = busy && !long_rows ? 1 : 2; /* more blocks rather than larger ones */
    s->lanes = long_rows ? 2 : 1;
    s->pairs = long_rows ? 4 : 2;
    s->chain_cut = (unsigned)c->grid_chains;
    s->index_cut =
        (unsigned)((long_rows || busy ? c->busy_spans : c->grid_spans) * (p->gap > length ? p->gap : length));
  } else if (s->lanes == 1 && has_long_chains(p, n) && beside < 4) {
    s->chain_cut = (unsigned)c->lone_chains;
    s->index_cut = 0;
    s->pollers = 2;
  } else if (s->lanes == 1) {
    s->index_cut = (unsigned)(n / c->intervals + 1);
    s->chain_cut = (unsigned)(p->chain_levels / c->chain_levels + 1);
    s->window = 64;
  } else {
    s->index_cut = (unsigned)(n / gpu->processors + 1);
    s->chain_cut = 0;
  }
  const int measured = gpu->trisolve.cuts_shared;
  if (gpu->shared < measured) { /* smaller tiles need less of it */
    s->index_cut = (unsigned)((double)s->index_cut * gpu->shared / measured) + (s->index_cut > 0);
    s->chain_cut = (unsigned)((double)s->chain_cut * gpu->shared / measured) + (s->chain_cut > 0);
  }
}

gable_status tiles_shape(const gable_trisolve *t, state *s, op_plan *d, int k)
{
  gable_status status = GABLE_OK;
  gi_tile_shape shape = {lanes_of[k], pairs_of[k], 1, 8, 16, 0, 0};
  gi_arena_mark before = {};
  if (shape.lanes == 1 && !d->profile.gap && d->child)
    GI_TRY(gi_cuda_gap(&s->scratch, &d->triangle, d->level, d->child, &d->profile));
  choose_cuts(d->model, &d->profile, d->triangle.n,
              tiles_are_busy(d->model, &d->profile, &d->triangle, t->options.typical_rhs), &shape);
  before = gi_arena_mark_of(&s->memory);
  for (int attempt = 0;; attempt++) {
    GI_TRY(gi_cuda_tiles(&s->memory, &d->triangle, d->level, &d->profile, &shape, t->shape.value_type, &d->tiles,
                         &d->row_at));
    for (int type = 0; type < 2; type++)
      d->solve_blocks[type] =
          types_of(t) >> type & 1 ? gik_tiles_blocks(&d->tiles, type ? GABLE_TYPE_D : GABLE_TYPE_S, s->processors) : 1;
    const int fits = d->solve_blocks[0] > 0 && d->solve_blocks[1] > 0 && d->tiles.slots <= 0xffff;
    if (fits && (t->method != GI_AUTO || d->tiles.n_records <= most_tile_records(d->triangle.n, d->tiles.warps))) break;
    GI_REQUIRE(attempt < 8, GABLE_ERR_LIMIT, "no tile shape fits: %d slots in the largest tile", d->tiles.slots);
    gi_arena_release_since(&s->memory, before);
    if (t->method == GI_AUTO) { /* another attempt takes as long as this one, and its tiles are hardly better */
      d->method = GI_ROWS;
      d->tiles = gik_tiles{};
      d->chosen.misfit = 1;
      goto done;
    }
    /* smaller tiles have smaller borders */
    if (shape.index_cut) shape.index_cut = (shape.index_cut + 3) / 4;
    if (shape.chain_cut > 1) shape.chain_cut = (shape.chain_cut + 1) / 2;
    if (!shape.index_cut && shape.chain_cut <= 1) shape.index_cut = (unsigned)(d->triangle.n / 64 + 1);
  }
  tiles_together(t, s, d);
done:
  return status;
}

} /* namespace gi */
