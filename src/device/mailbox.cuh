/* mailbox.cuh: the kernels' side of mailbox.h, and typed read-back. */
#ifndef GI_DEVICE_MAILBOX_CUH
#define GI_DEVICE_MAILBOX_CUH

#include <cuda_runtime.h>

#include "device/arena.h"
#include "device/mailbox.h"

namespace gi
{

/* By the first warp, whose lanes have written to the mailbox: the host may look.  posted: a word of the mailbox, 0. */
__device__ __forceinline__ void post(unsigned *posted)
{
  __threadfence_system();
  __syncwarp();
  if (!threadIdx.x) *(volatile unsigned *)posted = 1;
}

/* What is on m's stream has written device before; waits. */
template <typename T> gable_status fetch(const gi_arena *m, T *host, const T *device, size_t count)
{
  return gi_mailbox_fetch(m->ctx, m->stream, host, device, count * sizeof(T));
}

/* Two of them with one wait. */
inline gable_status fetch_both(const gi_arena *m, unsigned out[2], const unsigned *first, const unsigned *second)
{
  return gi_mailbox_fetch_two(m->ctx, m->stream, out, first, sizeof *out, out + 1, second, sizeof *out);
}

} /* namespace gi */

#endif
