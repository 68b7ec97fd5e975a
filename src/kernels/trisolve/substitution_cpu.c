/* substitution_cpu.c: the substitution kernels for each pair of types. */
#include "kernels/trisolve/substitution_cpu.h"
#include "base/portable.h"

#define BODY "kernels/trisolve/substitution_cpu.inc"
#include "kernels/trisolve/each_type_pair.inc"

const gik_substitution *gik_substitution_for(gable_type value_type, gable_type vector_type)
{
  if (value_type == GABLE_TYPE_D) return vector_type == GABLE_TYPE_D ? &kernels_dd : NULL;
  if (value_type != GABLE_TYPE_S) return NULL;
  return vector_type == GABLE_TYPE_D ? &kernels_sd : vector_type == GABLE_TYPE_S ? &kernels_ss : NULL;
}

const gik_substitution *gik_relaxation_for(gable_type value_type, gable_type vector_type)
{
  if (value_type == GABLE_TYPE_D) return vector_type == GABLE_TYPE_D ? &relaxing_dd : NULL;
  if (value_type != GABLE_TYPE_S) return NULL;
  return vector_type == GABLE_TYPE_D ? &relaxing_sd : vector_type == GABLE_TYPE_S ? &relaxing_ss : NULL;
}
