/* cluster_piece.c: cuts the products of clusters into tasks.
 *
 *   1. for each cluster: the terms of every input and output; long lists become sums of sums
 *   2. tiles of rows x inputs; small clusters share a task
 *
 * Inputs beyond the first part of a cluster's leave partial sums on the board, which the tile of the first part adds:
 * the first part needs the nearest ancestors, the others can be computed before. */
#include "supernodal/clusters/cluster_piece.h"

#include "base/type_size.h"

enum { FAN = 24 };        /* terms of a sum, at most */
enum { LEAST_PART = 16 }; /* inputs of a strip whose outputs several warps compute */

struct gi_task_builder {
  gable_context *ctx;
  const gi_task_plan *plan;
  gi_task_piece *piece;
  gi_records records;
  gable_off slots_at, x_at, places; /* places: the next one of a sum */
  const gi_task_sweep *sweep;       /* of the direction at hand */
  int forward;
  gable_idx terms, most_inputs; /* of a task, at most */
  gable_off tiles;              /* of the piece's large clusters so far */
  gi_draft tile, shared, sums;
  gable_off sums_begin;          /* places from here on are those of sums */
  gi_ragged in, in_product, add; /* of every input and output of the cluster at hand */
};

typedef gi_task_builder builder;

/* ---- sums of long lists ---- */

static gable_status flush_sums(builder *b)
{
  gable_status status = GABLE_OK;
  gi_draft *d = &b->sums;
  while (d->add.count % GIK_FLOW_STRIP) {
    d->out[d->add.count] = (gik_flow_out){-1, -1};
    GI_TRY(gi_ragged_close(b->ctx, &d->add));
    GI_TRY(gi_ragged_close(b->ctx, &d->add_product));
  }
  for (gable_off o = 0; o < d->add.count; o += GIK_FLOW_STRIP) gi_draft_strip(d, 0, 0);
  if (b->piece->part)
    gi_draft_clear(d, -1); /* part 0 has them */
  else
    GI_TRY(gi_records_add(b->ctx, &b->records, d));
done:
  return status;
}

/* A place for the sum of count entries of data, each of width numbers: terms (1) or products (2). */
static gable_status add_sum(builder *b, gable_idx cluster, const gable_idx *data, gable_off count, gable_idx width,
                            gable_idx *place)
{
  gable_status status = GABLE_OK;
  gi_draft *d = &b->sums;
  const gable_idx most = b->plan->limits.sums < GIK_FLOW_OUTPUTS ? b->plan->limits.sums : GIK_FLOW_OUTPUTS;
  if (d->add.count == most || d->add.used + d->add_product.used > b->terms) GI_TRY(flush_sums(b));
  if (!d->add.count) b->sums_begin = b->places;
  d->cluster = cluster;
  *place = (gable_idx)b->places++;
  d->out[d->add.count] = (gik_flow_out){*place, -1};
  for (gable_off k = 0; k < count * width; k++)
    GI_TRY(gi_ragged_push(b->ctx, width == 1 ? &d->add : &d->add_product, data[k]));
  GI_TRY(gi_ragged_close(b->ctx, &d->add));
  GI_TRY(gi_ragged_close(b->ctx, &d->add_product));
done:
  return status;
}

/* A task must not read what it stores: a sum of sums goes to a later task. */
static int reads_open_sums(const builder *b, const gi_ragged *r, gable_off begin)
{
  if (!b->sums.add.count) return 0;
  for (gable_off k = begin; k < r->used; k++)
    if (r->data[k] >= b->sums_begin) return 1;
  return 0;
}

/* The list that is open at the end of r, from begin on, gets at most FAN terms. */
static gable_status shorten(builder *b, gable_idx cluster, gi_ragged *r, gable_off begin)
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

static gable_status push_slots(builder *b, gable_off position, gi_ragged *to)
{
  gable_status status = GABLE_OK;
  const gi_cluster_side *side = b->sweep->side;
  for (gable_off k = side->in_ptr[position]; k < side->in_ptr[position + 1]; k++)
    GI_TRY(gi_ragged_push(b->ctx, to, (gable_idx)(b->slots_at + side->in_slot[k])));
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
    GI_TRY(gi_ragged_push(b->ctx, &b->in_product, (gable_idx)(p->off_at + e)));
    GI_TRY(gi_ragged_push(b->ctx, &b->in_product, (gable_idx)(b->x_at + p->off_col[e])));
  }
  const gable_off count = (b->in_product.used - begin) / 2;
  if (count <= FAN) goto done;
  for (gable_off from = 0; from < count; from += FAN) {
    gable_idx place;
    GI_TRY(
        add_sum(b, cluster, b->in_product.data + begin + 2 * from, count - from < FAN ? count - from : FAN, 2, &place));
    GI_TRY(gi_ragged_push(b->ctx, &b->in, place));
  }
  b->in_product.used = begin;
done:
  return status;
}

static gable_status gather_input(builder *b, gable_idx j, gable_idx i)
{
  gable_status status = GABLE_OK;
  const gi_clusters *c = b->plan->clusters;
  const gi_cluster_side *side = b->sweep->side;
  const gable_idx k = c->first[j] + i;
  const gable_off begin = b->in.used;
  if (b->forward) {
    GI_TRY(gi_ragged_push(b->ctx, &b->in, ~b->plan->source[k]));
    GI_TRY(push_off(b, j, k));
    GI_TRY(push_slots(b, side->ptr[j] + k, &b->in));
    GI_TRY(shorten(b, j, &b->in, begin));
  } else {
    GI_TRY(gi_ragged_push(b->ctx, &b->in, (gable_idx)(b->x_at + side->row[side->ptr[j] + i])));
  }
  GI_TRY(gi_ragged_close(b->ctx, &b->in));
  GI_TRY(gi_ragged_close(b->ctx, &b->in_product));
done:
  return status;
}

/* Forward: outputs are the columns, by inverse_J, and the rows, by the sweep's operator; backward: inputs are rows. */
typedef struct shape {
  gable_idx inputs, outputs, rows, width; /* rows: of the side */
} shape;

static shape shape_of(const gi_task_plan *p, int forward, gable_idx j)
{
  const gi_cluster_side *side = forward ? p->forward.side : p->backward.side;
  const gable_idx w = gi_cluster_width(p->clusters, j), rows = (gable_idx)(side->ptr[j + 1] - side->ptr[j]);
  return forward ? (shape){w, w + rows, rows, w} : (shape){rows, w, rows, w};
}

/* Whether the backward sweep adds nothing to x_J. */
static int ends_forward(const builder *b, gable_idx j)
{
  const gi_cluster_side *side = b->plan->backward.side;
  return side->ptr[j + 1] == side->ptr[j];
}

/* What output o adds: the slots of its position, or backward its share of the forward sweep; then the partial sums of
 * parts 1 .. parts-1. */
static gable_status gather_output(builder *b, gable_idx j, shape s, gable_idx o, gable_off partial, gable_idx parts)
{
  gable_status status = GABLE_OK;
  const gable_idx w = gi_cluster_width(b->plan->clusters, j);
  const gable_off begin = b->add.used;
  if (b->forward && o >= w) GI_TRY(push_slots(b, b->plan->clusters->first[j] + b->sweep->side->ptr[j] + o, &b->add));
  if (!b->forward) GI_TRY(gi_ragged_push(b->ctx, &b->add, b->plan->clusters->first[j] + o));
  for (gable_idx part = 1; part < parts; part++)
    GI_TRY(gi_ragged_push(b->ctx, &b->add, (gable_idx)(partial + (part - 1) * (gable_off)s.outputs + o)));
  GI_TRY(shorten(b, j, &b->add, begin));
  GI_TRY(gi_ragged_close(b->ctx, &b->add));
done:
  return status;
}

static gik_flow_out destination(const builder *b, gable_idx j, gable_idx o)
{
  const gi_clusters *c = b->plan->clusters;
  const gable_idx w = gi_cluster_width(c, j), k = c->first[j] + o;
  if (!b->forward || (o < w && ends_forward(b, j))) return (gik_flow_out){(gable_idx)(b->x_at + k), b->plan->target[k]};
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
  return (inputs + GIK_FLOW_STEP - 1) / GIK_FLOW_STEP * GIK_FLOW_STEP;
}

/* Entry (o,i) of the operator of cluster j that outputs from (0) or below (1) the columns have. */
static gik_flow_source source_of(const builder *b, gable_idx j, shape s, gable_idx o, gable_idx i, int below)
{
  const gi_task_sweep *from = below ? b->sweep : &b->plan->inverse;
  const gable_idx all = s.width + s.rows;
  gik_flow_source r = {.at = from->value_at[j], .side = from->values, .step_out = 1, .step_in = 1};
  if (from->transposed)
    r.step_in = below && b->forward ? all : s.width;
  else
    r.step_out = below && !b->forward ? all : s.width;
  if (!b->forward) i += s.width;
  r.at += (gable_off)o * r.step_out + (gable_off)i * r.step_in;
  return r;
}

/* The values of a strip of rows outputs from o on and count inputs from i on. */
static void add_sources(const builder *b, gi_draft *d, gable_idx j, shape s, gable_idx o, gable_idx rows, gable_idx i,
                        gable_idx count)
{
  const gable_idx columns = !b->forward || o >= s.width ? 0 : s.width - o < rows ? s.width - o : rows;
  for (int below = 0; below < 2; below++) {
    gik_flow_source r = source_of(b, j, s, o, i, below);
    r.inputs = count;
    r.begin = (uint8_t)(below ? columns : 0);
    r.rows = (uint8_t)(below ? rows : columns);
    r.end = (uint8_t)(below || columns == rows ? GIK_FLOW_STRIP : columns);
    if (r.begin < r.rows) gi_draft_source(d, r);
  }
}

/* Strips for outputs o .. o_end-1 and inputs i .. i_end-1 of cluster j, whose inputs are the last ones of d. */
static void add_strips(const builder *b, gi_draft *d, gable_idx j, shape s, gable_idx o, gable_idx o_end, gable_idx i,
                       gable_idx i_end, gable_idx parts)
{
  const gable_idx inputs = i_end - i, first = (gable_idx)d->in.count - padded(inputs);
  const gable_idx each = padded((inputs + parts - 1) / parts);
  d->parts = parts;
  for (gable_idx row = o; row < o_end; row += GIK_FLOW_STRIP)
    for (gable_idx part = 0; part < parts; part++) {
      const gable_idx at = part * each, rows = o_end - row < GIK_FLOW_STRIP ? o_end - row : GIK_FLOW_STRIP;
      const gable_idx count = inputs - at < 0 ? 0 : inputs - at < each ? inputs - at : each;
      gi_draft_strip(d, first + at, count);
      if (count) add_sources(b, d, j, s, row, rows, i + at, count);
    }
}

static gable_status add_inputs(builder *b, gi_draft *d, gable_idx i, gable_idx i_end)
{
  gable_status status = GABLE_OK;
  const gable_idx none = padded(i_end - i) - (i_end - i);
  GI_TRY(gi_ragged_append(b->ctx, &d->in, &b->in, i, i_end));
  GI_TRY(gi_ragged_append(b->ctx, &d->in_product, &b->in_product, i, i_end));
  GI_TRY(gi_ragged_pad(b->ctx, &d->in, none));
  GI_TRY(gi_ragged_pad(b->ctx, &d->in_product, none));
done:
  return status;
}

/* partial < 0: the outputs go where they belong, with what they add; else to places from partial on. */
static gable_status add_outputs(builder *b, gi_draft *d, gable_idx j, gable_idx o, gable_idx o_end, gable_off partial)
{
  gable_status status = GABLE_OK;
  const gable_idx all = strips_of(o_end - o) * GIK_FLOW_STRIP, own = partial < 0 ? o_end - o : 0;
  gik_flow_out *out = d->out + d->add.count;
  for (gable_idx k = o; k < o + all; k++)
    *out++ = k >= o_end     ? (gik_flow_out){-1, -1}
             : partial >= 0 ? (gik_flow_out){(gable_idx)(partial + k), -1}
                            : destination(b, j, k);
  GI_TRY(gi_ragged_append(b->ctx, &d->add, &b->add, o, o + own));
  GI_TRY(gi_ragged_pad(b->ctx, &d->add, all - own));
  GI_TRY(gi_ragged_pad(b->ctx, &d->add_product, all));
done:
  return status;
}

/* The end of a part of inputs that begins at i. */
static gable_idx part_end(const builder *b, gable_idx i, gable_idx inputs, gable_idx most)
{
  gable_idx end = i;
  while (end < inputs && end - i < most &&
         b->in.end[end] - gi_ragged_begin(&b->in, i) + b->in_product.end[end] - gi_ragged_begin(&b->in_product, i) <=
             b->terms)
    end++;
  return end > i ? end : i + 1;
}

static gable_idx equal_part(const builder *b, gable_idx inputs)
{
  const gable_idx parts = (inputs + b->most_inputs - 1) / b->most_inputs;
  return parts < 2 ? b->most_inputs : padded((inputs + parts - 1) / parts);
}

/* Warps that share the inputs of a strip. */
static gable_idx strip_parts(gable_idx outputs, gable_idx inputs)
{
  gable_idx parts = 1;
  while (2 * parts * strips_of(outputs) <= GIK_FLOW_SHARED && inputs >= 2 * parts * LEAST_PART) parts *= 2;
  return parts;
}

/* Outputs of each tile of inputs: about the bytes of a task of this level, tiles of equal height. */
static gable_idx equal_rows(const builder *b, shape s, gable_idx inputs)
{
  const gable_off each = padded(inputs) * b->records.value_bytes + (gable_off)sizeof(gik_flow_out);
  const gable_idx room = (b->plan->limits.sums - padded(inputs)) / GIK_FLOW_STRIP * GIK_FLOW_STRIP;
  gable_off rows = b->piece->target / each / GIK_FLOW_STRIP * GIK_FLOW_STRIP;
  if (rows > GIK_FLOW_OUTPUTS) rows = GIK_FLOW_OUTPUTS;
  if (rows > room) rows = room;
  if (rows < GIK_FLOW_STRIP) rows = GIK_FLOW_STRIP;
  const gable_off tiles = (s.outputs + rows - 1) / rows;
  return tiles ? strips_of((gable_idx)((s.outputs + tiles - 1) / tiles)) * GIK_FLOW_STRIP : GIK_FLOW_STRIP;
}

static gable_status cut_rows(builder *b, gable_idx j, shape s, gable_idx i, gable_idx i_end, gable_off partial)
{
  gable_status status = GABLE_OK;
  const gable_idx rows = equal_rows(b, s, i_end - i);
  for (gable_idx o = 0, end; o < s.outputs; o = end) {
    for (end = o; end < s.outputs && end - o < rows; end++)
      if (partial < 0 && end > o && b->add.end[end] - gi_ragged_begin(&b->add, o) > b->terms) break;
    if (b->tiles++ % b->piece->parts != b->piece->part) continue;
    gi_draft_clear(&b->tile, j);
    GI_TRY(add_inputs(b, &b->tile, i, i_end));
    GI_TRY(add_outputs(b, &b->tile, j, o, end, partial));
    add_strips(b, &b->tile, j, s, o, end, i, i_end, strip_parts(end - o, i_end - i));
    GI_TRY(gi_records_add(b->ctx, &b->records, &b->tile));
  }
done:
  return status;
}

static gable_status cut_cluster(builder *b, gable_idx j, shape s, gable_off partial)
{
  gable_status status = GABLE_OK;
  const gable_idx most = equal_part(b, s.inputs);
  gable_idx part = 0;
  for (gable_idx i = 0, end; i < s.inputs; i = end, part++) {
    end = part_end(b, i, s.inputs, most);
    GI_TRY(cut_rows(b, j, s, i, end, part ? partial + (part - 1) * (gable_off)s.outputs : -1));
  }
done:
  return status;
}

/* Values of a task of its own, with zeros. */
static gable_off bytes_of(const gi_task_plan *p, shape s)
{
  return (gable_off)strips_of(s.outputs) * GIK_FLOW_STRIP * padded(s.inputs) * (gable_off)gi_type_size(p->type);
}

static int small(const builder *b, shape s)
{
  return 2 * bytes_of(b->plan, s) <= b->piece->target && 2 * strips_of(s.outputs) <= GIK_FLOW_STRIPS &&
         2 * (padded(s.inputs) + strips_of(s.outputs) * GIK_FLOW_STRIP) <= b->plan->limits.sums &&
         2 * (b->in.used + b->in_product.used) <= b->terms && 2 * b->add.used <= b->terms;
}

static gable_status share_task(builder *b, gable_idx j, shape s)
{
  gable_status status = GABLE_OK;
  gi_draft *d = &b->shared;
  if (d->strips + strips_of(s.outputs) > GIK_FLOW_STRIPS ||
      d->in.count + padded(s.inputs) + d->add.count + strips_of(s.outputs) * GIK_FLOW_STRIP > b->plan->limits.sums ||
      (d->strips && gi_draft_bytes(d, b->records.value_bytes) + bytes_of(b->plan, s) > b->piece->target) ||
      d->in.used + d->in_product.used + b->in.used + b->in_product.used > b->terms ||
      d->add.used + b->add.used > b->terms)
    GI_TRY(gi_records_add(b->ctx, &b->records, d));
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
  const shape s = shape_of(b->plan, b->forward, j);
  const gable_idx most = equal_part(b, s.inputs);
  gable_idx parts = 0;
  if (!b->forward && ends_forward(b, j)) goto done; /* x is there already */
  gi_ragged_clear(&b->in);
  gi_ragged_clear(&b->in_product);
  gi_ragged_clear(&b->add);
  for (gable_idx i = 0; i < s.inputs; i++) GI_TRY(gather_input(b, j, i));
  for (gable_idx i = 0; i < s.inputs; i = part_end(b, i, s.inputs, most)) parts++;
  const gable_off at = b->places; /* of partial sums */
  b->places += (parts - 1) * (gable_off)s.outputs;
  for (gable_idx o = 0; o < s.outputs; o++) GI_TRY(gather_output(b, j, s, o, at, parts));
  if (parts == 1 && small(b, s))
    GI_TRY(share_task(b, j, s));
  else
    GI_TRY(cut_cluster(b, j, s, at));
done:
  return status;
}

gable_off gi_task_places(const gi_task_plan *plan)
{
  return 2 * (gable_off)plan->clusters->n + plan->forward.side->ptr[plan->clusters->count];
}

gable_off gi_task_cluster_bytes(const gi_task_plan *plan, int forward, gable_idx j)
{
  return bytes_of(plan, shape_of(plan, forward, j));
}

gable_status gi_task_builder_create(gable_context *ctx, gi_task_builder **out)
{
  gable_status status = GABLE_OK;
  GI_ALLOC_ZERO(ctx, *out, 1);
  (*out)->ctx = ctx;
  GI_TRY(gi_records_init(ctx, &(*out)->records));
done:
  return status;
}

void gi_task_builder_destroy(gable_context *ctx, gi_task_builder **made)
{
  gi_task_builder *b = made ? *made : NULL;
  if (!b) return;
  *made = NULL;
  gi_draft_release(ctx, &b->tile);
  gi_draft_release(ctx, &b->shared);
  gi_draft_release(ctx, &b->sums);
  gi_ragged_release(ctx, &b->in);
  gi_ragged_release(ctx, &b->in_product);
  gi_ragged_release(ctx, &b->add);
  gi_records_release(ctx, &b->records);
  gi_free(ctx, b);
}

static void begin_piece(builder *b, gi_task_piece *piece)
{
  const gi_task_plan *plan = piece->plan;
  b->plan = plan;
  b->piece = piece;
  b->forward = piece->forward;
  b->sweep = piece->forward ? &plan->forward : &plan->backward;
  b->places = gi_task_places(plan);
  b->slots_at = plan->clusters->n;
  b->x_at = b->places - plan->clusters->n;
  b->terms = plan->limits.terms / 2 - 3 * FAN; /* of inputs, and of outputs; one list may come on top */
  b->most_inputs = (plan->limits.sums - 32) / GIK_FLOW_STEP * GIK_FLOW_STEP;
  b->tiles = 0;
  b->records.limits = plan->limits;
  b->records.value_bytes = (gable_idx)gi_type_size(plan->type);
  gi_draft_clear(&b->shared, -1);
  gi_draft_clear(&b->sums, -1);
  piece->records = &b->records;
  piece->from = b->records.count;
}

gable_status gi_task_piece_build(gi_task_builder *b, gi_task_piece *piece)
{
  gable_status status = GABLE_OK;
  begin_piece(b, piece);
  for (gable_idx j = piece->begin; j < piece->end; j++) GI_TRY(add_cluster(b, j));
  GI_TRY(gi_records_add(b->ctx, &b->records, &b->shared));
  GI_TRY(flush_sums(b));
  GI_REQUIRE(b->places < 1 << 30, GABLE_ERR_LIMIT, "%lld values between the tasks of a solve", (long long)b->places);
  piece->places = piece->part ? 0 : b->places - gi_task_places(piece->plan);
  piece->tasks = b->records.count - piece->from;
done:
  return status;
}
