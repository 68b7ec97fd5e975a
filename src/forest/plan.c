/* plan.c: what an exchange moves, checked to be the same on every rank. */
#include "forest/plan.h"

#include "base/checked.h"
#include "device/device.h"
#include "forest/algebra.h"

static gable_status check_space(const gable_context *ctx, gable_space space)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(space == GABLE_SPACE_HOST || space == GABLE_SPACE_DEVICE, GABLE_ERR_ARGUMENT, "no space %d", (int)space);
  GI_REQUIRE(space == GABLE_SPACE_HOST || gi_has_device_memory(ctx), GABLE_ERR_UNAVAILABLE,
             "arrays in device memory, and %s has none", ctx->where);
done:
  return status;
}

static const char *unit_name(gable_unit_type unit)
{
  static const char *const names[] = {"bytes", "char", "uchar",    "i32",      "i64",    "s",     "d",
                                      "c",     "z",    "pair_i32", "pair_i64", "pair_s", "pair_d"};
  return names[unit]; /* one that has bytes */
}

static const char *op_name(gable_forest_op op)
{
  static const char *const names[] = {"replace", "sum", "prod", "min",  "max",    "land",  "band",
                                      "lor",     "bor", "lxor", "bxor", "minloc", "maxloc"};
  return (int)op >= 0 && (size_t)op < sizeof names / sizeof *names ? names[op] : "of that number";
}

static gable_status check_path(const gable_comm *comm, gable_path path)
{
  gable_status status = GABLE_OK;
  static const char *const names[] = {"auto", "direct",  "buffer", "request", "window",
                                      "nccl", "nvshmem", "put",    "copy",    "aware"};
  GI_REQUIRE(path >= GABLE_PATH_AUTO && path <= GABLE_PATH_AWARE, GABLE_ERR_ARGUMENT, "no path %d", (int)path);
  GI_REQUIRE(comm->transport->paths >> path & 1, GABLE_ERR_UNAVAILABLE, "transport %s has no path %s",
             comm->transport->name, names[path]);
done:
  return status;
}

/* Units of 4 and 8 bytes have atomic operations on a GPU; the last of several values is a matter of order. */
static gable_status check_atomics(const gable_plan_options *o)
{
  gable_status status = GABLE_OK;
  const int unit = o->unit >= GABLE_UNIT_I32 && o->unit <= GABLE_UNIT_D;
  GI_REQUIRE(!o->atomics || o->direction == GABLE_DIRECTION_REDUCE, GABLE_ERR_UNAVAILABLE,
             "atomics are of reduce, not of direction %d", (int)o->direction);
  GI_REQUIRE(!o->atomics || (unit && o->op != GABLE_FOREST_OP_REPLACE), GABLE_ERR_UNAVAILABLE,
             "unit %s with op %s has no atomics: take i32, i64, s or d, and another op than replace",
             unit_name(o->unit), op_name(o->op));
done:
  return status;
}

static gable_status check_options(const gable_forest *f, const gable_plan_options *o)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(o->direction >= GABLE_DIRECTION_BCAST && o->direction <= GABLE_DIRECTION_SCATTER, GABLE_ERR_ARGUMENT,
             "no direction %d", (int)o->direction);
  GI_REQUIRE(gik_unit_bytes(o->unit), GABLE_ERR_ARGUMENT, "no unit %d", (int)o->unit);
  GI_REQUIRE(gik_combine_for(o->unit, o->op), GABLE_ERR_ARGUMENT, "unit %s has no op %s", unit_name(o->unit),
             op_name(o->op));
  GI_REQUIRE(o->direction < GABLE_DIRECTION_GATHER || o->op == GABLE_FOREST_OP_REPLACE, GABLE_ERR_ARGUMENT,
             "gather and scatter take op replace, not %s", op_name(o->op));
  GI_REQUIRE(o->count >= 1 && o->fields >= 1 && o->count <= (1 << 30), GABLE_ERR_ARGUMENT,
             "count is %lld and fields %lld: say 1 to 2^30, and 1 or more", (long long)o->count, (long long)o->fields);
  GI_REQUIRE(o->root_stride >= 0 && o->leaf_stride >= 0, GABLE_ERR_ARGUMENT, "strides %lld and %lld",
             (long long)o->root_stride, (long long)o->leaf_stride);
  GI_TRY(check_atomics(o));
  GI_TRY(check_path(f->comm, o->path));
  GI_TRY(check_space(f->ctx, o->root_space));
  GI_TRY(check_space(f->ctx, o->leaf_space));
done:
  return status;
}

static gable_status make_plan(gable_forest *f, const gable_plan_options *options, gable_plan **out)
{
  gable_status status = GABLE_OK;
  gable_plan *p = NULL;
  GI_TRY(check_options(f, options));
  GI_ALLOC_ZERO(f->ctx, p, 1);
  p->references = 1;
  p->options = *options;
  p->combine = gik_combine_for(options->unit, options->op);
  p->copy = gik_combine_for(options->unit, GABLE_FOREST_OP_REPLACE);
  p->item = (int64_t)p->copy->number * options->count;
  *out = p;
done:
  return status;
}

/* Gather and scatter reduce and broadcast on the multi forest, which f keeps. */
static gable_status choose_forest(gable_forest *f, gable_plan *p)
{
  gable_status status = GABLE_OK;
  const gable_direction d = p->options.direction;
  const int multi = d == GABLE_DIRECTION_GATHER || d == GABLE_DIRECTION_SCATTER;
  p->moves = d == GABLE_DIRECTION_GATHER    ? GABLE_DIRECTION_REDUCE
             : d == GABLE_DIRECTION_SCATTER ? GABLE_DIRECTION_BCAST
                                            : d;
  if (multi && !f->multi) GI_TRY(gi_forest_multi(f, &f->multi));
  p->forest = multi ? f->multi : f;
  p->forest->references++;
  if (!p->options.root_stride) p->options.root_stride = p->forest->n_roots;
  if (!p->options.leaf_stride) p->options.leaf_stride = p->forest->leaf_space;
done:
  return status;
}

/* Of all messages of a side: what is laid out for them, some slots each and gaps between them, stays below 2^63. */
static const int64_t most_sent = INT64_C(1) << 59;

/* The bytes of an array of items with strided fields are a number; those of an edge, even of none, and of all edges are
 * at most most_sent. */
static gable_status check_sizes(const gable_plan *p)
{
  gable_status status = GABLE_OK;
  const gable_forest *f = p->forest;
  const int64_t stride[] = {p->options.root_stride, p->options.leaf_stride}, items[] = {f->root_space, f->leaf_space};
  const int64_t edges[] = {f->n_leaves, f->roots.n ? f->roots.ptr[f->roots.n] : 0};
  for (int k = 0; k < 2; k++) {
    int64_t bytes = 0;
    const int all = gi_mul_off(stride[k], p->options.fields - 1, &bytes) || gi_add_off(bytes, items[k], &bytes) ||
                    gi_mul_off(bytes, p->item, &bytes);
    GI_REQUIRE(!all, GABLE_ERR_LIMIT, "%lld fields of %lld items, %lld bytes each, are more than 2^63 bytes",
               (long long)p->options.fields, (long long)stride[k], (long long)p->item);
    const int sent = gi_mul_off(edges[k], p->item, &bytes) || gi_mul_off(bytes, p->options.fields, &bytes);
    GI_REQUIRE(!sent && bytes <= most_sent, GABLE_ERR_LIMIT,
               "%lld fields of %lld edges, %lld bytes each, are messages of more than 2^59 bytes",
               (long long)p->options.fields, (long long)edges[k], (long long)p->item);
  }
  GI_REQUIRE(p->options.fields <= most_sent / p->item, GABLE_ERR_LIMIT,
             "%lld fields of %lld bytes each: an edge has more than 2^59 bytes", (long long)p->options.fields,
             (long long)p->item);
done:
  return status;
}

static gable_status check_chosen(const gable_plan *p)
{
  gable_status status = GABLE_OK;
  const gable_context *ctx = p->forest->ctx;
  GI_REQUIRE(!p->on_device || gi_has_device_memory(ctx), GABLE_ERR_UNAVAILABLE,
             "another rank's arrays lie in device memory, and %s has none", ctx->where);
  GI_REQUIRE(p->on_device || !p->options.atomics, GABLE_ERR_UNAVAILABLE,
             "atomics are of arrays in device memory, and no rank has one there");
  GI_TRY(check_sizes(p));
done:
  return status;
}

gable_status gi_forest_plan_create(gable_forest *f, gable_status given, const gable_plan_options *options,
                                   gable_plan **out)
{
  gable_status status = GABLE_OK;
  const gable_plan_options *o = options;
  gable_plan *p = NULL;
  static const char *const names[] = {"direction", "op", "unit", "count", "fields", "path", "atomics"};
  enum { ALIKE = sizeof names / sizeof *names };
  const int on_device = o->root_space == GABLE_SPACE_DEVICE || o->leaf_space == GABLE_SPACE_DEVICE;
  const int64_t own[] = {o->direction, o->op, o->unit, o->count, o->fields, o->path, o->atomics != 0, on_device};
  if (!given) given = make_plan(f, options, &p);
  GI_TRY(gi_comm_alike(f->comm, given, "plans", ALIKE, names, ALIKE + 1, own));
  p->on_device = (int)gi_comm_most(f->comm, ALIKE + 1, ALIKE);
  GI_TRY(choose_forest(f, p));
  GI_AGREE(f->comm, check_chosen(p));
  *out = p;
  p = NULL;
done:
  if (p && p->forest) gi_forest_release(p->forest);
  gi_free(f->ctx, p);
  return status;
}

void gi_forest_plan_release(gable_plan *plan)
{
  if (!plan || --plan->references) return;
  gable_context *ctx = plan->forest->ctx;
  gi_forest_release(plan->forest);
  gi_free(ctx, plan);
}
