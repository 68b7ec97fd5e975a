/* arena.cuh: typed arrays from an arena. */
#ifndef GI_DEVICE_ARENA_CUH
#define GI_DEVICE_ARENA_CUH

#include "device/arena.h"

namespace gi
{

template <typename T> gable_status take(gi_arena *m, size_t count, T **out)
{
  return gi_arena_take(m, (count ? count : 1) * sizeof(T), (void **)out);
}

} /* namespace gi */

#endif
