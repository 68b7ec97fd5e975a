/* nvshmem_absent.c: a build without NVSHMEM. */
#include "comm/mpi.h"

gable_status gi_nvshmem_device_create(gable_comm *comm, int64_t bytes, gi_shared **out)
{
  (void)comm, (void)bytes;
  *out = NULL;
  return gi_raise(GABLE_ERR_UNAVAILABLE, __FILE__, __LINE__, __func__, "this build has no NVSHMEM");
}

void gi_nvshmem_close(gable_comm *comm)
{
  (void)comm;
}
