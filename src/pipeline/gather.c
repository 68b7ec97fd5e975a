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

/* Counts in out->ptr[l + 1], sums, and the positions that the second pass moves. */
static gable_off count_labels(const gi_gather_plan *p, gable_off *ptr)
{
  gable_idx labels = p->a->n_rows;
  for (gable_idx k = 0; k < p->a->n_cols; k++) {
    gable_idx list = p->order ? p->order[k] : k;
    for (gable_off m = p->a->ptr[list]; m < p->a->ptr[list + 1]; m++) {
      gable_idx l = p->place ? p->place[p->a->idx[m]] : p->a->idx[m];
      if (!p->lower || l <= k) ptr[l + 1]++;
    }
  }
  for (gable_idx l = 0; l < labels; l++) ptr[l + 1] += ptr[l];
  return ptr[labels];
}

/* next [n_rows]: the next free position of each label. */
static void scatter(const gi_gather_plan *p, gable_off *next, gable_idx *idx, gi_gather *from)
{
  for (gable_idx k = 0; k < p->a->n_cols; k++) {
    gable_idx list = p->order ? p->order[k] : k;
    for (gable_off m = p->a->ptr[list]; m < p->a->ptr[list + 1]; m++) {
      gable_idx l = p->place ? p->place[p->a->idx[m]] : p->a->idx[m];
      if (p->lower && l > k) continue;
      gable_off to = next[l]++;
      double sign = 1;
      gable_off source = p->through ? gi_gather_from(p->through, m, &sign) : m;
      idx[to] = k;
      if (from->small)
        from->small[to] = (uint32_t)source;
      else
        from->large[to] = sign < 0 ? -(source + 1) : source + 1;
    }
  }
}

gable_status gi_gather_transpose(gable_context *ctx, const gi_gather_plan *p, gi_csc *out, gi_gather *from)
{
  gable_status status = GABLE_OK;
  gable_idx labels = p->a->n_rows;
  gable_off *next = NULL;
  out->n_cols = labels;
  out->n_rows = p->a->n_cols;
  GI_ALLOC_ZERO(ctx, out->ptr, (gable_off)labels + 1);
  gable_off count = from->count = count_labels(p, out->ptr);
  GI_ALLOC(ctx, next, labels);
  memcpy(next, out->ptr, (size_t)labels * sizeof *next);
  GI_ALLOC(ctx, out->idx, count);
  if (p->source_count <= (gable_off)UINT32_MAX && !(p->through && p->through->large))
    GI_ALLOC(ctx, from->small, count);
  else
    GI_ALLOC(ctx, from->large, count);
  scatter(p, next, out->idx, from);
done:
  gi_free(ctx, next);
  if (status) {
    gi_csc_release(ctx, out);
    gi_gather_release(ctx, from);
  }
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
