/* type_size.h: how long a number of each type is, and numbers as doubles. */
#ifndef GI_TYPE_SIZE_H
#define GI_TYPE_SIZE_H

#include <gable/types.h>

/* Bytes. */
static inline size_t gi_type_size(gable_type type)
{
  switch (type) {
  case GABLE_TYPE_I32:
  case GABLE_TYPE_S: return 4;
  case GABLE_TYPE_Z: return 16;
  default: return 8;
  }
}

/* Number w (0: the real part, 1: the imaginary one) of value k of an array of GABLE_TYPE_S, _D, _C or _Z. */
static inline double gi_number_at(gable_type type, const void *values, gable_off k, int w)
{
  switch (type) {
  case GABLE_TYPE_S: return (double)((const float *)values)[k];
  case GABLE_TYPE_C: return (double)((const float *)values)[2 * k + w];
  case GABLE_TYPE_Z: return ((const double *)values)[2 * k + w];
  default: return ((const double *)values)[k];
  }
}

#endif
