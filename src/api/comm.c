/* comm.c: the public face of comms: reads a place, checks arguments, then dispatches. */
#include "comm/comm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/entry.h"
#include "api/structs.h"

enum { MOST_RANKS = 1024 };

/* "cpu/ranks:4" is device "cpu", transport ranks, 4; "cuda:0,1/peer" devices "cuda:0,1", transport peer, 2. */
typedef struct place {
  char devices[64];
  const gi_transport *transport;
  int ranks;
} place;

/* How many devices a list of them has. */
static int count_devices(const char *devices)
{
  int n = 1;
  for (const char *c = devices; *c; c++) n += *c == ',';
  return n;
}

static gable_status read_place(const char *where, place *p)
{
  static const gi_transport *const known[] = {&gi_transport_ranks, &gi_transport_mpi, &gi_transport_peer,
                                              &gi_transport_nccl};
  const char *slash = strchr(where, '/');
  const char *name = slash ? slash + 1 : "ranks:1";
  const size_t length = strcspn(name, ":"), devices = slash ? (size_t)(slash - where) : strlen(where);
  char *end = NULL;
  long n = 1;
  *p = (place){"", NULL, 1};
  for (size_t k = 0; k < sizeof known / sizeof *known; k++)
    if (strlen(known[k]->name) == length && !strncmp(name, known[k]->name, length)) p->transport = known[k];
  snprintf(p->devices, sizeof p->devices, "%.*s", (int)(devices < sizeof p->devices ? devices : 0), where);
  n = count_devices(p->devices);
  if (!strcmp(name, "nvshmem")) p->transport = &gi_transport_mpi; /* a path of processes */
  if (name[length]) n = strtol(name + length + 1, &end, 10);
  GI_CHECK(p->transport && (!end || (!*end && end > name + length + 1)) && n >= 1 && n <= MOST_RANKS && *p->devices,
           GABLE_ERR_ARGUMENT,
           "'%.60s' is no place for ranks: say cpu, cpu/ranks:4, mirror/peer:4 or cuda:0,1/peer, at most %d", where,
           MOST_RANKS);
  GI_CHECK(p->transport != &gi_transport_mpi, GABLE_ERR_ARGUMENT,
           "'%.60s': processes start before their comm: gable_comm_from_mpi of gable/mpi.h makes it", where);
  GI_CHECK(p->transport->run, GABLE_ERR_UNAVAILABLE, "'%.60s': this build has no transport %s", where,
           p->transport->name);
  p->ranks = (int)n;
  return GABLE_OK;
}

/* The device of rank r: of "cuda:0,1" cuda:0 and cuda:1 in turn. */
static gable_status open_device(const place *p, int r, const gable_context_options *options, gable_context **ctx)
{
  char name[64];
  const char *colon = strchr(p->devices, ':'), *at = colon ? colon + 1 : p->devices;
  for (int k = r % count_devices(p->devices); k > 0; k--) at = strchr(at, ',') + 1;
  const int prefix = colon ? (int)(colon + 1 - p->devices) : 0, length = (int)strcspn(at, ",");
  snprintf(name, sizeof name, "%.*s%.*s", prefix, p->devices, length, at);
  return gable_context_create(name, options, ctx);
}

gable_status gable_comm_run(const char *where, gable_rank_function f, void *user)
{
  gable_status status = GABLE_OK;
  gable_context **ctx = NULL;
  gable_context_options options = GABLE_CONTEXT_OPTIONS_INIT;
  place p = {.ranks = 0};
  options.threads = 1;
  GI_REQUIRE(where && f, GABLE_ERR_ARGUMENT, "%s is NULL", where ? "f" : "where");
  GI_TRY(read_place(where, &p));
  ctx = calloc((size_t)p.ranks, sizeof(gable_context *)); /* before there is a context to take it from */
  GI_REQUIRE(ctx, GABLE_ERR_MEMORY, "out of memory for %d ranks", p.ranks);
  for (int r = 0; r < p.ranks; r++) GI_TRY(open_device(&p, r, &options, &ctx[r]));
  GI_TRY(p.transport->run(ctx, p.ranks, where, f, user));
done:
  for (int r = p.ranks - 1; ctx && r >= 0; r--) gable_context_destroy(&ctx[r]);
  free(ctx);
  return status;
}

gable_status gable_comm_self(gable_context *ctx, gable_comm **out)
{
  GI_GIVEN_OUT(ctx, "ctx", out);
  return GI_TRACED(gi_ranks_self(ctx, out));
}

/* As every MPI has: links live at once have tags of their own. */
enum { LEAST_LAST_TAG = 32767 };

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
  GI_REQUIRE(own.ranks >= 1 && own.rank >= 0 && own.rank < own.ranks, GABLE_ERR_ARGUMENT, "rank %d of %d", own.rank,
             own.ranks);
  GI_REQUIRE(own.last_tag >= LEAST_LAST_TAG, GABLE_ERR_ARGUMENT, "tags up to %d: say %d or more", own.last_tag,
             LEAST_LAST_TAG);
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

/* Kernels count a deadline as nanoseconds of the clock in 64 bits, which 1e9 s do not wrap. */
static const double longest_deadline_s = 1e9;

gable_status gable_comm_set_deadline(gable_comm *comm, double seconds)
{
  GI_CHECK(comm && seconds > 0, GABLE_ERR_ARGUMENT, "%s", comm ? "a deadline is more than 0 s" : "comm is NULL");
  comm->waits.deadline_s = seconds < longest_deadline_s ? seconds : longest_deadline_s;
  return GABLE_OK;
}

gable_status gable_comm_barrier(gable_comm *comm)
{
  GI_GIVEN(comm, "comm");
  return GI_TRACED(gi_comm_allgather(comm, &comm->rank, sizeof comm->rank, comm->words));
}

gable_status gable_comm_allgather(gable_comm *comm, const void *in, size_t bytes, void *out)
{
  GI_CHECK(comm && ((in && out) || !bytes), GABLE_ERR_ARGUMENT, "%s is NULL", comm ? "in or out" : "comm");
  return GI_TRACED(gi_comm_allgather(comm, in, bytes, out));
}

gable_status gable_comm_agree(gable_comm *comm, gable_status own)
{
  GI_GIVEN(comm, "comm");
  return GI_TRACED(gi_comm_agree(comm, own));
}
