/* mailbox.cu: see mailbox.h. */
#include "device/mailbox.h"

#include <cstring>

#include "cuda/launch.cuh"
#include "cuda/undisturbed.cuh"
#include "device/cuda_place.h"

using gik::checked;
using gik::undisturbed;

enum { COUNT = 32 };

gable_status gi_mailboxes_init(gi_mailboxes *out)
{
  return checked(cudaHostAlloc((void **)&out->memory, COUNT * GI_MAILBOX_BYTES, cudaHostAllocPortable),
                 "pinned memory");
}

void gi_mailboxes_release(gi_mailboxes *m)
{
  if (m->memory) cudaFreeHost(m->memory);
  m->memory = nullptr;
}

void *gi_mailbox_take(gable_context *ctx)
{
  gi_mailboxes *p = gi_cuda_mailboxes(ctx);
  unsigned seen = __atomic_load_n(&p->taken, __ATOMIC_RELAXED);
  for (;;) {
    int i = 0;
    while (i < COUNT && seen >> i & 1) i++;
    if (i == COUNT) return nullptr;
    if (__atomic_compare_exchange_n(&p->taken, &seen, seen | 1u << i, true, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
      return p->memory + i * GI_MAILBOX_BYTES;
  }
}

void gi_mailbox_give(gable_context *ctx, void *mailbox)
{
  gi_mailboxes *p = gi_cuda_mailboxes(ctx);
  const unsigned i = mailbox ? (unsigned)(((char *)mailbox - p->memory) / GI_MAILBOX_BYTES) : 0;
  if (mailbox) __atomic_fetch_and(&p->taken, ~(1u << i), __ATOMIC_RELEASE);
}

/* "Not ready" counts as a failure of the query.  Where the application has an error pending, the host waits instead,
 * for a thread for each look would cost more. */
gable_status gi_mailbox_await(void *stream, const volatile unsigned *flag, const char *what)
{
  gable_status status = GABLE_OK;
  const cudaStream_t on = (cudaStream_t)stream;
  cudaError_t e = cudaErrorNotReady;
  const bool pending = cudaPeekAtLastError() != cudaSuccess;
  for (unsigned looks = 1; !*flag && e == cudaErrorNotReady; looks++) {
    if (looks % 8192) continue;
    e = pending ? cudaStreamSynchronize(on) : undisturbed([&] { return cudaStreamQuery(on); });
  }
  if (e != cudaErrorNotReady) GI_TRY(checked(e, what));
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  GI_REQUIRE(*flag, GABLE_ERR_BACKEND, "%s: the stream ended without a result", what);
done:
  return status;
}

namespace
{

enum { WORDS = GI_MAILBOX_BYTES / sizeof(unsigned) - 1, POST_THREADS = 256 };

/* One block: both lists one behind the other to pinned memory, then its last word, which was 0. */
__global__ void __launch_bounds__(POST_THREADS)
    post_kernel(volatile unsigned *mailbox, const unsigned *a, unsigned n_a, const unsigned *b, unsigned n_b)
{
  gik::next_launch();
  gik::after_last_launch();
  for (unsigned i = threadIdx.x; i < n_a + n_b; i += POST_THREADS) mailbox[i] = __ldcg(i < n_a ? a + i : b + i - n_a);
  __threadfence_system();
  __syncthreads();
  if (!threadIdx.x) mailbox[WORDS] = 1;
}

gable_status fetch_slowly(cudaStream_t stream, void *host, const void *device, size_t bytes)
{
  gable_status status = GABLE_OK;
  if (!bytes) goto done;
  GI_TRY(checked(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, stream), "copy to the host"));
  GI_TRY(checked(cudaStreamSynchronize(stream), "copy to the host"));
done:
  return status;
}

} /* namespace */

/* A copy by the driver and a wait for it take 10 us, a kernel that writes to the host's memory about half of that. */
gable_status gi_mailbox_fetch_two(gable_context *ctx, void *stream, void *host_a, const void *a, size_t bytes_a,
                                  void *host_b, const void *b, size_t bytes_b)
{
  gable_status status = GABLE_OK;
  const size_t word = sizeof(unsigned), all = bytes_a + bytes_b;
  const int fits = all && all <= WORDS * word && !(bytes_a % word) && !(bytes_b % word);
  unsigned *mailbox = fits ? (unsigned *)gi_mailbox_take(ctx) : nullptr;
  if (mailbox) {
    *(volatile unsigned *)(mailbox + WORDS) = 0;
    GI_TRY(gik::dependent_launch("copy to the host", stream, post_kernel, 1, POST_THREADS, 0, mailbox,
                                 (const unsigned *)a, (unsigned)(bytes_a / word), (const unsigned *)b,
                                 (unsigned)(bytes_b / word)));
    GI_TRY(gi_mailbox_await(stream, mailbox + WORDS, "copy to the host"));
    memcpy(host_a, mailbox, bytes_a);
    memcpy(host_b, (const char *)mailbox + bytes_a, bytes_b);
  } else {
    GI_TRY(fetch_slowly((cudaStream_t)stream, host_a, a, bytes_a));
    GI_TRY(fetch_slowly((cudaStream_t)stream, host_b, b, bytes_b));
  }
done:
  if (status && mailbox)
    cudaStreamSynchronize((cudaStream_t)stream); /* nothing may write to a mailbox that is given back */
  gi_mailbox_give(ctx, mailbox);
  return status;
}

gable_status gi_mailbox_fetch(gable_context *ctx, void *stream, void *host, const void *device, size_t bytes)
{
  return gi_mailbox_fetch_two(ctx, stream, host, device, bytes, host, device, 0);
}
