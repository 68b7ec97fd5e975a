/* cluster_inverse.c: the plain version: columns of substitutions and rows of products by tiles, sums from left to
 * right. */
#include "kernels/supernodal/cluster_inverse.h"

#include <math.h>

#include "base/status.h"

enum { TILE = GIK_INVERSE_TILE };

static double get(gable_type type, const void *values, gable_off k)
{
  return type == GABLE_TYPE_S ? (double)((const float *)values)[k] : ((const double *)values)[k];
}

static void put(gable_type type, void *values, gable_off k, double v)
{
  if (type == GABLE_TYPE_S)
    ((float *)values)[k] = (float)v;
  else
    ((double *)values)[k] = v;
}

static gable_off entry(const gik_inverse_view *v, gable_idx i, gable_idx k)
{
  return v->at + i * v->row + k * v->column;
}

/* sum_c += factor values[at + c] for c < count, at most TILE. */
static void add_row(gable_type type, double factor, const void *values, gable_off at, gable_idx count, double *sum)
{
  if (factor == 0) return;
  if (type == GABLE_TYPE_S) {
    const float *v = (const float *)values + at;
    for (gable_idx c = 0; c < count; c++) sum[c] += factor * (double)v[c];
  } else {
    const double *v = (const double *)values + at;
    for (gable_idx c = 0; c < count; c++) sum[c] += factor * v[c];
  }
}

static gable_status gather(gable_context *ctx, const gik_inverse_gather *p, void *stream)
{
  (void)ctx, (void)stream;
  for (gable_off k = 0; k < p->count; k++)
    put(p->to_type, p->to, k, p->factor * get(p->type, p->from, p->index ? p->index[k] : k));
  return GABLE_OK;
}

/* Column k of a panel of L; of LU the rows above the diagonal belong to U. */
static void place_lower(const gik_cluster_inverse *p, const gik_panel *q, gable_idx k, const void *values, gable_off at)
{
  const gik_inverse_side *s = &p->side[0];
  const gable_idx first = p->first[q->cluster], w = p->first[q->cluster + 1] - first;
  const gable_off square = p->inverse_at[q->cluster] + q->at + k, below = s->at[q->cluster] + q->at + k;
  for (gable_idx i = p->side[1].values ? 0 : k; i < q->w; i++)
    put(p->type, p->inverse, square + (q->at + i) * (gable_off)w,
        i == k ? p->dinv[first + q->at + k] : get(p->type, values, at + i));
  for (gable_idx i = 0; i < q->nl; i++) {
    const gable_idx row = s->position[q->rows + i];
    const double v = get(p->type, values, at + q->w + i);
    if (row < w)
      put(p->type, p->inverse, square + (p->after ? p->after[first + row] : row) * (gable_off)w, v);
    else
      put(p->type, s->values, below + row * (gable_off)w, -v);
  }
}

/* Row k of a panel of U. */
static void place_upper(const gik_cluster_inverse *p, const gik_panel *q, gable_idx k, const void *values, gable_off at)
{
  const gik_inverse_side *s = &p->side[1];
  const gable_idx j = q->cluster, w = p->first[j + 1] - p->first[j];
  const gable_off square = p->inverse_at[j] + (q->at + k) * (gable_off)w;
  const gable_off right = s->at[j] + (q->at + k) * (w + s->ptr[j + 1] - s->ptr[j]);
  for (gable_idx i = 0; i < q->nu; i++) {
    const gable_idx column = s->position[q->columns + i];
    const double v = get(p->type, values, at + i);
    if (column < w)
      put(p->type, p->inverse, square + column, v);
    else
      put(p->type, s->values, right + column, -v);
  }
}

static gable_status place(gable_context *ctx, const gik_cluster_inverse *p, const gik_panel_part *part, void *stream)
{
  (void)ctx, (void)stream;
  for (gable_idx i = part->begin; i < part->end; i++) {
    const gik_panel *q = p->panel + p->of[i];
    const gable_idx k = i - q->first;
    if (part->side)
      place_upper(p, q, k, part->values, q->u + k * (gable_off)q->nu - part->from);
    else
      place_lower(p, q, k, part->values, q->l + k * (gable_off)(q->w + q->nl) - part->from);
  }
  return GABLE_OK;
}

/* What T has on its diagonal, or its reciprocal. */
static double pivot(const gik_cluster_inverse *p, int side, const gik_inverse_work *k, gable_idx i)
{
  return p->unit && !side ? 1 : get(p->type, p->inverse, entry(&k->triangle, i, i));
}

/* Magnitudes in the columns of the tile. */
static void add_magnitudes(const gik_cluster_inverse *p, int side, const gik_inverse_work *k)
{
  for (gable_idx q = k->start; q < k->start + k->count; q++) {
    double sum = fabs(1 / pivot(p, side, k, q));
    for (gable_idx i = q + 1; i < k->w; i++) sum += fabs(get(p->type, p->inverse, entry(&k->triangle, i, q)));
    p->side[side].sums[k->first + q] = sum;
  }
}

static void keep_largest(double *residual, double size)
{
  if (!(size <= *residual)) *residual = isfinite(size) ? size : (double)INFINITY;
}

static void substitute(const gik_cluster_inverse *p, int side, const gik_inverse_work *k)
{
  void *values = p->side[side].values;
  double size[TILE] = {0}, x[TILE];
  for (gable_idx i = k->start; i < k->w; i++) {
    for (gable_idx c = 0; c < k->count; c++)
      x[c] = k->identity ? k->start + c == i : get(p->type, values, entry(&k->x, i, c));
    for (gable_idx q = k->start; q < i; q++) {
      const double t = get(p->type, p->inverse, entry(&k->triangle, i, q));
      for (gable_idx c = 0; t != 0 && c < k->count; c++) x[c] -= t * get(p->type, values, entry(&k->x, q, c));
    }
    for (gable_idx c = 0; c < k->count; c++) {
      put(p->type, values, entry(&k->x, i, c), x[c] * pivot(p, side, k, i));
      size[c] += p->side[side].sums[k->first + i] * fabs(get(p->type, values, entry(&k->x, i, c)));
    }
  }
  for (gable_idx c = 0; k->identity && c < k->count; c++) keep_largest(&p->residual[0], size[c]);
}

/* Magnitudes in the tile's columns of |L_JJ| |D| |U_JJ|. */
static void weigh(const gik_cluster_inverse *p, const gik_inverse_work *k)
{
  const gik_inverse_view u = gik_inverse_upper(p, k);
  for (gable_idx c = k->start; c < k->start + k->count; c++) {
    const double own = gik_inverse_times_d(p, k->first, k->w, c);
    double sum = p->coupling ? own : own / fabs(get(p->type, p->inverse, entry(&u, c, c)));
    for (gable_idx i = 0; i < c; i++)
      sum += gik_inverse_times_d(p, k->first, k->w, i) * fabs(get(p->type, p->inverse, entry(&u, i, c)));
    p->weights[k->first + c] = sum;
  }
}

/* The tile's columns of |L_JJ| |D| |U_JJ| |inverse_J|. */
static void measure(const gik_cluster_inverse *p, const gik_inverse_work *k)
{
  const gable_idx *before = p->before && !p->side[1].values ? p->before + k->first : NULL;
  for (gable_idx c = k->start; c < k->start + k->count; c++) {
    double sum = 0;
    for (gable_idx i = 0; i < k->w; i++)
      sum += p->weights[k->first + i] * fabs(get(p->type, p->inverse, entry(&k->triangle, before ? before[i] : i, c)));
    keep_largest(&p->residual[1], sum);
  }
}

/* Rows of -L_IJ times inv(L_JJ), in place: column c of the product needs what stands at c and right of it. */
static void multiply_rows(const gik_cluster_inverse *p, const gik_inverse_tile *t)
{
  const gik_inverse_work k = gik_inverse_work_of(p, 0, t);
  const gik_inverse_view x = gik_inverse_view_of(p->side[0].at[t->cluster], k.w, 1);
  void *values = p->side[0].values;
  for (gable_idx i = 0; i < k.count; i++)
    for (gable_idx c0 = 0; c0 < k.w; c0 += TILE) {
      const gable_idx count = k.w - c0 < TILE ? k.w - c0 : TILE;
      double sum[TILE] = {0};
      for (gable_idx q = c0; q < k.w; q++)
        add_row(p->type, get(p->type, values, entry(&k.row, i, q)), values, entry(&x, q, c0), count, sum);
      for (gable_idx c = 0; c < count; c++) put(p->type, values, entry(&k.row, i, c0 + c), sum[c]);
    }
}

/* Entry (i,c) of what stands left of lower_JJ in inverse_J, transposed: of D^-1 lower_JJ where it is symmetric. */
static double left(const gik_cluster_inverse *p, gable_idx j, gable_idx i, gable_idx c)
{
  const gik_inverse_side *u = &p->side[1];
  const gable_idx first = p->first[j], w = p->first[j + 1] - first;
  const gable_off at = p->side[0].at[j] + i * (gable_off)w + c;
  if (u->values) return get(p->type, u->values, u->at[j] + c * (w + u->ptr[j + 1] - u->ptr[j]) + i);
  const void *lower = p->side[0].values;
  if (!p->coupling) return get(p->type, lower, at);
  double sum = p->dinv[first + i] * get(p->type, lower, at);
  if (i + 1 < w) sum += p->coupling[first + i] * get(p->type, lower, at + w);
  if (i > 0) sum += p->coupling[first + i - 1] * get(p->type, lower, at - w);
  return sum;
}

static void combine_tile(const gik_cluster_inverse *p, const gik_inverse_tile *t)
{
  const gik_inverse_work k = gik_inverse_work_of(p, 0, t);
  const gable_idx *before = p->before ? p->before + k.first : NULL;
  const int both = before && !p->side[1].values;
  const gable_idx begin = t->part * GIK_INVERSE_PART, end = begin + GIK_INVERSE_PART;
  for (gable_idx r = begin; r < k.w && r < end; r++) {
    const gable_off to = p->inverse_at[t->cluster] + (both ? before[r] : r) * (gable_off)k.w;
    double sum[TILE] = {0};
    for (gable_idx i = t->first; i < k.w; i++)
      add_row(p->type, left(p, t->cluster, i, r), p->side[0].values, entry(&k.x, i, 0), k.count, sum);
    for (gable_idx c = 0; c < k.count; c++)
      put(p->type, p->inverse, to + (before ? before[t->first + c] : t->first + c), sum[c]);
  }
}

static void permute_rows(const gik_cluster_inverse *p, const gik_inverse_tile *t)
{
  const gik_inverse_work k = gik_inverse_work_of(p, 0, t);
  void *values = p->side[0].values;
  for (gable_idx i = 0; i < k.count; i++) {
    for (gable_idx c = 0; c < k.w; c++) put(p->type, p->held, c, get(p->type, values, entry(&k.row, i, c)));
    for (gable_idx c = 0; c < k.w; c++)
      put(p->type, values, entry(&k.row, i, p->before[k.first + c]), get(p->type, p->held, c));
  }
}

/* f of every tile of columns of L_JJ. */
static void of_columns(const gik_cluster_inverse *p, void (*f)(const gik_cluster_inverse *, const gik_inverse_work *))
{
  for (gable_off t = 0; t < p->side[0].tiles; t++) {
    const gik_inverse_work k = gik_inverse_work_of(p, 0, &p->side[0].tile[t]);
    f(p, &k);
  }
}

static gable_status invert(gable_context *ctx, const gik_cluster_inverse *p, void *stream)
{
  (void)ctx, (void)stream;
  for (int side = 0; side < 2 && p->side[side].values; side++) {
    const gik_inverse_side *s = &p->side[side];
    for (int step = 0; step < 2; step++)
      for (gable_off t = 0; t < s->tiles; t++) {
        const gik_inverse_work k = gik_inverse_work_of(p, side, &s->tile[t]);
        if (step) substitute(p, side, &k);
        if (!step && k.identity) add_magnitudes(p, side, &k);
      }
  }
  of_columns(p, weigh);
  for (gable_off t = 0; t < p->products; t++)
    (gik_inverse_work_of(p, 0, &p->product[t]).identity ? combine_tile : multiply_rows)(p, &p->product[t]);
  for (gable_off t = 0; p->before && t < p->products; t++)
    if (!p->product[t].part) permute_rows(p, &p->product[t]);
  of_columns(p, measure);
  return GABLE_OK;
}

const gik_cluster_inverses gik_cluster_inverses_cpu = {gather, place, invert};
