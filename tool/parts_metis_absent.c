/* parts_metis_absent.c: a build without METIS. */
#include <stdio.h>

#include "forest_parts.h"

gable_status parts_metis(gable_idx n, const int32_t *ptr, const int32_t *idx, int parts, int32_t *part, char *why,
                         size_t why_bytes)
{
  (void)n;
  (void)ptr;
  (void)idx;
  (void)parts;
  (void)part;
  snprintf(why, why_bytes, "--parts metis: this build has no METIS: make METIS=yes, or give --parts block or a file");
  return GABLE_ERR_UNAVAILABLE;
}
