/* fake_nvshmem.c: what Gable calls of NVSHMEM, between processes on a CPU and at once instead of on a stream:
 * test_nvshmem.sh builds it as libnvshmem_mirror.so.3, so that the mirror runs what a GPU runs.  The heap is one file
 * that all PEs map; with FAKE_NVSHMEM_APART set no PE has an address of another one's, with FAKE_NVSHMEM_LOSES the puts
 * of PE 1 are lost. */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const size_t heap = (size_t)1 << 32; /* of a PE; only what is written takes memory */

/* As the headers have them. */
typedef struct unique_id {
  int version;
  char internal[124];
} unique_id;

typedef struct attributes {
  int version;
  void *mpi_comm;
  struct {
    int version;
    struct {
      int version;
      unique_id *id;
      int rank, ranks;
    } uid;
  } args;
} attributes;

static char *all; /* every PE's heap, then how many have opened the file */
static size_t used;
static int own, pes;

int nvshmemx_init_status(void);
int nvshmemx_get_uniqueid(unique_id *id);
int nvshmemx_set_attr_uniqueid_args(int rank, int ranks, unique_id *id, attributes *a);
int nvshmemx_hostlib_init_attr(unsigned flags, attributes *a);
void nvshmemx_hostlib_finalize(void);
int nvshmem_my_pe(void);
int nvshmem_n_pes(void);
void *nvshmem_malloc(size_t bytes);
void nvshmem_free(void *p);
void *nvshmem_ptr(const void *p, int pe);
void nvshmemx_putmem_signal_on_stream(void *to, const void *from, size_t bytes, uint64_t *flag, uint64_t value, int op,
                                      int pe, void *stream);
void nvshmemx_signal_op_on_stream(uint64_t *flag, uint64_t value, int op, int pe, void *stream);

int nvshmemx_init_status(void)
{
  return all ? 2 : 0;
}

int nvshmemx_get_uniqueid(unique_id *id)
{
  snprintf(id->internal, sizeof id->internal, "/gable-fake-nvshmem-%ld", (long)getpid());
  return 0;
}

int nvshmemx_set_attr_uniqueid_args(int rank, int ranks, unique_id *id, attributes *a)
{
  own = rank;
  pes = ranks;
  a->args.uid.id = id;
  return 0;
}

int nvshmemx_hostlib_init_attr(unsigned flags, attributes *a)
{
  const char *name = a->args.uid.id->internal;
  const size_t bytes = (size_t)pes * heap + 64;
  const int f = shm_open(name, O_RDWR | O_CREAT, 0600);
  if (flags != 1 << 3 || f < 0 || ftruncate(f, (off_t)bytes)) return 1;
  all = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0);
  close(f);
  if (all == MAP_FAILED) return 1;
  atomic_int *opened = (atomic_int *)(void *)(all + (size_t)pes * heap);
  if (atomic_fetch_add(opened, 1) == pes - 1) shm_unlink(name); /* nobody looks for it any more */
  return 0;
}

void nvshmemx_hostlib_finalize(void)
{
  munmap(all, (size_t)pes * heap + 64);
  all = NULL;
  used = 0;
}

int nvshmem_my_pe(void)
{
  return own;
}

int nvshmem_n_pes(void)
{
  return pes;
}

void *nvshmem_malloc(size_t bytes)
{
  void *p = all + (size_t)own * heap + used;
  used += (bytes + 4095) / 4096 * 4096;
  return used <= heap ? p : NULL;
}

void nvshmem_free(void *p)
{
  (void)p;
}

static void *at_pe(const void *p, int pe)
{
  return all + (size_t)pe * heap + ((const char *)p - (all + (size_t)own * heap));
}

void *nvshmem_ptr(const void *p, int pe)
{
  return pe == own ? (void *)(uintptr_t)p : getenv("FAKE_NVSHMEM_APART") ? NULL : at_pe(p, pe);
}

void nvshmemx_signal_op_on_stream(uint64_t *flag, uint64_t value, int op, int pe, void *stream)
{
  (void)stream;
  if (op != 10) abort(); /* NVSHMEM_SIGNAL_ADD */
  atomic_fetch_add_explicit((_Atomic uint64_t *)at_pe(flag, pe), value, memory_order_release);
}

void nvshmemx_putmem_signal_on_stream(void *to, const void *from, size_t bytes, uint64_t *flag, uint64_t value, int op,
                                      int pe, void *stream)
{
  const char *mine = all + (size_t)own * heap;
  if (own == 1 && getenv("FAKE_NVSHMEM_LOSES")) return;
  if ((const char *)from < mine || (const char *)from + bytes > mine + used) abort(); /* what a network can read */
  memcpy(at_pe(to, pe), from, bytes);
  nvshmemx_signal_op_on_stream(flag, value, op, pe, stream);
}
