/* scan_sort.cuh: prefix sums and radix sorts, on the stream of the arena that their scratch memory comes from. */
#ifndef GI_DEVICE_SCAN_SORT_CUH
#define GI_DEVICE_SCAN_SORT_CUH

#include "device/arena.h"

namespace gi
{

typedef unsigned long long u64;

/* out[i] = in[0] + ... + in[i-1], n+1 of them (in has n; in may be out). */
gable_status offsets(gi_arena *m, unsigned *in, unsigned *out, size_t n);

/* Stable, by the low bits of key; the results are in *key and *value. */
gable_status sort(gi_arena *m, unsigned **key, unsigned **value, size_t n, int bits);
gable_status sort(gi_arena *m, u64 **key, unsigned **value, size_t n, int bits);

} /* namespace gi */

#endif
