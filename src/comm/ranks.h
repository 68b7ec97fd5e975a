/* ranks.h: what the threads of one gable_comm_run share. */
#ifndef GI_RANKS_H
#define GI_RANKS_H

#include "comm/channel.h"

/* What a rank tells all: of the allgather that is its number-th. */
typedef struct gi_rank_told {
  _Alignas(64) unsigned number;
  unsigned bytes;
  char block[GI_SHORT_BYTES];
} gi_rank_told;

/* Of one rank, read by all; in cache lines of its own. */
typedef struct gi_rank_line {
  _Alignas(64) atomic_uint arrived; /* steps of collectives that this rank has come to */
  atomic_int left;                  /* 1: its function has returned */
  const gi_blocks *out;             /* of the alltoall under way; not once closed; NULL: an allgather is */
  atomic_int closed, readers;       /* 1: this rank has given up waiting; ranks that read out */
  gable_status returned;            /* the rank's own until it has left */
  gi_error said;                    /* its last error */
  gi_rank_told told[2];             /* in turn: who has come to one allgather has read that before the last */
} gi_rank_line;

typedef struct gi_ranks {
  gable_context *ctx; /* of what several ranks hold */
  int size;
  gi_rank_line *line;       /* [size] */
  atomic_int first_failure; /* 1 + the rank whose function failed first; 0: none */
} gi_ranks;

/* This rank's end. */
typedef struct gi_ranks_end {
  gi_ranks *all;
  unsigned steps; /* of collectives so far */
  unsigned told;  /* allgathers so far */
  int looks;      /* of the next wait before it offers its processor */
} gi_ranks_end;

/* Until *flag has come to value (modulo 2^32), which rank stores. */
gable_status gi_ranks_wait(gable_comm *comm, atomic_uint *flag, unsigned value, int rank);

/* For transports whose ranks are threads too: the comms that f gets have this one, and fault words in faults
 * [size * GI_FAULT_BYTES] (NULL: none). */
enum { GI_FAULT_BYTES = 64 };
gable_status gi_ranks_run(const gi_transport *transport, gable_context *const *ctx, int size, const char *where,
                          void *faults, gable_rank_function f, void *user);
gable_status gi_ranks_alltoall(gable_comm *comm, const gi_blocks *out, const gi_blocks *in);
gable_status gi_ranks_allgather(gable_comm *comm, const void *in, size_t bytes, void *out);
int gi_ranks_gone(gable_comm *comm, int rank);

/* ranks_shared.c */
gable_status gi_ranks_shared_create(gable_comm *comm, int64_t bytes, gi_shared **out);
gable_status gi_ranks_device_create(gable_comm *comm, int64_t bytes, gable_path path, gi_shared **out);

/* ranks_link.c */
gable_status gi_ranks_link_create(gable_comm *comm, const gi_link_shape *shape, gable_path path, gi_link **out);
gable_status gi_ranks_device_link_create(gable_comm *comm, const gi_link_shape *shape, gable_path path,
                                         gi_link_room *out, gi_link_room *in, gi_link **link);

#endif
