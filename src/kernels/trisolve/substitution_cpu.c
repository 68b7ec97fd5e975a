/* substitution_cpu.c: the substitution kernels for each pair of types and level of the instruction set. */
#include "kernels/trisolve/substitution_cpu.h"
#include "base/portable.h"

#define BODY "kernels/trisolve/substitution_cpu.inc"
#define LEVEL_BODY "kernels/trisolve/each_type_pair.inc"
#include "base/each_level.inc"

#define EACH_PAIR(table, level)                                                                                        \
  {                                                                                                                    \
    &table##_dd_##level, &table##_ss_##level, &table##_sd_##level                                                      \
  }
#if GI_INSTRUCTION_SETS > 1
#define EACH_LEVEL(table)                                                                                              \
  {                                                                                                                    \
    EACH_PAIR(table, level0), EACH_PAIR(table, level1), EACH_PAIR(table, level2)                                       \
  }
#else
#define EACH_LEVEL(table)                                                                                              \
  {                                                                                                                    \
    EACH_PAIR(table, level0)                                                                                           \
  }
#endif

static const gik_substitution *const kernels[GI_INSTRUCTION_SETS][3] = EACH_LEVEL(kernels);
static const gik_substitution *const relaxing[GI_INSTRUCTION_SETS][3] = EACH_LEVEL(relaxing);

/* Of the three pairs of a level. */
static const gik_substitution *of_types(const gik_substitution *const *pair, gable_type value, gable_type vector)
{
  if (value == GABLE_TYPE_D) return vector == GABLE_TYPE_D ? pair[0] : NULL;
  if (value != GABLE_TYPE_S) return NULL;
  return vector == GABLE_TYPE_S ? pair[1] : vector == GABLE_TYPE_D ? pair[2] : NULL;
}

const gik_substitution *gik_substitution_for(gable_type value_type, gable_type vector_type)
{
  return of_types(kernels[gi_level()], value_type, vector_type);
}

const gik_substitution *gik_relaxation_for(gable_type value_type, gable_type vector_type)
{
  return of_types(relaxing[gi_level()], value_type, vector_type);
}
