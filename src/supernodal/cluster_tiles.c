/* cluster_tiles.c: cuts the products of each level into what thread blocks compute. */
#include "device/device.h"
#include "supernodal/cluster_state.h"

/* A level of fewer than LEVEL_TILES tiles splits their inputs. */
enum { TILE_VALUES = 8192, LEVEL_TILES = 264, LEAST_OUTPUTS = 32, SHORT_OUTPUTS = 128 };

typedef struct shape {
  gable_off inputs, outputs;
} shape;

static shape shape_of(const gi_clusters *c, const gi_cluster_side *side, gable_idx j, int forward)
{
  const gable_off w = gi_cluster_width(c, j), all = w + side->ptr[j + 1] - side->ptr[j];
  return forward ? (shape){w, all} : (shape){all, w};
}

/* Outputs of a tile: about TILE_VALUES values, whole multiples of what a thread block takes at a time. */
static gable_off tile_outputs(shape s, int transposed)
{
  const gable_off least = transposed ? GIK_CLUSTER_TILE_COLUMNS : s.inputs >= 96 ? LEAST_OUTPUTS : SHORT_OUTPUTS;
  const gable_off wanted = s.inputs ? TILE_VALUES / s.inputs / least * least : s.outputs;
  return wanted < least ? least : wanted;
}

/* What make_tiles fills: the tiles of one kind of product, and the room that split ones need. */
typedef struct tile_maker {
  gable_context *ctx;
  const gi_clusters *c;
  const gi_cluster_side *side;
  int forward, transposed;
  gik_cluster_tile *tile;
  gable_off count, capacity;
  gable_off partials; /* of one level, the most */
  gable_idx counters;
} tile_maker;

static gable_status append_tile(tile_maker *m, gik_cluster_tile tile)
{
  gable_status status = GABLE_OK;
  GI_RESERVE(m->ctx, m->tile, m->count, m->count + 1, m->capacity, "the tiles of a solve");
  m->tile[m->count++] = tile;
done:
  return status;
}

/* Parts that the inputs of each output are split into, so that the level has LEVEL_TILES tiles. */
static gable_off parts_of(shape s, gable_off level_tiles)
{
  const gable_off most = (s.inputs + GIK_CLUSTER_INPUTS - 1) / GIK_CLUSTER_INPUTS;
  const gable_off wanted = level_tiles ? (LEVEL_TILES + level_tiles - 1) / level_tiles : 1;
  return most < 1 ? 1 : wanted < most ? wanted : most;
}

static gable_status tile_cluster(tile_maker *m, gable_idx j, gable_off level_tiles, gable_idx *counter,
                                 gable_off *partial)
{
  gable_status status = GABLE_OK;
  const shape s = shape_of(m->c, m->side, j, m->forward);
  const gable_off each = tile_outputs(s, m->transposed), wanted = parts_of(s, level_tiles);
  const gable_off blocks = (s.inputs + GIK_CLUSTER_INPUTS - 1) / GIK_CLUSTER_INPUTS;
  const gable_off step = (blocks + wanted - 1) / wanted * GIK_CLUSTER_INPUTS;
  const gable_off parts = step && s.inputs > step ? (s.inputs + step - 1) / step : 1;
  for (gable_off o = 0; o < s.outputs; o += each) {
    const gable_off end = o + each < s.outputs ? o + each : s.outputs;
    for (gable_off part = 0; part < parts; part++) {
      const gable_off i = part * step, i_end = parts == 1 || i + step > s.inputs ? s.inputs : i + step;
      GI_TRY(append_tile(m, (gik_cluster_tile){j, (gable_idx)o, (gable_idx)end, (gable_idx)i, (gable_idx)i_end,
                                               (gable_idx)part, (gable_idx)parts, *counter, *partial}));
    }
    if (parts > 1) {
      *counter += 1;
      *partial += parts * (end - o);
    }
  }
done:
  return status;
}

static gable_status make_tiles(tile_maker *m, gi_tile_list *out, gable_off *bytes)
{
  gable_status status = GABLE_OK;
  const gi_clusters *c = m->c;
  GI_ALLOC(m->ctx, out->ptr, c->n_levels + 1);
  for (gable_idx level = 0; level < c->n_levels; level++) {
    gable_off whole = 0, partial = 0;
    gable_idx counter = 0;
    out->ptr[level] = (gable_idx)m->count;
    for (gable_idx j = c->level_ptr[level]; j < c->level_ptr[level + 1]; j++) {
      const shape s = shape_of(c, m->side, j, m->forward);
      const gable_off each = tile_outputs(s, m->transposed);
      whole += (s.outputs + each - 1) / each;
    }
    for (gable_idx j = c->level_ptr[level]; j < c->level_ptr[level + 1]; j++)
      GI_TRY(tile_cluster(m, j, whole, &counter, &partial));
    if (partial > m->partials) m->partials = partial;
    if (counter > m->counters) m->counters = counter;
    GI_REQUIRE(m->count < INT32_MAX, GABLE_ERR_LIMIT, "%lld tiles in one solve", (long long)m->count);
  }
  out->ptr[c->n_levels] = (gable_idx)m->count;
  GI_TRY(gi_cluster_to_device(m->ctx, m->tile, m->count, sizeof *m->tile, (void **)&out->tile, bytes));
  GI_TRY(m->ctx->device->synchronise(m->ctx, NULL)); /* before the host's tiles go */
done:
  return status;
}

static gable_status make_kind(gi_cluster_solver *s, int kind)
{
  gable_status status = GABLE_OK;
  const gi_clusters *c = s->panels->clusters;
  const int lower = kind == GI_FORWARD_LOWER || kind == GI_BACKWARD_LOWER;
  tile_maker m = {.ctx = s->ctx,
                  .c = c,
                  .side = lower ? &c->l : &c->u,
                  .forward = kind == GI_FORWARD_LOWER || kind == GI_FORWARD_UPPER,
                  .transposed = kind == GI_BACKWARD_LOWER || kind == GI_FORWARD_UPPER};
  GI_TRY(make_tiles(&m, &s->tiles[kind], &s->bytes));
  if (m.partials > s->partials) s->partials = m.partials;
  if (m.counters > s->counters) s->counters = m.counters;
done:
  gi_free(s->ctx, m.tile);
  return status;
}

gable_status gi_cluster_tiles_make(gi_cluster_solver *s)
{
  gable_status status = GABLE_OK;
  GI_TRY(make_kind(s, GI_FORWARD_LOWER));
  GI_TRY(make_kind(s, GI_BACKWARD_LOWER));
  if (!s->panels->upper) goto done;
  GI_TRY(make_kind(s, GI_FORWARD_UPPER));
  GI_TRY(make_kind(s, GI_BACKWARD_UPPER));
done:
  return status;
}
