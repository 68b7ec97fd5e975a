/* mpi_place.c: the tool on MPI; in gable-mpi alone, so that gable needs no MPI. */
#include "mpi_place.h"

#include <stdio.h>
#include <string.h>

#include <gable/mpi.h>

int mpi_place_is(const char *where)
{
  const char *slash = strchr(where, '/');
  return slash && !strcmp(slash, "/mpi");
}

int mpi_place_enter(const char *where, char **argv, int *rank)
{
  (void)where;
  (void)argv;
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, rank);
  return 0;
}

gable_status mpi_place_run(const char *where, gable_rank_function f, void *user)
{
  gable_context_options options = GABLE_CONTEXT_OPTIONS_INIT;
  gable_context *ctx = NULL;
  gable_comm *comm = NULL;
  char device[32];
  snprintf(device, sizeof device, "%.*s", (int)strcspn(where, "/"), where);
  options.threads = 1;
  gable_status status = gable_context_create(device, &options, &ctx);
  if (!status) status = gable_comm_from_mpi(ctx, MPI_COMM_WORLD, &comm);
  if (!status) status = f(comm, user);
  if (status) return status; /* messages may be under way: what they use stays */
  gable_comm_destroy(&comm);
  gable_context_destroy(&ctx);
  return status;
}

void mpi_place_leave(void)
{
  int there = 0;
  MPI_Initialized(&there);
  if (there) MPI_Finalize();
}
