/* gpu_properties_absent.c: a build without CUDA knows no GPU. */
#include "gpu_properties.h"

gable_status gpu_properties_read(const char *where, gpu_properties *out)
{
  (void)where;
  (void)out;
  return GABLE_ERR_UNAVAILABLE;
}

gable_status gpu_synchronise(const char *where)
{
  (void)where;
  return GABLE_ERR_UNAVAILABLE;
}
