/* row_cost_model.c: seconds of rows that pass through a window. */
#include <string.h>

#include "trisolve/cpu/row_cost_model.h"

enum { WINDOW = 320, RING = 64 }; /* instructions in flight; rows that are remembered of them */

gable_status gi_row_cost_model_init(gable_context *ctx, gable_idx n, const gable_off *ptr, const gable_idx *col,
                                    gi_row_cost_model *out)
{
  gable_status status = GABLE_OK;
  *out = (gi_row_cost_model){.ptr = ptr, .col = col, .row = 1.0e-9, .entry = 0.36e-9, .latency = 4.6e-9};
  GI_ALLOC(ctx, out->done, n);
  GI_ALLOC_ZERO(ctx, out->call, n);
done:
  if (status) gi_row_cost_model_release(ctx, out);
  return status;
}

void gi_row_cost_model_release(gable_context *ctx, gi_row_cost_model *p)
{
  GI_FREE(ctx, p->done, p->call);
  memset(p, 0, sizeof *p);
}

double gi_row_cost(gi_row_cost_model *p, const gable_idx *order, gable_idx begin, gable_idx end)
{
  const gable_idx call = ++p->calls;
  double enter = 0, retired = 0, ring[RING];
  gable_off issued[RING], instructions = 0;
  gable_idx oldest = begin;
  for (gable_idx k = begin; k < end; k++) {
    const gable_idx row = order ? order[k] : k;
    const gable_off len = p->ptr[row + 1] - p->ptr[row];
    double start = enter;
    for (gable_off q = p->ptr[row]; q < p->ptr[row + 1]; q++)
      if (p->call[p->col[q]] == call && p->done[p->col[q]] > start) start = p->done[p->col[q]];
    p->call[row] = call;
    p->done[row] = start + p->latency;
    if (p->done[row] > retired) retired = p->done[row];
    instructions += 12 + 4 * len;
    ring[k % RING] = retired;
    issued[k % RING] = instructions;
    enter += p->row + (double)len * p->entry;
    for (; oldest < k && (instructions - issued[oldest % RING] > WINDOW || k - oldest >= RING - 1); oldest++)
      if (ring[oldest % RING] > enter) enter = ring[oldest % RING];
  }
  return enter > retired ? enter : retired;
}
