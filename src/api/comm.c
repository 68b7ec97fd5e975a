/* comm.c: the public face of comms: reads a place, checks arguments, then dispatches. */
#include "comm/comm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/structs.h"

enum { MOST_RANKS = 1024 };

/* "cpu/ranks:4" is device "cpu", transport ranks, 4. */
static gable_status read_place(const char *where, char *device, size_t size, const gi_transport **transport, int *ranks)
{
  gable_status status = GABLE_OK;
  static const gi_transport *const known[] = {&gi_transport_ranks, &gi_transport_mpi, &gi_transport_peer,
                                              &gi_transport_nvshmem, &gi_transport_nccl};
  const char *slash = strchr(where, '/');
  const char *name = slash ? slash + 1 : "ranks:1";
  const size_t length = strcspn(name, ":");
  char *end = NULL;
  long n = 1;
  snprintf(device, size, "%.*s", (int)(slash ? slash - where : (long)strlen(where)), where);
  *transport = NULL;
  for (size_t k = 0; k < sizeof known / sizeof *known; k++)
    if (strlen(known[k]->name) == length && !strncmp(name, known[k]->name, length)) *transport = known[k];
  if (name[length]) n = strtol(name + length + 1, &end, 10);
  GI_REQUIRE(*transport && (!end || (!*end && end > name + length + 1)) && n >= 1 && n <= MOST_RANKS,
             GABLE_ERR_ARGUMENT, "'%.60s' is no place for ranks: say cpu, cpu/ranks:4 or mirror/ranks:4, at most %d",
             where, MOST_RANKS);
  GI_REQUIRE(*transport != &gi_transport_mpi, GABLE_ERR_ARGUMENT,
             "'%.60s': processes start before their comm: gable_comm_from_mpi of gable/mpi.h makes it", where);
  GI_REQUIRE((*transport)->run, GABLE_ERR_UNAVAILABLE, "'%.60s': this build has no transport %s", where,
             (*transport)->name);
  *ranks = (int)n;
done:
  return status;
}

gable_status gable_comm_run(const char *where, gable_rank_function f, void *user)
{
  gable_status status = GABLE_OK;
  const gi_transport *transport = NULL;
  gable_context **ctx = NULL;
  gable_context_options options = GABLE_CONTEXT_OPTIONS_INIT;
  char device[32];
  int ranks = 0;
  options.threads = 1;
  GI_REQUIRE(where && f, GABLE_ERR_ARGUMENT, "%s is NULL", where ? "f" : "where");
  GI_TRY(read_place(where, device, sizeof device, &transport, &ranks));
  ctx = calloc((size_t)ranks, sizeof(gable_context *)); /* before there is a context to take it from */
  GI_REQUIRE(ctx, GABLE_ERR_MEMORY, "out of memory for %d ranks", ranks);
  for (int r = 0; r < ranks; r++) GI_TRY(gable_context_create(device, &options, &ctx[r]));
  GI_TRY(transport->run(ctx, ranks, where, f, user));
done:
  for (int r = ranks - 1; ctx && r >= 0; r--) gable_context_destroy(&ctx[r]);
  free(ctx);
  return status;
}

gable_status gable_comm_self(gable_context *ctx, gable_comm **out)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(ctx && out, GABLE_ERR_ARGUMENT, "%s is NULL", ctx ? "out" : "ctx");
  *out = NULL;
  GI_TRY(gi_ranks_self(ctx, out));
done:
  return status;
}

gable_status gable_comm_from_messages(gable_context *ctx, const gable_message_passing *m, gable_comm **out)
{
  gable_status status = GABLE_OK;
  gable_message_passing own = GABLE_MESSAGE_PASSING_INIT;
  GI_REQUIRE(m, GABLE_ERR_ARGUMENT, "m is NULL");
  GI_TRY(gi_take_message_passing(m, &own));
  GI_REQUIRE(own.send_init && own.receive_init && own.start && own.test && own.request_free && own.close,
             GABLE_ERR_ARGUMENT, "a function is NULL");
  GI_REQUIRE(!own.share == !own.unshare, GABLE_ERR_ARGUMENT, "%s is NULL", own.share ? "unshare" : "share");
  GI_REQUIRE(ctx && out, GABLE_ERR_ARGUMENT, "%s is NULL", ctx ? "out" : "ctx");
  *out = NULL;
  GI_REQUIRE(own.ranks >= 1 && own.rank >= 0 && own.rank < own.ranks && own.last_tag >= 1, GABLE_ERR_ARGUMENT,
             "rank %d of %d, tags up to %d", own.rank, own.ranks, own.last_tag);
  GI_TRY(gi_mpi_create(ctx, &own, out));
done:
  if (status && own.close) own.close(own.user);
  return status;
}

void gable_comm_destroy(gable_comm **comm)
{
  if (!comm || !*comm) return;
  gable_comm *c = *comm;
  *comm = NULL;
  if (c->owned) c->transport->destroy(c);
}

int gable_comm_rank(const gable_comm *comm)
{
  return comm->rank;
}

int gable_comm_size(const gable_comm *comm)
{
  return comm->size;
}

const char *gable_comm_where(const gable_comm *comm)
{
  return comm->where;
}

gable_context *gable_comm_context(gable_comm *comm)
{
  return comm->ctx;
}

gable_status gable_comm_set_deadline(gable_comm *comm, double seconds)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(comm && seconds > 0, GABLE_ERR_ARGUMENT, "%s", comm ? "a deadline is more than 0 s" : "comm is NULL");
  comm->waits.deadline_s = seconds;
done:
  return status;
}

gable_status gable_comm_barrier(gable_comm *comm)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(comm, GABLE_ERR_ARGUMENT, "comm is NULL");
  GI_TRY(gi_comm_allgather(comm, &comm->rank, sizeof comm->rank, comm->statuses));
done:
  return status;
}

gable_status gable_comm_allgather(gable_comm *comm, const void *in, size_t bytes, void *out)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(comm && ((in && out) || !bytes), GABLE_ERR_ARGUMENT, "%s is NULL", comm ? "in or out" : "comm");
  GI_TRY(gi_comm_allgather(comm, in, bytes, out));
done:
  return status;
}

gable_status gable_comm_agree(gable_comm *comm, gable_status own)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(comm, GABLE_ERR_ARGUMENT, "comm is NULL");
  GI_TRY(gi_comm_agree(comm, own));
done:
  return status;
}
