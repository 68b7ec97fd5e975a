/* seed_cpu.c: the kernels of the seed's methods for each pair of types. */
#include "kernels/trisolve/seed_cpu.h"

#define ADD(p, v) _Generic((p), double * : gi_atomic_add_double, float * : gi_atomic_add_float)(p, v)
#define BODY "kernels/trisolve/seed_cpu.inc"
#include "kernels/trisolve/each_type_pair.inc"

const gik_seed_cpu *gik_seed_cpu_for(gable_type value_type, gable_type vector_type)
{
  if (value_type == GABLE_TYPE_D) return vector_type == GABLE_TYPE_D ? &elements_dd : NULL;
  if (value_type != GABLE_TYPE_S) return NULL;
  return vector_type == GABLE_TYPE_D ? &elements_sd : vector_type == GABLE_TYPE_S ? &elements_ss : NULL;
}
