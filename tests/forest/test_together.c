/* Exchanges that begin and end together on threads and on the mirror, by every path.
 *
 * usage: test_together [small] [place...], as "cuda:0/peer:2"; small: two rounds */
#include "base/portable.h"
#include "support/test.h"
#include "support/together_cases.h"

static gable_path path = GABLE_PATH_AUTO;

static gable_status run(gable_comm *comm, void *user)
{
  together_cases(comm, path, *(int *)user);
  return GABLE_OK;
}

static const struct {
  const char *where;
  gable_path path;
} all[] = {{"cpu", GABLE_PATH_AUTO},           {"cpu/ranks:2", GABLE_PATH_BUFFER},
           {"cpu/ranks:3", GABLE_PATH_DIRECT}, {"mirror/ranks:3", GABLE_PATH_AUTO},
           {"mirror/peer:1", GABLE_PATH_AUTO}, {"mirror/peer:3", GABLE_PATH_AUTO},
           {"mirror/peer:2", GABLE_PATH_COPY}};

int main(int argc, char **argv)
{
  const int small = argc > 1 && !strcmp(argv[1], "small");
  int rounds = small || GI_SANITIZED ? 2 : 5;
  for (int k = 1 + small; k < argc; k++) CHECK_OK(gable_comm_run(argv[k], run, &rounds));
  for (size_t k = 0; k < sizeof all / sizeof *all && argc == 1 + small; k++) {
    path = all[k].path;
    CHECK_OK(gable_comm_run(all[k].where, run, &rounds));
  }
  return 0;
}
