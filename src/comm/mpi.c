/* mpi.c: ranks that are processes and pass messages by the caller's functions (gable/mpi.h): MPI, or what does as MPI
 * does.  Messages between two ranks with one tag come in the order in which they were sent. */
#include "comm/mpi.h"

#include <stdio.h>
#include <string.h>

#include "device/device.h"

int gi_mpi_test(gable_comm *comm, void *request, int *failed)
{
  const gable_message_passing *m = &((gi_mpi *)comm->state)->m;
  int done = 0;
  *failed = m->test(m->user, request, &done) != 0;
  return done;
}

gable_status gi_mpi_wait(gable_comm *comm, void *request, int rank)
{
  gable_status status = GABLE_OK;
  unsigned looks = 0;
  double since = 0.0;
  int failed = 0;
  while (!gi_mpi_test(comm, request, &failed)) {
    GI_REQUIRE(!failed, GABLE_ERR_BACKEND, "a message between rank %d and rank %d failed", comm->rank, rank);
    GI_TRY(gi_comm_wait(comm, rank, &looks, &since));
  }
  GI_REQUIRE(!failed, GABLE_ERR_BACKEND, "a message between rank %d and rank %d failed", comm->rank, rank);
done:
  return status;
}

enum { LOOKS_AT_CANCELLED = 1000 };

int gi_mpi_cancel_receive(gable_comm *comm, void *request)
{
  const gable_message_passing *m = &((gi_mpi *)comm->state)->m;
  int failed = 0, done = gi_mpi_test(comm, request, &failed);
  if (!done && m->cancel && !m->cancel(m->user, request))
    for (int k = 0; k < LOOKS_AT_CANCELLED && !done && !failed; k++) done = gi_mpi_test(comm, request, &failed);
  return done;
}

/* Sends bytes to one rank while as many as in_bytes come from another, a piece that fits in an int at a time. */
static gable_status swap(gable_comm *comm, char *out, int64_t bytes, int to, char *in, int64_t in_bytes, int from)
{
  gable_status status = GABLE_OK;
  const gable_message_passing *m = &((gi_mpi *)comm->state)->m;
  void *send = NULL, *receive = NULL;
  while (bytes > 0 || in_bytes > 0) {
    const int n = (int)(bytes < GI_MPI_PIECE ? bytes : GI_MPI_PIECE);
    const int n_in = (int)(in_bytes < GI_MPI_PIECE ? in_bytes : GI_MPI_PIECE);
    int wrong = 0;
    if (n_in > 0)
      wrong |= m->receive_init(m->user, in, n_in, from, GI_MPI_TAG_COLLECTIVE, &receive) || m->start(m->user, receive);
    if (n > 0) wrong |= m->send_init(m->user, out, n, to, GI_MPI_TAG_COLLECTIVE, &send) || m->start(m->user, send);
    GI_REQUIRE(!wrong, GABLE_ERR_BACKEND, "rank %d cannot send to rank %d", comm->rank, to);
    if (n_in > 0) GI_TRY(gi_mpi_wait(comm, receive, from));
    if (n > 0) GI_TRY(gi_mpi_wait(comm, send, to));
    if (n_in > 0) m->request_free(m->user, receive);
    if (n > 0) m->request_free(m->user, send);
    send = receive = NULL;
    out += n;
    in += n_in;
    bytes -= n;
    in_bytes -= n_in;
  }
done: /* of a message that failed MPI may still read what is sent, but must not write to what is the caller's again */
  if (send) m->request_free(m->user, send);
  if (receive && gi_mpi_cancel_receive(comm, receive)) m->request_free(m->user, receive);
  return status;
}

/* Step s: to the rank s places on, from the rank s places back. */
static gable_status mpi_alltoall(gable_comm *comm, const gi_blocks *out, const gi_blocks *in)
{
  gable_status status = GABLE_OK;
  const int me = comm->rank, n = comm->size;
  const int64_t own = gi_block_bytes(out, me);
  gi_mpi *state = comm->state;
  GI_REQUIRE(!state->broken, GABLE_ERR_STATE, "rank %d: a collective call over messages has failed before", me);
  GI_REQUIRE(own == gi_block_bytes(in, me), GABLE_ERR_BACKEND, "rank %d keeps another length than it has", me);
  if (own && gi_block(in, me) != gi_block(out, me)) memcpy(gi_block(in, me), gi_block(out, me), (size_t)own);
  for (int s = 1; s < n; s++) {
    const int to = (me + s) % n, from = (me + n - s) % n;
    GI_TRY(
        swap(comm, gi_block(out, to), gi_block_bytes(out, to), to, gi_block(in, from), gi_block_bytes(in, from), from));
  }
done: /* the ranks are out of step: a message of this call must not be taken for one of the next */
  if (status) state->broken = 1;
  return status;
}

/* Collective.  Whether all ranks say that they are well; false after the deadline.  A rank that is not says so to the
 * others, and waits for nobody. */
static int all_well(gable_comm *comm, int well, int tag)
{
  static const int words[] = {0, 1}; /* a send that is freed under way reads them after this comm is gone */
  gi_mpi *s = comm->state;
  const gable_message_passing *m = &s->m;
  for (int r = 0; r < comm->size; r++) {
    void *send = NULL;
    if (r == comm->rank) continue;
    if (m->send_init(m->user, &words[well], sizeof *words, r, tag, &send) || m->start(m->user, send)) well = 0;
    if (send) m->request_free(m->user, send);
  }
  for (int r = 0; r < comm->size && well; r++) {
    void *receive = NULL;
    if (r == comm->rank) continue;
    well = !m->receive_init(m->user, &s->said[r], sizeof *s->said, r, tag, &receive) && !m->start(m->user, receive) &&
           !gi_mpi_wait(comm, receive, r);
    const int ended = receive && gi_mpi_cancel_receive(comm, receive);
    if (ended) m->request_free(m->user, receive);
    if (receive && !ended) s->said = NULL; /* left, as the request is: MPI may still write there */
    well = well && s->said[r];
  }
  return well;
}

/* Windows, NVSHMEM's heap and NCCL's channels are given back by all ranks together, by calls that wait without end for
 * a rank that does not come.  So each says first whether it has lost another one, then whether it heard all say no; it
 * waits no longer than the deadline.  Where some rank did not come what they have together stays until the process
 * ends. */
static int part_in_peace(gable_comm *comm)
{
  const gi_mpi *s = comm->state;
  int together = s->pe || comm->close_channels;
  for (int k = 0; k < GI_MPI_WINDOWS; k++) together |= s->windows[k] != NULL;
  const int well = !s->broken && !gi_comm_lost(comm);
  return together && all_well(comm, all_well(comm, well, GI_MPI_TAG_WELL), GI_MPI_TAG_ALL_WELL);
}

static void mpi_destroy(gable_comm *comm)
{
  gable_context *ctx = comm->ctx;
  gi_mpi *s = comm->state;
  const int together = part_in_peace(comm);
  gi_comm_drain(comm); /* exchanges between device arrays hold windows */
  gi_mpi_links_collect(comm, 1);
  gi_mpi_blocks_free(comm);
  gi_node_close(comm);
  gi_mpi_windows_free(comm, together);
  if (together) {
    gi_nvshmem_close(comm);
    if (comm->close_channels) comm->close_channels(comm);
  }
  comm->close_channels = comm->abort_channels = NULL;
  if (comm->fault) ctx->device->pinned_release(ctx, comm->fault);
  s->m.close(s->m.user);
  gi_comm_release(comm);
  GI_FREE(ctx, s->said, s->pe, s); /* comm lies in s */
}

const gi_transport gi_transport_mpi = {
    .name = "mpi",
    .alltoall = mpi_alltoall,
    .paths = 1u << GABLE_PATH_AUTO | 1u << GABLE_PATH_DIRECT | 1u << GABLE_PATH_REQUEST | 1u << GABLE_PATH_WINDOW |
             1u << GABLE_PATH_NCCL | 1u << GABLE_PATH_NVSHMEM | 1u << GABLE_PATH_PUT | 1u << GABLE_PATH_COPY |
             1u << GABLE_PATH_AWARE,
    .link_create = gi_mpi_link_create,
    .link_destroy = gi_mpi_link_destroy,
    .device_link_create = gi_mpi_device_link_create,
    .start = gi_mpi_start,
    .out = gi_mpi_out,
    .post = gi_mpi_post,
    .in = gi_mpi_in,
    .here = gi_mpi_here,
    .done = gi_mpi_done,
    .shared_create = gi_mpi_shared_create,
    .device_create = gi_mpi_device_create,
    .destroy = mpi_destroy,
};

gable_status gi_mpi_create(gable_context *ctx, const gable_message_passing *m, gable_comm **out)
{
  gable_status status = GABLE_OK;
  gi_mpi *s = NULL;
  char where[64];
  GI_ALLOC_ZERO(ctx, s, 1);
  snprintf(where, sizeof where, "%s/mpi", ctx->where);
  s->m = *m;
  s->next_tag = GI_MPI_TAG_LINKS;
  s->comm = (gable_comm){
      .transport = &gi_transport_mpi, .ctx = ctx, .rank = m->rank, .size = m->ranks, .owned = 1, .state = s};
  GI_ALLOC(ctx, s->said, m->ranks);
  GI_TRY(gi_comm_init(&s->comm, where));
  *out = &s->comm;
  s = NULL;
done:
  if (s) {
    gi_comm_release(&s->comm);
    GI_FREE(ctx, s->said, s);
  }
  return status;
}
