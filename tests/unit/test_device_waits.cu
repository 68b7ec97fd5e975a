/* A kernel waits for a number that the host stores into pinned memory, and gives up at its deadline where nobody does.
 */
#include <cuda_runtime.h>

#include "cuda/launch.cuh"
#include "cuda/system_wait.cuh"
#include "support/place.h"
#include "support/test.h"

#define CHECK_CUDA(call) CHECK((call) == cudaSuccess, "%s", #call)

template <typename T>
static __global__ void wait_kernel(const T *from, T *to, gik_control *control, unsigned long long deadline_ns)
{
  gik::store_relaxed_system(to, gik::await_system(from, control, deadline_ns, 7));
}

template <typename T> static __global__ void clear_kernel(T *at, gik_control *control)
{
  gik::store_not_yet(at);
  *control = gik_control{};
  control->fault_row = -1;
}

template <typename T> static void check_wait(cudaStream_t stream, int stored)
{
  T *place = NULL, *to = NULL;
  gik_control *control = NULL;
  const unsigned long long deadline_ns = stored ? 60000000000ull : 20000000ull;
  CHECK_CUDA(cudaHostAlloc((void **)&place, 64, cudaHostAllocPortable | cudaHostAllocMapped));
  CHECK_CUDA(cudaHostAlloc((void **)&to, 64, cudaHostAllocPortable | cudaHostAllocMapped));
  CHECK_CUDA(cudaHostAlloc((void **)&control, sizeof *control, cudaHostAllocPortable | cudaHostAllocMapped));
  gik::launches on(stream);
  on.launch(clear_kernel<T>, 1, 1, 0, place, control);
  CHECK_OK(on.status("clear"));
  CHECK_CUDA(cudaStreamSynchronize(stream));
  on.launch(wait_kernel<T>, 1, 1, 0, place, to, control, deadline_ns);
  CHECK_OK(on.status("wait"));
  if (stored) *(volatile T *)place = (T)0.5;
  CHECK_CUDA(cudaStreamSynchronize(stream));
  if (stored)
    CHECK(*to == (T)0.5 && control->fault_row == -1, "got %g, fault row %d", (double)*to, control->fault_row);
  else
    CHECK(control->aborted == 1 && control->fault_row == 7, "fault row %d", control->fault_row);
  CHECK_CUDA(cudaFreeHost(place));
  CHECK_CUDA(cudaFreeHost(to));
  CHECK_CUDA(cudaFreeHost(control));
}

int main(int argc, char **argv)
{
  char program[] = "test_device_waits", place[] = "cuda:0";
  char *words[] = {program, place, NULL};
  gable_context *ctx = test_place(2, argc > 1 ? argv : words, NULL);
  if (!test_place_is_gpu(ctx)) SKIP("the waits of a GPU");
  cudaStream_t stream = (cudaStream_t)gable_context_stream(ctx);
  for (int stored = 0; stored < 2; stored++) {
    check_wait<double>(stream, stored);
    check_wait<float>(stream, stored);
  }
  gable_context_destroy(&ctx);
  return 0;
}
