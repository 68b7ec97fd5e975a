/* mpi_shared.c: symmetric memory of processes on one node, in windows that they share.
 *
 * MPI frees a window collectively, CUDA an exported allocation when nobody has it open any more, and destroying
 * symmetric memory is local: so windows belong to the comm until it goes, and one that every rank is done with serves
 * again. */
#include <string.h>

#include "comm/mpi.h"
#include "comm/shared.h"

typedef struct gi_mpi_window {
  struct gi_mpi_window *next; /* made before this one: the same list on every rank */
  const gi_mpi_sharing *by;
  void *window;  /* of by->unshare */
  void **at;     /* [size] */
  int64_t bytes; /* of each rank */
  int used;      /* by this rank */
} gi_mpi_window;

static void destroy(gi_shared *s)
{
  gable_context *ctx = s->comm->ctx;
  ((gi_mpi_window *)s->state)->used = 0;
  GI_FREE(ctx, s->at, s);
}

static gable_status make_parts(gable_comm *comm, const gi_mpi_sharing *by, gi_shared **out, gi_mpi_window **window)
{
  gable_status status = GABLE_OK;
  gi_shared *s = NULL;
  gi_mpi_window *w = NULL;
  GI_ALLOC_ZERO(comm->ctx, s, 1);
  *out = s;
  s->comm = comm;
  s->destroy = destroy;
  GI_ALLOC_ZERO(comm->ctx, s->at, comm->size);
  GI_ALLOC_ZERO(comm->ctx, w, 1);
  *window = w;
  w->by = by;
  GI_ALLOC_ZERO(comm->ctx, w->at, comm->size);
done:
  return status;
}

/* Collective.  The first of the last 64 windows that no rank uses and that is large enough, or NULL. */
static gable_status find_unused(gable_comm *comm, gi_mpi_window *list, int64_t bytes, gi_mpi_window **out)
{
  uint64_t here = 0;
  int k = 0;
  for (const gi_mpi_window *w = list; w && k < 64; w = w->next, k++)
    if (!w->used && w->bytes >= bytes) here |= UINT64_C(1) << k;
  const gable_status status = gi_comm_first_common(comm, here, &k);
  *out = NULL;
  for (gi_mpi_window *w = k < 0 ? NULL : list; w && !*out; w = w->next)
    if (k-- == 0) *out = w;
  return status;
}

/* Collective.  A window that is there belongs to the comm whether or not all of it can be used. */
static gable_status share(gable_comm *comm, int64_t bytes, gi_mpi_window **window)
{
  gi_mpi *m = comm->state;
  gi_mpi_window *w = *window, **list = &m->windows[w->by->list];
  const gable_status status = w->by->share(comm, bytes, w->at, &w->window);
  if (w->window) {
    w->bytes = bytes;
    w->used = 1; /* for good, where it cannot be used */
    w->next = *list;
    *list = w;
    *window = NULL;
  }
  return status;
}

gable_status gi_mpi_window_create(gable_comm *comm, const gi_mpi_sharing *by, int64_t bytes, gi_shared **out)
{
  gable_status status = GABLE_OK;
  gi_mpi *m = comm->state;
  gi_shared *s = NULL;
  gi_mpi_window *fresh = NULL, *w = NULL;
  GI_AGREE(comm, make_parts(comm, by, &s, &fresh));
  GI_TRY(find_unused(comm, m->windows[by->list], bytes, &w));
  if (!w) {
    GI_AGREE(comm, share(comm, bytes, &fresh));
    w = m->windows[by->list];
  }
  w->used = 1;
  s->state = w;
  s->bytes = bytes;
  for (int r = 0; r < comm->size; r++) s->at[r] = w->at[r];
  GI_AGREE(comm, by->clear(comm, s->at[comm->rank], bytes)); /* no rank writes before all are zero */
  *out = s;
  s = NULL;
done:
  if (s && s->state) ((gi_mpi_window *)s->state)->used = 0;
  if (s) gi_free(comm->ctx, s->at);
  gi_free(comm->ctx, s);
  if (fresh) gi_free(comm->ctx, fresh->at);
  gi_free(comm->ctx, fresh);
  return status;
}

static gable_status share_host(gable_comm *comm, int64_t bytes, void **at, void **window)
{
  gable_status status = GABLE_OK;
  const gable_message_passing *m = &((gi_mpi *)comm->state)->m;
  const int wrong = m->share(m->user, bytes, at, window);
  GI_REQUIRE(!wrong, GABLE_ERR_MEMORY, "no window of %.1f MB for each rank", (double)bytes / 1e6);
  for (int r = 0; r < comm->size; r++) {
    GI_REQUIRE((uintptr_t)at[r] % 64 == 0, GABLE_ERR_BACKEND, "the window of rank %d is not aligned to 64", r);
    GI_REQUIRE(at[r], GABLE_ERR_UNAVAILABLE, "rank %d is on another node, which shares no memory with rank %d", r,
               comm->rank);
  }
done:
  return status;
}

static void unshare_host(gable_comm *comm, void *window)
{
  const gable_message_passing *m = &((gi_mpi *)comm->state)->m;
  m->unshare(m->user, window);
}

static gable_status clear_host(gable_comm *comm, void *at, int64_t bytes)
{
  (void)comm;
  memset(at, 0, (size_t)bytes);
  return GABLE_OK;
}

gable_status gi_mpi_shared_create(gable_comm *comm, int64_t bytes, gi_shared **out)
{
  gable_status status = GABLE_OK;
  static const gi_mpi_sharing host = {share_host, unshare_host, clear_host, GI_MPI_OF_HOST};
  GI_REQUIRE(((gi_mpi *)comm->state)->m.share, GABLE_ERR_UNAVAILABLE, "these processes share no memory");
  GI_TRY(gi_mpi_window_create(comm, &host, bytes, out));
done:
  return status;
}

void gi_mpi_windows_free(gable_comm *comm, int together)
{
  gi_mpi *m = comm->state;
  for (int k = 0; k < GI_MPI_WINDOWS; k++)
    while (m->windows[k]) {
      gi_mpi_window *w = m->windows[k];
      m->windows[k] = w->next;
      if (together) w->by->unshare(comm, w->window);
      GI_FREE(comm->ctx, w->at, w);
    }
}
