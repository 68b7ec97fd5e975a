/* type_size.h: how long a number of each type is. */
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

#endif
