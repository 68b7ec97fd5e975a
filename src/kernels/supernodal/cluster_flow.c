/* cluster_flow.c: the plain version: tasks one after the other, every sum from left to right. */
#include "kernels/supernodal/cluster_flow.h"

#include <string.h>

#include "base/status.h"
#include "cuda/gpu_class.h"

/* The pattern of cuda/device_wait.cuh. */
static const uint64_t NOT_YET = 0x7ff4deadbeef0001ull;

static int not_yet(const double *p)
{
  uint64_t bits;
  memcpy(&bits, p, sizeof bits);
  return bits == NOT_YET;
}

static double entry(const gik_flow_vectors *v, gable_idx i, gable_idx r)
{
  const gable_off k = i * v->row + r * v->column;
  const double value = v->type == GABLE_TYPE_S ? (double)((const float *)v->data)[k] : ((const double *)v->data)[k];
  return v->scale ? v->scale[i] * value : value;
}

static void put_entry(const gik_flow_vectors *v, gable_idx i, gable_idx r, double value)
{
  const gable_off k = i * v->row + r * v->column;
  if (v->scale) value *= v->scale[i];
  if (v->type == GABLE_TYPE_S)
    ((float *)v->data)[k] = (float)value;
  else
    ((double *)v->data)[k] = value;
}

/* One solve: the copy of the board in use and the other, and the task at hand. */
typedef struct flight {
  const gik_cluster_flow *p;
  double *own, *next;
  const unsigned char *record, *values; /* values: of the task, less the length of its record */
  const gik_flow_task *t;
  int missing; /* 1: the task reads a place that is still empty */
} flight;

static double place(flight *f, gable_idx id, gable_idx r)
{
  const double *at = f->own + (gable_off)id * f->p->rhs + r;
  if (not_yet(at)) f->missing = 1;
  return *at;
}

static double gather(flight *f, gable_idx q, gable_idx r)
{
  const gik_flow_task *t = f->t;
  const uint16_t *ptr = (const uint16_t *)(f->record + t->ptr);
  const gable_idx *term = (const gable_idx *)(f->record + t->term);
  double sum = 0;
  for (int k = ptr[q]; k < ptr[q + 1]; k++)
    sum += term[k] >= 0 ? place(f, term[k], r) : r < f->p->count ? entry(&f->p->b, ~term[k], r) : 0;
  if (!t->product_ptr) return sum;
  ptr = (const uint16_t *)(f->record + t->product_ptr);
  term = (const gable_idx *)(f->record + t->product);
  for (int k = ptr[q]; k < ptr[q + 1]; k++) {
    const double a = f->p->coefficient[term[2 * k]];
    if (a != 0) sum += a * place(f, term[2 * k + 1], r);
  }
  return sum;
}

/* Output o of a strip whose values begin at values. */
static double strip_sum(const gik_cluster_flow *p, const gik_flow_strip *s, const unsigned char *values, gable_idx o,
                        const double *v)
{
  double sum = 0;
  for (gable_idx i = 0; i < s->steps * GIK_FLOW_STEP; i++) {
    const gable_idx at = i / GIK_FLOW_STEP * GIK_FLOW_TILE + o * GIK_FLOW_STEP + i % GIK_FLOW_STEP;
    sum += (p->type == GABLE_TYPE_S ? (double)((const float *)values)[at] : ((const double *)values)[at]) *
           v[s->first + i];
  }
  return sum;
}

static void run_column(flight *f, gable_idx r)
{
  const gik_cluster_flow *p = f->p;
  const gik_flow_task *t = f->t;
  const gik_flow_strip *strip = (const gik_flow_strip *)(f->record + t->strip);
  const gik_flow_out *out = (const gik_flow_out *)(f->record + t->out);
  double v[GIK_FLOW_SUMS];
  for (gable_idx q = 0; q < t->sums; q++) v[q] = gather(f, q, r);
  for (gable_idx o = 0; o < t->outputs; o++) {
    double sum = 0;
    if (out[o].id < 0) continue;
    for (gable_idx part = 0; part < t->parts; part++) {
      const gik_flow_strip *s = strip + o / GIK_FLOW_STRIP * t->parts + part;
      sum += strip_sum(p, s, f->values + s->values, o % GIK_FLOW_STRIP, v);
    }
    if (t->add >= 0) sum += v[t->add + o];
    f->own[(gable_off)out[o].id * p->rhs + r] = sum;
    memcpy(f->next + (gable_off)out[o].id * p->rhs + r, &NOT_YET, sizeof NOT_YET);
    if (out[o].x >= 0 && r < p->count) put_entry(&p->x, out[o].x, r, sum);
  }
}

static gable_status solve(gable_context *ctx, const gik_cluster_flow *p, void *stream)
{
  const gable_off size = p->places * p->rhs;
  const int parity = (int)(p->control->parity[0] & 1);
  flight f = {.p = p, .own = p->board + parity * size, .next = p->board + !parity * size};
  (void)ctx, (void)stream;
  for (gable_idx k = p->skip; k < p->tasks; k++) {
    f.record = p->records + p->at[k].record;
    f.values = p->values + p->at[k].values - (p->at[k + 1].record - p->at[k].record);
    f.t = (const gik_flow_task *)f.record;
    for (gable_idx r = 0; r < p->rhs; r++) run_column(&f, r);
    if (f.missing && p->control->fault_row < 0) p->control->fault_row = f.t->cluster;
  }
  p->control->parity[0] ^= 1;
  return GABLE_OK;
}

static gable_status limits(gable_context *ctx, gik_flow_limits *out)
{
  (void)ctx;
  *out = (gik_flow_limits){47104, GIK_FLOW_SUMS, GIK_FLOW_TERMS, gik_gpu_class_generic()->processors};
  return GABLE_OK;
}

static gable_status prepare(gable_context *ctx, gik_cluster_flow *p)
{
  (void)ctx;
  p->blocks = 1;
  p->ring = 0;
  return GABLE_OK;
}

static void pack_strip(const gik_flow_pack *p, const gik_flow_source *s)
{
  const gable_idx steps = (s->inputs + GIK_FLOW_STEP - 1) / GIK_FLOW_STEP;
  for (gable_idx e = 0; e < steps * GIK_FLOW_TILE; e++) {
    const gable_idx o = e % GIK_FLOW_TILE / GIK_FLOW_STEP, i = e / GIK_FLOW_TILE * GIK_FLOW_STEP + e % GIK_FLOW_STEP;
    if (o < s->begin || o >= s->end) continue;
    const int there = o < s->rows && i < s->inputs;
    const gable_off at = s->at + (gable_off)o * s->step_out + (gable_off)i * s->step_in;
    if (p->type == GABLE_TYPE_S)
      ((float *)p->packed)[s->to + e] = there ? ((const float *)p->operators[s->side])[at] : 0;
    else
      ((double *)p->packed)[s->to + e] = there ? ((const double *)p->operators[s->side])[at] : 0;
  }
}

static gable_status pack(gable_context *ctx, const gik_flow_pack *p, void *stream)
{
  (void)ctx, (void)stream;
  for (gable_off k = 0; k < p->sources; k++) pack_strip(p, p->source + k);
  return GABLE_OK;
}

static gable_status clear(gable_context *ctx, double *board, gable_off count, void *stream)
{
  (void)ctx, (void)stream;
  for (gable_off k = 0; k < count; k++) memcpy(board + k, &NOT_YET, sizeof NOT_YET);
  return GABLE_OK;
}

const gik_cluster_flows gik_cluster_flows_cpu = {limits, prepare, pack, solve, clear};
