#include "support/peer_memory.h"

#include <stdlib.h>

#include "comm/shared.h"

struct peer_memory {
  gi_shared *memory;
};

gable_status peer_memory_open(gable_comm *comm, int64_t bytes, gable_path path, void **at, peer_memory **out)
{
  peer_memory *m = calloc(1, sizeof *m);
  gable_status status = gable_comm_agree(comm, m ? GABLE_OK : GABLE_ERR_MEMORY);
  if (!status) status = gi_shared_create_on_device(comm, bytes, path, &m->memory);
  for (int r = 0; r < gable_comm_size(comm) && !status; r++) at[r] = m->memory->at[r];
  *out = m;
  return status;
}

void peer_memory_close(peer_memory *m)
{
  if (m) gi_shared_destroy(m->memory);
  free(m);
}
