#include "pipeline/gather.h"

#include <math.h>
#include <string.h>

gable_status gi_gather_positions(gable_context *ctx, gable_off count, double **out)
{
  gable_status status = GABLE_OK;
  double *positions = NULL;
  GI_REQUIRE(count < ((gable_off)1 << 53), GABLE_ERR_LIMIT, "%lld entries", (long long)count);
  GI_ALLOC(ctx, positions, count);
  for (gable_off k = 0; k < count; k++) positions[k] = (double)(k + 1);
  *out = positions;
done:
  return status;
}

gable_status gi_gather_init(gable_context *ctx, gable_off count, const double *positions, gable_off source_count,
                            gi_gather *g)
{
  gable_status status = GABLE_OK;
  int identity = count == source_count, negated = 0;
  for (gable_off k = 0; k < count; k++) {
    identity &= positions[k] == (double)(k + 1);
    negated |= positions[k] < 0;
  }
  *g = (gi_gather){.count = count, .identity = identity};
  if (identity) goto done;
  if (negated || source_count > (gable_off)UINT32_MAX) {
    GI_ALLOC(ctx, g->large, count);
    for (gable_off k = 0; k < count; k++) g->large[k] = (int64_t)positions[k];
  } else {
    GI_ALLOC(ctx, g->small, count);
    for (gable_off k = 0; k < count; k++) g->small[k] = (uint32_t)(positions[k] - 1);
  }
done:
  return status;
}

void gi_gather_release(gable_context *ctx, gi_gather *g)
{
  gi_free(ctx, g->small);
  gi_free(ctx, g->large);
  memset(g, 0, sizeof *g);
}

gable_off gi_gather_bytes(const gi_gather *g)
{
  return g->small ? 4 * g->count : g->large ? 8 * g->count : 0;
}

gable_off gi_gather_values(const gi_gather *g, gable_type type, const void *in, double *out)
{
  const float *single = in;
  const double *doubled = in;
  gable_off wrong = -1;
  for (gable_off k = 0; k < g->count; k++) {
    double sign;
    gable_off from = gi_gather_from(g, k, &sign);
    out[k] = sign * (type == GABLE_S ? (double)single[from] : doubled[from]);
    if (GI_UNLIKELY(!isfinite(out[k])) && wrong < 0) wrong = from;
  }
  return wrong;
}
