/* passes.cu: device memory of an analysis, prefix sums and radix sorts. */
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <system_error>
#include <thread>

#include "trisolve/cuda/passes.cuh"

gi_device_memory gi_device_memory_of(gable_context *ctx)
{
  gi_device_memory m = {};
  m.ctx = ctx;
  m.stream = gi_own_stream(ctx);
  return m;
}

/* What was left of the last block is lost. */
static gable_status add_block(gi_device_memory *m, size_t bytes)
{
  gable_status status = GABLE_OK;
  void *block = nullptr;
  GI_REQUIRE(m->count < (int)(sizeof m->block / sizeof *m->block), GABLE_ERR_LIMIT, "too many device arrays");
  GI_TRY(m->ctx->device->alloc(m->ctx, bytes, &block));
  m->block[m->count++] = block;
  m->bytes += bytes;
  m->at = (char *)block;
  m->left = bytes;
done:
  return status;
}

gable_status gi_device_take(gi_device_memory *m, size_t bytes, void **out)
{
  gable_status status = GABLE_OK;
  const size_t padded = (bytes + 255) / 256 * 256, least = 256u << 10, most = 32u << 20;
  const size_t again = m->bytes < least ? least : m->bytes < most ? m->bytes : most;
  if (padded > m->left) GI_TRY(add_block(m, padded < again ? again : padded));
  *out = m->at;
  m->at += padded;
  m->left -= padded;
done:
  return status;
}

gable_status gi_device_reserve(gi_device_memory *m, size_t bytes)
{
  return bytes > m->left ? add_block(m, bytes) : GABLE_OK;
}

void gi_device_give_back_since(gi_device_memory *m, gi_device_mark mark)
{
  while (m->count > mark.count) m->ctx->device->release(m->ctx, m->block[--m->count]);
  m->bytes = mark.bytes;
  m->left = mark.left;
  m->at = mark.at;
}

void gi_device_give_back(gi_device_memory *m)
{
  gi_device_give_back_since(m, gi_device_mark{});
}

namespace gi
{

/* f(), which asks for the thread's last error after launches of its own, and would take an error that the program has
 * pending for one of them: then it runs in a thread that has no errors yet. */
template <typename F> static cudaError_t without_pending_error(F f)
{
  cudaError_t e = cudaSuccess;
  int device = 0;
  if (cudaPeekAtLastError() == cudaSuccess) return f();
  e = cudaGetDevice(&device);
  if (e) return e;
  try {
    std::thread([&] {
      e = cudaSetDevice(device);
      if (!e) e = f();
    }).join();
  } catch (const std::system_error &) {
    e = cudaErrorOperatingSystem;
  }
  return e;
}

gable_status offsets(gi_device_memory *m, unsigned *in, unsigned *out, size_t n)
{
  gable_status status = GABLE_OK;
  const cudaStream_t stream = (cudaStream_t)m->stream;
  size_t bytes = 0;
  void *space = nullptr;
  GI_TRY(checked(
      without_pending_error([&] { return cub::DeviceScan::ExclusiveSum(nullptr, bytes, in, out, n + 1, stream); }),
      "scan"));
  GI_TRY(gi_device_take(m, bytes, &space));
  GI_TRY(checked(
      without_pending_error([&] { return cub::DeviceScan::ExclusiveSum(space, bytes, in, out, n + 1, stream); }),
      "scan"));
done:
  return status;
}

template <typename K> static gable_status sort_keys(gi_device_memory *m, K **key, unsigned **value, size_t n, int bits)
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
  GI_TRY(checked(
      without_pending_error([&] { return cub::DeviceRadixSort::SortPairs(nullptr, bytes, k, v, n, 0, bits, stream); }),
      "sort"));
  GI_TRY(gi_device_take(m, bytes, &space));
  GI_TRY(checked(
      without_pending_error([&] { return cub::DeviceRadixSort::SortPairs(space, bytes, k, v, n, 0, bits, stream); }),
      "sort"));
  *key = k.Current();
  *value = v.Current();
done:
  return status;
}

gable_status sort(gi_device_memory *m, unsigned **key, unsigned **value, size_t n, int bits)
{
  return sort_keys(m, key, value, n, bits);
}

gable_status sort(gi_device_memory *m, u64 **key, unsigned **value, size_t n, int bits)
{
  return sort_keys(m, key, value, n, bits);
}

} /* namespace gi */
