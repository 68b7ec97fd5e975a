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

static inline int gable_mpi_send_init(void *user, const void *p, int bytes, int rank, int tag, void **request)
{
  MPI_Request *r = (MPI_Request *)malloc(sizeof *r);
  if (!r) return 1;
  *request = r;
  return MPI_Send_init(p, bytes, MPI_BYTE, rank, tag, *(MPI_Comm *)user, r);
}

static inline int gable_mpi_receive_init(void *user, void *p, int bytes, int rank, int tag, void **request)
{
  MPI_Request *r = (MPI_Request *)malloc(sizeof *r);
  if (!r) return 1;
  *request = r;
  return MPI_Recv_init(p, bytes, MPI_BYTE, rank, tag, *(MPI_Comm *)user, r);
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

static inline void gable_mpi_close(void *user)
{
  MPI_Comm_free((MPI_Comm *)user);
  free(user);
}

/* Collective.  The comm of the ranks of mpi, which is duplicated; each rank runs on its ctx, which must outlive *out.
 * MPI must be initialised, and stay so until *out is destroyed; only one thread of a rank at a time may use *out and
 * what is made with it, unless MPI has MPI_THREAD_MULTIPLE.  GABLE_ERR_BACKEND: MPI_Comm_dup failed; _MEMORY. */
static inline gable_status gable_comm_from_mpi(gable_context *ctx, MPI_Comm mpi, gable_comm **out)
{
  gable_message_passing m = GABLE_MESSAGE_PASSING_INIT;
  MPI_Comm *own = (MPI_Comm *)malloc(sizeof *own);
  int *tag = NULL, found = 0;
  if (!own) return GABLE_ERR_MEMORY;
  if (MPI_Comm_dup(mpi, own) != MPI_SUCCESS) {
    free(own);
    return GABLE_ERR_BACKEND;
  }
  MPI_Comm_set_errhandler(*own, MPI_ERRORS_RETURN);
  m.user = own;
  MPI_Comm_rank(*own, &m.rank);
  MPI_Comm_size(*own, &m.ranks);
  m.send_init = gable_mpi_send_init;
  m.receive_init = gable_mpi_receive_init;
  m.start = gable_mpi_start;
  m.test = gable_mpi_test;
  m.request_free = gable_mpi_request_free;
  m.close = gable_mpi_close;
  MPI_Comm_get_attr(*own, MPI_TAG_UB, &tag, &found);
  m.last_tag = found ? *tag : 32767;
  return gable_comm_from_messages(ctx, &m, out);
}

#ifdef __cplusplus
}
#endif
#endif
