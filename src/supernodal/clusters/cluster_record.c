/* cluster_record.c: lists, drafts, and the stream of records. */
#include "supernodal/clusters/cluster_record.h"

#include <string.h>

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

gable_status gi_ragged_append(gable_context *ctx, gi_ragged *to, const gi_ragged *from, gable_off begin, gable_off end)
{
  gable_status status = GABLE_OK;
  if (begin >= end) goto done;
  const gable_off first = gi_ragged_begin(from, begin), used = from->end[end - 1] - first, shift = to->used - first;
  GI_RESERVE(ctx, to->data, to->used, to->used + used, to->capacity, purpose);
  GI_RESERVE(ctx, to->end, to->count, to->count + end - begin, to->count_capacity, purpose);
  if (used) memcpy(to->data + to->used, from->data + first, (size_t)used * sizeof *to->data);
  for (gable_off k = begin; k < end; k++) to->end[to->count++] = from->end[k] + shift;
  to->used += used;
done:
  return status;
}

gable_status gi_ragged_pad(gable_context *ctx, gi_ragged *r, gable_off count)
{
  gable_status status = GABLE_OK;
  GI_RESERVE(ctx, r->end, r->count, r->count + count, r->count_capacity, purpose);
  for (gable_off k = 0; k < count; k++) r->end[r->count++] = r->used;
done:
  return status;
}

void gi_ragged_release(gable_context *ctx, gi_ragged *r)
{
  GI_FREE(ctx, r->end, r->data);
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
  GI_FREE(ctx, r->records, r->at, r->source, r->first);
  *r = (gi_records){0};
}

gable_status gi_records_init(gable_context *ctx, gi_records *r)
{
  gable_status status = GABLE_OK;
  *r = (gi_records){0};
  GI_ALLOC_ZERO(ctx, r->at, 1);
  GI_ALLOC_ZERO(ctx, r->first, 1);
done:
  return status;
}

static gable_status reserve(gable_context *ctx, gi_records *r, gable_off bytes, gable_idx sources)
{
  gable_status status = GABLE_OK;
  const gable_off used = r->at[r->count].record, first = r->first[r->count];
  GI_REQUIRE(r->count < INT32_MAX - 1, GABLE_ERR_LIMIT, "more than %d tasks in a solve", r->count);
  GI_RESERVE(ctx, r->records, used, used + bytes, r->capacity, purpose);
  GI_RESERVE(ctx, r->at, r->count + 1, r->count + 2, r->task_capacity, purpose);
  GI_RESERVE(ctx, r->first, r->count + 1, r->count + 2, r->first_capacity, purpose);
  GI_RESERVE(ctx, r->source, first, first + sources, r->source_capacity, purpose);
done:
  return status;
}

gable_status gi_records_add(gable_context *ctx, gi_records *r, gi_draft *d)
{
  gable_status status = GABLE_OK;
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
  gik_flow_at *at = r->at + r->count;
  unsigned char *record = r->records + at->record;
  memset(record, 0, (size_t)bytes);
  memcpy(record, &head, sizeof head);
  for (gable_idx k = 0; k < d->strips; k++) d->strip[k].values = bytes + d->strip[k].values * r->value_bytes;
  if (d->sources) memcpy(r->source + r->first[r->count], d->source, (size_t)d->sources * sizeof *d->source);
  memcpy(record + head.strip, d->strip, (size_t)d->strips * sizeof *d->strip);
  memcpy(record + head.out, d->out, (size_t)head.outputs * sizeof *d->out);
  write_lists((uint16_t *)(record + head.ptr), (gable_idx *)(record + head.term), &d->in, &d->add, head.sums, 1);
  if (head.product_ptr)
    write_lists((uint16_t *)(record + head.product_ptr), (gable_idx *)(record + head.product), &d->in_product,
                &d->add_product, head.sums, 2);
  at[1] = (gik_flow_at){at->record + bytes, at->values + d->values * r->value_bytes};
  r->first[r->count + 1] = r->first[r->count] + d->sources;
  r->count++;
  gi_draft_clear(d, -1);
done:
  return status;
}
