/* ranks.c: ranks that are threads of this process: they meet in shared memory, by C11 flags. */
#include "comm/ranks.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "comm/stream_link.h"

typedef struct member {
  const gi_transport *transport;
  gi_ranks *all;
  gable_context *ctx;
  gable_rank_function f;
  void *user;
  const char *where;
  char *faults;
  int rank;
  pthread_t thread;
} member;

/* Looks before the processor is offered to others: fewer after each wait that they did not suffice for, since then
 * there are fewer processors than ranks; more again after each one that they did. */
enum { LOOKS_MOST = 2048, LOOKS_LEAST = 16 };

int gi_ranks_gone(gable_comm *comm, int rank)
{
  return atomic_load_explicit(&((gi_ranks_end *)comm->state)->all->line[rank].left, memory_order_acquire);
}

gable_status gi_ranks_wait(gable_comm *comm, atomic_uint *flag, unsigned value, int rank)
{
  gable_status status = GABLE_OK;
  gi_ranks_end *end = comm->state;
  unsigned looks = 0;
  double since = 0.0;
  for (int k = 0; k < end->looks; k++) {
    if (gi_reached(flag, value)) {
      if (end->looks < LOOKS_MOST) end->looks += LOOKS_LEAST;
      return GABLE_OK;
    }
    gi_pause();
  }
  if (end->looks > LOOKS_LEAST) end->looks /= 2;
  while (!gi_reached(flag, value)) {
    GI_TRY(gi_comm_wait(comm, rank, &looks, &since));
    if (since == 0.0 || !gi_ranks_gone(comm, rank)) continue;
    GI_REQUIRE(gi_reached(flag, value), GABLE_ERR_BACKEND, "rank %d waits for rank %d, which has returned", comm->rank,
               rank);
  }
done:
  return status;
}

/* All ranks come to one more step. */
static gable_status meet(gable_comm *comm)
{
  gable_status status = GABLE_OK;
  gi_ranks_end *end = comm->state;
  gi_publish(&end->all->line[comm->rank].arrived, ++end->steps);
  for (int r = 0; r < comm->size; r++) GI_TRY(gi_ranks_wait(comm, &end->all->line[r].arrived, end->steps, r));
done:
  return status;
}

/* Rank r has come to a collective: closed, it has given up since; not alike, it is another one than this rank's. */
static gable_status check_other(const gable_comm *comm, int r, int closed, int alike)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(!closed, GABLE_ERR_BACKEND, "rank %d has given up, which rank %d waited for", r, comm->rank);
  GI_REQUIRE(alike, GABLE_ERR_BACKEND, "ranks %d and %d call different functions", r, comm->rank);
done:
  return status;
}

/* Copies what rank r has for this one; *sent: its bytes.  GABLE_ERR_BACKEND when rank r has given up. */
static gable_status take_block(gable_comm *comm, int r, const gi_blocks *in, int64_t *sent)
{
  gi_rank_line *line = &((gi_ranks_end *)comm->state)->all->line[r];
  atomic_fetch_add(&line->readers, 1);
  const int closed = atomic_load(&line->closed), alike = !closed && line->out;
  if (alike) {
    *sent = gi_block_bytes(line->out, comm->rank);
    if (*sent && *sent == gi_block_bytes(in, r) && gi_block(in, r) != gi_block(line->out, comm->rank))
      memcpy(gi_block(in, r), gi_block(line->out, comm->rank), (size_t)*sent);
  }
  atomic_fetch_sub(&line->readers, 1);
  return check_other(comm, r, closed, alike);
}

/* What was out is the caller's again. */
static void close_line(gi_rank_line *own)
{
  atomic_store(&own->closed, 1);
  while (atomic_load(&own->readers)) gi_pause();
}

/* Every rank takes what the others have for it, in place; a rank that gives up waits until nobody reads its blocks. */
gable_status gi_ranks_alltoall(gable_comm *comm, const gi_blocks *out, const gi_blocks *in)
{
  gable_status status = GABLE_OK;
  gi_rank_line *own = &((gi_ranks_end *)comm->state)->all->line[comm->rank];
  int wrong = -1;
  int64_t sent = 0, mistaken = 0;
  own->out = out;
  GI_TRY(meet(comm));
  for (int r = 0; r < comm->size; r++) {
    GI_TRY(take_block(comm, r, in, &sent));
    if (sent == gi_block_bytes(in, r)) continue;
    wrong = r;
    mistaken = sent;
  }
  GI_TRY(meet(comm)); /* nobody reads out any more */
  if (wrong >= 0)
    return gi_raise(GABLE_ERR_BACKEND, __FILE__, __LINE__, __func__,
                    "rank %d sends %lld bytes where rank %d expects %lld: they call different functions", wrong,
                    (long long)mistaken, comm->rank, (long long)gi_block_bytes(in, wrong));
done:
  if (status) close_line(own);
  return status;
}

/* One step, where alltoall takes two: nobody waits until all have read. */
gable_status gi_ranks_allgather(gable_comm *comm, const void *in, size_t bytes, void *out)
{
  gable_status status = GABLE_OK;
  gi_ranks_end *end = comm->state;
  gi_rank_line *line = end->all->line, *own = line + comm->rank;
  const unsigned number = ++end->told;
  gi_rank_told *mine = &own->told[number % 2];
  own->out = NULL;
  mine->number = number;
  mine->bytes = (unsigned)bytes;
  if (bytes) memcpy(mine->block, in, bytes);
  GI_TRY(meet(comm));
  for (int r = 0; r < comm->size; r++) {
    const gi_rank_told *theirs = &line[r].told[number % 2];
    GI_TRY(check_other(comm, r, atomic_load(&line[r].closed), theirs->number == number && theirs->bytes == bytes));
    if (bytes) memcpy((char *)out + (size_t)r * bytes, theirs->block, bytes);
  }
done:
  if (status) close_line(own);
  return status;
}

static gable_status run_member(const member *m)
{
  gable_status status = GABLE_OK;
  gi_ranks_end end = {.all = m->all, .looks = LOOKS_MOST};
  gable_comm comm = {.transport = m->transport, .ctx = m->ctx, .rank = m->rank, .size = m->all->size, .state = &end};
  if (m->faults) comm.fault = (int *)(void *)(m->faults + m->rank * GI_FAULT_BYTES);
  GI_TRY(gi_comm_init(&comm, m->where));
  const unsigned before = gi_error_count();
  GI_TRY(gi_from_caller(m->f(&comm, m->user), before, "its function"));
done:
  if (status && comm.abort_channels) comm.abort_channels(&comm); /* others may never come */
  gi_comm_release(&comm);
  return status;
}

/* After this rank's last word, whoever waits for it learns that it has left. */
static void *run_thread(void *argument)
{
  const member *m = argument;
  gi_rank_line *line = &m->all->line[m->rank];
  line->returned = run_member(m);
  if (line->returned) {
    int nobody = 0;
    gi_keep_error(&line->said);
    atomic_compare_exchange_strong(&m->all->first_failure, &nobody, m->rank + 1);
  }
  atomic_store_explicit(&line->left, 1, memory_order_release);
  return NULL;
}

/* A rank whose thread does not start has left with an error. */
static void start_members(member *members, int size)
{
  for (int r = 1; r < size; r++)
    if (pthread_create(&members[r].thread, NULL, run_thread, &members[r])) {
      gi_rank_line *line = &members[r].all->line[r];
      int nobody = 0;
      members[r].rank = -1;
      line->returned = GABLE_ERR_MEMORY;
      snprintf(line->said.message, sizeof line->said.message, "the system gives no thread");
      atomic_compare_exchange_strong(&members[r].all->first_failure, &nobody, r + 1);
      atomic_store_explicit(&line->left, 1, memory_order_release);
    }
}

gable_status gi_ranks_run(const gi_transport *transport, gable_context *const *ctx, int size, const char *where,
                          void *faults, gable_rank_function f, void *user)
{
  gable_status status = GABLE_OK;
  member *members = NULL;
  gi_ranks all = {.ctx = ctx[0], .size = size};
  GI_ALLOC_ZERO(ctx[0], members, size);
  GI_ALLOC_ZERO(ctx[0], all.line, size);
  atomic_init(&all.first_failure, 0);
  for (int r = 0; r < size; r++) members[r] = (member){transport, &all, ctx[r], f, user, where, faults, .rank = r};
  start_members(members, size);
  run_thread(&members[0]);
  for (int r = 1; r < size; r++)
    if (members[r].rank == r) pthread_join(members[r].thread, NULL);
  const int failed = atomic_load(&all.first_failure) - 1;
  if (failed >= 0) {
    const gi_rank_line *line = &all.line[failed];
    GI_TRY(gi_comm_raise_of(failed, line->returned, line->said.message, line->said.names_rank));
  }
done:
  GI_FREE(ctx[0], all.line, members);
  return status;
}

static gable_status ranks_run(gable_context *const *ctx, int size, const char *where, gable_rank_function f, void *user)
{
  return gi_ranks_run(&gi_transport_ranks, ctx, size, where, NULL, f, user);
}

/* A comm of one rank with all that it needs. */
typedef struct self_comm {
  gable_comm comm;
  gi_ranks all;
  gi_ranks_end end;
  gi_rank_line line;
} self_comm;

gable_status gi_ranks_self(gable_context *ctx, gable_comm **out)
{
  gable_status status = GABLE_OK;
  self_comm *s = NULL;
  GI_ALLOC_ZERO(ctx, s, 1);
  s->all = (gi_ranks){.ctx = ctx, .size = 1, .line = &s->line};
  s->end = (gi_ranks_end){.all = &s->all, .looks = LOOKS_MOST};
  s->comm =
      (gable_comm){.transport = &gi_transport_ranks, .ctx = ctx, .rank = 0, .size = 1, .owned = 1, .state = &s->end};
  GI_TRY(gi_comm_init(&s->comm, ctx->where));
  *out = &s->comm;
  s = NULL;
done:
  if (s) gi_comm_release(&s->comm);
  gi_free(ctx, s);
  return status;
}

static void ranks_destroy(gable_comm *comm)
{
  gi_comm_release(comm);
  gi_free(comm->ctx, comm); /* the first member of self_comm */
}

const gi_transport gi_transport_ranks = {
    .name = "ranks",
    .run = ranks_run,
    .alltoall = gi_ranks_alltoall,
    .allgather = gi_ranks_allgather,
    .paths = 1u << GABLE_PATH_AUTO | 1u << GABLE_PATH_DIRECT | 1u << GABLE_PATH_BUFFER,
    .offer_least = 4096,
    .link_create = gi_ranks_link_create,
    .device_link_create = gi_ranks_device_link_create,
    .link_destroy = gi_channel_link_destroy,
    .start = gi_channel_start,
    .out = gi_channel_out,
    .post = gi_channel_post,
    .offer = gi_channel_offer,
    .settle = gi_channel_settle,
    .in = gi_channel_in,
    .take = gi_channel_take,
    .here = gi_channel_here,
    .done = gi_channel_done,
    .shared_create = gi_ranks_shared_create,
    .gone = gi_ranks_gone,
    .destroy = ranks_destroy,
};
