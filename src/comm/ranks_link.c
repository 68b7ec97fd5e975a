/* ranks_link.c: links between threads: channels in memory of the process.  Between arrays in device memory these are
 * pinned, and kernels pack messages in the receiver's slots and read them there: a message is copied twice, from one
 * device and to the other. */
#include "comm/ranks.h"
#include "device/device.h"

static gable_context *shared_context(const gable_comm *comm)
{
  return ((gi_ranks_end *)comm->state)->all->ctx;
}

static gable_status make_channel(gable_comm *comm, int pinned, int64_t message, gi_channel **out)
{
  gable_status status = GABLE_OK;
  gable_context *ctx = shared_context(comm);
  const int64_t bytes = gi_channel_bytes(message);
  void *p = NULL;
  if (pinned)
    GI_TRY(ctx->device->pinned_alloc(ctx, (size_t)bytes, &p));
  else
    p = gi_alloc(ctx, 1, (size_t)bytes);
  GI_REQUIRE(p, GABLE_ERR_MEMORY, "out of memory: %.1f MB for messages", (double)bytes / 1e6);
  *out = p;
  gi_channel_init(*out, message);
done:
  return status;
}

static void drop_channel(gable_comm *comm, gi_channel *c)
{
  gi_free(shared_context(comm), c);
}

static void drop_pinned(gable_comm *comm, gi_channel *c)
{
  gable_context *ctx = shared_context(comm);
  if (c) ctx->device->pinned_release(ctx, c);
}

static gable_status make_all(gable_comm *comm, gable_status own, int pinned, int n, gi_channel_end *in,
                             const int64_t *bytes)
{
  for (int k = 0; k < n && !own; k++) own = make_channel(comm, pinned, bytes[k], &in[k].channel);
  const gable_status status = gi_comm_agree(comm, own);
  for (int k = 0; in && k < n && status; k++) {
    (pinned ? drop_pinned : drop_channel)(comm, in[k].channel);
    in[k].channel = NULL;
  }
  return status;
}

static gable_status make_channels(gable_comm *comm, gable_status own, int n, gi_channel_end *in, const int64_t *bytes)
{
  return make_all(comm, own, 0, n, in, bytes);
}

static gable_status make_pinned(gable_comm *comm, gable_status own, int n, gi_channel_end *in, const int64_t *bytes)
{
  return make_all(comm, own, 1, n, in, bytes);
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

static const gi_channel_memory memory = {make_channels, tell_channel, find_channel, drop_channel, gi_ranks_wait, NULL};

gable_status gi_ranks_link_create(gable_comm *comm, const gi_link_shape *shape, gable_path path, gi_link **out)
{
  (void)path; /* direct and buffer differ in what is offered */
  return gi_channel_link_create(comm, &memory, &gi_transport_ranks, shape, out);
}

gable_status gi_ranks_device_link_create(gable_comm *comm, const gi_link_shape *shape, gable_path path,
                                         gi_link_room *out, gi_link_room *in, gi_link **link)
{
  static const gi_channel_memory pinned = {make_pinned, tell_channel, find_channel, drop_pinned, gi_ranks_wait, NULL};
  static const gi_transport transport = {.name = "ranks",
                                         .link_destroy = gi_channel_link_destroy,
                                         .slots = gi_channel_slots,
                                         .start = gi_channel_start_later,
                                         .out = gi_channel_out,
                                         .post = gi_channel_post,
                                         .in = gi_channel_in,
                                         .here = gi_channel_here,
                                         .done = gi_channel_done_later};
  (void)path;
  (void)out;
  (void)in;
  return gi_channel_link_create(comm, &pinned, &transport, shape, link);
}
