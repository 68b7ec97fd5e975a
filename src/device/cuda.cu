/* cuda.cu: one GPU as a device. */
#include <atomic>
#include <climits>
#include <cstdint>
#include <cstring>
#include <cuda_runtime.h>
#include <mutex>
#include <new>

#include "cuda/dependent_launch.cuh"
#include "cuda/status.cuh"
#include "device/cuda_place.h"

using gik::checked;

namespace
{

enum { LANDINGS = 32, MOST_KEPT = 64 };

struct block {
  block *next;
  void *p;
  size_t bytes;
};

/* The pool keeps what is given back, so that analyses do not pay for the driver's mapping of memory; the blocks given
 * back last are kept as they are, so that they do not pay for its bookkeeping.  All in the order of the default stream.
 */
struct place {
  int ordinal, processors;
  std::mutex lock;
  block *used, *kept; /* kept: the last one given back first */
  int n_kept;
  cudaMemPool_t pool;
  char *mailbox;               /* pinned, [LANDINGS][GI_CUDA_LANDING] */
  std::atomic<unsigned> taken; /* a bit for each mailbox */
};

place *place_of(const gable_context *ctx)
{
  return (place *)ctx->device_state;
}

gable_status open_pool(place *p)
{
  gable_status status = GABLE_OK;
  cudaMemPoolProps props = {};
  uint64_t all = UINT64_MAX;
  props.allocType = cudaMemAllocationTypePinned;
  props.location.type = cudaMemLocationTypeDevice;
  props.location.id = p->ordinal;
  GI_TRY(checked(cudaMemPoolCreate(&p->pool, &props), "memory pool"));
  GI_TRY(checked(cudaMemPoolSetAttribute(p->pool, cudaMemPoolAttrReleaseThreshold, &all), "memory pool"));
done:
  return status;
}

/* All kept blocks go back to the pool; the lock is held, or nobody else is there. */
void drop_kept(place *p)
{
  while (p->kept) {
    block *b = p->kept;
    p->kept = b->next;
    cudaFreeAsync(b->p, nullptr);
    delete b;
  }
  p->n_kept = 0;
}

void cuda_close(void *state)
{
  place *p = (place *)state;
  if (!p) return;
  cudaSetDevice(p->ordinal);
  drop_kept(p);
  if (p->mailbox) cudaFreeHost(p->mailbox);
  if (p->pool) cudaMemPoolDestroy(p->pool);
  delete p;
}

gable_status cuda_open(int ordinal, void **state)
{
  gable_status status = GABLE_OK;
  int count = 0, major = 0;
  place *p = nullptr;
  cudaError_t e = cudaGetDeviceCount(&count);
  *state = nullptr;
  if (e) cudaGetLastError();
  GI_REQUIRE(!e && count, GABLE_ERR_UNAVAILABLE, "no GPU answers: %s", e ? cudaGetErrorString(e) : "none is there");
  GI_REQUIRE(ordinal < count, GABLE_ERR_UNAVAILABLE, "cuda:%d: this machine has %d GPU%s", ordinal, count,
             count == 1 ? "" : "s");
  GI_TRY(checked(cudaSetDevice(ordinal), "cudaSetDevice"));
  GI_TRY(checked(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, ordinal), "device attribute"));
  GI_REQUIRE(major >= 9, GABLE_ERR_UNAVAILABLE, "cuda:%d has compute capability %d, Gable's kernels want 9", ordinal,
             major);
  p = new (std::nothrow) place();
  GI_REQUIRE(p, GABLE_ERR_MEMORY, "out of memory for a device");
  p->ordinal = ordinal;
  GI_TRY(checked(cudaDeviceGetAttribute(&p->processors, cudaDevAttrMultiProcessorCount, ordinal), "device attribute"));
  GI_TRY(open_pool(p));
  GI_TRY(
      checked(cudaHostAlloc((void **)&p->mailbox, LANDINGS * GI_CUDA_LANDING, cudaHostAllocPortable), "pinned memory"));
  *state = p;
  p = nullptr;
done:
  cuda_close(p);
  return status;
}

/* The kept block that fits best, taken out, or NULL; no more than a quarter of it is wasted. */
block *take_kept(place *p, size_t bytes)
{
  block **best = nullptr;
  for (block **at = &p->kept; *at; at = &(*at)->next)
    if ((*at)->bytes >= bytes && (*at)->bytes - bytes <= (*at)->bytes / 4 && (!best || (*at)->bytes < (*best)->bytes))
      best = at;
  if (!best) return nullptr;
  block *b = *best;
  *best = b->next;
  p->n_kept--;
  return b;
}

/* bytes from the pool, where nothing kept would do. */
gable_status fresh_block(place *p, size_t bytes, block **out)
{
  gable_status status = GABLE_OK;
  cudaError_t e = cudaSuccess;
  block *b = new (std::nothrow) block{nullptr, nullptr, bytes};
  GI_REQUIRE(b, GABLE_ERR_MEMORY, "out of memory for a block of device memory");
  e = cudaMallocFromPoolAsync(&b->p, bytes, p->pool, nullptr);
  if (e == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    drop_kept(p);
    e = cudaMallocFromPoolAsync(&b->p, bytes, p->pool, nullptr);
  }
  if (e) cudaGetLastError();
  GI_REQUIRE(!e, e == cudaErrorMemoryAllocation ? GABLE_ERR_MEMORY : GABLE_ERR_BACKEND, "%.1f MB of device memory: %s",
             (double)bytes / 1e6, cudaGetErrorString(e));
  *out = b;
  b = nullptr;
done:
  delete b;
  return status;
}

/* bytes from the caller's own allocator. */
gable_status callers_block(const gable_context_options *own, size_t bytes, void **out)
{
  gable_status status = GABLE_OK;
  void *p = own->device_allocate(own->device_memory_user, bytes);
  GI_REQUIRE(p, GABLE_ERR_MEMORY, "%.1f MB of device memory: the caller's allocator has none", (double)bytes / 1e6);
  GI_REQUIRE((uintptr_t)p % 256 == 0, GABLE_ERR_ARGUMENT, "the caller's device memory is not aligned to 256 bytes");
  *out = p;
  p = nullptr;
done:
  if (p) own->device_release(own->device_memory_user, p);
  return status;
}

gable_status cuda_alloc(gable_context *ctx, size_t bytes, void **out)
{
  gable_status status = gi_cuda_enter(ctx);
  place *p = place_of(ctx);
  const size_t size = bytes ? bytes : 1;
  *out = nullptr;
  if (status) return status;
  if (ctx->options.device_allocate) return callers_block(&ctx->options, size, out);
  std::lock_guard<std::mutex> guard(p->lock);
  block *b = take_kept(p, size);
  if (!b) status = fresh_block(p, size, &b);
  if (status) return status;
  b->next = p->used;
  p->used = b;
  *out = b->p;
  return status;
}

/* In the order of the default stream. */
void cuda_release(gable_context *ctx, void *memory)
{
  place *p = place_of(ctx);
  if (!memory || gi_cuda_enter(ctx)) return;
  if (ctx->options.device_release) {
    cudaStreamSynchronize(nullptr);
    ctx->options.device_release(ctx->options.device_memory_user, memory);
    return;
  }
  std::lock_guard<std::mutex> guard(p->lock);
  block **at = &p->used;
  while (*at && (*at)->p != memory) at = &(*at)->next;
  if (!*at) return;
  block *b = *at;
  *at = b->next;
  b->next = p->kept;
  p->kept = b;
  if (++p->n_kept <= MOST_KEPT) return;
  for (at = &p->kept; (*at)->next;) at = &(*at)->next;
  cudaFreeAsync((*at)->p, nullptr);
  delete *at;
  *at = nullptr;
  p->n_kept--;
}

gable_status copy(gable_context *ctx, void *to, const void *from, size_t bytes, void *stream)
{
  gable_status status = GABLE_OK;
  cudaError_t e = cudaSuccess;
  GI_TRY(gi_cuda_enter(ctx));
  e = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, (cudaStream_t)stream);
  GI_REQUIRE(!e, GABLE_ERR_BACKEND, "copy of %.1f MB: %s", (double)bytes / 1e6, cudaGetErrorString(e));
done:
  return status;
}

gable_status cuda_copy_in(gable_context *ctx, void *device, const void *host, size_t bytes, void *stream)
{
  return copy(ctx, device, host, bytes, stream);
}

gable_status cuda_copy_out(gable_context *ctx, void *host, const void *device, size_t bytes, void *stream)
{
  return copy(ctx, host, device, bytes, stream);
}

gable_status cuda_synchronise(gable_context *ctx, void *stream)
{
  gable_status status = gi_cuda_enter(ctx);
  return status ? status : checked(cudaStreamSynchronize((cudaStream_t)stream), "synchronise");
}

gable_status cuda_fill(gable_context *ctx, void *device, int byte, size_t bytes, void *stream)
{
  gable_status status = gi_cuda_enter(ctx);
  return status ? status : checked(cudaMemsetAsync(device, byte, bytes, (cudaStream_t)stream), "fill");
}

/* Ordered with the default stream, on which allocations and updates of plans are made. */
gable_status cuda_stream_create(gable_context *ctx, void **out)
{
  gable_status status = GABLE_OK;
  GI_TRY(gi_cuda_enter(ctx));
  GI_TRY(checked(cudaStreamCreate((cudaStream_t *)out), "stream"));
done:
  return status;
}

void cuda_stream_destroy(gable_context *ctx, void *stream)
{
  (void)ctx;
  cudaStreamDestroy((cudaStream_t)stream);
}

gable_status cuda_event_create(gable_context *ctx, void **out)
{
  gable_status status = GABLE_OK;
  GI_TRY(gi_cuda_enter(ctx));
  GI_TRY(checked(cudaEventCreate((cudaEvent_t *)out), "event"));
done:
  return status;
}

gable_status cuda_event_record(gable_context *ctx, void *event, void *stream)
{
  gable_status status = gi_cuda_enter(ctx);
  return status ? status : checked(cudaEventRecord((cudaEvent_t)event, (cudaStream_t)stream), "event");
}

gable_status cuda_event_elapsed(gable_context *ctx, void *begin, void *end, double *seconds)
{
  gable_status status = GABLE_OK;
  float ms = 0;
  (void)ctx;
  GI_TRY(checked(cudaEventSynchronize((cudaEvent_t)end), "event"));
  GI_TRY(checked(cudaEventElapsedTime(&ms, (cudaEvent_t)begin, (cudaEvent_t)end), "event"));
  *seconds = 1e-3 * ms;
done:
  return status;
}

void cuda_event_destroy(gable_context *ctx, void *event)
{
  (void)ctx;
  cudaEventDestroy((cudaEvent_t)event);
}

} /* namespace */

extern "C" int gi_cuda_processors(const gable_context *ctx)
{
  return place_of(ctx)->processors;
}

extern "C" void *gi_cuda_take_mailbox(gable_context *ctx)
{
  place *p = place_of(ctx);
  unsigned seen = p->taken.load(std::memory_order_relaxed);
  for (;;) {
    int i = 0;
    while (i < LANDINGS && seen >> i & 1) i++;
    if (i == LANDINGS) return nullptr;
    if (p->taken.compare_exchange_weak(seen, seen | 1u << i, std::memory_order_acquire))
      return p->mailbox + i * GI_CUDA_LANDING;
  }
}

extern "C" void gi_cuda_give_mailbox(gable_context *ctx, void *mailbox)
{
  place *p = place_of(ctx);
  if (mailbox) p->taken.fetch_and(~(1u << ((char *)mailbox - p->mailbox) / GI_CUDA_LANDING), std::memory_order_release);
}

extern "C" gable_status gi_cuda_await(const volatile unsigned *flag, const char *what)
{
  gable_status status = GABLE_OK;
  cudaError_t e = cudaErrorNotReady;
  for (unsigned looks = 1; !*flag && e == cudaErrorNotReady; looks++)
    if (looks % 8192 == 0) e = cudaStreamQuery(nullptr);
  if (e != cudaErrorNotReady) GI_TRY(checked(e, what));
  std::atomic_thread_fence(std::memory_order_acquire);
  GI_REQUIRE(*flag, GABLE_ERR_BACKEND, "%s: the stream ended without a result", what);
done:
  return status;
}

namespace
{

enum { LANDING_WORDS = GI_CUDA_LANDING / sizeof(unsigned) - 1, POST_THREADS = 256 };

/* One block: both lists one behind the other to pinned memory, then its last word, which was 0. */
__global__ void __launch_bounds__(POST_THREADS)
    post_kernel(volatile unsigned *mailbox, const unsigned *a, unsigned n_a, const unsigned *b, unsigned n_b)
{
  gik::next_launch();
  gik::after_last_launch();
  for (unsigned i = threadIdx.x; i < n_a + n_b; i += POST_THREADS) mailbox[i] = __ldcg(i < n_a ? a + i : b + i - n_a);
  __threadfence_system();
  __syncthreads();
  if (!threadIdx.x) mailbox[LANDING_WORDS] = 1;
}

gable_status fetch_slowly(void *host, const void *device, size_t bytes)
{
  gable_status status = GABLE_OK;
  if (!bytes) goto done;
  GI_TRY(checked(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, nullptr), "copy to the host"));
  GI_TRY(checked(cudaStreamSynchronize(nullptr), "copy to the host"));
done:
  return status;
}

} /* namespace */

/* A copy by the driver and a wait for it take 10 us, a kernel that writes to the host's memory about half of that. */
extern "C" gable_status gi_cuda_fetch_two(gable_context *ctx, void *host_a, const void *a, size_t bytes_a, void *host_b,
                                          const void *b, size_t bytes_b)
{
  gable_status status = GABLE_OK;
  const size_t word = sizeof(unsigned), all = bytes_a + bytes_b;
  const int fits = all && all <= LANDING_WORDS * word && !(bytes_a % word) && !(bytes_b % word);
  unsigned *mailbox = fits ? (unsigned *)gi_cuda_take_mailbox(ctx) : nullptr;
  if (mailbox) {
    *(volatile unsigned *)(mailbox + LANDING_WORDS) = 0;
    gik::dependent_launch(post_kernel, 1, POST_THREADS, 0, false, nullptr, mailbox, (const unsigned *)a,
                          (unsigned)(bytes_a / word), (const unsigned *)b, (unsigned)(bytes_b / word));
    GI_TRY(gik::launched("copy to the host"));
    GI_TRY(gi_cuda_await(mailbox + LANDING_WORDS, "copy to the host"));
    memcpy(host_a, mailbox, bytes_a);
    memcpy(host_b, (const char *)mailbox + bytes_a, bytes_b);
  } else {
    GI_TRY(fetch_slowly(host_a, a, bytes_a));
    GI_TRY(fetch_slowly(host_b, b, bytes_b));
  }
done:
  if (status && mailbox) cudaStreamSynchronize(nullptr); /* nothing may write to a mailbox that is given back */
  gi_cuda_give_mailbox(ctx, mailbox);
  return status;
}

extern "C" gable_status gi_cuda_fetch(gable_context *ctx, void *host, const void *device, size_t bytes)
{
  return gi_cuda_fetch_two(ctx, host, device, bytes, host, device, 0);
}

extern "C" gable_status gi_cuda_enter(const gable_context *ctx)
{
  return checked(cudaSetDevice(place_of(ctx)->ordinal), "cudaSetDevice");
}

extern "C" const gi_device gi_device_cuda = {
    "cuda",
    GI_ON_CUDA,
    cuda_open,
    cuda_close,
    gi_cuda_enter,
    cuda_alloc,
    cuda_release,
    cuda_copy_in,
    cuda_copy_out,
    cuda_synchronise,
    cuda_fill,
    cuda_stream_create,
    cuda_stream_destroy,
    cuda_event_create,
    cuda_event_record,
    cuda_event_elapsed,
    cuda_event_destroy,
};
