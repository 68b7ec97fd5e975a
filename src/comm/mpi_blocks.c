/* mpi_blocks.c: see mpi.h. */
#include "comm/device_memory.h"
#include "comm/mpi.h"
#include "device/device.h"

static const int64_t block_least = (int64_t)1 << 16;

/* By cudaMalloc: MPI exports it to other processes, and memory of a pool has no handle.  The mirror's memory is closed
 * between kernels, and MPI reads at any time: there it is host memory. */
static gable_status allocate(gable_context *ctx, int64_t bytes, char **at)
{
  gable_status status = GABLE_OK;
  void *p = NULL;
  unsigned char handle[GI_IPC_HANDLE];
  int before = GI_NOT_ENTERED;
  GI_TRY(ctx->device->enter(ctx, &before));
  if (ctx->device->in_host)
    GI_TRY(ctx->device->pinned_alloc(ctx, (size_t)bytes, &p));
  else
    GI_TRY(gi_ipc_cuda.allocate(bytes, &p, handle));
  *at = p;
done:
  ctx->device->leave(ctx, before);
  return status;
}

static void release(gable_context *ctx, void *p)
{
  if (ctx->device->in_host)
    ctx->device->pinned_release(ctx, p);
  else
    gi_ipc_cuda.release(p);
}

gable_status gi_mpi_block_take(gable_comm *comm, int64_t bytes, gi_mpi_block **out)
{
  gable_status status = GABLE_OK;
  gi_mpi *s = comm->state;
  gi_mpi_block *b = s->blocks;
  while (b && (b->used || b->bytes < bytes)) b = b->next;
  if (!b) {
    GI_ALLOC_ZERO(comm->ctx, b, 1);
    b->next = s->blocks;
    s->blocks = b;
  }
  if (!b->bytes) b->bytes = block_least;
  while (b->bytes < bytes) b->bytes *= 2;
  if (!b->at) GI_TRY(allocate(comm->ctx, b->bytes, &b->at));
  b->used = 1;
  *out = b;
done:
  return status;
}

void gi_mpi_block_give(gi_mpi_block *b)
{
  if (b) b->used = 0;
}

void gi_mpi_blocks_free(gable_comm *comm)
{
  gi_mpi *s = comm->state;
  gable_context *ctx = comm->ctx;
  int before = GI_NOT_ENTERED;
  const gable_status status = ctx->device->enter(ctx, &before);
  while (s->blocks) {
    gi_mpi_block *b = s->blocks;
    s->blocks = b->next;
    if (!status && !b->used) release(ctx, b->at); /* what MPI still uses stays where it is */
    gi_free(ctx, b);
  }
  ctx->device->leave(ctx, before);
}
