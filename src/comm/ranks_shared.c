/* ranks_shared.c: symmetric memory of threads, in host memory or on their devices: each rank takes its own, and whoever
 * lets go of it last gives all back. */
#include "comm/ranks.h"
#include "comm/shared.h"
#include "device/device.h"

/* Of one rank. */
typedef struct part {
  gable_context *ctx;
  char *at;
} part;

typedef struct block {
  _Alignas(64) atomic_int holders;
  gable_context *ctx;
  int size, on_device;
  part part[];
} block;

/* What each rank tells the others; rank 0 brings the block. */
typedef struct offer {
  part part;
  block *of_all;
} offer;

static void release_part(const part *p, int on_device)
{
  if (p->at && on_device) p->ctx->device->release(p->ctx, p->at);
  if (p->at && !on_device) gi_free(p->ctx, p->at);
}

static void let_go(block *b)
{
  if (!b || atomic_fetch_sub_explicit(&b->holders, 1, memory_order_acq_rel) != 1) return;
  for (int r = 0; r < b->size; r++) release_part(&b->part[r], b->on_device);
  gi_free(b->ctx, b);
}

static void release_handle(gi_shared *s)
{
  gable_context *ctx = s->comm->ctx;
  GI_FREE(ctx, s->at, s->ctx, s);
}

static void destroy(gi_shared *s)
{
  let_go(s->state);
  release_handle(s);
}

static gable_status take_device_memory(gable_context *ctx, int64_t bytes, part *own)
{
  gable_status status = GABLE_OK;
  void *p = NULL;
  own->ctx = ctx;
  GI_TRY(ctx->device->alloc(ctx, (size_t)bytes, &p));
  own->at = p;
  GI_TRY(ctx->device->fill(ctx, p, 0, (size_t)bytes, NULL));
  GI_TRY(ctx->device->synchronise(ctx, NULL));
done:
  return status;
}

/* From the context that outlives every rank. */
static gable_status take_host_memory(gable_context *ctx, int64_t bytes, part *own)
{
  gable_status status = GABLE_OK;
  own->ctx = ctx;
  own->at = gi_alloc_zero(ctx, 1, (size_t)bytes);
  GI_REQUIRE(own->at, GABLE_ERR_MEMORY, "out of memory: %.1f MB of symmetric memory", (double)bytes / 1e6);
done:
  return status;
}

static gable_status make_parts(gable_comm *comm, int64_t bytes, int on_device, gi_shared **out, offer *own, offer **all)
{
  gable_status status = GABLE_OK;
  gable_context *ctx = ((gi_ranks_end *)comm->state)->all->ctx;
  gi_shared *s = NULL;
  GI_ALLOC_ZERO(comm->ctx, s, 1);
  *out = s;
  s->comm = comm;
  s->bytes = bytes;
  s->destroy = destroy;
  GI_ALLOC_ZERO(comm->ctx, s->at, comm->size);
  if (on_device) GI_ALLOC_ZERO(comm->ctx, s->ctx, comm->size);
  GI_ALLOC_ZERO(comm->ctx, *all, comm->size);
  if (bytes)
    GI_TRY(on_device ? take_device_memory(comm->ctx, bytes, &own->part) : take_host_memory(ctx, bytes, &own->part));
  if (comm->rank) goto done;
  own->of_all = gi_alloc_zero(ctx, 1, sizeof *own->of_all + (size_t)comm->size * sizeof(part));
  GI_REQUIRE(own->of_all, GABLE_ERR_MEMORY, "out of memory for %d ranks", comm->size);
  atomic_init(&own->of_all->holders, comm->size);
  own->of_all->ctx = ctx;
  own->of_all->size = comm->size;
  own->of_all->on_device = on_device;
done:
  return status;
}

static gable_status create(gable_comm *comm, int64_t bytes, int on_device, gi_shared **out)
{
  gable_status status = GABLE_OK;
  gi_shared *s = NULL;
  offer own = {{comm->ctx, NULL}, NULL}, *all = NULL;
  GI_AGREE(comm, make_parts(comm, bytes, on_device, &s, &own, &all));
  GI_TRY(gi_comm_allgather(comm, &own, sizeof own, all));
  s->state = all[0].of_all;
  all[0].of_all->part[comm->rank] = own.part;
  for (int r = 0; r < comm->size; r++) {
    s->at[r] = all[r].part.at;
    if (s->ctx) s->ctx[r] = all[r].part.ctx;
  }
  own = (offer){{NULL, NULL}, NULL};
  *out = s;
  s = NULL;
done:
  /* Where a rank was awaited in vain the others may have this rank's memory, and the block: then both stay. */
  if (!atomic_load_explicit(&comm->waits.failed, memory_order_relaxed)) {
    release_part(&own.part, on_device);
    if (own.of_all) gi_free(own.of_all->ctx, own.of_all);
  }
  if (s) release_handle(s);
  gi_free(comm->ctx, all);
  return status;
}

gable_status gi_ranks_shared_create(gable_comm *comm, int64_t bytes, gi_shared **out)
{
  return create(comm, bytes, 0, out);
}

gable_status gi_ranks_device_create(gable_comm *comm, int64_t bytes, gable_path path, gi_shared **out)
{
  (void)path;
  return create(comm, bytes, 1, out);
}
