/* The cases of forest_cases.h on threads and on the mirror's host memory, by every path: 1,000 rounds with new data. */
#include "support/forest_cases.h"
#include "support/test.h"

static gable_status run(gable_comm *comm, void *user)
{
  const int size = gable_comm_size(comm);
  (void)user;
  for (int path = GABLE_PATH_AUTO; path <= GABLE_PATH_BUFFER; path++)
    forest_cases(comm, (gable_path)path, size == 2 && path == GABLE_PATH_AUTO ? 1000 : 20);
  return GABLE_OK;
}

int main(void)
{
  static const char *const where[] = {"cpu", "cpu/ranks:2", "cpu/ranks:3", "cpu/ranks:4", "mirror/ranks:3"};
  for (size_t k = 0; k < sizeof where / sizeof *where; k++) CHECK_OK(gable_comm_run(where[k], run, NULL));
  return 0;
}
