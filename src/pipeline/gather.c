#include "pipeline/gather.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/type_size.h"

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

static gable_status map_init(gable_context *ctx, gable_off count, int small, gi_gather *g)
{
  gable_status status = GABLE_OK;
  g->count = count;
  if (small)
    GI_ALLOC(ctx, g->small, count);
  else
    GI_ALLOC(ctx, g->large, count);
done:
  return status;
}

/* The loops below are written once and compiled for each of the few plans, so that nothing is asked entry by entry. */
static GI_INLINE gable_idx label_of(const gi_gather_plan *p, int placed, gable_off m)
{
  return placed ? p->place[p->a->idx[m]] : p->a->idx[m];
}

/* Counts in out->ptr[l + 1]. */
static GI_INLINE void count_labels(const gi_gather_plan *p, int placed, int lower, gable_off *ptr)
{
  const gable_off *begin = p->a->ptr;
  for (gable_idx list = 0; list < p->a->n_cols; list++) {
    const gable_idx last = !lower ? 0 : placed ? p->place[list] : list;
    for (gable_off m = begin[list]; m < begin[list + 1]; m++) {
      const gable_idx l = label_of(p, placed, m);
      ptr[l + 1] += !lower || l <= last;
    }
  }
}

/* next [n_rows]: the next free position of each label; one of the maps is NULL.  GI_RESTRICT: the arrays do not
 * overlap.
 */
static GI_INLINE void scatter(const gi_gather_plan *p, int placed, int lower, gable_off *GI_RESTRICT next,
                              gable_idx *GI_RESTRICT idx, uint32_t *GI_RESTRICT small, int64_t *GI_RESTRICT large)
{
  const gable_off *begin = p->a->ptr;
  for (gable_idx k = 0; k < p->a->n_cols; k++) {
    const gable_idx list = placed ? p->order[k] : k;
    for (gable_off m = begin[list]; m < begin[list + 1]; m++) {
      const gable_idx l = label_of(p, placed, m);
      if (lower && l > k) continue;
      const gable_off to = next[l]++;
      idx[to] = k;
      if (small)
        small[to] = (uint32_t)m;
      else
        large[to] = m + 1;
    }
  }
}

static void count(const gi_gather_plan *p, gable_off *ptr)
{
  const gable_idx labels = p->a->n_rows;
  if (!p->place)
    count_labels(p, 0, p->lower, ptr);
  else if (p->lower)
    count_labels(p, 1, 1, ptr);
  else
    count_labels(p, 1, 0, ptr);
  for (gable_idx l = 0; l < labels; l++) ptr[l + 1] += ptr[l];
}

static void move(const gi_gather_plan *p, gable_off *next, gable_idx *idx, const gi_gather *from)
{
  if (!from->small)
    scatter(p, p->place != NULL, p->lower, next, idx, NULL, from->large);
  else if (!p->place)
    scatter(p, 0, p->lower, next, idx, from->small, NULL);
  else if (p->lower)
    scatter(p, 1, 1, next, idx, from->small, NULL);
  else
    scatter(p, 1, 0, next, idx, from->small, NULL);
}

gable_status gi_gather_transpose(gable_context *ctx, const gi_gather_plan *p, gi_csc *out, gi_gather *from)
{
  gable_status status = GABLE_OK;
  const gable_idx labels = p->a->n_rows;
  gable_off *next = NULL;
  out->n_cols = labels;
  out->n_rows = p->a->n_cols;
  GI_ALLOC_ZERO(ctx, out->ptr, (gable_off)labels + 1);
  count(p, out->ptr);
  GI_ALLOC(ctx, next, labels);
  memcpy(next, out->ptr, (size_t)labels * sizeof *next);
  GI_ALLOC(ctx, out->idx, out->ptr[labels]);
  GI_TRY(map_init(ctx, out->ptr[labels], p->a->ptr[p->a->n_cols] <= (gable_off)UINT32_MAX, from));
  move(p, next, out->idx, from);
done:
  gi_free(ctx, next);
  if (status) {
    gi_csc_release(ctx, out);
    gi_gather_release(ctx, from);
  }
  return status;
}

static inline void map_both(gi_gather *map, gable_off k, gable_off m)
{
  if (map->small) {
    map->small[k] = (uint32_t)m;
    map->small[m] = (uint32_t)k;
  } else {
    map->large[k] = m + 1;
    map->large[m] = k + 1;
  }
}

/* Entries of list i right of the diagonal meet those of the other lists that are left of it: each list is walked once,
 * by its cursor.  0: an entry is alone. */
static int walk_pattern(const gi_csc *a, gable_off *cursor, gi_gather *map)
{
  for (gable_idx i = 0; i < a->n_cols; i++) {
    gable_off k = cursor[i];
    const gable_off end = a->ptr[i + 1];
    if (k < end && a->idx[k] < i) return 0; /* nobody before i asked for it */
    if (k < end && a->idx[k] == i) {
      if (map) map_both(map, k, k);
      k++;
    }
    for (; k < end; k++) {
      const gable_idx j = a->idx[k];
      const gable_off m = cursor[j];
      if (m >= a->ptr[j + 1] || a->idx[m] != i) return 0;
      cursor[j] = m + 1;
      if (map) map_both(map, k, m);
    }
  }
  return 1;
}

int gi_gather_transpose_values(gi_csc *a, gable_off *cursor, int transpose)
{
  int apart = 0;
  double *val = a->val;
  memcpy(cursor, a->ptr, (size_t)a->n_cols * sizeof *cursor);
  for (gable_idx i = 0; i < a->n_cols; i++) {
    gable_off k = cursor[i];
    const gable_off end = a->ptr[i + 1];
    k += k < end && a->idx[k] == i;
    for (; k < end; k++) {
      const gable_off m = cursor[a->idx[k]]++;
      const double right = val[k], left = val[m];
      if (GI_LIKELY(right == left)) continue;
      apart |= fabs(right - left) > 4 * DBL_EPSILON * fabs(right);
      if (!transpose) continue;
      val[k] = left;
      val[m] = right;
    }
  }
  return !apart;
}

gable_status gi_gather_mirror(gable_context *ctx, const gi_csc *a, gi_gather *map, int *pattern)
{
  gable_status status = GABLE_OK;
  const gable_idx n = a->n_cols;
  gable_off *cursor = NULL;
  *pattern = 0;
  GI_ALLOC(ctx, cursor, n);
  memcpy(cursor, a->ptr, (size_t)n * sizeof *cursor);
  if (map) GI_TRY(map_init(ctx, a->ptr[n], a->ptr[n] <= (gable_off)UINT32_MAX, map));
  *pattern = walk_pattern(a, cursor, map);
done:
  gi_free(ctx, cursor);
  if (map && !*pattern) gi_gather_release(ctx, map);
  return status;
}

void gi_gather_release(gable_context *ctx, gi_gather *g)
{
  GI_FREE(ctx, g->small, g->large);
  memset(g, 0, sizeof *g);
}

gable_off gi_gather_bytes(const gi_gather *g)
{
  return g->small ? 4 * g->count : g->large ? 8 * g->count : 0;
}

/* In integers, which a compiler makes vectors of: one more in the exponent reaches the sign when all its bits are set.
 */
int gi_all_finite(gable_type type, const void *in, gable_off count)
{
  const char *bytes = in;
  const float *single = in;
  uint64_t reached = 0;
  int wrong = 0;
  if (type == GABLE_TYPE_S) {
    for (gable_off k = 0; k < count; k++) wrong |= !isfinite(single[k]);
    return !wrong;
  }
  for (gable_off k = 0; k < count; k++) {
    uint64_t bits;
    memcpy(&bits, bytes + 8 * k, sizeof bits);
    reached |= (bits & ((uint64_t)0x7ff << 52)) + ((uint64_t)1 << 52);
  }
  return !(reached >> 63);
}

gable_off gi_gather_check(const gi_gather *g, gable_type type, const void *in, gable_off source_count)
{
  if (GI_LIKELY(gi_all_finite(type, in, source_count))) return -1;
  for (gable_off k = 0; k < g->count; k++) {
    double sign;
    const gable_off from = gi_gather_from(g, k, &sign);
    if (!isfinite(gi_number_at(type, in, from, 0))) return from;
  }
  return -1; /* in what is not gathered */
}

/* The two common cases have a loop of their own. */
void gi_gather_values(const gi_gather *g, gable_type type, const void *in, double *out)
{
  const double *doubled = in;
  if (type == GABLE_TYPE_D && g->identity) {
    if (g->count) memcpy(out, in, (size_t)g->count * sizeof *out);
  } else if (type == GABLE_TYPE_D && g->small) {
    for (gable_off k = 0; k < g->count; k++) out[k] = doubled[g->small[k]];
  } else {
    for (gable_off k = 0; k < g->count; k++) {
      double sign;
      const gable_off from = gi_gather_from(g, k, &sign);
      out[k] = sign * gi_number_at(type, in, from, 0);
    }
  }
}
