/* The cases of forest_cases.h on threads, and on the mirror in host and in device memory, by every path: 1,000 rounds
 * with new data.
 *
 * usage: test_exchanges [PLACE [copy]], as "cuda:0,1/peer": in device memory there. */
#include "support/forest_cases.h"
#include "support/test.h"

static gable_status in_host_memory(gable_comm *comm, void *user)
{
  const int size = gable_comm_size(comm);
  (void)user;
  for (int path = GABLE_PATH_AUTO; path <= GABLE_PATH_BUFFER; path++)
    forest_cases(comm, (gable_path)path, size == 2 ? 1000 : 20);
  return GABLE_OK;
}

static gable_status in_device_memory(gable_comm *comm, void *user)
{
  forest_device_cases(comm, *(const gable_path *)user, 10);
  return GABLE_OK;
}

int main(int argc, char **argv)
{
  static const char *const host[] = {"cpu", "cpu/ranks:2", "cpu/ranks:3", "cpu/ranks:4", "mirror/ranks:3"};
  static const struct {
    const char *where;
    gable_path path;
  } devices[] = {{"mirror/peer:1", GABLE_PATH_AUTO},
                 {"mirror/peer:3", GABLE_PATH_DIRECT},
                 {"mirror/peer:2", GABLE_PATH_COPY},
                 {"mirror/ranks:3", GABLE_PATH_AUTO},
                 {"mirror/ranks:2", GABLE_PATH_BUFFER}};
  gable_path path = argc > 2 && !strcmp(argv[2], "copy") ? GABLE_PATH_COPY : GABLE_PATH_AUTO;
  if (argc > 1) {
    CHECK_OK(gable_comm_run(argv[1], in_device_memory, &path));
    return 0;
  }
  for (size_t k = 0; k < sizeof host / sizeof *host; k++) CHECK_OK(gable_comm_run(host[k], in_host_memory, NULL));
  for (size_t k = 0; k < sizeof devices / sizeof *devices; k++)
    CHECK_OK(gable_comm_run(devices[k].where, in_device_memory, (void *)&devices[k].path));
  return 0;
}
