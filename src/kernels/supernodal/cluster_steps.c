/* cluster_steps.c: the plain version: one output after the other, every sum from left to right. */
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

/* Column r of cluster j's product. */
static void multiply(const gik_cluster_product *p, gable_idx j, gable_idx r)
{
  const gable_idx w = p->first[j + 1] - p->first[j], *row = p->row + p->ptr[j];
  const gable_idx all = w + (gable_idx)(p->ptr[j + 1] - p->ptr[j]);
  const gable_idx inputs = p->forward ? w : all, outputs = p->forward ? all : w;
  const gable_off position = p->first[j] + p->ptr[j];
  double *own = p->own + (gable_off)p->first[j] * p->rhs + r, *out = p->out + (gable_off)p->first[j] * p->rhs + r;
  for (gable_idx i = 0; p->forward && !p->leaves && i < w; i++)
    own[(gable_off)i * p->rhs] += slots_of(p, position + i, r);
  for (gable_idx o = 0; o < outputs; o++) {
    double sum = 0;
    for (gable_idx i = 0; i < inputs; i++) {
      const gable_off at = p->transposed ? (gable_off)i * outputs + o : (gable_off)o * inputs + i;
      const double in = i < w ? own[(gable_off)i * p->rhs] : p->out[(gable_off)row[i - w] * p->rhs + r];
      sum += value(p->type, p->values, p->value_at[j] + at) * in;
    }
    if (o < w)
      out[(gable_off)o * p->rhs] = sum;
    else
      p->slots[(p->ptr[j] + o - w) * p->rhs + r] = sum + (p->leaves ? 0 : slots_of(p, position + o, r));
  }
}

static gable_status product(gable_context *ctx, const gik_cluster_product *p, void *stream)
{
  (void)ctx, (void)stream;
  for (gable_idx j = p->begin; j < p->end; j++)
    for (gable_idx r = 0; r < p->rhs; r++) multiply(p, j, r);
  return GABLE_OK;
}

static gable_status off(gable_context *ctx, const gik_cluster_off *p, void *stream)
{
  (void)ctx, (void)stream;
  for (gable_idx i = p->begin; i < p->end; i++)
    for (gable_idx r = 0; r < p->rhs; r++) {
      double sum = 0;
      for (gable_off k = p->ptr[i]; k < p->ptr[i + 1]; k++)
        sum += value(p->type, p->value, k) * p->v[(gable_off)p->col[k] * p->rhs + r];
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

static gable_status frame(gable_context *ctx, const gik_cluster_frame *p, void *stream)
{
  (void)ctx, (void)stream;
  for (gable_idx e = 0; e < p->n; e++)
    for (gable_idx r = 0; r < p->rhs; r++) {
      const gable_idx k = p->inverse ? p->inverse[e] : e, i = p->place ? p->place[e] : e;
      const gable_off at = i * p->row + r * p->column;
      const double scale = p->scale ? p->scale[i] : 1;
      double *work = p->work + (gable_off)k * p->rhs + r;
      if (p->in)
        *work = r < p->count ? scale * value(p->type, p->data, at) : 0;
      else if (r < p->count && p->type == GABLE_TYPE_S)
        ((float *)p->data)[at] = (float)(scale * *work);
      else if (r < p->count)
        ((double *)p->data)[at] = scale * *work;
    }
  return GABLE_OK;
}

const gik_cluster_steps gik_cluster_steps_cpu = {product, off, diagonal, frame};
