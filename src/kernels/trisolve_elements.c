/* trisolve_elements.c: the kernels of the seed's methods for each pair of types. */
#include "kernels/trisolve_elements.h"

#define MAT double
#define VEC double
#define ADD gi_atomic_add_double
#define NAME(x) x##_dd
#include "kernels/trisolve_elements.inc"
#undef MAT
#undef VEC
#undef ADD
#undef NAME

#define MAT float
#define VEC float
#define ADD gi_atomic_add_float
#define NAME(x) x##_ss
#include "kernels/trisolve_elements.inc"
#undef MAT
#undef VEC
#undef ADD
#undef NAME

#define MAT float
#define VEC double
#define ADD gi_atomic_add_double
#define NAME(x) x##_sd
#include "kernels/trisolve_elements.inc"
#undef MAT
#undef VEC
#undef ADD
#undef NAME

const gik_elements *gik_elements_for(gable_type value_type, gable_type vector_type)
{
  if (value_type == GABLE_D) return vector_type == GABLE_D ? &elements_dd : NULL;
  if (value_type != GABLE_S) return NULL;
  return vector_type == GABLE_D ? &elements_sd : vector_type == GABLE_S ? &elements_ss : NULL;
}
