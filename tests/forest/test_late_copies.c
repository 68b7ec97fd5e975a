/* A rank that gives up while its copies are under way is an error of the rank that awaits them, or harmless, and never
 * a wrong value: three threads by path copy.  test_nvshmem.sh has path put.
 *
 * usage: test_late_copies [place], as "cuda:0/peer:3"; else the mirror. */
#include "support/late_copies.h"
#include "support/test.h"

static gable_status run(gable_comm *comm, void *user)
{
  late_copies(comm, GABLE_PATH_COPY, *(int *)user);
  return GABLE_OK;
}

int main(int argc, char **argv)
{
  const char *where = argc > 1 ? argv[1] : "mirror/peer:3";
  for (int k = 0; k < LATE_COPIES; k++) CHECK_OK(gable_comm_run(where, run, &k));
  return 0;
}
