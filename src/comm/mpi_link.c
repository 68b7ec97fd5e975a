/* mpi_link.c: links of persistent requests, each on a buffer of its own, in host or device memory; and which links a
 * path means. */
#include "comm/mpi.h"
#include "device/device.h"

/* One message of a link, in pieces that fit in an int. */
typedef struct mpi_message {
  int rank;
  int64_t bytes;
  int pieces;
  void **request; /* [pieces] */
  char *buffer;   /* [bytes] */
  int owns;       /* the buffer: it is not in a block */
  int failed;     /* a look has met an error, which MPI says once: for the wait */
} mpi_message;

typedef struct gi_mpi_link {
  gi_link base;
  struct gi_mpi_link *next; /* of those in use, or retired */
  int n_out, n_in;
  mpi_message *out, *in; /* [n_out], [n_in] */
  gi_mpi_block *block;   /* of device memory; NULL: messages lie in host memory */
} mpi_link;

/* buffer: NULL: one of its own. */
static gable_status make_message(gable_comm *comm, mpi_message *g, int rank, int64_t bytes, int tag, int sends,
                                 char *buffer)
{
  gable_status status = GABLE_OK;
  const gable_message_passing *m = &((gi_mpi *)comm->state)->m;
  g->rank = rank;
  g->bytes = bytes;
  GI_ALLOC_ZERO(comm->ctx, g->request, (bytes + GI_MPI_PIECE - 1) / GI_MPI_PIECE);
  g->owns = !buffer;
  g->buffer = buffer;
  if (g->owns) GI_ALLOC(comm->ctx, g->buffer, bytes);
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

/* Where the messages of a link's two sides lie in device memory. */
typedef struct mpi_rooms {
  gi_link_room *out, *in;
} mpi_rooms;

/* One block for both. */
static gable_status place_rooms(gable_comm *comm, const gi_link_shape *shape, const mpi_rooms *rooms, mpi_link *l)
{
  gable_status status = GABLE_OK;
  const int64_t out = rooms->out->at[shape->n_out], in = rooms->in->at[shape->n_in];
  GI_TRY(gi_mpi_block_take(comm, out + in, &l->block));
  rooms->out->bytes = l->block->at;
  rooms->in->bytes = l->block->at + out;
done:
  return status;
}

static char *place_in(const gi_link_room *room, int k)
{
  return room ? room->bytes + room->at[k] : NULL;
}

/* rooms: of NULLs: in host memory. */
static gable_status make_link(gable_comm *comm, const gi_link_shape *shape, const mpi_rooms *rooms, int tag,
                              mpi_link **out)
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
  if (rooms->out) GI_TRY(place_rooms(comm, shape, rooms, l));
  for (int k = 0; k < l->n_out; k++)
    GI_TRY(make_message(comm, &l->out[k], shape->out_rank[k], shape->out_bytes[k], tag, 1, place_in(rooms->out, k)));
  for (int k = 0; k < l->n_in; k++)
    GI_TRY(make_message(comm, &l->in[k], shape->in_rank[k], shape->in_bytes[k], tag, 0, place_in(rooms->in, k)));
done:
  return status;
}

/* Tags repeat after last_tag links, of which no two that far apart live at once. */
static gable_status request_link_create(gable_comm *comm, const gi_link_shape *shape, const mpi_rooms *rooms,
                                        gi_link **out)
{
  gable_status status = GABLE_OK;
  gi_mpi *s = comm->state;
  mpi_link *l = NULL;
  const int tag = s->next_tag;
  s->next_tag = tag < s->m.last_tag ? tag + 1 : GI_MPI_TAG_LINKS;
  gi_mpi_links_collect(comm, 0);
  status = make_link(comm, shape, rooms, tag, &l);
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
  static const mpi_rooms host = {NULL, NULL};
  gable_status status = GABLE_OK;
  if (path == GABLE_PATH_REQUEST) return request_link_create(comm, shape, &host, out);
  status = gi_node_open(comm, path == GABLE_PATH_DIRECT);
  if (status == GABLE_ERR_UNAVAILABLE && path == GABLE_PATH_AUTO) return request_link_create(comm, shape, &host, out);
  return status ? status : gi_node_link_create(comm, shape, path, out);
}

/* The mirror's messages lie in host memory, which every MPI takes; but there it is a path to be tested alone. */
static gable_status require_aware(gable_comm *comm, gable_path path)
{
  gable_status status = GABLE_OK;
  const gi_mpi *s = comm->state;
  const int takes = comm->ctx->device->in_host ? path != GABLE_PATH_AUTO : s->m.device_memory;
  GI_REQUIRE(takes, GABLE_ERR_UNAVAILABLE,
             "path aware: this MPI takes no device memory; start one that is CUDA-aware (MPIX_Query_cuda_support), as "
             "Open MPI built --with-cuda or Intel MPI with I_MPI_OFFLOAD=1, or leave the path to auto");
done:
  return status;
}

gable_status gi_mpi_device_link_create(gable_comm *comm, const gi_link_shape *shape, gable_path path, gi_link_room *out,
                                       gi_link_room *in, gi_link **link)
{
  gable_status status = GABLE_OK;
  const mpi_rooms rooms = {out, in};
  GI_AGREE(comm, require_aware(comm, path));
  GI_TRY(request_link_create(comm, shape, &rooms, link));
done:
  return status;
}

static void free_messages(gable_comm *comm, mpi_message *g, int n)
{
  const gable_message_passing *m = &((gi_mpi *)comm->state)->m;
  for (int k = 0; g && k < n; k++) {
    for (int p = 0; p < g[k].pieces; p++) m->request_free(m->user, g[k].request[p]);
    gi_free(comm->ctx, g[k].request);
    if (g[k].owns) gi_free(comm->ctx, g[k].buffer);
  }
  gi_free(comm->ctx, g);
}

static void free_link(mpi_link *l)
{
  gable_comm *comm = l->base.comm;
  free_messages(comm, l->out, l->n_out);
  free_messages(comm, l->in, l->n_in);
  gi_mpi_block_give(l->block);
  gi_free(comm->ctx, l);
}

static int message_here(gable_comm *comm, mpi_message *g)
{
  for (int p = 0; p < g->pieces && !g->failed; p++)
    if (!gi_mpi_test(comm, g->request[p], &g->failed) && !g->failed) return 0;
  return 1;
}

static int idle(const mpi_link *l)
{
  int quiet = 1;
  for (int k = 0; l->out && k < l->n_out && quiet; k++) quiet = message_here(l->base.comm, &l->out[k]);
  for (int k = 0; l->in && k < l->n_in && quiet; k++) quiet = message_here(l->base.comm, &l->in[k]);
  return quiet;
}

/* What a rank that did not come has not sent. */
static void cancel_receives(const mpi_link *l)
{
  for (int k = 0; l->in && k < l->n_in; k++)
    for (int p = 0; p < l->in[k].pieces; p++) (void)gi_mpi_cancel_receive(l->base.comm, l->in[k].request[p]);
}

void gi_mpi_links_collect(gable_comm *comm, int last)
{
  gi_mpi *s = comm->state;
  for (mpi_link **at = &s->retired; *at;) {
    mpi_link *l = *at;
    if (last) cancel_receives(l);
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

/* A large message moves while both ends look: what this rank receives needs that as what it sends, and so does what a
 * link that is destroyed has sent. */
void gi_mpi_progress(gable_comm *comm)
{
  const gi_mpi *s = comm->state;
  const mpi_link *const lists[] = {s->links, s->retired};
  for (int k = 0; k < 2; k++)
    for (const mpi_link *l = lists[k]; l; l = l->next)
      if (!idle(l)) return; /* looking at one that is under way sees to all */
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
  GI_REQUIRE(!g->failed, GABLE_ERR_BACKEND, "a message between rank %d and rank %d failed", comm->rank, g->rank);
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
