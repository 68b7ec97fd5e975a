/* nvshmem_absent.c: a build without NVSHMEM. */
#include "comm/mpi.h"

static gable_status absent(void)
{
  return gi_raise(GABLE_ERR_UNAVAILABLE, __FILE__, __LINE__, __func__, "this build has no NVSHMEM");
}

gable_status gi_nvshmem_device_create(gable_comm *comm, int64_t bytes, gable_path path, gi_shared **out)
{
  (void)comm, (void)bytes, (void)path;
  *out = NULL;
  return absent();
}

gable_status gi_nvshmem_put(gable_comm *comm, int rank, void *to, const void *from, size_t bytes, void *signal,
                            void *stream)
{
  (void)comm, (void)rank, (void)to, (void)from, (void)bytes, (void)signal, (void)stream;
  return absent();
}

gable_status gi_nvshmem_signal(gable_comm *comm, int rank, void *signal, void *stream)
{
  (void)comm, (void)rank, (void)signal, (void)stream;
  return absent();
}

void gi_nvshmem_close(gable_comm *comm)
{
  (void)comm;
}
