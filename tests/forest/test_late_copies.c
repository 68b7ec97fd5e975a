/* A rank that gives up while its copies are under way is an error of the rank that awaits them, or harmless, and never
 * a wrong value: three threads by path copy.  test_nvshmem.sh has path put.
 *
 * usage: test_late_copies [place], as "cuda:0/peer:3"; else the mirror. */
#include <sys/wait.h>
#include <unistd.h>

#include "support/late_copies.h"
#include "support/test.h"

static gable_status run(gable_comm *comm, void *user)
{
  late_copies(comm, GABLE_PATH_COPY, *(int *)user);
  return GABLE_OK;
}

static void one_case(const char *where, int k)
{
  CHECK_OK(gable_comm_run(where, run, &k));
}

/* The cases wait for most of their time: a process for each, but on a GPU, where processes take turns. */
int main(int argc, char **argv)
{
  pid_t child[LATE_COPIES];
  if (argc > 1) {
    for (int k = 0; k < LATE_COPIES; k++) one_case(argv[1], k);
    return 0;
  }
  for (int k = 0; k < LATE_COPIES; k++) {
    child[k] = fork();
    CHECK(child[k] >= 0, "fork");
    if (child[k]) continue;
    one_case("mirror/peer:3", k);
    return 0;
  }
  for (int k = 0; k < LATE_COPIES; k++) {
    int status = 0;
    CHECK(waitpid(child[k], &status, 0) == child[k] && status == 0, "case %d: status %d", k, status);
  }
  return 0;
}
