/* cluster_steps.c: the plain version: one tile after the other, every sum from left to right. */
#include "kernels/supernodal/cluster_steps.h"

static double value(gable_type type, const void *values, gable_off k)
{
  return type == GABLE_TYPE_S ? (double)((const float *)values)[k] : ((const double *)values)[k];
}

static double slots_of(const gik_cluster_product *p, gable_off position, gable_idx r)
{
  double sum = 0;
  for (gable_off k = p->in_ptr[position]; k < p->in_ptr[position + 1]; k++) sum += p->slots[p->in_slot[k] * p->rhs + r];
  return sum;
}

/* Input i of cluster j. */
static double input(const gik_cluster_product *p, gable_idx j, gable_idx i, gable_idx r)
{
  const gable_idx w = p->first[j + 1] - p->first[j];
  const gable_off own = (gable_off)(p->first[j] + i) * p->rhs + r;
  if (p->forward) return p->own[own] + slots_of(p, p->first[j] + p->ptr[j] + i, r);
  return i < w ? p->own[own] : p->out[(gable_off)p->row[p->ptr[j] + i - w] * p->rhs + r];
}

static void put(const gik_cluster_product *p, gable_idx j, gable_idx o, gable_idx r, double sum)
{
  const gable_idx w = p->first[j + 1] - p->first[j];
  if (o < w) {
    p->out[(gable_off)(p->first[j] + o) * p->rhs + r] = sum;
  } else {
    const gable_off slot = p->ptr[j] + o - w;
    p->slots[slot * p->rhs + r] = sum + slots_of(p, p->first[j] + p->ptr[j] + o, r);
  }
}

/* Output o of tile t for right-hand side r, over the tile's inputs. */
static double sum_of(const gik_cluster_product *p, const gik_cluster_tile *t, gable_idx o, gable_idx r)
{
  const gable_idx j = t->cluster, w = p->first[j + 1] - p->first[j];
  const gable_idx all = w + (gable_idx)(p->ptr[j + 1] - p->ptr[j]), inputs = p->forward ? w : all;
  const gable_off step_out = p->transposed ? 1 : inputs, step_in = p->transposed ? (p->forward ? all : w) : 1;
  double sum = 0;
  for (gable_idx i = t->in_begin; i < t->in_end; i++)
    sum += value(p->type, p->values, p->value_at[j] + o * step_out + i * step_in) * input(p, j, i, r);
  return sum;
}

/* The last part of some outputs: all parts are there. */
static void add_parts(const gik_cluster_product *p, const gik_cluster_tile *t)
{
  const gable_off size = t->end - t->begin;
  p->counter[t->counter] = 0;
  for (gable_idx o = t->begin; o < t->end; o++)
    for (gable_idx r = 0; r < p->rhs; r++) {
      double sum = 0;
      for (gable_idx k = 0; k < t->parts; k++) sum += p->partial[(t->partial + k * size + o - t->begin) * p->rhs + r];
      put(p, t->cluster, o, r, sum);
    }
}

static gable_status product(gable_context *ctx, const gik_cluster_product *p, const gik_cluster_tile *tiles,
                            gable_idx count, void *stream)
{
  (void)ctx, (void)stream;
  for (const gik_cluster_tile *t = tiles; t < tiles + count; t++) {
    double *partial = p->partial + (t->partial + (gable_off)t->part * (t->end - t->begin)) * p->rhs;
    for (gable_idx o = t->begin; o < t->end; o++)
      for (gable_idx r = 0; r < p->rhs; r++) {
        const double sum = sum_of(p, t, o, r);
        if (t->parts == 1)
          put(p, t->cluster, o, r, sum);
        else
          partial[(gable_off)(o - t->begin) * p->rhs + r] = sum;
      }
    if (t->parts > 1 && ++p->counter[t->counter] == (unsigned)t->parts) add_parts(p, t);
  }
  return GABLE_OK;
}

static gable_status off(gable_context *ctx, const gik_cluster_off *p, void *stream)
{
  (void)ctx, (void)stream;
  for (gable_idx i = p->begin; i < p->end; i++)
    for (gable_idx r = 0; r < p->rhs; r++) {
      double sum = 0;
      for (gable_off k = p->ptr[i]; k < p->ptr[i + 1]; k++)
        sum += value(p->type, p->value, k) * p->x[(gable_off)p->col[k] * p->rhs + r];
      p->v[(gable_off)i * p->rhs + r] -= sum;
    }
  return GABLE_OK;
}

static gable_status diagonal(gable_context *ctx, const gik_cluster_diagonal *p, void *stream)
{
  (void)ctx, (void)stream;
  const gable_idx n = p->n, rhs = p->rhs;
  for (gable_idx i = 0; i < n; i++) {
    const double above = p->coupling && i > 0 ? p->coupling[i - 1] : 0,
                 below = p->coupling && i + 1 < n ? p->coupling[i] : 0;
    for (gable_idx r = 0; r < rhs; r++) {
      const double *v = p->v + (gable_off)i * rhs + r;
      double *out = p->out + (gable_off)i * rhs + r;
      if (!p->coupling) {
        *out = p->divide ? *v * p->dinv[i] : *v / p->dinv[i];
      } else { /* 2 x 2 blocks: D = [a c; c d]^-1 of D^-1 */
        const double c = below != 0 ? below : above, a = p->dinv[i];
        const double other = below != 0 ? v[rhs] : above != 0 ? v[-rhs] : 0;
        const double d = below != 0 ? p->dinv[i + 1] : above != 0 ? p->dinv[i - 1] : 0;
        if (c == 0)
          *out = p->divide ? *v * a : *v / a;
        else
          *out = p->divide ? a * *v + c * other : (d * *v - c * other) / (a * d - c * c);
      }
    }
  }
  return GABLE_OK;
}

static gable_status take(gable_context *ctx, const gik_cluster_frame *p, void *stream)
{
  (void)ctx, (void)stream;
  for (gable_idx k = 0; k < p->n; k++)
    for (gable_idx r = 0; r < p->rhs; r++) {
      const gable_idx i = p->place[k];
      const double v = r < p->count ? value(p->type, p->data, i * p->row + r * p->column) : 0;
      p->work[(gable_off)k * p->rhs + r] = p->scale && r < p->count ? p->scale[i] * v : v;
    }
  return GABLE_OK;
}

static gable_status give(gable_context *ctx, const gik_cluster_frame *p, void *stream)
{
  (void)ctx, (void)stream;
  for (gable_idx k = 0; k < p->n; k++)
    for (gable_idx r = 0; r < p->count; r++) {
      const gable_idx i = p->place ? p->place[k] : k;
      const double v = p->work[(gable_off)k * p->rhs + r];
      const double scaled = p->scale ? p->scale[i] * v : v;
      if (p->type == GABLE_TYPE_S)
        ((float *)p->data)[i * p->row + r * p->column] = (float)scaled;
      else
        ((double *)p->data)[i * p->row + r * p->column] = scaled;
    }
  return GABLE_OK;
}

const gik_cluster_steps gik_cluster_steps_cpu = {product, off, diagonal, take, give};
