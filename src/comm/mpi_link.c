/* mpi_link.c: links of persistent requests, each on a buffer of its own; and which links a path means. */
#include "comm/mpi.h"

/* One message of a link, in pieces that fit in an int. */
typedef struct mpi_message {
  int rank;
  int64_t bytes;
  int pieces;
  void **request; /* [pieces] */
  char *buffer;   /* [bytes] */
} mpi_message;

typedef struct gi_mpi_link {
  gi_link base;
  struct gi_mpi_link *next; /* of those in use, or retired */
  int n_out, n_in;
  mpi_message *out, *in; /* [n_out], [n_in] */
} mpi_link;

static gable_status make_message(gable_comm *comm, mpi_message *g, int rank, int64_t bytes, int tag, int sends)
{
  gable_status status = GABLE_OK;
  const gable_message_passing *m = &((gi_mpi *)comm->state)->m;
  g->rank = rank;
  g->bytes = bytes;
  GI_ALLOC_ZERO(comm->ctx, g->request, (bytes + GI_MPI_PIECE - 1) / GI_MPI_PIECE);
  GI_ALLOC(comm->ctx, g->buffer, bytes);
  for (int64_t at = 0; at < bytes; at += GI_MPI_PIECE) {
    const int n = (int)(bytes - at < GI_MPI_PIECE ? bytes - at : GI_MPI_PIECE);
    void **request = &g->request[g->pieces];
    const int wrong = sends ? m->send_init(m->user, g->buffer + at, n, rank, tag, request)
                            : m->receive_init(m->user, g->buffer + at, n, rank, tag, request);
    GI_REQUIRE(!wrong, GABLE_ERR_BACKEND, "no persistent request between rank %d and rank %d", comm->rank, rank);
    g->pieces++;
  }
done:
  return status;
}

static gable_status make_link(gable_comm *comm, const gi_link_shape *shape, int tag, mpi_link **out)
{
  gable_status status = GABLE_OK;
  mpi_link *l = NULL;
  GI_ALLOC_ZERO(comm->ctx, l, 1);
  *out = l;
  l->base.comm = comm;
  l->base.transport = &gi_transport_mpi;
  GI_ALLOC_ZERO(comm->ctx, l->out, shape->n_out);
  GI_ALLOC_ZERO(comm->ctx, l->in, shape->n_in);
  l->n_out = shape->n_out;
  l->n_in = shape->n_in;
  for (int k = 0; k < l->n_out; k++)
    GI_TRY(make_message(comm, &l->out[k], shape->out_rank[k], shape->out_bytes[k], tag, 1));
  for (int k = 0; k < l->n_in; k++)
    GI_TRY(make_message(comm, &l->in[k], shape->in_rank[k], shape->in_bytes[k], tag, 0));
done:
  return status;
}

/* Tags repeat after last_tag links, of which no two that far apart live at once. */
static gable_status request_link_create(gable_comm *comm, const gi_link_shape *shape, gi_link **out)
{
  gable_status status = GABLE_OK;
  gi_mpi *s = comm->state;
  mpi_link *l = NULL;
  const int tag = s->next_tag;
  s->next_tag = tag < s->m.last_tag ? tag + 1 : 1;
  gi_mpi_links_collect(comm, 0);
  status = make_link(comm, shape, tag, &l);
  if (l) {
    l->next = s->links;
    s->links = l;
  }
  GI_TRY(gi_comm_agree(comm, status));
  *out = &l->base;
  l = NULL;
done:
  if (l) gi_mpi_link_destroy(&l->base);
  return status;
}

/* Within one node by its window, where the ranks read each other's memory by that; else by requests. */
gable_status gi_mpi_link_create(gable_comm *comm, const gi_link_shape *shape, gable_path path, gi_link **out)
{
  gable_status status = GABLE_OK;
  if (path == GABLE_PATH_REQUEST) return request_link_create(comm, shape, out);
  status = gi_node_open(comm, path == GABLE_PATH_DIRECT);
  if (status == GABLE_ERR_UNAVAILABLE && path == GABLE_PATH_AUTO) return request_link_create(comm, shape, out);
  return status ? status : gi_node_link_create(comm, shape, path, out);
}

static void free_messages(gable_comm *comm, mpi_message *g, int n)
{
  const gable_message_passing *m = &((gi_mpi *)comm->state)->m;
  for (int k = 0; g && k < n; k++) {
    for (int p = 0; p < g[k].pieces; p++) m->request_free(m->user, g[k].request[p]);
    gi_free(comm->ctx, g[k].request);
    gi_free(comm->ctx, g[k].buffer);
  }
  gi_free(comm->ctx, g);
}

static void free_link(mpi_link *l)
{
  gable_comm *comm = l->base.comm;
  free_messages(comm, l->out, l->n_out);
  free_messages(comm, l->in, l->n_in);
  gi_free(comm->ctx, l);
}

static int message_here(gable_comm *comm, const mpi_message *g)
{
  int failed = 0;
  for (int p = 0; p < g->pieces; p++)
    if (!gi_mpi_test(comm, g->request[p], &failed) && !failed) return 0;
  return 1;
}

static int idle(const mpi_link *l)
{
  int quiet = 1;
  for (int k = 0; l->out && k < l->n_out && quiet; k++) quiet = message_here(l->base.comm, &l->out[k]);
  for (int k = 0; l->in && k < l->n_in && quiet; k++) quiet = message_here(l->base.comm, &l->in[k]);
  return quiet;
}

void gi_mpi_links_collect(gable_comm *comm, int last)
{
  gi_mpi *s = comm->state;
  for (mpi_link **at = &s->retired; *at;) {
    mpi_link *l = *at;
    const int quiet = idle(l);
    if (!quiet && !last) {
      at = &l->next;
      continue;
    }
    *at = l->next;
    if (quiet) free_link(l); /* what MPI still uses stays where it is */
  }
}

void gi_mpi_link_destroy(gi_link *link)
{
  mpi_link *l = (mpi_link *)link;
  if (!l) return;
  gi_mpi *s = l->base.comm->state;
  mpi_link **at = &s->links;
  while (*at && *at != l) at = &(*at)->next;
  if (*at) *at = l->next;
  l->next = s->retired;
  s->retired = l;
  gi_mpi_links_collect(l->base.comm, 0);
}

void gi_mpi_progress(gable_comm *comm)
{
  const gi_mpi *s = comm->state;
  for (const mpi_link *l = s->links; l; l = l->next)
    for (int k = 0; k < l->n_out; k++)
      if (!message_here(comm, &l->out[k])) return; /* looking at one that is under way sees to all */
}

static gable_status start_message(gable_comm *comm, const mpi_message *g)
{
  gable_status status = GABLE_OK;
  const gable_message_passing *m = &((gi_mpi *)comm->state)->m;
  for (int p = 0; p < g->pieces; p++)
    GI_REQUIRE(!m->start(m->user, g->request[p]), GABLE_ERR_BACKEND, "a message between rank %d and rank %d failed",
               comm->rank, g->rank);
done:
  return status;
}

static gable_status wait_message(gable_comm *comm, const mpi_message *g)
{
  gable_status status = GABLE_OK;
  for (int p = 0; p < g->pieces; p++) GI_TRY(gi_mpi_wait(comm, g->request[p], g->rank));
done:
  return status;
}

gable_status gi_mpi_start(gi_link *link)
{
  gable_status status = GABLE_OK;
  mpi_link *l = (mpi_link *)link;
  for (int k = 0; k < l->n_in; k++) GI_TRY(start_message(link->comm, &l->in[k]));
done:
  return status;
}

gable_status gi_mpi_out(gi_link *link, int k, void **message)
{
  gable_status status = GABLE_OK;
  mpi_link *l = (mpi_link *)link;
  GI_TRY(wait_message(link->comm, &l->out[k])); /* of the round before */
  *message = l->out[k].buffer;
done:
  return status;
}

gable_status gi_mpi_post(gi_link *link, int k)
{
  return start_message(link->comm, &((mpi_link *)link)->out[k]);
}

gable_status gi_mpi_in(gi_link *link, int k, const void **message)
{
  gable_status status = GABLE_OK;
  mpi_link *l = (mpi_link *)link;
  GI_TRY(wait_message(link->comm, &l->in[k]));
  *message = l->in[k].buffer;
done:
  return status;
}

int gi_mpi_here(gi_link *link, int k)
{
  return message_here(link->comm, &((mpi_link *)link)->in[k]);
}

void gi_mpi_done(gi_link *link, int k)
{
  (void)link;
  (void)k;
}
