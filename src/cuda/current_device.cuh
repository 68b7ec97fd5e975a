/* current_device.cuh: a GPU is the calling thread's for the length of a scope; then the one from before is again. */
#ifndef GIK_CURRENT_DEVICE_CUH
#define GIK_CURRENT_DEVICE_CUH

#include "cuda/status.cuh"

namespace gik
{

class current_device
{
public:
  current_device() = default;
  current_device(const current_device &) = delete;
  current_device &operator=(const current_device &) = delete;
  ~current_device() { leave(before); }

  gable_status enter(int ordinal) { return enter(ordinal, &before); }

  /* The same in two halves: *to_leave is for leave, NOWHERE where there is nothing to go back to. */
  static gable_status enter(int ordinal, int *to_leave)
  {
    gable_status status = GABLE_OK;
    int now = NOWHERE;
    *to_leave = NOWHERE;
    GI_TRY(checked(cudaGetDevice(&now), "cudaGetDevice"));
    if (now == ordinal) goto done;
    GI_TRY(checked(cudaSetDevice(ordinal), "cudaSetDevice"));
    *to_leave = now;
  done:
    return status;
  }

  static void leave(int to_leave)
  {
    if (to_leave != NOWHERE) (void)cudaSetDevice(to_leave);
  }

private:
  enum { NOWHERE = -1 };
  int before = NOWHERE;
};

} /* namespace gik */

#endif
