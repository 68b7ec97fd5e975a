/* peer.c: ranks that are threads of this process, each with a device of its own or several on one: kernels store where
 * another rank reads.  What is set up, and arrays in host memory, go as between threads (ranks.c). */
#include "comm/device_memory.h"
#include "comm/ranks.h"
#include "device/device.h"
#include "kernels/forest/exchange_steps.h"

gable_status gi_load_waiting_kernels(gable_context *ctx, const char *transport)
{
  gable_status status = GABLE_OK;
  int before = GI_NOT_ENTERED;
  GI_REQUIRE(gi_has_device_memory(ctx), GABLE_ERR_ARGUMENT, "%s has no device memory for the transport %s", ctx->where,
             transport);
  GI_TRY(ctx->device->enter(ctx, &before));
  GI_TRY(ctx->device->kernels->exchange_steps->load());
done:
  ctx->device->leave(ctx, before);
  return status;
}

/* Pinned memory comes and goes while no kernel waits: for the driver both may mean to wait for all that run. */
static gable_status peer_run(gable_context *const *ctx, int size, const char *where, gable_rank_function f, void *user)
{
  gable_status status = GABLE_OK;
  void *faults = NULL;
  for (int r = 0; r < size; r++) {
    GI_TRY(gi_load_waiting_kernels(ctx[r], "peer"));
    for (int q = 0; q < size; q++) GI_TRY(ctx[r]->device->open_to(ctx[r], ctx[q]));
  }
  GI_TRY(ctx[0]->device->pinned_alloc(ctx[0], (size_t)size * GI_FAULT_BYTES, &faults));
  GI_TRY(gi_ranks_run(&gi_transport_peer, ctx, size, where, faults, f, user));
done:
  if (faults) ctx[0]->device->pinned_release(ctx[0], faults);
  return status;
}

const gi_transport gi_transport_peer = {
    .name = "peer",
    .run = peer_run,
    .alltoall = gi_ranks_alltoall,
    .allgather = gi_ranks_allgather,
    .paths = 1u << GABLE_PATH_AUTO | 1u << GABLE_PATH_DIRECT | 1u << GABLE_PATH_BUFFER | 1u << GABLE_PATH_COPY,
    .link_create = gi_ranks_link_create,
    .shared_create = gi_ranks_shared_create,
    .device_create = gi_ranks_device_create,
    .copies = 1,
    .gone = gi_ranks_gone,
};
