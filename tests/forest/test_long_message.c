/* A message of more than 2^31 bytes, where the machine has the memory for it. */
#include "support/forest_cases.h"
#include "support/memory_available.h"
#include "support/test.h"

static gable_status run(gable_comm *comm, void *user)
{
  forest_long_message(comm, *(gable_path *)user);
  return GABLE_OK;
}

int main(void)
{
  for (gable_path path = GABLE_PATH_DIRECT; path <= GABLE_PATH_BUFFER; path++) {
    const double needed = 1.5 * (double)forest_long_message_bytes(path), there = memory_available();
    if (there < needed) SKIP("%.1f GB of memory are available, of which this takes %.1f", there / 1e9, needed / 1e9);
    CHECK_OK(gable_comm_run("cpu/ranks:2", run, &path));
  }
  return 0;
}
