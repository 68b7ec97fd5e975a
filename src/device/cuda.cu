/* cuda.cu: one GPU as a device. */
#include <climits>
#include <cstdint>
#include <cstring>
#include <cuda_runtime.h>
#include <mutex>
#include <new>

#include "cuda/current_device.cuh"
#include "cuda/undisturbed.cuh"
#include "device/cuda_place.h"
#include "device/loop.h"
#include "device/mailbox.h"

using gik::checked;
using gik::current_device;
using gik::undisturbed;

namespace
{

enum { MOST_KEPT = 64 };

struct block {
  block *next;
  void *p;
  size_t bytes;
};

/* The pool keeps what is given back, so that analyses do not pay for the driver's mapping of memory; the blocks given
 * back last are kept as they are, so that they do not pay for its bookkeeping.  All in the order of the context's
 * stream, which waits for no other and holds none up. */
struct place {
  int ordinal;
  gik_gpu gpu;
  gik_gpu_class gpu_class;
  std::mutex lock;
  block *used, *kept; /* kept: the last one given back first */
  int n_kept;
  cudaMemPool_t pool;
  cudaStream_t stream;
  cudaEvent_t order; /* between two streams: recorded and waited for under the lock */
  gi_mailboxes mailboxes;
  int reads_pageable; /* 1: kernels read all memory of the host */
};

place *place_of(const gable_context *ctx)
{
  return (place *)ctx->device_state;
}

/* NULL is the context's own. */
cudaStream_t stream_of(const gable_context *ctx, void *stream)
{
  return (cudaStream_t)gi_stream_of(ctx, stream);
}

gable_status open_pool(place *p)
{
  gable_status status = GABLE_OK;
  cudaMemPoolProps props = {};
  uint64_t all = UINT64_MAX;
  props.allocType = cudaMemAllocationTypePinned;
  props.location.type = cudaMemLocationTypeDevice;
  props.location.id = p->ordinal;
  const cudaError_t e = undisturbed([&] { return cudaMemPoolCreate(&p->pool, &props); });
  GI_REQUIRE(!e, e == cudaErrorMemoryAllocation ? GABLE_ERR_MEMORY : GABLE_ERR_BACKEND, "memory pool: %s",
             cudaGetErrorString(e));
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
    cudaFreeAsync(b->p, p->stream);
    delete b;
  }
  p->n_kept = 0;
}

void cuda_close(void *state)
{
  place *p = (place *)state;
  current_device here;
  if (!p) return;
  (void)here.enter(p->ordinal);
  drop_kept(p);
  if (p->stream) cudaStreamSynchronize(p->stream);
  gi_mailboxes_release(&p->mailboxes);
  if (p->pool) cudaMemPoolDestroy(p->pool);
  if (p->order) cudaEventDestroy(p->order);
  if (p->stream) cudaStreamDestroy(p->stream);
  delete p;
}

gable_status open_streams(place *p)
{
  gable_status status = GABLE_OK;
  GI_TRY(checked(cudaStreamCreateWithFlags(&p->stream, cudaStreamNonBlocking), "stream"));
  GI_TRY(checked(cudaEventCreateWithFlags(&p->order, cudaEventDisableTiming), "event"));
done:
  return status;
}

gable_status cuda_open(int ordinal, void **state)
{
  gable_status status = GABLE_OK;
  int count = 0;
  gik_gpu gpu = {};
  place *p = nullptr;
  current_device here;
  const cudaError_t e = undisturbed([&] { return cudaGetDeviceCount(&count); });
  *state = nullptr;
  GI_REQUIRE(!e && count, GABLE_ERR_UNAVAILABLE, "no GPU answers: %s", e ? cudaGetErrorString(e) : "none is there");
  GI_REQUIRE(ordinal < count, GABLE_ERR_UNAVAILABLE, "cuda:%d: this machine has %d GPU%s", ordinal, count,
             count == 1 ? "" : "s");
  GI_TRY(gik_gpu_read(ordinal, &gpu));
  GI_TRY(gik_gpu_check(&gpu));
  GI_TRY(here.enter(ordinal));
  p = new (std::nothrow) place();
  GI_REQUIRE(p, GABLE_ERR_MEMORY, "out of memory for a device");
  p->ordinal = ordinal;
  p->gpu = gpu;
  p->gpu_class = gik_gpu_class_of(&gpu);
  GI_TRY(checked(cudaDeviceGetAttribute(&p->reads_pageable, cudaDevAttrPageableMemoryAccess, ordinal), "attribute"));
  GI_TRY(open_pool(p));
  GI_TRY(open_streams(p));
  GI_TRY(gi_mailboxes_init(&p->mailboxes));
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
  e = undisturbed([&] { return cudaMallocFromPoolAsync(&b->p, bytes, p->pool, p->stream); });
  if (e == cudaErrorMemoryAllocation) {
    drop_kept(p);
    e = undisturbed([&] { return cudaMallocFromPoolAsync(&b->p, bytes, p->pool, p->stream); });
  }
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
  place *p = place_of(ctx);
  current_device here;
  gable_status status = here.enter(p->ordinal);
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

void cuda_release(gable_context *ctx, void *memory)
{
  place *p = place_of(ctx);
  current_device here;
  if (!memory || here.enter(p->ordinal)) return;
  if (ctx->options.device_release) {
    cudaStreamSynchronize(p->stream);
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
  cudaFreeAsync((*at)->p, p->stream);
  delete *at;
  *at = nullptr;
  p->n_kept--;
}

bool is_unknown(const void *memory)
{
  cudaPointerAttributes a = {};
  const cudaError_t e = undisturbed([&] { return cudaPointerGetAttributes(&a, memory); });
  return !e && a.type == cudaMemoryTypeUnregistered;
}

/* Memory that CUDA does not know is the host's. */
gable_status cuda_require(gable_context *ctx, const void *memory, size_t bytes, const char *name)
{
  const place *p = place_of(ctx);
  current_device here;
  gable_status status = here.enter(p->ordinal);
  if (status || !bytes || p->reads_pageable) return status;
  GI_REQUIRE(!is_unknown(memory), GABLE_ERR_ARGUMENT, "%s is called device memory, but is host memory", name);
done:
  return status;
}

/* A copy of pageable memory waits inside the driver for what comes before it on the stream, and launches of other
 * threads wait for the copy: where it comes behind a kernel that waits for one of them, nothing ends.  So the stream is
 * awaited outside.  The driver takes STAGED_AT_ONCE bytes from pageable memory without waiting. */
enum { STAGED_AT_ONCE = 65536 };

gable_status await_before_copy(gable_context *ctx, const void *host, void *stream)
{
  gable_status status = GABLE_OK;
  cudaStreamCaptureStatus now = cudaStreamCaptureStatusNone;
  if (!is_unknown(host)) goto done;
  GI_TRY(checked(cudaStreamIsCapturing(stream_of(ctx, stream), &now), "stream"));
  if (now == cudaStreamCaptureStatusNone) GI_TRY(checked(cudaStreamSynchronize(stream_of(ctx, stream)), "copy"));
done:
  return status;
}

/* host: of the two the one in host memory, or NULL. */
gable_status copy(gable_context *ctx, void *to, const void *from, size_t bytes, const void *host, void *stream)
{
  gable_status status = GABLE_OK;
  cudaError_t e = cudaSuccess;
  current_device here;
  GI_TRY(here.enter(place_of(ctx)->ordinal));
  if (host) GI_TRY(await_before_copy(ctx, host, stream));
  e = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_of(ctx, stream));
  GI_REQUIRE(!e, GABLE_ERR_BACKEND, "copy of %.1f MB: %s", (double)bytes / 1e6, cudaGetErrorString(e));
done:
  return status;
}

gable_status cuda_copy_in(gable_context *ctx, void *device, const void *host, size_t bytes, void *stream)
{
  return copy(ctx, device, host, bytes, bytes > STAGED_AT_ONCE ? host : nullptr, stream);
}

gable_status cuda_copy_out(gable_context *ctx, void *host, const void *device, size_t bytes, void *stream)
{
  return copy(ctx, host, device, bytes, host, stream);
}

gable_status cuda_synchronise(gable_context *ctx, void *stream)
{
  current_device here;
  const gable_status status = here.enter(place_of(ctx)->ordinal);
  return status ? status : checked(cudaStreamSynchronize(stream_of(ctx, stream)), "synchronise");
}

gable_status cuda_fill(gable_context *ctx, void *device, int byte, size_t bytes, void *stream)
{
  current_device here;
  const gable_status status = here.enter(place_of(ctx)->ordinal);
  return status ? status : checked(cudaMemsetAsync(device, byte, bytes, stream_of(ctx, stream)), "fill");
}

void *cuda_own_stream(const gable_context *ctx)
{
  return place_of(ctx)->stream;
}

gable_status cuda_stream_create(gable_context *ctx, void **out)
{
  gable_status status = GABLE_OK;
  current_device here;
  GI_TRY(here.enter(place_of(ctx)->ordinal));
  GI_TRY(checked(cudaStreamCreateWithFlags((cudaStream_t *)out, cudaStreamNonBlocking), "stream"));
done:
  return status;
}

void cuda_stream_destroy(gable_context *ctx, void *stream)
{
  (void)ctx;
  cudaStreamDestroy((cudaStream_t)stream);
}

gable_status is_capturing(cudaStream_t stream, bool *out)
{
  cudaStreamCaptureStatus now = cudaStreamCaptureStatusNone;
  const gable_status status = checked(cudaStreamIsCapturing(stream, &now), "stream");
  *out = now != cudaStreamCaptureStatusNone;
  return status;
}

gable_status cuda_order_after(gable_context *ctx, void *stream, void *earlier)
{
  gable_status status = GABLE_OK;
  place *p = place_of(ctx);
  const cudaStream_t to = stream_of(ctx, stream), from = stream_of(ctx, earlier);
  bool captured[2] = {false, false};
  current_device here;
  if (to == from) return GABLE_OK;
  std::lock_guard<std::mutex> guard(p->lock);
  GI_TRY(here.enter(p->ordinal));
  GI_TRY(is_capturing(to, &captured[0]));
  GI_TRY(is_capturing(from, &captured[1]));
  if (captured[0] || captured[1]) goto done;
  GI_TRY(checked(cudaEventRecord(p->order, from), "order of two streams"));
  GI_TRY(checked(cudaStreamWaitEvent(to, p->order, 0), "order of two streams"));
done:
  return status;
}

gable_status cuda_is_capturing(gable_context *ctx, void *stream, int *out)
{
  gable_status status = GABLE_OK;
  bool now = false;
  current_device here;
  GI_TRY(here.enter(place_of(ctx)->ordinal));
  GI_TRY(is_capturing(stream_of(ctx, stream), &now));
  *out = now;
done:
  return status;
}

gable_status cuda_event_create(gable_context *ctx, void **out)
{
  gable_status status = GABLE_OK;
  current_device here;
  GI_TRY(here.enter(place_of(ctx)->ordinal));
  GI_TRY(checked(cudaEventCreate((cudaEvent_t *)out), "event"));
done:
  return status;
}

gable_status cuda_event_record(gable_context *ctx, void *event, void *stream)
{
  current_device here;
  const gable_status status = here.enter(place_of(ctx)->ordinal);
  return status ? status : checked(cudaEventRecord((cudaEvent_t)event, stream_of(ctx, stream)), "event");
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

gable_status cuda_await_event(gable_context *ctx, void *stream, void *event)
{
  current_device here;
  const gable_status status = here.enter(place_of(ctx)->ordinal);
  return status ? status : checked(cudaStreamWaitEvent(stream_of(ctx, stream), (cudaEvent_t)event, 0), "event");
}

/* A device that has failed will do no more of it. */
int cuda_event_done(gable_context *ctx, void *event, int wait)
{
  const cudaEvent_t of = (cudaEvent_t)event;
  (void)ctx;
  const cudaError_t e = undisturbed([&] { return wait ? cudaEventSynchronize(of) : cudaEventQuery(of); });
  return e != cudaErrorNotReady;
}

gable_status cuda_pinned_alloc(gable_context *ctx, size_t bytes, void **out)
{
  gable_status status = GABLE_OK;
  cudaError_t e = cudaSuccess;
  current_device here;
  *out = nullptr;
  GI_TRY(here.enter(place_of(ctx)->ordinal));
  e = undisturbed([&] { return cudaHostAlloc(out, bytes ? bytes : 1, cudaHostAllocPortable); });
  GI_REQUIRE(!e, e == cudaErrorMemoryAllocation ? GABLE_ERR_MEMORY : GABLE_ERR_BACKEND, "%.1f MB of pinned memory: %s",
             (double)bytes / 1e6, cudaGetErrorString(e));
  memset(*out, 0, bytes);
done:
  return status;
}

void cuda_pinned_release(gable_context *ctx, void *p)
{
  (void)ctx;
  if (p) cudaFreeHost(p);
}

gable_status cuda_open_to(gable_context *ctx, const gable_context *other)
{
  gable_status status = GABLE_OK;
  const int from = place_of(other)->ordinal, to = place_of(ctx)->ordinal;
  int can = 0;
  cudaMemAccessDesc access = {};
  if (from == to) return GABLE_OK;
  GI_TRY(checked(cudaDeviceCanAccessPeer(&can, from, to), "peer access"));
  GI_REQUIRE(can, GABLE_ERR_UNAVAILABLE, "cuda:%d cannot reach the memory of cuda:%d", from, to);
  access.location.type = cudaMemLocationTypeDevice;
  access.location.id = from;
  access.flags = cudaMemAccessFlagsProtReadWrite;
  GI_TRY(checked(cudaMemPoolSetAccess(place_of(ctx)->pool, &access, 1), "peer access"));
done:
  return status;
}

/* Memory of the pool, which open_to has opened; whether a caller's cudaMalloc is open is not known. */
int cuda_reached_by(gable_context *ctx, const void *memory, const gable_context *other)
{
  place *p = place_of(ctx);
  const uintptr_t at = (uintptr_t)memory;
  if (p->ordinal == place_of(other)->ordinal) return 1;
  std::lock_guard<std::mutex> guard(p->lock);
  for (const block *b = p->used; b; b = b->next)
    if (at >= (uintptr_t)b->p && at - (uintptr_t)b->p < b->bytes) return 1;
  return 0;
}

} /* namespace */

const gik_gpu *gi_cuda_gpu(const gable_context *ctx)
{
  return &place_of(ctx)->gpu;
}

gi_mailboxes *gi_cuda_mailboxes(const gable_context *ctx)
{
  return &place_of(ctx)->mailboxes;
}

int gi_cuda_ordinal(const gable_context *ctx)
{
  return place_of(ctx)->ordinal;
}

namespace
{

const gik_gpu_class *cuda_gpu_class(const gable_context *ctx)
{
  return &place_of(ctx)->gpu_class;
}

gable_status cuda_enter(const gable_context *ctx, int *before)
{
  return current_device::enter(place_of(ctx)->ordinal, before);
}

void cuda_leave(const gable_context *ctx, int before)
{
  (void)ctx;
  current_device::leave(before);
}

} /* namespace */

extern "C" const gi_device gi_device_cuda = {
    "cuda",
    GI_ON_CUDA,
    GABLE_SPACE_DEVICE,
    &gik_kernels_cuda,
    0,
    cuda_open,
    cuda_close,
    cuda_gpu_class,
    cuda_enter,
    cuda_leave,
    cuda_alloc,
    cuda_release,
    cuda_require,
    cuda_copy_in,
    cuda_copy_out,
    cuda_synchronise,
    cuda_fill,
    cuda_own_stream,
    cuda_stream_create,
    cuda_stream_destroy,
    cuda_order_after,
    cuda_is_capturing,
    cuda_event_create,
    cuda_event_record,
    cuda_event_elapsed,
    cuda_event_destroy,
    cuda_await_event,
    cuda_event_done,
    cuda_pinned_alloc,
    cuda_pinned_release,
    cuda_open_to,
    cuda_reached_by,
    nullptr,
    nullptr,
    gi_loop_cuda,
    gi_recording_capture_cuda,
    gi_recording_play_cuda,
    gi_recording_release_cuda,
};
