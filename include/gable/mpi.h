/* mpi.h: a gable_comm over an MPI communicator.  This header alone includes <mpi.h>.
 *
 * It is compiled in the caller's program and hands MPI's functions to the library as a table: so one library serves
 * every MPI, and needs none where none is used. */
#ifndef GABLE_MPI_H
#define GABLE_MPI_H

#include <mpi.h>
#include <stdlib.h>

#include <gable/comm.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gable_mpi_ranks {
  MPI_Comm comm, node; /* node: those of comm that share memory */
} gable_mpi_ranks;

static inline MPI_Comm gable_mpi_comm(void *user)
{
  return ((gable_mpi_ranks *)user)->comm;
}

static inline int gable_mpi_send_init(void *user, const void *p, int bytes, int rank, int tag, void **request)
{
  MPI_Request *r = (MPI_Request *)malloc(sizeof *r);
  if (!r) return 1;
  *request = r;
  return MPI_Send_init(p, bytes, MPI_BYTE, rank, tag, gable_mpi_comm(user), r);
}

static inline int gable_mpi_receive_init(void *user, void *p, int bytes, int rank, int tag, void **request)
{
  MPI_Request *r = (MPI_Request *)malloc(sizeof *r);
  if (!r) return 1;
  *request = r;
  return MPI_Recv_init(p, bytes, MPI_BYTE, rank, tag, gable_mpi_comm(user), r);
}

static inline int gable_mpi_start(void *user, void *request)
{
  (void)user;
  return MPI_Start((MPI_Request *)request);
}

static inline int gable_mpi_test(void *user, void *request, int *done)
{
  (void)user;
  return MPI_Test((MPI_Request *)request, done, MPI_STATUS_IGNORE);
}

static inline void gable_mpi_request_free(void *user, void *request)
{
  (void)user;
  MPI_Request_free((MPI_Request *)request);
  free(request);
}

/* Windows are mapped in pages, so an address has the same place in a cache line for every process: each rank's bytes
 * begin at the next line. */
static inline int gable_mpi_share(void *user, int64_t bytes, void **at, void **window)
{
  gable_mpi_ranks *g = (gable_mpi_ranks *)user;
  MPI_Win *w = (MPI_Win *)malloc(sizeof *w);
  MPI_Group all, near;
  void *own = NULL;
  int n = 0, wrong = !w;
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, g->node);
  if (!wrong) wrong = MPI_Win_allocate_shared((MPI_Aint)bytes + 64, 1, MPI_INFO_NULL, g->node, &own, w) != MPI_SUCCESS;
  if (wrong) {
    free(w);
    return 1;
  }
  MPI_Comm_size(g->node, &n);
  MPI_Comm_group(g->comm, &all);
  MPI_Comm_group(g->node, &near);
  for (int k = 0; k < n && !wrong; k++) {
    MPI_Aint size = 0;
    int unit = 0, rank = 0;
    wrong = MPI_Group_translate_ranks(near, 1, &k, all, &rank) || MPI_Win_shared_query(*w, k, &size, &unit, &own);
    if (!wrong) at[rank] = (char *)own + (64 - (size_t)own % 64) % 64;
  }
  MPI_Group_free(&all);
  MPI_Group_free(&near);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, *w);
  *window = w;
  return wrong;
}

static inline void gable_mpi_unshare(void *user, void *window)
{
  (void)user;
  MPI_Win_unlock_all(*(MPI_Win *)window);
  MPI_Win_free((MPI_Win *)window);
  free(window);
}

static inline void gable_mpi_close(void *user)
{
  gable_mpi_ranks *g = (gable_mpi_ranks *)user;
  if (g->node != MPI_COMM_NULL) MPI_Comm_free(&g->node);
  MPI_Comm_free(&g->comm);
  free(user);
}

/* Collective.  The comm of the ranks of mpi, which is duplicated; each rank runs on its ctx, which must outlive *out.
 * MPI must be initialised, and stay so until *out is destroyed; only one thread of a rank at a time may use *out and
 * what is made with it, unless MPI has MPI_THREAD_MULTIPLE.  GABLE_ERR_BACKEND: MPI_Comm_dup failed; _MEMORY. */
static inline gable_status gable_comm_from_mpi(gable_context *ctx, MPI_Comm mpi, gable_comm **out)
{
  gable_message_passing m = GABLE_MESSAGE_PASSING_INIT;
  gable_mpi_ranks *own = (gable_mpi_ranks *)malloc(sizeof *own);
  int *tag = NULL, found = 0;
  if (!own) return GABLE_ERR_MEMORY;
  if (MPI_Comm_dup(mpi, &own->comm) != MPI_SUCCESS) {
    free(own);
    return GABLE_ERR_BACKEND;
  }
  MPI_Comm_set_errhandler(own->comm, MPI_ERRORS_RETURN);
  MPI_Comm_rank(own->comm, &m.rank);
  MPI_Comm_size(own->comm, &m.ranks);
  own->node = MPI_COMM_NULL;
  if (MPI_Comm_split_type(own->comm, MPI_COMM_TYPE_SHARED, m.rank, MPI_INFO_NULL, &own->node) == MPI_SUCCESS) {
    MPI_Comm_set_errhandler(own->node, MPI_ERRORS_RETURN);
    m.share = gable_mpi_share;
    m.unshare = gable_mpi_unshare;
  }
  m.user = own;
  m.send_init = gable_mpi_send_init;
  m.receive_init = gable_mpi_receive_init;
  m.start = gable_mpi_start;
  m.test = gable_mpi_test;
  m.request_free = gable_mpi_request_free;
  m.close = gable_mpi_close;
  MPI_Comm_get_attr(own->comm, MPI_TAG_UB, &tag, &found);
  m.last_tag = found ? *tag : 32767;
  return gable_comm_from_messages(ctx, &m, out);
}

#ifdef __cplusplus
}
#endif
#endif
