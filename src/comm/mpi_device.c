/* mpi_device.c: symmetric memory on the devices of processes of one node, by CUDA IPC: each rank allocates its own and
 * opens the others'.  The mirror's kernels run on the CPU: there it is host memory that the processes share.
 *
 * Kernels of two processes on one device run by turns of milliseconds, unless a CUDA MPS server is there; so ranks that
 * share a device take this path only where it is asked for. */
#include "comm/device_memory.h"
#include "comm/mpi.h"
#include "comm/shared.h"
#include "device/device.h"

static const int64_t window_least = (int64_t)1 << 21; /* CUDA puts smaller allocations in one exported block */

/* What a rank tells the others of its memory, and of its device. */
typedef struct ticket {
  int64_t device[GI_IPC_DEVICE / 8];
  unsigned char handle[GI_IPC_HANDLE];
} ticket;

/* One window of device memory. */
typedef struct device_window {
  void *own;
  void **opened; /* [size]; NULL where it is not */
} device_window;

static gable_status make_window(gable_comm *comm, int64_t bytes, device_window **out, ticket *own, ticket **all)
{
  gable_status status = GABLE_OK;
  gable_context *ctx = comm->ctx;
  device_window *w = NULL;
  int before = GI_NOT_ENTERED;
  GI_ALLOC_ZERO(ctx, *all, comm->size);
  GI_ALLOC_ZERO(ctx, w, 1);
  *out = w;
  GI_ALLOC_ZERO(ctx, w->opened, comm->size);
  GI_TRY(ctx->device->enter(ctx, &before));
  GI_TRY(gi_ipc_cuda.allocate(bytes, &w->own, own->handle));
done:
  ctx->device->leave(ctx, before);
  return status;
}

static gable_status open_all(gable_comm *comm, device_window *w, const ticket *all, void **at)
{
  gable_status status = GABLE_OK;
  int before = GI_NOT_ENTERED;
  GI_TRY(comm->ctx->device->enter(comm->ctx, &before));
  for (int r = 0; r < comm->size; r++) {
    if (r != comm->rank) GI_TRY(gi_ipc_cuda.open(all[r].handle, &w->opened[r]));
    at[r] = r == comm->rank ? w->own : w->opened[r];
  }
done:
  comm->ctx->device->leave(comm->ctx, before);
  return status;
}

/* Of a window that nobody has open. */
static void drop_window(gable_comm *comm, device_window *w)
{
  int before = GI_NOT_ENTERED;
  if (w->own && !comm->ctx->device->enter(comm->ctx, &before)) gi_ipc_cuda.release(w->own);
  comm->ctx->device->leave(comm->ctx, before);
  GI_FREE(comm->ctx, w->opened, w);
}

static gable_status share(gable_comm *comm, int64_t bytes, void **at, void **window)
{
  gable_status status = GABLE_OK;
  ticket own = {{0}, {0}}, *all = NULL;
  device_window *w = NULL;
  GI_AGREE(comm, make_window(comm, bytes, &w, &own, &all));
  GI_TRY(gi_comm_allgather(comm, &own, sizeof own, all));
  *window = w; /* on every rank: others may have opened it */
  GI_TRY(open_all(comm, w, all, at));
done:
  if (w && !*window) drop_window(comm, w);
  gi_free(comm->ctx, all);
  return status;
}

/* Collective.  An allocation goes when nobody has it open. */
static void unshare(gable_comm *comm, void *window)
{
  device_window *w = window;
  int before = GI_NOT_ENTERED;
  const gable_status status = comm->ctx->device->enter(comm->ctx, &before);
  for (int r = 0; !status && w->opened && r < comm->size; r++) gi_ipc_cuda.close(w->opened[r]);
  const gable_status all_closed = gi_comm_agree(comm, status);
  if (all_closed) w->own = NULL; /* a lost rank may have it open */
  comm->ctx->device->leave(comm->ctx, before);
  drop_window(comm, w);
}

gable_status gi_mpi_clear_device(gable_comm *comm, void *at, int64_t bytes)
{
  const gi_device *device = comm->ctx->device;
  const gable_status status = device->fill(comm->ctx, at, 0, (size_t)bytes, NULL);
  return status ? status : device->synchronise(comm->ctx, NULL);
}

/* What kernels that wait need on this rank. */
static gable_status prepare(gable_comm *comm, ticket *own, ticket **all)
{
  gable_status status = GABLE_OK;
  gable_context *ctx = comm->ctx;
  void *fault = NULL;
  int before = GI_NOT_ENTERED;
  GI_ALLOC_ZERO(ctx, *all, comm->size);
  GI_TRY(gi_load_waiting_kernels(ctx, "mpi"));
  if (!comm->fault) GI_TRY(ctx->device->pinned_alloc(ctx, sizeof *comm->fault, &fault));
  if (fault) comm->fault = fault;
  if (ctx->device->in_host) goto done;
  GI_TRY(ctx->device->enter(ctx, &before));
  GI_TRY(gi_ipc_cuda.device(own->device));
done:
  ctx->device->leave(ctx, before);
  return status;
}

/* Collective, once a comm. */
static gable_status find_devices(gable_comm *comm)
{
  gable_status status = GABLE_OK;
  gi_mpi *m = comm->state;
  ticket own = {{0}, {0}}, *all = NULL;
  own.device[0] = comm->rank; /* each mirror is its own */
  GI_AGREE(comm, prepare(comm, &own, &all));
  GI_TRY(gi_comm_allgather(comm, &own, sizeof own, all));
  m->devices = GI_MPI_ONE_EACH;
  for (int r = 0; r < comm->size; r++)
    for (int q = 0; q < r; q++)
      if (all[r].device[0] == all[q].device[0] && all[r].device[1] == all[q].device[1]) m->devices = GI_MPI_BY_TURNS;
done:
  gi_free(comm->ctx, all);
  return status;
}

gable_status gi_mpi_device_create(gable_comm *comm, int64_t bytes, gable_path path, gi_shared **out)
{
  gable_status status = GABLE_OK;
  static const gi_mpi_sharing by_ipc = {share, unshare, gi_mpi_clear_device, GI_MPI_OF_IPC};
  gi_mpi *m = comm->state;
  int64_t whole = window_least;
  if (!m->devices) GI_TRY(find_devices(comm));
  while (whole < bytes) whole *= 2;
  if (path == GABLE_PATH_NVSHMEM || path == GABLE_PATH_PUT) return gi_nvshmem_device_create(comm, whole, path, out);
  GI_TRY(gi_node_open(comm, 0));
  GI_REQUIRE(m->devices != GI_MPI_APART, GABLE_ERR_UNAVAILABLE, "the processes cannot open each other's device memory");
  GI_REQUIRE(path != GABLE_PATH_AUTO || m->devices == GI_MPI_ONE_EACH, GABLE_ERR_UNAVAILABLE,
             "several processes share a device");
  if (comm->ctx->device->in_host) return gi_mpi_shared_create(comm, bytes, out);
  status = gi_mpi_window_create(comm, &by_ipc, whole, out);
  if (status == GABLE_ERR_UNAVAILABLE) m->devices = GI_MPI_APART;
done:
  return status;
}
