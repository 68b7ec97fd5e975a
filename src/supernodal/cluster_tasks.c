/* cluster_tasks.c: cuts the products of clusters into tasks.
 *
 *   1. for each direction, level and cluster: the terms of every input and output; long lists become sums of sums
 *   2. tiles of rows x inputs; small clusters of a level share a task
 *   3. records in the order of a list schedule (cluster_task_order.c)
 *
 * Inputs beyond the first part of a cluster's leave partial sums on the board, which the tile of the first part adds:
 * the first part needs the nearest ancestors, the others can be computed before. */
#include "supernodal/cluster_tasks.h"

#include <string.h>

enum { FAN = 24 };                                 /* terms of a sum, at most */
enum { TERMS = 1024 };                             /* of a task's inputs, and of its outputs, about */
enum { LEAST_VALUES = 2048, MOST_VALUES = 12288 }; /* of a task, unless one strip has more */
enum { SMALL_VALUES = 1024, SMALL_INPUTS = 64, SMALL_OUTPUTS = 64, SMALL_TERMS = 256 }; /* of clusters that share one */
enum { LEAST_PART = 16 }; /* inputs of a strip whose outputs several warps compute */
enum { WARPS = 8 };       /* of a thread block */

/* Lists of numbers, one behind the other. */
typedef struct ragged {
  gable_off *end; /* [count] */
  gable_idx *data;
  gable_off count, used, count_capacity, capacity;
} ragged;

/* A task that is being put together. */
typedef struct draft {
  gable_idx cluster, strips, parts;
  gable_off values;
  ragged in, in_product, add, add_product; /* products: pairs of a coefficient and a place */
  gik_flow_strip strip[GIK_FLOW_STRIPS];
  gik_flow_out out[GIK_FLOW_OUTPUTS];
} draft;

typedef struct builder {
  gable_context *ctx;
  const gi_task_plan *plan;
  gi_cluster_tasks *out;
  gable_off bytes, capacity; /* of the stream */
  gable_off task_capacity;
  gable_off slots_at, x_at;   /* places */
  const gi_task_sweep *sweep; /* of the direction at hand, */
  const gi_task_sweep *store; /* and whose operator the cluster at hand has */
  int forward;
  gable_off target; /* values of a task of this level */
  draft tile, shared, sums;
  gable_off sums_begin;       /* places from here on are those of sums */
  ragged in, in_product, add; /* of every input and output of the cluster at hand */
} builder;

/* ---- lists ---- */

static gable_status push(gable_context *ctx, ragged *r, gable_idx value)
{
  gable_status status = GABLE_OK;
  if (r->used == r->capacity) {
    const gable_off capacity = 2 * r->capacity + 256;
    gable_idx *more = gi_grow(ctx, r->data, r->used, capacity, sizeof *more);
    GI_REQUIRE_MEMORY(more, (double)capacity * sizeof *more, "the tasks of a solve");
    r->data = more;
    r->capacity = capacity;
  }
  r->data[r->used++] = value;
done:
  return status;
}

static gable_status close_list(gable_context *ctx, ragged *r)
{
  gable_status status = GABLE_OK;
  if (r->count == r->count_capacity) {
    const gable_off capacity = 2 * r->count_capacity + 256;
    gable_off *more = gi_grow(ctx, r->end, r->count, capacity, sizeof *more);
    GI_REQUIRE_MEMORY(more, (double)capacity * sizeof *more, "the tasks of a solve");
    r->end = more;
    r->count_capacity = capacity;
  }
  r->end[r->count++] = r->used;
done:
  return status;
}

static void clear(ragged *r)
{
  r->count = r->used = 0;
}

static gable_off begin_of(const ragged *r, gable_off k)
{
  return k ? r->end[k - 1] : 0;
}

/* List k of from, or an empty one, behind those of to. */
static gable_status copy_list(gable_context *ctx, ragged *to, const ragged *from, gable_off k)
{
  gable_status status = GABLE_OK;
  for (gable_off e = from ? begin_of(from, k) : 0; from && e < from->end[k]; e++) GI_TRY(push(ctx, to, from->data[e]));
  GI_TRY(close_list(ctx, to));
done:
  return status;
}

static void release(gable_context *ctx, ragged *r)
{
  gi_free(ctx, r->end);
  gi_free(ctx, r->data);
}

/* ---- records ---- */

static void draft_clear(draft *d, gable_idx cluster)
{
  d->cluster = cluster;
  d->strips = 0;
  d->parts = 1;
  d->values = 0;
  clear(&d->in);
  clear(&d->in_product);
  clear(&d->add);
  clear(&d->add_product);
}

static void draft_release(gable_context *ctx, draft *d)
{
  release(ctx, &d->in);
  release(ctx, &d->in_product);
  release(ctx, &d->add);
  release(ctx, &d->add_product);
}

static gable_idx aligned(gable_off bytes)
{
  return (gable_idx)((bytes + GIK_FLOW_ALIGN - 1) / GIK_FLOW_ALIGN * GIK_FLOW_ALIGN);
}

/* Where the arrays of d's record begin; its length. */
static gable_idx lay_out(const draft *d, gik_flow_task *t)
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
static void write_lists(uint16_t *ptr, gable_idx *data, const ragged *a, const ragged *b, gable_idx sums,
                        gable_idx width)
{
  ptr[0] = 0;
  for (gable_idx q = 0; q < sums; q++)
    ptr[q + 1] = (uint16_t)((q < a->count ? a->end[q] : a->used + b->end[q - a->count]) / width);
  if (a->used) memcpy(data, a->data, (size_t)a->used * sizeof *data);
  if (b->used) memcpy(data + a->used, b->data, (size_t)b->used * sizeof *data);
}

static gable_status reserve_record(builder *b, gable_idx bytes)
{
  gable_status status = GABLE_OK;
  gi_cluster_tasks *t = b->out;
  if (b->bytes + bytes > b->capacity) {
    const gable_off capacity = 2 * b->capacity + bytes + 65536;
    unsigned char *more = gi_grow(b->ctx, t->stream, b->bytes, capacity, 1);
    GI_REQUIRE_MEMORY(more, (double)capacity, "the tasks of a solve");
    t->stream = more;
    b->capacity = capacity;
  }
  if (t->count + 1 >= b->task_capacity) {
    const gable_off capacity = 2 * b->task_capacity + 256;
    gable_off *more = gi_grow(b->ctx, t->at, t->count + !!t->at, capacity, sizeof *more);
    GI_REQUIRE_MEMORY(more, (double)capacity * sizeof *more, "the tasks of a solve");
    t->at = more;
    b->task_capacity = capacity;
  }
  GI_REQUIRE(t->count < INT32_MAX - 1, GABLE_ERR_LIMIT, "more than %d tasks in a solve", t->count);
  t->at[0] = 0;
done:
  return status;
}

/* d becomes a record, if there is anything in it. */
static gable_status flush(builder *b, draft *d)
{
  gable_status status = GABLE_OK;
  gi_cluster_tasks *t = b->out;
  gik_flow_task head;
  if (!d->add.count) goto done;
  const gable_idx bytes = lay_out(d, &head);
  GI_REQUIRE(d->in.used + d->add.used <= UINT16_MAX, GABLE_ERR_LIMIT, "%lld terms in one task of a solve",
             (long long)(d->in.used + d->add.used));
  GI_TRY(reserve_record(b, bytes));
  unsigned char *record = t->stream + b->bytes;
  memset(record, 0, (size_t)bytes);
  memcpy(record, &head, sizeof head);
  memcpy(record + head.strip, d->strip, (size_t)d->strips * sizeof *d->strip);
  memcpy(record + head.out, d->out, (size_t)head.outputs * sizeof *d->out);
  write_lists((uint16_t *)(record + head.ptr), (gable_idx *)(record + head.term), &d->in, &d->add, head.sums, 1);
  if (head.product_ptr)
    write_lists((uint16_t *)(record + head.product_ptr), (gable_idx *)(record + head.product), &d->in_product,
                &d->add_product, head.sums, 2);
  b->bytes += bytes;
  t->at[++t->count] = b->bytes;
  if (bytes > t->record_bytes) t->record_bytes = bytes;
  draft_clear(d, -1);
done:
  return status;
}

/* ---- sums of long lists ---- */

static gable_status flush_sums(builder *b)
{
  gable_status status = GABLE_OK;
  draft *d = &b->sums;
  while (d->add.count % GIK_FLOW_STRIP) {
    d->out[d->add.count] = (gik_flow_out){-1, -1};
    GI_TRY(close_list(b->ctx, &d->add));
    GI_TRY(close_list(b->ctx, &d->add_product));
  }
  GI_TRY(flush(b, d));
done:
  return status;
}

/* A place for the sum of count entries of data, each of width numbers: terms (1) or products (2). */
static gable_status add_sum(builder *b, gable_idx cluster, const gable_idx *data, gable_off count, gable_idx width,
                            gable_idx *place)
{
  gable_status status = GABLE_OK;
  draft *d = &b->sums;
  if (d->add.count == GIK_FLOW_OUTPUTS || d->add.used + d->add_product.used > TERMS) GI_TRY(flush_sums(b));
  if (!d->add.count) b->sums_begin = b->out->places;
  d->cluster = cluster;
  *place = (gable_idx)b->out->places++;
  d->out[d->add.count] = (gik_flow_out){*place, -1};
  for (gable_off k = 0; k < count * width; k++) GI_TRY(push(b->ctx, width == 1 ? &d->add : &d->add_product, data[k]));
  GI_TRY(close_list(b->ctx, &d->add));
  GI_TRY(close_list(b->ctx, &d->add_product));
done:
  return status;
}

/* A task must not read what it stores: a sum of sums goes to a later task. */
static int reads_open_sums(const builder *b, const ragged *r, gable_off begin)
{
  if (!b->sums.add.count) return 0;
  for (gable_off k = begin; k < r->used; k++)
    if (r->data[k] >= b->sums_begin) return 1;
  return 0;
}

/* The list that is open at the end of r, from begin on, gets at most FAN terms. */
static gable_status shorten(builder *b, gable_idx cluster, ragged *r, gable_off begin)
{
  gable_status status = GABLE_OK;
  while (r->used - begin > FAN) {
    const gable_off count = r->used - begin, sums = (count + FAN - 1) / FAN;
    if (reads_open_sums(b, r, begin)) GI_TRY(flush_sums(b));
    for (gable_off k = 0; k < sums; k++) {
      const gable_off from = k * FAN, end = from + FAN < count ? from + FAN : count;
      gable_idx place;
      GI_TRY(add_sum(b, cluster, r->data + begin + from, end - from, 1, &place));
      r->data[begin + k] = place;
    }
    r->used = begin + sums;
  }
done:
  return status;
}

/* ---- what the inputs and outputs of a cluster gather ---- */

static gable_status push_slots(builder *b, gable_off position, ragged *to)
{
  gable_status status = GABLE_OK;
  const gi_cluster_side *side = b->sweep->side;
  for (gable_off k = side->in_ptr[position]; k < side->in_ptr[position + 1]; k++)
    GI_TRY(push(b->ctx, to, (gable_idx)(b->slots_at + side->in_slot[k])));
done:
  return status;
}

/* Products of column k with F's row, its long ones as sums. */
static gable_status push_off(builder *b, gable_idx cluster, gable_idx k)
{
  gable_status status = GABLE_OK;
  const gi_task_plan *p = b->plan;
  const gable_off begin = b->in_product.used;
  if (!p->off_ptr) goto done;
  for (gable_off e = p->off_ptr[k]; e < p->off_ptr[k + 1]; e++) {
    GI_TRY(push(b->ctx, &b->in_product, (gable_idx)(p->off_at + e)));
    GI_TRY(push(b->ctx, &b->in_product, (gable_idx)(b->x_at + p->off_col[e])));
  }
  const gable_off count = (b->in_product.used - begin) / 2;
  if (count <= FAN) goto done;
  for (gable_off from = 0; from < count; from += FAN) {
    gable_idx place;
    GI_TRY(
        add_sum(b, cluster, b->in_product.data + begin + 2 * from, count - from < FAN ? count - from : FAN, 2, &place));
    GI_TRY(push(b->ctx, &b->in, place));
  }
  b->in_product.used = begin;
done:
  return status;
}

/* D^-1 y at column k of cluster j; blocks of two lie inside a cluster. */
static gable_status push_diagonal(builder *b, gable_idx j, gable_idx k)
{
  gable_status status = GABLE_OK;
  const gi_task_plan *p = b->plan;
  const gi_clusters *c = p->clusters;
  const gable_idx factor[] = {(gable_idx)p->diagonal_at + k, (gable_idx)p->coupling_at + k,
                              (gable_idx)p->coupling_at + k - 1},
                  column[] = {k, k + 1, k - 1};
  for (int e = 0; e < 3; e++) {
    if (column[e] < c->first[j] || column[e] >= c->first[j + 1]) continue;
    GI_TRY(push(b->ctx, &b->in_product, factor[e]));
    GI_TRY(push(b->ctx, &b->in_product, column[e]));
  }
done:
  return status;
}

static gable_status gather_input(builder *b, gable_idx j, gable_idx i)
{
  gable_status status = GABLE_OK;
  const gi_clusters *c = b->plan->clusters;
  const gi_cluster_side *side = b->sweep->side;
  const gable_idx w = gi_cluster_width(c, j), k = c->first[j] + i;
  const gable_off begin = b->in.used;
  if (b->forward) {
    GI_TRY(push(b->ctx, &b->in, ~b->plan->source[k]));
    GI_TRY(push_off(b, j, k));
    GI_TRY(push_slots(b, side->ptr[j] + k, &b->in));
    GI_TRY(shorten(b, j, &b->in, begin));
  } else if (i >= w) {
    GI_TRY(push(b->ctx, &b->in, (gable_idx)(b->x_at + side->row[side->ptr[j] + i - w])));
  } else if (b->plan->diagonal_at < 0) {
    GI_TRY(push(b->ctx, &b->in, k));
  } else {
    GI_TRY(push_diagonal(b, j, k));
  }
  GI_TRY(close_list(b->ctx, &b->in));
  GI_TRY(close_list(b->ctx, &b->in_product));
done:
  return status;
}

typedef struct shape {
  gable_idx inputs, outputs, rows; /* rows: of the side */
} shape;

static shape shape_of(const builder *b, gable_idx j)
{
  const gable_idx w = gi_cluster_width(b->plan->clusters, j);
  const gable_idx rows = (gable_idx)(b->sweep->side->ptr[j + 1] - b->sweep->side->ptr[j]);
  return b->forward ? (shape){w, w + rows, rows} : (shape){w + rows, w, rows};
}

/* What output o adds: the slots of its position, then the partial sums of parts 1 .. parts-1. */
static gable_status gather_output(builder *b, gable_idx j, shape s, gable_idx o, gable_off partial, gable_idx parts)
{
  gable_status status = GABLE_OK;
  const gable_idx w = gi_cluster_width(b->plan->clusters, j);
  const gable_off begin = b->add.used;
  if (b->forward && o >= w) GI_TRY(push_slots(b, b->plan->clusters->first[j] + b->sweep->side->ptr[j] + o, &b->add));
  for (gable_idx part = 1; part < parts; part++)
    GI_TRY(push(b->ctx, &b->add, (gable_idx)(partial + (part - 1) * (gable_off)s.outputs + o)));
  GI_TRY(shorten(b, j, &b->add, begin));
  GI_TRY(close_list(b->ctx, &b->add));
done:
  return status;
}

static gik_flow_out destination(const builder *b, gable_idx j, gable_idx o)
{
  const gi_clusters *c = b->plan->clusters;
  const gable_idx w = gi_cluster_width(c, j), k = c->first[j] + o;
  if (!b->forward || b->store == &b->plan->root) return (gik_flow_out){(gable_idx)(b->x_at + k), b->plan->target[k]};
  if (o < w) return (gik_flow_out){k, -1};
  return (gik_flow_out){(gable_idx)(b->slots_at + b->sweep->side->ptr[j] + o - w), -1};
}

/* ---- tiles ---- */

static gable_idx strips_of(gable_idx outputs)
{
  return (outputs + GIK_FLOW_STRIP - 1) / GIK_FLOW_STRIP;
}

static gable_idx padded(gable_idx inputs)
{
  return (inputs + GIK_FLOW_PAD - 1) / GIK_FLOW_PAD * GIK_FLOW_PAD;
}

/* Strips for outputs o .. o_end-1 and inputs i .. i_end-1 of cluster j, whose inputs are the last ones of d. */
static void add_strips(const builder *b, draft *d, gable_idx j, shape s, gable_idx o, gable_idx o_end, gable_idx i,
                       gable_idx i_end, gable_idx parts)
{
  const gable_idx inputs = i_end - i, first = (gable_idx)d->in.count - padded(inputs);
  const gable_idx each = padded((inputs + parts - 1) / parts);
  const gable_idx step_out = b->store->transposed ? 1 : s.inputs, step_in = b->store->transposed ? s.outputs : 1;
  d->parts = parts;
  for (gable_idx row = o; row < o_end; row += GIK_FLOW_STRIP)
    for (gable_idx part = 0; part < parts; part++) {
      const gable_idx at = part * each, rows = o_end - row < GIK_FLOW_STRIP ? o_end - row : GIK_FLOW_STRIP;
      gable_idx count = inputs - at < each ? inputs - at : each;
      if (count < 0) count = 0;
      d->strip[d->strips++] =
          (gik_flow_strip){b->store->value_at[j] + (gable_off)row * step_out + (gable_off)(i + at) * step_in,
                           step_out,
                           step_in,
                           rows,
                           count,
                           first + at,
                           b->store->values};
    }
  d->values += (gable_off)(o_end - o) * inputs;
}

static gable_status add_inputs(builder *b, draft *d, gable_idx i, gable_idx i_end)
{
  gable_status status = GABLE_OK;
  for (gable_idx k = i; k < i_end; k++) {
    GI_TRY(copy_list(b->ctx, &d->in, &b->in, k));
    GI_TRY(copy_list(b->ctx, &d->in_product, &b->in_product, k));
  }
  for (gable_idx k = i_end; (k - i) % GIK_FLOW_PAD; k++) {
    GI_TRY(copy_list(b->ctx, &d->in, NULL, 0));
    GI_TRY(copy_list(b->ctx, &d->in_product, NULL, 0));
  }
done:
  return status;
}

/* partial < 0: the outputs go where they belong, with what they add; else to places from partial on. */
static gable_status add_outputs(builder *b, draft *d, gable_idx j, gable_idx o, gable_idx o_end, gable_off partial)
{
  gable_status status = GABLE_OK;
  for (gable_idx k = o; k < o + strips_of(o_end - o) * GIK_FLOW_STRIP; k++) {
    d->out[d->add.count] = k >= o_end     ? (gik_flow_out){-1, -1}
                           : partial >= 0 ? (gik_flow_out){(gable_idx)(partial + k), -1}
                                          : destination(b, j, k);
    GI_TRY(copy_list(b->ctx, &d->add, k < o_end && partial < 0 ? &b->add : NULL, k));
    GI_TRY(close_list(b->ctx, &d->add_product));
  }
done:
  return status;
}

/* The end of a part of inputs that begins at i. */
static gable_idx part_end(const builder *b, gable_idx i, gable_idx inputs, gable_idx most)
{
  gable_idx end = i;
  while (end < inputs && end - i < most &&
         b->in.end[end] - begin_of(&b->in, i) + b->in_product.end[end] - begin_of(&b->in_product, i) <= TERMS)
    end++;
  return end > i ? end : i + 1;
}

static gable_idx equal_part(gable_idx inputs)
{
  const gable_idx parts = (inputs + GIK_FLOW_INPUTS - 1) / GIK_FLOW_INPUTS;
  return parts < 2 ? GIK_FLOW_INPUTS : padded((inputs + parts - 1) / parts);
}

/* Warps that share the inputs of a strip. */
static gable_idx strip_parts(gable_idx outputs, gable_idx inputs)
{
  gable_idx parts = 1;
  while (2 * parts * strips_of(outputs) <= WARPS && inputs >= 2 * parts * LEAST_PART) parts *= 2;
  return parts;
}

static gable_status cut_rows(builder *b, gable_idx j, shape s, gable_idx i, gable_idx i_end, gable_off partial)
{
  gable_status status = GABLE_OK;
  gable_off rows = b->target / (i_end - i) / GIK_FLOW_STRIP * GIK_FLOW_STRIP;
  if (rows < GIK_FLOW_STRIP) rows = GIK_FLOW_STRIP;
  if (rows > GIK_FLOW_OUTPUTS) rows = GIK_FLOW_OUTPUTS;
  for (gable_idx o = 0, end; o < s.outputs; o = end) {
    for (end = o; end < s.outputs && end - o < rows; end++)
      if (partial < 0 && end > o && b->add.end[end] - begin_of(&b->add, o) > TERMS) break;
    draft_clear(&b->tile, j);
    GI_TRY(add_inputs(b, &b->tile, i, i_end));
    GI_TRY(add_outputs(b, &b->tile, j, o, end, partial));
    add_strips(b, &b->tile, j, s, o, end, i, i_end, strip_parts(end - o, i_end - i));
    GI_TRY(flush(b, &b->tile));
  }
done:
  return status;
}

static gable_status cut_cluster(builder *b, gable_idx j, shape s, gable_off partial)
{
  gable_status status = GABLE_OK;
  const gable_idx most = equal_part(s.inputs);
  gable_idx part = 0;
  for (gable_idx i = 0, end; i < s.inputs; i = end, part++) {
    end = part_end(b, i, s.inputs, most);
    GI_TRY(cut_rows(b, j, s, i, end, part ? partial + (part - 1) * (gable_off)s.outputs : -1));
  }
done:
  return status;
}

static int small(const builder *b, shape s)
{
  return s.inputs <= SMALL_INPUTS && s.outputs <= SMALL_OUTPUTS && s.inputs * s.outputs <= SMALL_VALUES &&
         b->in.used + b->in_product.used <= SMALL_TERMS && b->add.used <= SMALL_TERMS;
}

static gable_status share_task(builder *b, gable_idx j, shape s)
{
  gable_status status = GABLE_OK;
  draft *d = &b->shared;
  if (d->strips + strips_of(s.outputs) > GIK_FLOW_STRIPS || d->in.count + padded(s.inputs) > GIK_FLOW_INPUTS ||
      (d->strips && d->values + s.inputs * s.outputs > b->target) ||
      d->in.used + d->in_product.used + b->in.used + b->in_product.used > TERMS || d->add.used + b->add.used > TERMS)
    GI_TRY(flush(b, d));
  d->cluster = j;
  GI_TRY(add_inputs(b, d, 0, s.inputs));
  GI_TRY(add_outputs(b, d, j, 0, s.outputs, -1));
  add_strips(b, d, j, s, 0, s.outputs, 0, s.inputs, 1);
done:
  return status;
}

static gable_status add_cluster(builder *b, gable_idx j)
{
  gable_status status = GABLE_OK;
  const shape s = shape_of(b, j);
  const gable_idx most = equal_part(s.inputs);
  gable_idx parts = 0;
  const int root = gi_cluster_is_root(b->plan->clusters, j);
  if (root && !b->forward) goto done; /* x is there already */
  b->store = root ? &b->plan->root : b->sweep;
  clear(&b->in);
  clear(&b->in_product);
  clear(&b->add);
  for (gable_idx i = 0; i < s.inputs; i++) GI_TRY(gather_input(b, j, i));
  for (gable_idx i = 0; i < s.inputs; i = part_end(b, i, s.inputs, most)) parts++;
  const gable_off at = b->out->places; /* of partial sums */
  b->out->places += (parts - 1) * (gable_off)s.outputs;
  for (gable_idx o = 0; o < s.outputs; o++) GI_TRY(gather_output(b, j, s, o, at, parts));
  if (parts == 1 && small(b, s))
    GI_TRY(share_task(b, j, s));
  else
    GI_TRY(cut_cluster(b, j, s, at));
done:
  return status;
}

static gable_status add_level(builder *b, gable_idx level)
{
  gable_status status = GABLE_OK;
  const gi_clusters *c = b->plan->clusters;
  double values = 0;
  for (gable_idx j = c->level_ptr[level]; j < c->level_ptr[level + 1]; j++) {
    const shape s = shape_of(b, j);
    if (b->forward || s.rows) values += (double)s.inputs * s.outputs;
  }
  values /= b->plan->workers;
  b->target = values < LEAST_VALUES ? LEAST_VALUES : values > MOST_VALUES ? MOST_VALUES : (gable_off)values;
  for (gable_idx j = c->level_ptr[level]; j < c->level_ptr[level + 1]; j++) GI_TRY(add_cluster(b, j));
  GI_TRY(flush(b, &b->shared));
  GI_TRY(flush_sums(b));
  GI_REQUIRE(b->out->places < 1 << 30, GABLE_ERR_LIMIT, "%lld values between the tasks of a solve",
             (long long)b->out->places);
done:
  return status;
}

static gable_status add_all(builder *b)
{
  gable_status status = GABLE_OK;
  const gi_task_plan *p = b->plan;
  const gi_clusters *c = p->clusters;
  b->sweep = &p->forward;
  b->forward = 1;
  for (gable_idx level = 0; level < c->n_levels; level++) GI_TRY(add_level(b, level));
  b->sweep = &p->backward;
  b->forward = 0;
  for (gable_idx level = c->n_levels - 1; level >= 0; level--) GI_TRY(add_level(b, level));
done:
  return status;
}

/* Records in the order of order. */
static gable_status rearrange(gable_context *ctx, const gable_idx *order, gi_cluster_tasks *t)
{
  gable_status status = GABLE_OK;
  unsigned char *stream = NULL;
  gable_off *at = NULL;
  GI_ALLOC(ctx, stream, t->at[t->count]);
  GI_ALLOC(ctx, at, t->count + 1);
  at[0] = 0;
  for (gable_idx k = 0; k < t->count; k++) {
    const gable_off bytes = t->at[order[k] + 1] - t->at[order[k]];
    memcpy(stream + at[k], t->stream + t->at[order[k]], (size_t)bytes);
    at[k + 1] = at[k] + bytes;
  }
  gi_free(ctx, t->stream);
  gi_free(ctx, t->at);
  t->stream = stream;
  t->at = at;
  stream = NULL;
  at = NULL;
done:
  gi_free(ctx, stream);
  gi_free(ctx, at);
  return status;
}

static void builder_release(gable_context *ctx, builder *b)
{
  draft_release(ctx, &b->tile);
  draft_release(ctx, &b->shared);
  draft_release(ctx, &b->sums);
  release(ctx, &b->in);
  release(ctx, &b->in_product);
  release(ctx, &b->add);
}

gable_status gi_cluster_tasks_init(gable_context *ctx, const gi_task_plan *plan, gi_cluster_tasks *out)
{
  gable_status status = GABLE_OK;
  const gable_idx n = plan->clusters->n;
  gable_idx *order = NULL;
  builder *b = NULL;
  *out = (gi_cluster_tasks){0};
  GI_ALLOC_ZERO(ctx, b, 1);
  b->ctx = ctx;
  b->plan = plan;
  b->out = out;
  b->slots_at = n;
  b->x_at = n + plan->forward.side->ptr[plan->clusters->count];
  out->places = b->x_at + n;
  draft_clear(&b->shared, -1);
  draft_clear(&b->sums, -1);
  GI_TRY(reserve_record(b, 0));
  GI_TRY(add_all(b));
  GI_ALLOC(ctx, order, out->count);
  GI_TRY(gi_cluster_tasks_order(ctx, out, plan->workers, order));
  GI_TRY(rearrange(ctx, order, out));
done:
  if (b) builder_release(ctx, b);
  gi_free(ctx, b);
  gi_free(ctx, order);
  if (status) gi_cluster_tasks_release(ctx, out);
  return status;
}

void gi_cluster_tasks_release(gable_context *ctx, gi_cluster_tasks *tasks)
{
  gi_free(ctx, tasks->at);
  gi_free(ctx, tasks->stream);
  *tasks = (gi_cluster_tasks){0};
}
