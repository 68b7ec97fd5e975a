/* scan_sort.cu: prefix sums and radix sorts by CUB. */
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include "cuda/status.cuh"
#include "cuda/undisturbed.cuh"
#include "device/arena.cuh"
#include "device/scan_sort.cuh"

using gik::checked;
using gik::undisturbed;

namespace gi
{

gable_status offsets(gi_arena *m, unsigned *in, unsigned *out, size_t n)
{
  gable_status status = GABLE_OK;
  const cudaStream_t stream = (cudaStream_t)m->stream;
  size_t bytes = 0;
  void *space = nullptr;
  GI_TRY(checked(undisturbed([&] { return cub::DeviceScan::ExclusiveSum(nullptr, bytes, in, out, n + 1, stream); }),
                 "scan"));
  GI_TRY(gi_arena_take(m, bytes, &space));
  GI_TRY(checked(undisturbed([&] { return cub::DeviceScan::ExclusiveSum(space, bytes, in, out, n + 1, stream); }),
                 "scan"));
done:
  return status;
}

template <typename K> static gable_status sort_keys(gi_arena *m, K **key, unsigned **value, size_t n, int bits)
{
  gable_status status = GABLE_OK;
  const cudaStream_t stream = (cudaStream_t)m->stream;
  size_t bytes = 0;
  void *space = nullptr;
  K *other_key = nullptr;
  unsigned *other_value = nullptr;
  cub::DoubleBuffer<K> k;
  cub::DoubleBuffer<unsigned> v;
  GI_TRY(take(m, n, &other_key));
  GI_TRY(take(m, n, &other_value));
  k = cub::DoubleBuffer<K>(*key, other_key);
  v = cub::DoubleBuffer<unsigned>(*value, other_value);
  GI_TRY(checked(undisturbed([&] { return cub::DeviceRadixSort::SortPairs(nullptr, bytes, k, v, n, 0, bits, stream); }),
                 "sort"));
  GI_TRY(gi_arena_take(m, bytes, &space));
  GI_TRY(checked(undisturbed([&] { return cub::DeviceRadixSort::SortPairs(space, bytes, k, v, n, 0, bits, stream); }),
                 "sort"));
  *key = k.Current();
  *value = v.Current();
done:
  return status;
}

gable_status sort(gi_arena *m, unsigned **key, unsigned **value, size_t n, int bits)
{
  return sort_keys(m, key, value, n, bits);
}

gable_status sort(gi_arena *m, u64 **key, unsigned **value, size_t n, int bits)
{
  return sort_keys(m, key, value, n, bits);
}

} /* namespace gi */
