/* cluster_record.c: lists, drafts, and the stream of records. */
#include "supernodal/cluster_record.h"

#include <string.h>

#include "base/type_size.h"

static const char purpose[] = "the tasks of a solve";

gable_status gi_ragged_push(gable_context *ctx, gi_ragged *r, gable_idx value)
{
  gable_status status = GABLE_OK;
  GI_RESERVE(ctx, r->data, r->used, r->used + 1, r->capacity, purpose);
  r->data[r->used++] = value;
done:
  return status;
}

gable_status gi_ragged_close(gable_context *ctx, gi_ragged *r)
{
  gable_status status = GABLE_OK;
  GI_RESERVE(ctx, r->end, r->count, r->count + 1, r->count_capacity, purpose);
  r->end[r->count++] = r->used;
done:
  return status;
}

void gi_ragged_clear(gi_ragged *r)
{
  r->count = r->used = 0;
}

gable_status gi_ragged_copy(gable_context *ctx, gi_ragged *to, const gi_ragged *from, gable_off k)
{
  gable_status status = GABLE_OK;
  for (gable_off e = from ? gi_ragged_begin(from, k) : 0; from && e < from->end[k]; e++)
    GI_TRY(gi_ragged_push(ctx, to, from->data[e]));
  GI_TRY(gi_ragged_close(ctx, to));
done:
  return status;
}

void gi_ragged_release(gable_context *ctx, gi_ragged *r)
{
  gi_free(ctx, r->end);
  gi_free(ctx, r->data);
}

void gi_draft_clear(gi_draft *d, gable_idx cluster)
{
  d->cluster = cluster;
  d->strips = 0;
  d->sources = 0;
  d->parts = 1;
  d->values = 0;
  gi_ragged_clear(&d->in);
  gi_ragged_clear(&d->in_product);
  gi_ragged_clear(&d->add);
  gi_ragged_clear(&d->add_product);
}

void gi_draft_release(gable_context *ctx, gi_draft *d)
{
  gi_ragged_release(ctx, &d->in);
  gi_ragged_release(ctx, &d->in_product);
  gi_ragged_release(ctx, &d->add);
  gi_ragged_release(ctx, &d->add_product);
}

static gable_idx aligned(gable_off bytes)
{
  return (gable_idx)((bytes + GIK_FLOW_ALIGN - 1) / GIK_FLOW_ALIGN * GIK_FLOW_ALIGN);
}

/* Where the arrays of d's record begin; its length. */
static gable_idx lay_out(const gi_draft *d, gik_flow_task *t)
{
  const gable_off products = d->in_product.used + d->add_product.used;
  const int adds = d->add.used || d->add_product.used;
  gable_idx at = aligned(sizeof *t);
  memset(t, 0, sizeof *t);
  t->cluster = d->cluster;
  t->strips = d->strips;
  t->parts = d->parts;
  t->outputs = (gable_idx)d->add.count;
  t->add = adds ? (gable_idx)d->in.count : -1;
  t->sums = (gable_idx)(d->in.count + (adds ? d->add.count : 0));
  t->strip = at;
  at += aligned(d->strips * (gable_off)sizeof *d->strip);
  t->out = at;
  at += aligned(t->outputs * (gable_off)sizeof *d->out);
  t->ptr = at;
  at += aligned((t->sums + 1) * (gable_off)sizeof(uint16_t));
  t->term = at;
  at += aligned((d->in.used + d->add.used) * (gable_off)sizeof(gable_idx));
  if (!products) return at;
  t->product_ptr = at;
  at += aligned((t->sums + 1) * (gable_off)sizeof(uint16_t));
  t->product = at;
  return at + aligned(products * (gable_off)sizeof(gable_idx));
}

/* a's lists, then b's where there is room for them; each entry is width numbers. */
static void write_lists(uint16_t *ptr, gable_idx *data, const gi_ragged *a, const gi_ragged *b, gable_idx sums,
                        gable_idx width)
{
  ptr[0] = 0;
  for (gable_idx q = 0; q < sums; q++)
    ptr[q + 1] = (uint16_t)((q < a->count ? a->end[q] : a->used + b->end[q - a->count]) / width);
  if (a->used) memcpy(data, a->data, (size_t)a->used * sizeof *data);
  if (b->used) memcpy(data + a->used, b->data, (size_t)b->used * sizeof *data);
}

void gi_draft_strip(gi_draft *d, gable_idx first, gable_idx inputs)
{
  const gable_idx steps = (inputs + GIK_FLOW_STEP - 1) / GIK_FLOW_STEP;
  d->strip[d->strips] = (gik_flow_strip){(gable_idx)d->values, (uint16_t)first, (uint16_t)steps};
  d->values += (gable_off)steps * GIK_FLOW_TILE;
  d->strips++;
}

void gi_draft_source(gi_draft *d, gik_flow_source source)
{
  source.to = d->strip[d->strips - 1].values;
  d->source[d->sources++] = source;
}

gable_off gi_draft_bytes(const gi_draft *d, gable_idx value_bytes)
{
  gik_flow_task head;
  return lay_out(d, &head) + d->values * value_bytes;
}

void gi_records_release(gable_context *ctx, gi_records *r)
{
  gi_free(ctx, r->first);
}

gable_status gi_records_init(gable_context *ctx, gi_records *r, gi_cluster_tasks *tasks, const gi_task_plan *plan)
{
  gable_status status = GABLE_OK;
  *r = (gi_records){.tasks = tasks, .value_bytes = (gable_idx)gi_type_size(plan->type), .limits = plan->limits};
  GI_ALLOC_ZERO(ctx, tasks->at, 1);
  GI_ALLOC_ZERO(ctx, r->first, 1);
done:
  return status;
}

static gable_status reserve(gable_context *ctx, gi_records *r, gable_off bytes, gable_idx sources)
{
  gable_status status = GABLE_OK;
  gi_cluster_tasks *t = r->tasks;
  const gable_off used = t->at[t->count].record;
  GI_REQUIRE(t->count < INT32_MAX - 1, GABLE_ERR_LIMIT, "more than %d tasks in a solve", t->count);
  GI_RESERVE(ctx, t->records, used, used + bytes, r->capacity, purpose);
  GI_RESERVE(ctx, t->at, t->count + 1, t->count + 2, r->task_capacity, purpose);
  GI_RESERVE(ctx, r->first, t->count + 1, t->count + 2, r->first_capacity, purpose);
  GI_RESERVE(ctx, t->source, t->sources, t->sources + sources, r->source_capacity, purpose);
done:
  return status;
}

gable_status gi_records_add(gable_context *ctx, gi_records *r, gi_draft *d)
{
  gable_status status = GABLE_OK;
  gi_cluster_tasks *t = r->tasks;
  gik_flow_task head;
  if (!d->add.count) goto done;
  const gable_idx bytes = lay_out(d, &head);
  const gable_off terms = d->in.used + d->add.used + (d->in_product.used + d->add_product.used) / 2;
  GI_REQUIRE(terms <= r->limits.terms, GABLE_ERR_LIMIT, "%lld terms in one task of a solve, at most %d are summed",
             (long long)terms, r->limits.terms);
  GI_REQUIRE(bytes + d->values * r->value_bytes <= r->limits.bytes, GABLE_ERR_LIMIT,
             "a task of a solve has %lld bytes, at most %d are copied at a time",
             (long long)(bytes + d->values * r->value_bytes), r->limits.bytes);
  GI_TRY(reserve(ctx, r, bytes, d->sources));
  unsigned char *record = t->records + t->at[t->count].record;
  memset(record, 0, (size_t)bytes);
  memcpy(record, &head, sizeof head);
  for (gable_idx k = 0; k < d->strips; k++) d->strip[k].values = bytes + d->strip[k].values * r->value_bytes;
  for (gable_idx k = 0; k < d->sources; k++) t->source[t->sources++] = d->source[k];
  r->first[t->count + 1] = t->sources;
  memcpy(record + head.strip, d->strip, (size_t)d->strips * sizeof *d->strip);
  memcpy(record + head.out, d->out, (size_t)head.outputs * sizeof *d->out);
  write_lists((uint16_t *)(record + head.ptr), (gable_idx *)(record + head.term), &d->in, &d->add, head.sums, 1);
  if (head.product_ptr)
    write_lists((uint16_t *)(record + head.product_ptr), (gable_idx *)(record + head.product), &d->in_product,
                &d->add_product, head.sums, 2);
  t->at[t->count + 1].record = t->at[t->count].record + bytes;
  t->at[t->count + 1].values = t->at[t->count].values + d->values * r->value_bytes;
  t->count++;
  gi_draft_clear(d, -1);
done:
  return status;
}

gable_status gi_records_arrange(gable_context *ctx, const gi_records *r, const gable_idx *order)
{
  gable_status status = GABLE_OK;
  gi_cluster_tasks *t = r->tasks, to = {.count = t->count, .places = t->places};
  const gable_off *first = r->first;
  GI_ALLOC(ctx, to.records, t->at[t->count].record);
  GI_ALLOC_ZERO(ctx, to.at, t->count + 1);
  GI_ALLOC(ctx, to.source, t->sources);
  for (gable_idx k = 0; k < t->count; k++) {
    const gik_flow_at *from = t->at + order[k], *at = to.at + k;
    const gable_off bytes = from[1].record - from->record;
    memcpy(to.records + at->record, t->records + from->record, (size_t)bytes);
    to.at[k + 1] = (gik_flow_at){at->record + bytes, at->values + from[1].values - from->values};
    for (gable_off e = first[order[k]]; e < first[order[k] + 1]; e++) {
      to.source[to.sources] = t->source[e];
      to.source[to.sources++].to += at->values / r->value_bytes;
    }
  }
  gi_cluster_tasks_release(ctx, t);
  *t = to;
  to = (gi_cluster_tasks){0};
done:
  gi_cluster_tasks_release(ctx, &to);
  return status;
}
