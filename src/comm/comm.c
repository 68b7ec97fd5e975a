/* comm.c: what all transports share: collectives on alltoall, agreement on errors, waiting. */
#include "comm/comm.h"

#include <sched.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "comm/bounded_call.h"
#include "device/device.h"

/* What the failed rank sends to the others. */
typedef struct agreed_error {
  int32_t names_rank;
  char message[508];
} agreed_error;

static const double default_deadline_s = 60.0;

gable_status gi_comm_init(gable_comm *comm, const char *where)
{
  gable_status status = GABLE_OK;
  snprintf(comm->where, sizeof comm->where, "%s", where);
  gi_team_init(&comm->waits, default_deadline_s);
  gi_comm_share_processors(comm, comm->size);
  GI_ALLOC_ZERO(comm->ctx, comm->at, comm->size);
  GI_ALLOC_ZERO(comm->ctx, comm->bytes, comm->size);
  GI_ALLOC_ZERO(comm->ctx, comm->words, (1 + GI_WORDS) * (int64_t)comm->size);
  GI_ALLOC_ZERO(comm->ctx, comm->blocks, 4 * (int64_t)comm->size);
done:
  return status;
}

void gi_comm_release(gable_comm *comm)
{
  gi_comm_drain(comm);
  if (comm->close_channels) comm->close_channels(comm);
  gi_calls_end(comm);
  GI_FREE(comm->ctx, comm->at, comm->bytes, comm->words, comm->blocks);
}

/* Blocks of as many bytes, one after another. */
static void lay_out(gable_comm *comm, size_t bytes)
{
  for (int r = 0; r < comm->size; r++) {
    comm->at[r] = r * (int64_t)bytes;
    comm->bytes[r] = (int64_t)bytes;
  }
}

gable_status gi_comm_allgather(gable_comm *comm, const void *in, size_t bytes, void *out)
{
  const int64_t own = comm->rank;
  char *blocks = out;
  if (bytes <= GI_SHORT_BYTES && comm->transport->allgather) return comm->transport->allgather(comm, in, bytes, out);
  lay_out(comm, bytes);
  if (bytes) memmove(blocks + own * (int64_t)bytes, in, bytes);
  const gi_blocks to = {blocks + own * (int64_t)bytes, NULL, comm->bytes};
  const gi_blocks from = {blocks, comm->at, comm->bytes};
  return comm->transport->alltoall(comm, &to, &from);
}

gable_status gi_comm_first_common(gable_comm *comm, uint64_t own, int *first)
{
  const int64_t word = (int64_t)own;
  const gable_status status = gi_comm_allgather(comm, &word, sizeof word, comm->words);
  *first = -1;
  for (int r = 0; r < comm->size && !status; r++) own &= (uint64_t)comm->words[r];
  for (int k = 63; k >= 0 && !status; k--)
    if (own >> k & 1) *first = k;
  return status;
}

int64_t gi_comm_most(const gable_comm *comm, int n, int k)
{
  int64_t most = comm->words[k];
  for (int r = 1; r < comm->size; r++) most = comm->words[r * n + k] > most ? comm->words[r * n + k] : most;
  return most;
}

gable_status gi_comm_largest(gable_comm *comm, int64_t own, int64_t *most)
{
  const gable_status status = gi_comm_allgather(comm, &own, sizeof own, comm->words);
  *most = status ? own : gi_comm_most(comm, 1, 0);
  return status;
}

gable_status gi_trade(gable_comm *comm, const int64_t *out, const int64_t *in, size_t bytes, const void *from, void *to)
{
  const int n = comm->size;
  int64_t *at = comm->blocks, sent = 0, received = 0;
  for (int r = 0; r < n; r++) {
    at[r] = sent * (int64_t)bytes;
    at[n + r] = out[r] * (int64_t)bytes;
    at[2 * n + r] = received * (int64_t)bytes;
    at[3 * n + r] = in[r] * (int64_t)bytes;
    sent += out[r];
    received += in[r];
  }
  union {
    const void *in;
    char *out;
  } source = {from}; /* alltoall reads what goes out */
  const gi_blocks give = {source.out, at, at + n}, take = {to, at + 2 * n, at + 3 * n};
  return comm->transport->alltoall(comm, &give, &take);
}

gable_status gi_comm_raise_of(int rank, gable_status returned, const char *message, int names_rank)
{
  char of[24] = "";
  if (!names_rank) snprintf(of, sizeof of, "rank %d: ", rank);
  gi_raise(returned, __FILE__, __LINE__, __func__, "%s%s", of, message);
  gi_error_names_rank();
  return returned;
}

/* The last error, or the text of the status where there is none. */
static void take_error(gable_status own, agreed_error *out)
{
  gi_error last;
  gi_keep_error(&last);
  out->names_rank = last.names_rank;
  snprintf(out->message, sizeof out->message, "%.400s", last.message);
  if (!out->message[0]) snprintf(out->message, sizeof out->message, "%s", gable_status_text(own));
}

/* Where a count or 0 is told, a status that is an error: below 0. */
static const int64_t status_word = INT64_MIN / 2;

/* Collective, after each rank has told own as of[rank * stride], which went as status says: where one failed its error
 * goes to the others. */
static gable_status share_error(gable_comm *comm, gable_status status, gable_status own, const int64_t *of, int stride,
                                agreed_error *error)
{
  int failed = 0;
  if (status && own) return gi_comm_raise_of(comm->rank, own, error->message, error->names_rank); /* the cause */
  if (status) goto done;
  while (failed < comm->size && of[failed * stride] >= 0) failed++;
  if (failed == comm->size) goto done;
  const int sends = comm->rank == failed;
  for (int r = 0; r < comm->size; r++) comm->bytes[r] = (r == failed) == sends ? 0 : (int64_t)sizeof *error;
  const gi_blocks error_of = {(char *)error, NULL, comm->bytes}, nothing = {NULL, NULL, NULL};
  GI_TRY(comm->transport->alltoall(comm, sends ? &error_of : &nothing, sends ? &nothing : &error_of));
  GI_TRY(
      gi_comm_raise_of(failed, (gable_status)(of[failed * stride] - status_word), error->message, error->names_rank));
done:
  return status;
}

gable_status gi_comm_agree_on(gable_comm *comm, gable_status own, int n, const int64_t *words)
{
  gable_status status = GABLE_OK;
  int64_t told[1 + GI_WORDS] = {own ? status_word + own : 0}, *all = comm->words;
  agreed_error error = {0, ""};
  if (own) take_error(own, &error);
  for (int k = 0; k < n; k++) told[1 + k] = words[k];
  if (own && comm->size == 1) return own;
  status = gi_comm_allgather(comm, told, (size_t)(1 + n) * sizeof *told, all);
  GI_TRY(share_error(comm, status, own, all, 1 + n, &error));
  for (int r = 0; r < comm->size; r++)
    for (int k = 0; k < n; k++) all[r * n + k] = all[r * (1 + n) + 1 + k];
done:
  return status;
}

gable_status gi_comm_agree(gable_comm *comm, gable_status own)
{
  return gi_comm_agree_on(comm, own, 0, NULL);
}

/* Of comm->words [size * n]: whether the first alike ones are rank 0's on every rank. */
static gable_status compare(const gable_comm *comm, const char *what, int alike, const char *const *names, int n)
{
  const int64_t *first = comm->words;
  for (int r = 1; r < comm->size; r++)
    for (int k = 0; k < alike; k++) {
      const int64_t own = first[r * n + k];
      char message[200];
      if (own == first[k]) continue;
      snprintf(message, sizeof message, "%s differ: %s is %lld on rank %d and %lld on rank 0", what, names[k],
               (long long)own, r, (long long)first[k]);
      return gi_comm_raise_of(r, GABLE_ERR_ARGUMENT, message, 0);
    }
  return GABLE_OK;
}

gable_status gi_comm_alike(gable_comm *comm, gable_status own, const char *what, int alike, const char *const *names,
                           int n, const int64_t *words)
{
  const gable_status status = gi_comm_agree_on(comm, own, n, words);
  return status ? status : compare(comm, what, alike, names, n);
}

gable_status gi_trade_counts(gable_comm *comm, gable_status own, const int64_t *out, int64_t *in)
{
  gable_status status = GABLE_OK;
  int64_t *told = comm->words, *heard = told + comm->size;
  agreed_error error = {0, ""};
  if (own) take_error(own, &error);
  if (own && comm->size == 1) return own;
  for (int r = 0; r < comm->size; r++)
    told[r] = own ? status_word + own : out[r]; /* a rank that failed has no counts */
  lay_out(comm, sizeof *told);
  const gi_blocks give = {(char *)told, comm->at, comm->bytes}, take = {(char *)heard, comm->at, comm->bytes};
  status = comm->transport->alltoall(comm, &give, &take);
  GI_TRY(share_error(comm, status, own, heard, 1, &error));
  for (int r = 0; r < comm->size; r++) in[r] = heard[r];
done:
  return status;
}

enum { SPINS = 64 }; /* looks before the first one at the clock */
static const double patience_s = 1e-3, short_patience_s = 1e-5, sleep_after_s = 0.01;

void gi_comm_share_processors(gable_comm *comm, int ranks)
{
  comm->patience_s = ranks <= sysconf(_SC_NPROCESSORS_ONLN) ? patience_s : short_patience_s;
}

/* One unsuccessful look; 1: the wait must be given up.  Unlike a team of a solve, which takes no more threads than
 * there are processors, ranks may outnumber them: the one that is awaited may be in the queue, so the processor is
 * yielded, at once where they do.  Where they do not, a yield gives milliseconds to another program. */
static int back_off(gable_comm *comm, int64_t what, unsigned *looks, double *since)
{
  if (++*looks < SPINS) {
    gi_pause();
    return 0;
  }
  const double now = gi_now();
  if (*since == 0.0) *since = now;
  if (now - *since > comm->patience_s)
    sched_yield();
  else
    gi_pause();
  if (now - *since > sleep_after_s) gi_sleep();
  return gi_give_up(&comm->waits, what, now - *since);
}

gable_status gi_comm_wait(gable_comm *comm, int rank, unsigned *looks, double *since)
{
  gable_status status = GABLE_OK;
  const int gave_up = back_off(comm, rank, looks, since);
  if (*since != 0.0 && comm->polls && !comm->polling) {
    comm->polling = 1;
    for (gi_poll *p = comm->polls, *next; p; p = next) {
      next = p->next;
      p->poll(p);
    }
    comm->polling = 0;
  }
  const int awaited = (int)atomic_load_explicit(&comm->waits.failed, memory_order_relaxed) - 1;
  GI_REQUIRE(!gave_up, GABLE_ERR_DEADLINE, "rank %d waited %.3g s for rank %d, which did not come", comm->rank,
             comm->waits.deadline_s, awaited);
done:
  return status;
}

void gi_comm_poll_add(gable_comm *comm, gi_poll *p)
{
  p->next = comm->polls;
  comm->polls = p;
}

void gi_comm_poll_remove(gable_comm *comm, gi_poll *p)
{
  gi_poll **at = &comm->polls;
  while (*at && *at != p) at = &(*at)->next;
  if (*at) *at = p->next;
}

/* 0, 1 + the rank that a kernel awaited in vain, or -1 - the rank that had given up what a kernel awaited. */
static int fault_of(const gable_comm *comm)
{
  return comm->fault ? atomic_load_explicit((atomic_int *)(void *)comm->fault, memory_order_acquire) : 0;
}

int gi_comm_lost(const gable_comm *comm)
{
  return atomic_load_explicit(&comm->waits.failed, memory_order_relaxed) || fault_of(comm);
}

gable_status gi_comm_check_kernels(gable_comm *comm)
{
  gable_status status = GABLE_OK;
  const int fault = fault_of(comm);
  GI_REQUIRE(fault >= 0, GABLE_ERR_DEADLINE, "rank %d awaits a message of rank %d, which has given up the exchange",
             comm->rank, -1 - fault);
  GI_REQUIRE(!fault, GABLE_ERR_DEADLINE, "rank %d waited %.3g s for rank %d, which did not come", comm->rank,
             comm->waits.deadline_s, fault - 1);
done:
  return status;
}

void gi_comm_later(gable_comm *comm, gi_later *l)
{
  l->next = comm->laters;
  comm->laters = l;
}

static void reap(gable_comm *comm, int wait)
{
  gi_later **at = &comm->laters;
  while (*at) {
    gi_later *l = *at;
    if (!comm->ctx->device->event_done(comm->ctx, l->event, wait)) {
      at = &l->next;
      continue;
    }
    *at = l->next;
    l->free(l);
  }
}

void gi_comm_reap(gable_comm *comm)
{
  if (gi_calls_back(comm, 0.0)) reap(comm, 0);
}

void gi_comm_drain(gable_comm *comm)
{
  gable_status status = GABLE_OK;
  unsigned looks = 0;
  double since = 0.0;
  gi_error last;
  if (!gi_calls_back(comm, 1.0)) return; /* a stream may never come to its end */
  gi_keep_error(&last);
  reap(comm, !comm->abort_channels);
  while (comm->laters && !status) {
    status = gi_comm_wait(comm, comm->rank, &looks, &since);
    reap(comm, 0);
  }
  if (status) gi_adopt_error(&last);
  if (!comm->laters) return;
  comm->abort_channels(comm);
  if (!comm->call_left && gi_calls_back(comm, 1.0)) reap(comm, 1);
}
