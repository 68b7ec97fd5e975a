/* parts_metis.c: parts by METIS's k-way partition. */
#include <metis.h>
#include <stdio.h>

#include "forest_parts.h"

_Static_assert(sizeof(idx_t) == sizeof(int32_t), "METIS with 32-bit indices");

gable_status parts_metis(gable_idx n, const int32_t *ptr, const int32_t *idx, int parts, int32_t *part, char *why,
                         size_t why_bytes)
{
  idx_t nodes = n, constraints = 1, k = parts, cut = 0, options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_NUMBERING] = 0;
  options[METIS_OPTION_SEED] = 1;
  const int said = METIS_PartGraphKway(&nodes, &constraints, (idx_t *)ptr, (idx_t *)idx, NULL, NULL, NULL, &k, NULL,
                                       NULL, options, &cut, part);
  if (said == METIS_OK) return GABLE_OK;
  snprintf(why, why_bytes, "--parts metis: METIS %s", said == METIS_ERROR_MEMORY ? "is out of memory" : "failed");
  return said == METIS_ERROR_MEMORY ? GABLE_ERR_MEMORY : GABLE_ERR_BACKEND;
}
