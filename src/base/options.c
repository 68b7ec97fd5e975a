#include "base/options.h"

#include <string.h>

gable_status gi_options_take(const void *given, void *own, size_t size, const char *init)
{
  gable_status status = GABLE_OK;
  size_t there;
  if (!given) return GABLE_OK;
  memcpy(&there, given, sizeof there);
  GI_REQUIRE(there > sizeof there && there <= size, GABLE_ERR_ARGUMENT, "options of %zu bytes: start from %s", there,
             init);
  memcpy(own, given, there);
  memcpy(own, &size, sizeof size);
done:
  return status;
}

gable_status gi_options_threads(int *threads, int otherwise, int most)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(*threads >= 0 && *threads <= 1024, GABLE_ERR_ARGUMENT, "threads is %d: give 0 to 1024", *threads);
  if (!*threads) *threads = otherwise;
  if (*threads > most) *threads = most;
done:
  return status;
}
