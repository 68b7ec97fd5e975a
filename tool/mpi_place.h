/* mpi_place.h: ranks that are processes, started by mpirun. */
#ifndef TOOL_MPI_PLACE_H
#define TOOL_MPI_PLACE_H

#include <gable/gable.h>

/* Whether the place is one of processes: "cpu/mpi". */
int mpi_place_is(const char *where);

/* For such a place, before any output: 0 and the *rank of this process when this program runs there.  Else the program
 * beside it that can, gable-mpi, takes over with the same arguments and this does not return, or it is missing: a line
 * on standard error, EXIT_FAILED. */
int mpi_place_enter(const char *where, char **argv, int *rank);

/* f on the comm of all processes, which wait so many seconds for each other to make it, and then in it. */
gable_status mpi_place_run(const char *where, double deadline_s, gable_rank_function f, void *user);

/* Before the process ends.  lost: some rank did not come, so none of the others waits for it: all processes end. */
void mpi_place_leave(int lost);

#endif
