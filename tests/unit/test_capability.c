/* A context refuses GPUs below compute capability 9.0 by name, and takes those from there on. */
#include <string.h>

#include "support/test.h"

#include "cuda/attributes.h"

static void refused(int ordinal, int major, int minor, const char *named)
{
  const gik_gpu gpu = {.ordinal = ordinal, .major = major, .minor = minor};
  CHECK(gik_gpu_check(&gpu) == GABLE_ERR_UNAVAILABLE, "%d.%d is not refused", major, minor);
  CHECK(strstr(gable_last_error(), named), "%d.%d: the message is '%s'", major, minor, gable_last_error());
}

static void taken(int major, int minor)
{
  const gik_gpu gpu = {.major = major, .minor = minor};
  CHECK_OK(gik_gpu_check(&gpu));
}

int main(void)
{
  refused(0, 7, 5, "cuda:0 has compute capability 7.5");
  refused(0, 8, 0, "cuda:0 has compute capability 8.0");
  refused(3, 8, 9, "cuda:3 has compute capability 8.9");
  taken(9, 0);
  taken(10, 0);
  taken(12, 1);
  return 0;
}
