/* comm.h: ranks that work together: threads of this process, each with a device or on the CPU, or processes that pass
 * messages (mpi.h).
 *
 * Each rank holds its own gable_comm.  A function is Local, or Collective: every rank of the comm calls it, all in the
 * same order.  A Collective function returns the same status on every rank; where one rank failed, the message names
 * it.  Every wait of Gable's fails after the deadline (60 s, or gable_comm_set_deadline) and names the rank that did
 * not come; after that the comm can only be destroyed.  Calls of MPI and NVSHMEM that make communicators or memory
 * (MPI_Comm_dup, MPI_Comm_split_type, MPI_Win_allocate_shared, nvshmemx_hostlib_init_attr, nvshmem_malloc) have no
 * deadline, but are made when all ranks have agreed to, within one. */
#ifndef GABLE_COMM_H
#define GABLE_COMM_H

#include <gable/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gable_comm gable_comm;

/* What a rank runs.  comm is valid until it returns. */
typedef gable_status (*gable_rank_function)(gable_comm *comm, void *user);

/* Local.  Runs f(comm, user) on a thread for each rank and returns when all of them have.  The ranks share *user.
 * where: DEVICES/TRANSPORT:RANKS.  DEVICES is one for all ranks, or a list that they take in turn; RANKS defaults to
 * the number of devices:
 *   "cpu"                               one rank, on the calling thread
 *   "cpu/ranks:4", "mirror/ranks:4"     messages between threads
 *   "cuda:0/ranks:2"                    the same, staged by the host
 *   "cuda:0,1/peer", "cuda:0/peer:2", "mirror/peer:4"  kernels store into the other ranks' memory
 *   "cuda:0,1/nccl"                     NCCL, opened at run time
 * Each rank has a context of its own with one thread.  Ranks that share a GPU need a hardware queue for each stream
 * with exchanges, else one may wait behind another until the deadline: set CUDA_DEVICE_MAX_CONNECTIONS (8 by default,
 * at most 32).  Returns the status of the rank that failed first; gable_last_error names it.  GABLE_ERR_ARGUMENT;
 * _UNAVAILABLE: a transport that this build lacks, by name; _MEMORY. */
GABLE_API gable_status gable_comm_run(const char *where, gable_rank_function f, void *user);

/* Local.  The comm of one rank on ctx, which must outlive it.  Destroy it.  GABLE_ERR_MEMORY. */
GABLE_API gable_status gable_comm_self(gable_context *ctx, gable_comm **out);

/* Collective for gable_comm_from_mpi, Local for gable_comm_self; NULL is fine; sets *comm to NULL.  Waits for
 * each rank no longer than the deadline: where one does not come, or has waited in vain for another one, windows of MPI
 * and memory that the ranks have together stay until the process ends.  The comm that gable_comm_run gives is not the
 * caller's to destroy: for it this does nothing. */
GABLE_API void gable_comm_destroy(gable_comm **comm);

/* Local. */
GABLE_API int gable_comm_rank(const gable_comm *comm);          /* 0 <= rank < size */
GABLE_API int gable_comm_size(const gable_comm *comm);          /* ranks */
GABLE_API const char *gable_comm_where(const gable_comm *comm); /* "cpu/ranks:4"; owned by the comm */
GABLE_API gable_context *gable_comm_context(gable_comm *comm);  /* of this rank; owned by the comm or its maker */

/* Local.  How long this rank waits for another one, in seconds > 0; more than 1e9 (30 years), infinity too, count as
 * 1e9.  GABLE_ERR_ARGUMENT. */
GABLE_API gable_status gable_comm_set_deadline(gable_comm *comm, double seconds);

/* Collective.  No rank returns before every rank has called it. */
GABLE_API gable_status gable_comm_barrier(gable_comm *comm);

/* Collective.  out [size * bytes]: in [bytes] of each rank, by rank.  bytes is the same on every rank. */
GABLE_API gable_status gable_comm_allgather(gable_comm *comm, const void *in, size_t bytes, void *out);

/* Collective.  own: the status of this rank's work.  All ranks get the status of the lowest rank that failed; its
 * gable_last_error becomes this thread's, with "rank R: " before it. */
GABLE_API gable_status gable_comm_agree(gable_comm *comm, gable_status own);

/* Messages between processes, as functions of the caller's: gable/mpi.h fills it, so that the library is bound to no
 * MPI.  Each returns 0 on success.  A request is made once and started many times; bytes fit in an int. */
typedef struct gable_message_passing {
  size_t size; /* of this struct */
  void *user;  /* handed to each function */
  int rank, ranks;
  int (*send_init)(void *user, const void *p, int bytes, int rank, int tag, void **request);
  int (*receive_init)(void *user, void *p, int bytes, int rank, int tag, void **request);
  int (*start)(void *user, void *request);
  int (*test)(void *user, void *request, int *done); /* true for a request that is not started, too */
  void (*request_free)(void *user, void *request);   /* of one that is done; or of a send, which then goes on alone */
  void (*close)(void *user);                         /* Collective: user goes */
  int last_tag;                                      /* tags 0 to last_tag may be used; at least 32767 */

  /* Memory that the ranks of one node share; both Collective, both NULL where there is none.  share: bytes of each
   * rank, a multiple of 64; at [ranks]: where each rank's are in this process, aligned to 64; NULL of a rank on another
   * node. unshare: before close. */
  int (*share)(void *user, int64_t bytes, void **at, void **window);
  void (*unshare)(void *user, void *window);

  int device_memory; /* 1: send_init and receive_init take addresses of CUDA device memory */

  /* Ends a receive that is started and that no message has met; test then says that it is done.  Local.  NULL: there is
   * none; what such a receive writes to is left to the end of the process. */
  int (*cancel)(void *user, void *request);
} gable_message_passing;
#define GABLE_MESSAGE_PASSING_INIT                                                                                     \
  {                                                                                                                    \
    sizeof(gable_message_passing), NULL, 0, 1, NULL, NULL, NULL, NULL, NULL, NULL, 32767, NULL, NULL, 0, NULL          \
  }

/* Local: sends no message, and each rank gets a status of its own.  Where one failed the others destroy their comm, so
 * the ranks agree on a status before they use it, as gable_comm_from_mpi does.  The comm over *m, which is copied; it
 * calls m->close when it is destroyed, and when this fails; but where the struct is refused for its size no member of
 * it is read, and the caller closes.  ctx must outlive the comm.  GABLE_ERR_ARGUMENT, _MEMORY. */
GABLE_API gable_status gable_comm_from_messages(gable_context *ctx, const gable_message_passing *m, gable_comm **out);

#ifdef __cplusplus
}
#endif
#endif
