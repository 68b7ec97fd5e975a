/* mpi.h: what the files of the transport mpi share. */
#ifndef GI_COMM_MPI_H
#define GI_COMM_MPI_H

#include "comm/comm.h"

enum { GI_MPI_PIECE = 1 << 30 }; /* bytes of one message at most */

struct gi_mpi_link;

typedef struct gi_mpi {
  gable_comm comm;
  gable_message_passing m;
  int next_tag;                  /* of links; 0 is of collectives */
  struct gi_mpi_window *windows; /* all that were shared, the last one first; they go with the comm */
  struct gi_mpi_link *retired;   /* destroyed while something they sent was under way */
} gi_mpi;

/* Whether the request is done; *failed: MPI said no. */
int gi_mpi_test(gable_comm *comm, void *request, int *failed);
gable_status gi_mpi_wait(gable_comm *comm, void *request, int rank);

/* mpi_shared.c */
gable_status gi_mpi_shared_create(gable_comm *comm, int64_t bytes, gi_shared **out);
void gi_mpi_shared_destroy(gi_shared *s);
void gi_mpi_windows_free(gable_comm *comm); /* Collective */

/* mpi_link.c */
gable_status gi_mpi_link_create(gable_comm *comm, const gi_link_shape *shape, gi_link **out);
void gi_mpi_link_destroy(gi_link *link);
gable_status gi_mpi_start(gi_link *link);
gable_status gi_mpi_out(gi_link *link, int k, void **message);
gable_status gi_mpi_post(gi_link *link, int k);
gable_status gi_mpi_in(gi_link *link, int k, const void **message);
int gi_mpi_here(gi_link *link, int k);
void gi_mpi_done(gi_link *link, int k);

/* Frees retired links whose messages have gone; last: nothing can be under way any more. */
void gi_mpi_links_collect(gable_comm *comm, int last);

#endif
