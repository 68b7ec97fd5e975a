/* ranks_link.c: links between threads: channels in memory of the process. */
#include "comm/ranks.h"

static gable_context *shared_context(const gable_comm *comm)
{
  return ((gi_ranks_end *)comm->state)->all->ctx;
}

static gable_status make_channels(gable_comm *comm, int n, gi_channel_end *in, const int64_t *bytes)
{
  gable_status status = GABLE_OK;
  for (int k = 0; k < n && !status; k++) {
    const int64_t all = gi_channel_bytes(bytes[k]);
    in[k].channel = gi_alloc(shared_context(comm), 1, (size_t)all);
    if (in[k].channel)
      gi_channel_init(in[k].channel, bytes[k]);
    else
      status = gi_raise(GABLE_ERR_MEMORY, __FILE__, __LINE__, __func__, "out of memory: %.1f MB for messages",
                        (double)all / 1e6);
  }
  status = gi_comm_agree(comm, status);
  for (int k = 0; k < n && status; k++) {
    gi_free(shared_context(comm), in[k].channel);
    in[k].channel = NULL;
  }
  return status;
}

static int64_t tell_channel(gable_comm *comm, const gi_channel *c)
{
  (void)comm;
  return (int64_t)(intptr_t)c;
}

static gi_channel *find_channel(gable_comm *comm, int rank, int64_t told)
{
  (void)comm;
  (void)rank;
  return (gi_channel *)(intptr_t)told;
}

static void drop_channel(gable_comm *comm, gi_channel *c)
{
  gi_free(shared_context(comm), c);
}

static const gi_channel_memory memory = {make_channels, tell_channel, find_channel, drop_channel, gi_ranks_wait, NULL};

gable_status gi_ranks_link_create(gable_comm *comm, const gi_link_shape *shape, gable_path path, gi_link **out)
{
  (void)path; /* direct and buffer differ in what is offered */
  return gi_channel_link_create(comm, &memory, &gi_transport_ranks, shape, out);
}
