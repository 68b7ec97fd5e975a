/* trisolve_rows.c: the substitution kernels for each pair of types. */
#include "kernels/trisolve_rows.h"
#include "base/portable.h"

#define MAT double
#define VEC double
#define NAME(x) x##_dd
#include "kernels/trisolve_rows.inc"
#undef MAT
#undef VEC
#undef NAME

#define MAT float
#define VEC float
#define NAME(x) x##_ss
#include "kernels/trisolve_rows.inc"
#undef MAT
#undef VEC
#undef NAME

#define MAT float
#define VEC double
#define NAME(x) x##_sd
#include "kernels/trisolve_rows.inc"
#undef MAT
#undef VEC
#undef NAME

const gik_trisolve *gik_trisolve_for(gable_type value_type, gable_type vector_type)
{
  if (value_type == GABLE_D) return vector_type == GABLE_D ? &kernels_dd : NULL;
  if (value_type != GABLE_S) return NULL;
  return vector_type == GABLE_D ? &kernels_sd : vector_type == GABLE_S ? &kernels_ss : NULL;
}

const gik_trisolve *gik_relaxation_for(gable_type value_type, gable_type vector_type)
{
  if (value_type == GABLE_D) return vector_type == GABLE_D ? &relaxing_dd : NULL;
  if (value_type != GABLE_S) return NULL;
  return vector_type == GABLE_D ? &relaxing_sd : vector_type == GABLE_S ? &relaxing_ss : NULL;
}
