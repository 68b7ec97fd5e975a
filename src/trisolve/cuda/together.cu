/* together.cu: how many right-hand sides a schedule solves side by side. */
#include "trisolve/cuda/state.h"

namespace gi
{

/* Two at a time, or four where a processor has room for one block only: with two blocks, two at a time were faster. */
void tiles_together(const gable_trisolve *t, const state *s, op_plan *d)
{
  for (int type = 0; type < 2; type++) {
    if (!(types_of(t) >> type & 1)) continue;
    const gable_type vectors = type ? GABLE_TYPE_D : GABLE_TYPE_S;
    const int two = gik_tiles_multi_rhs_blocks(&d->tiles, 2, vectors, s->processors);
    const int four = two < 2 * s->processors ? gik_tiles_multi_rhs_blocks(&d->tiles, 4, vectors, s->processors) : 0;
    d->together[type] = four ? 4 : two ? 2 : 1;
    d->multi_rhs_blocks[type] = four ? four : two;
  }
}

int together(const op_plan *d, gable_idx max_rhs, int type)
{
  const gable_idx rhs = max_rhs < GIK_MOST_RHS ? max_rhs : GIK_MOST_RHS;
  if (rhs < 2) return 1;
  if (d->method == GI_TILES) return tiles_are_busy(d->model, &d->profile, &d->triangle, rhs) ? d->together[type] : 1;
  if (d->method != GI_ROWS || d->rows.variable) return 1;
  const double entries = d->triangle.n ? (double)d->triangle.nnz / d->triangle.n : 0;
  return gik_rows_cuda_together(d->rows.launches, (int)d->rows.n_published, entries, d->rows.width, rhs);
}

} /* namespace gi */
