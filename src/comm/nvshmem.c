#define _GNU_SOURCE /* dladdr */
/* nvshmem.c: symmetric memory on the devices of processes from NVSHMEM's heap.  Where its PEs reach each other's memory
 * by address (nvshmem_ptr), kernels store and wait as between the GPUs of one process (window.h).  Else messages and
 * flags go by its calls on a stream: put with signal, and signals alone.
 *
 * The library is opened when it is first needed, so that Gable is bound to none.  It is initialised with a unique id
 * that goes over the comm, or is taken as the application has initialised it.  Its initialisation ends the process
 * where its bootstrap is missing, and succeeds without a GPU: both are looked at before. */
#include <pthread.h>

#include "base/opened_library.h"
#include "comm/mpi.h"
#include "comm/shared.h"
#include "device/device.h"

/* As the headers of NVSHMEM 3 have them; tests/forest/test_nvshmem.sh compares them with those that it finds. */
typedef struct unique_id {
  int version;
  char internal[124];
} unique_id;

typedef struct unique_id_arguments {
  int version;
  unique_id *id;
  int rank, ranks;
} unique_id_arguments;

typedef struct init_attributes {
  int version;
  void *mpi_comm;
  struct {
    int version;
    unique_id_arguments uid;
    char rest[96];
  } args;
} init_attributes;

enum { WITH_UNIQUE_ID = 1 << 3, IS_INITIALIZED = 2, VERSION_1 = 1 << 16, SIGNAL_ADD = 10 };

typedef struct library {
  int (*status)(void);
  int (*get_id)(unique_id *id);
  int (*set_id)(int rank, int ranks, const unique_id *id, init_attributes *a);
  int (*init)(unsigned flags, init_attributes *a);
  void (*finalize)(void);
  int (*my_pe)(void);
  int (*pes)(void);
  void *(*allocate)(size_t bytes);
  void (*release)(void *p);
  void *(*address)(const void *p, int pe);
  void (*put_signal)(void *to, const void *from, size_t bytes, uint64_t *flag, uint64_t value, int op, int pe,
                     void *stream);
  void (*signal)(uint64_t *flag, uint64_t value, int op, int pe, void *stream);
} library;

static library nvshmem;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static char missing[256];
static int opened_for_host; /* 1: the mirror's library is open */
static int users; /* comms that use it, of those that this file has initialised it for; the first and last are alone */

/* What the mirror's kernels reach is no GPU's memory: a library of another name serves it, in tests. */
static void open_library(const char *name)
{
  static const char bootstrap[] = "nvshmem_bootstrap_uid.so.3";
  const gi_library_symbol all[] = {{"nvshmemx_init_status", &nvshmem.status},
                                   {"nvshmemx_get_uniqueid", &nvshmem.get_id},
                                   {"nvshmemx_set_attr_uniqueid_args", &nvshmem.set_id},
                                   {"nvshmemx_hostlib_init_attr", &nvshmem.init},
                                   {"nvshmemx_hostlib_finalize", &nvshmem.finalize},
                                   {"nvshmem_my_pe", &nvshmem.my_pe},
                                   {"nvshmem_n_pes", &nvshmem.pes},
                                   {"nvshmem_malloc", &nvshmem.allocate},
                                   {"nvshmem_free", &nvshmem.release},
                                   {"nvshmem_ptr", &nvshmem.address},
                                   {"nvshmemx_putmem_signal_on_stream", &nvshmem.put_signal},
                                   {"nvshmemx_signal_op_on_stream", &nvshmem.signal}};
  void *handle = gi_library_open(name, all, sizeof all / sizeof *all, missing, sizeof missing);
  void *plugin = NULL;
  Dl_info about;
  if (!handle) return;
  /* Beside the library, where that looks first, or where the system looks. */
  if (dladdr(dlsym(handle, "nvshmem_malloc"), &about) && strrchr(about.dli_fname, '/')) {
    char path[4096];
    const int folder = (int)(strrchr(about.dli_fname, '/') - about.dli_fname);
    snprintf(path, sizeof path, "%.*s/%s", folder, about.dli_fname, bootstrap);
    plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  }
  if (!plugin) plugin = dlopen(bootstrap, RTLD_NOW | RTLD_LOCAL);
  if (!plugin) snprintf(missing, sizeof missing, "the bootstrap by unique id is missing: %s", dlerror());
}

static void open_for_gpus(void)
{
  open_library("libnvshmem_host.so.3");
}

static void open_for_mirrors(void)
{
  opened_for_host = 1;
  open_library("libnvshmem_mirror.so.3");
}

static gable_status prepare(gable_comm *comm, unique_id **ids, int **pe)
{
  gable_status status = GABLE_OK;
  const int in_host = comm->ctx->device->in_host;
  pthread_once(&once, in_host ? open_for_mirrors : open_for_gpus);
  GI_REQUIRE(opened_for_host == in_host, GABLE_ERR_UNAVAILABLE,
             "NVSHMEM serves GPUs or mirrors in a process, not both");
  GI_REQUIRE(!missing[0], GABLE_ERR_UNAVAILABLE, "nvshmem: %s", missing);
  GI_ALLOC_ZERO(comm->ctx, *ids, comm->size);
  GI_ALLOC_ZERO(comm->ctx, *pe, comm->size);
done:
  return status;
}

/* Collective.  Every rank of the comm becomes a PE, by rank. */
static gable_status initialise(gable_comm *comm, unique_id *ids)
{
  gable_status status = GABLE_OK;
  unique_id own = {VERSION_1 + (int)sizeof own, {0}};
  init_attributes a = {VERSION_1 + (int)sizeof a, NULL, {0}};
  int wrong = 0;
  a.args.version = VERSION_1 + (int)sizeof a.args;
  a.args.uid.version = VERSION_1 + (int)sizeof a.args.uid;
  if (!comm->rank) wrong = nvshmem.get_id(&own);
  GI_AGREE(comm, wrong ? gi_raise(GABLE_ERR_UNAVAILABLE, __FILE__, __LINE__, __func__, "NVSHMEM gives no id: %d", wrong)
                       : GABLE_OK);
  GI_TRY(gi_comm_allgather(comm, &own, sizeof own, ids));
  wrong = nvshmem.set_id(comm->rank, comm->size, &ids[0], &a);
  if (!wrong) wrong = nvshmem.init(WITH_UNIQUE_ID, &a);
  GI_REQUIRE(!wrong, GABLE_ERR_UNAVAILABLE, "NVSHMEM does not start: %d", wrong);
done:
  return status;
}

/* Whether another one has initialised it, on every rank alike. */
static gable_status check_pes(const gable_comm *comm)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(nvshmem.pes() == comm->size, GABLE_ERR_UNAVAILABLE,
             "NVSHMEM has %d PEs and this comm %d ranks: its memory is of all PEs", nvshmem.pes(), comm->size);
done:
  return status;
}

/* Collective, once a comm. */
static gable_status open_pes(gable_comm *comm)
{
  gable_status status = GABLE_OK;
  gi_mpi *m = comm->state;
  unique_id *ids = NULL;
  int *pe = NULL, own = 0, ours = 0, before = GI_NOT_ENTERED;
  GI_AGREE(comm, prepare(comm, &ids, &pe));
  GI_AGREE(comm, comm->ctx->device->enter(comm->ctx, &before));
  if (nvshmem.status() < IS_INITIALIZED) {
    GI_AGREE(comm, initialise(comm, ids));
    ours = 1;
  }
  GI_AGREE(comm, check_pes(comm));
  own = nvshmem.my_pe();
  GI_TRY(gi_comm_allgather(comm, &own, sizeof own, pe));
  if (ours || users) users++;
  m->counted = ours || users;
  m->pe = pe;
  pe = NULL;
done:
  comm->ctx->device->leave(comm->ctx, before);
  GI_FREE(comm->ctx, ids, pe);
  return status;
}

void gi_nvshmem_close(gable_comm *comm)
{
  gi_mpi *m = comm->state;
  int before = GI_NOT_ENTERED;
  if (!m->pe) return;
  gi_free(comm->ctx, m->pe);
  m->pe = NULL;
  if (!m->counted || --users || comm->ctx->device->enter(comm->ctx, &before)) return;
  nvshmem.finalize();
  comm->ctx->device->leave(comm->ctx, before);
}

/* nvshmem_malloc and nvshmem_free are collective over all PEs. */
static gable_status share_symmetric(gable_comm *comm, int64_t bytes, void **at, void **window)
{
  gable_status status = GABLE_OK;
  int before = GI_NOT_ENTERED;
  GI_AGREE(comm, comm->ctx->device->enter(comm->ctx, &before));
  void *own = nvshmem.allocate((size_t)bytes);
  GI_REQUIRE(own, GABLE_ERR_MEMORY, "NVSHMEM's heap has no %.1f MB (NVSHMEM_SYMMETRIC_SIZE)", (double)bytes / 1e6);
  *window = own;
  for (int r = 0; r < comm->size; r++) at[r] = own;
done:
  comm->ctx->device->leave(comm->ctx, before);
  return status;
}

static gable_status share(gable_comm *comm, int64_t bytes, void **at, void **window)
{
  gable_status status = GABLE_OK;
  const gi_mpi *m = comm->state;
  GI_TRY(share_symmetric(comm, bytes, at, window));
  for (int r = 0; r < comm->size; r++) {
    if (r != comm->rank) at[r] = nvshmem.address(*window, m->pe[r]);
    GI_REQUIRE(at[r], GABLE_ERR_UNAVAILABLE, "rank %d reaches the memory of rank %d by messages alone", comm->rank, r);
  }
done:
  return status;
}

static void unshare_heap(gable_comm *comm, void *window)
{
  int before = GI_NOT_ENTERED;
  if (comm->ctx->device->enter(comm->ctx, &before)) return;
  nvshmem.release(window);
  comm->ctx->device->leave(comm->ctx, before);
}

/* The mirror's heap is host memory. */
static gable_status clear(gable_comm *comm, void *at, int64_t bytes)
{
  if (!comm->ctx->device->in_host) return gi_mpi_clear_device(comm, at, bytes);
  memset(at, 0, (size_t)bytes);
  return GABLE_OK;
}

gable_status gi_nvshmem_device_create(gable_comm *comm, int64_t bytes, gable_path path, gi_shared **out)
{
  gable_status status = GABLE_OK;
  static const gi_mpi_sharing by_address = {share, unshare_heap, clear, GI_MPI_OF_NVSHMEM};
  static const gi_mpi_sharing by_puts = {share_symmetric, unshare_heap, clear, GI_MPI_OF_PUTS};
  gi_mpi *m = comm->state;
  if (!m->pe) GI_TRY(open_pes(comm));
  GI_REQUIRE(path == GABLE_PATH_PUT || !m->pes_apart, GABLE_ERR_UNAVAILABLE, "PEs reach each other by messages alone");
  status = gi_mpi_window_create(comm, path == GABLE_PATH_PUT ? &by_puts : &by_address, bytes, out);
  if (status == GABLE_ERR_UNAVAILABLE) m->pes_apart = 1;
done:
  return status;
}

gable_status gi_nvshmem_put(gable_comm *comm, int rank, void *to, const void *from, size_t bytes, void *signal,
                            void *stream)
{
  int before = GI_NOT_ENTERED;
  const gable_status status = comm->ctx->device->enter(comm->ctx, &before);
  if (!status) nvshmem.put_signal(to, from, bytes, signal, 1, SIGNAL_ADD, ((gi_mpi *)comm->state)->pe[rank], stream);
  comm->ctx->device->leave(comm->ctx, before);
  return status;
}

gable_status gi_nvshmem_signal(gable_comm *comm, int rank, void *signal, void *stream)
{
  int before = GI_NOT_ENTERED;
  const gable_status status = comm->ctx->device->enter(comm->ctx, &before);
  if (!status) nvshmem.signal(signal, 1, SIGNAL_ADD, ((gi_mpi *)comm->state)->pe[rank], stream);
  comm->ctx->device->leave(comm->ctx, before);
  return status;
}
