/* block_steps.c: the plain version: one tile after the other, every sum from left to right. */
#include "kernels/supernodal/block_steps.h"

#include <string.h>

typedef struct block {
  gable_idx first, w, rows;
  gable_off list, ld;
  const double *m;
} block;

static block block_of(const gik_block_panels *p, gable_idx b)
{
  const gable_idx w = p->first[b + 1] - p->first[b], rows = (gable_idx)(p->row_at[b + 1] - p->row_at[b]);
  return (block){p->first[b], w, rows, p->row_at[b], (gable_off)w + rows, p->value + p->value_at[b]};
}

/* What blocks of lower levels take from position p of the block. */
static double slots_of(const gik_block_batch *p, const block *b, gable_idx position, gable_idx r)
{
  const gable_off at = b->first + b->list + position;
  double sum = 0;
  for (gable_off k = p->panels.in_ptr[at]; k < p->panels.in_ptr[at + 1]; k++)
    sum += p->slots[(gable_off)p->panels.in_slot[k] * p->rhs + r];
  return sum;
}

static double own_of(const gik_block_batch *p, const block *b, gable_idx k, gable_idx r)
{
  return p->own[(gable_off)(b->first + k) * p->rhs + r];
}

static double *out_of(const gik_block_batch *p, const block *b, gable_idx k, gable_idx r)
{
  return p->out + (gable_off)(b->first + k) * p->rhs + r;
}

static void forward_tile(const gik_block_batch *p, const gik_block_tile *t)
{
  const block b = block_of(&p->panels, t->block);
  for (gable_idx i = t->begin; i < t->end; i++)
    for (gable_idx r = 0; r < p->rhs; r++) {
      double sum = 0;
      for (gable_idx k = 0; k < b.w && k <= (i < b.w ? i : b.w); k++) {
        const double taken = p->part == GIK_BLOCK_BELOW ? 0 : slots_of(p, &b, k, r);
        sum += b.m[i + k * b.ld] * (own_of(p, &b, k, r) - taken);
      }
      if (i < b.w)
        *out_of(p, &b, i, r) = sum;
      else
        p->slots[(b.list + i - b.w) * p->rhs + r] = sum + slots_of(p, &b, i, r);
    }
}

static void backward_tile(const gik_block_batch *p, const gik_block_tile *t)
{
  const block b = block_of(&p->panels, t->block);
  for (gable_idx k = t->begin; k < t->end; k++)
    for (gable_idx r = 0; r < p->rhs; r++) {
      double sum = p->part == GIK_BLOCK_BELOW ? own_of(p, &b, k, r) : 0;
      for (gable_idx i = k; p->part & GIK_BLOCK_DIAGONAL && i < b.w; i++)
        sum += b.m[i + k * b.ld] * own_of(p, &b, i, r);
      for (gable_idx i = 0; p->part & GIK_BLOCK_BELOW && i < b.rows; i++)
        sum -= b.m[b.w + i + k * b.ld] * p->x[(gable_off)p->panels.row[b.list + i] * p->rhs + r];
      *out_of(p, &b, k, r) = sum;
    }
}

static gable_status product(gable_context *ctx, const gik_block_batch *p, const gik_block_tiles *tiles, void *stream)
{
  (void)ctx, (void)stream;
  for (const gik_block_tile *t = tiles->tile; t < tiles->tile + tiles->wide + tiles->narrow; t++)
    if (p->transposed)
      backward_tile(p, t);
    else
      forward_tile(p, t);
  return GABLE_OK;
}

/* x := D^-1 x or D^-T x in the w x w triangle at d; x: rows of rhs numbers. */
static void substitute_block(gable_idx w, const double *d, gable_off ld, int transposed, gable_idx rhs, double *x)
{
  for (gable_idx at = 0; at < w; at++) {
    const gable_idx k = transposed ? w - 1 - at : at;
    double *own = x + (gable_off)k * rhs;
    for (gable_idx i = k + 1; transposed && i < w; i++)
      for (gable_idx r = 0; r < rhs; r++) own[r] -= d[i + k * ld] * x[(gable_off)i * rhs + r];
    for (gable_idx r = 0; r < rhs; r++) own[r] /= d[k + k * ld];
    for (gable_idx i = k + 1; !transposed && i < w; i++)
      for (gable_idx r = 0; r < rhs; r++) x[(gable_off)i * rhs + r] -= d[i + k * ld] * own[r];
  }
}

/* D^-1 (own - slots), or D^-T of what is in out, or (without rows) own. */
static void solve_block(const gik_block_batch *p, const gik_block_tile *t)
{
  const block b = block_of(&p->panels, t->block);
  for (gable_idx k = 0; k < b.w && !t->team; k++)
    for (gable_idx r = 0; r < p->rhs; r++)
      *out_of(p, &b, k, r) = own_of(p, &b, k, r) - (p->transposed ? 0 : slots_of(p, &b, k, r));
  substitute_block(b.w, b.m, b.ld, p->transposed, p->rhs, out_of(p, &b, 0, 0));
}

static gable_status solve(gable_context *ctx, const gik_block_batch *p, const gik_block_tiles *tiles, void *stream)
{
  gik_block_batch below = *p;
  (void)ctx, (void)stream;
  below.part = GIK_BLOCK_BELOW;
  if (!p->transposed) below.own = p->out;
  for (const gik_block_tile *t = tiles->tile; t < tiles->tile + tiles->wide + tiles->narrow; t++) {
    const gable_idx w = p->panels.first[t->block + 1] - p->panels.first[t->block];
    gik_block_tile rows = *t;
    if (rows.begin < w) rows.begin = w;
    if (p->transposed && t->team) backward_tile(&below, t);
    if (p->transposed ? t->end == w : !t->begin) solve_block(p, t);
    if (!p->transposed) forward_tile(&below, &rows);
  }
  return GABLE_OK;
}

/* Row i of [v; y]. */
static double *row_of(const gik_block_rows *p, gable_idx i)
{
  return i < p->n ? p->v + (gable_off)i * p->rhs : p->y + (gable_off)(i - p->n) * p->rhs;
}

static gable_status rows(gable_context *ctx, const gik_block_rows *p, void *stream)
{
  (void)ctx, (void)stream;
  for (gable_idx q = p->begin; q < p->end; q++)
    for (gable_idx r = 0; r < p->rhs; r++) {
      double sum = 0;
      for (gable_off k = p->ptr[q]; k < p->ptr[q + 1]; k++) sum += p->value[k] * row_of(p, p->col[k])[r];
      row_of(p, p->row[q])[r] = sum;
    }
  return GABLE_OK;
}

static gable_status calls_open(gable_context *ctx, void *room, size_t bytes, void **calls)
{
  (void)ctx, (void)room, (void)bytes;
  *calls = NULL;
  return GABLE_OK;
}

static void calls_close(gable_context *ctx, void **calls)
{
  (void)ctx, (void)calls;
}

static gable_status calls_begin(gable_context *ctx, void *calls, void *stream)
{
  (void)ctx, (void)calls, (void)stream;
  return GABLE_OK;
}

static gable_status call(gable_context *ctx, void *calls, const gik_block_call *p, void *stream)
{
  const gable_off ld = (gable_off)p->w + p->rows;
  (void)ctx, (void)calls, (void)stream;
  if (!p->transposed) substitute_block(p->w, p->panel, ld, 0, p->rhs, p->at);
  for (gable_idx k = 0; k < p->w; k++)
    for (gable_idx i = 0; i < p->rows; i++) {
      const double m = p->panel[p->w + i + k * ld];
      double *below = p->v + (gable_off)p->row[i] * p->rhs, *own = p->at + (gable_off)k * p->rhs;
      for (gable_idx r = 0; r < p->rhs; r++)
        if (p->transposed)
          own[r] -= m * below[r];
        else
          below[r] -= m * own[r];
    }
  if (p->transposed) substitute_block(p->w, p->panel, ld, 1, p->rhs, p->at);
  return GABLE_OK;
}

static gable_status spmv_open(gable_context *ctx, const gik_block_spmv *matrix, gable_off count, size_t *bytes,
                              void **products)
{
  (void)ctx, (void)matrix, (void)count;
  *bytes = 0;
  *products = NULL;
  return GABLE_OK;
}

static gable_status spmv_prepare(gable_context *ctx, void *products, void *room, void *stream)
{
  (void)ctx, (void)products, (void)room, (void)stream;
  return GABLE_OK;
}

static void spmv_close(gable_context *ctx, void **products)
{
  (void)ctx, (void)products;
}

static gable_status spmv(gable_context *ctx, void *products, gable_off number, const gik_block_spmv *p, void *stream)
{
  (void)ctx, (void)products, (void)number, (void)stream;
  memset(p->room, 0, (size_t)p->rows * (size_t)p->rhs * sizeof *p->room);
  for (gable_idx q = 0; q < p->rows; q++)
    for (gable_idx k = p->ptr[q]; k < p->ptr[q + 1]; k++)
      for (gable_idx r = 0; r < p->rhs; r++)
        p->room[(gable_off)q * p->rhs + r] += p->value[k] * p->v[(gable_off)p->col[k] * p->rhs + r];
  for (gable_idx q = 0; q < p->rows; q++)
    memcpy(p->v + (gable_off)p->row[q] * p->rhs, p->room + (gable_off)q * p->rhs, (size_t)p->rhs * sizeof *p->v);
  return GABLE_OK;
}

const gik_block_steps gik_block_steps_cpu = {product, solve,     rows,         calls_open, calls_close, calls_begin,
                                             call,    spmv_open, spmv_prepare, spmv_close, spmv};
