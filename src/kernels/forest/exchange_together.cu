/* exchange_together.cu: see exchange_together.h.
 *
 * The rows of blocks of all exchanges stand one after another in the grid.
 *
 *   1  a block finds its exchange and copies the step from device memory to shared memory; arrays and deadline, which
 *      may be others each time, come with the launch
 *   2  it does what the same row of a launch of that exchange alone does (exchange_rows.cuh), by the exchange's unit
 *
 * So every exchange counts its own rounds, raises its own flags and gives up for itself. */
#include "kernels/forest/exchange_together.h"

#include "kernels/forest/exchange_rows.cuh"

using gik::BLOCK;
using gik::FREE_SLOTS;
using gik::launches;
using gik::MESSAGES;
using gik::receive_rows;
using gik::receive_rows_of;

namespace
{

struct together {
  int n;
  int first[GIK_TOGETHER + 1]; /* row of blocks of each exchange */
  double deadline_s;
  const gik_exchange_step *step[GIK_TOGETHER];
  const char *from[GIK_TOGETHER];
  char *to[GIK_TOGETHER];
};

/* All threads of the block; s is in shared memory. */
__device__ void load_step(const together &t, int e, gik_exchange_step *s)
{
  __syncthreads();
  for (unsigned i = threadIdx.x; i < sizeof *s / sizeof(uint2); i += BLOCK)
    ((uint2 *)s)[i] = ((const uint2 *)t.step[e])[i];
  __syncthreads();
  if (!threadIdx.x) {
    s->from = t.from[e];
    s->to = t.to[e];
    s->deadline_s = t.deadline_s;
  }
  __syncthreads();
}

/* Whose row of blocks it is. */
__device__ __forceinline__ int exchange_of(const together &t, int row)
{
  int e = 0;
  while (row >= t.first[e + 1]) e++;
  return e;
}

/* Each unit is compiled by itself. */
template <typename T> __device__ __noinline__ void send_of(const gik_exchange_step &s, int k, bool waits, unsigned most)
{
  gik::send_row<T, gik::EITHER>(s, k, waits, most);
}

template <typename T>
__device__ __noinline__ void receive_of(const gik_exchange_step &s, int k, bool waits, unsigned most)
{
  gik::receive_row<T, gik::called_op, gik::EITHER>(s, receive_rows_of(s), k, waits, most);
}

__global__ void __launch_bounds__(BLOCK) send_all_kernel(const __grid_constant__ together t, bool waits, unsigned most)
{
  __shared__ gik_exchange_step s;
  const int e = exchange_of(t, (int)blockIdx.y), k = (int)blockIdx.y - t.first[e];
  load_step(t, e, &s);
  switch (s.unit) {
#define OF_UNIT(unit, ...)                                                                                             \
  case unit: return send_of<__VA_ARGS__>(s, k, waits, most);
    GIK_EXCHANGE_UNITS(OF_UNIT)
#undef OF_UNIT
  default: return send_of<signed char>(s, k, waits, most);
  }
}

__global__ void __launch_bounds__(BLOCK)
    receive_all_kernel(const __grid_constant__ together t, bool waits, unsigned most)
{
  __shared__ gik_exchange_step s;
  const int e = exchange_of(t, (int)blockIdx.y), k = (int)blockIdx.y - t.first[e];
  load_step(t, e, &s);
  switch (s.unit) {
#define OF_UNIT(unit, ...)                                                                                             \
  case unit: return receive_of<__VA_ARGS__>(s, k, waits, most);
    GIK_EXCHANGE_UNITS(OF_UNIT)
#undef OF_UNIT
  default: return receive_of<signed char>(s, k, waits, most);
  }
}

/* One block, before launches whose blocks are too many to wait. */
__global__ void __launch_bounds__(BLOCK) await_all_kernel(const __grid_constant__ together t, int what)
{
  __shared__ gik_exchange_step s;
  for (int e = 0; e < t.n; e++) {
    load_step(t, e, &s);
    const gik::state now = gik::state_of(s);
    if (gik::rows_here<true>(s, what, now, 0, s.n_rows) && what & FREE_SLOTS) gik::choose_targets(s, now);
  }
  gik::next_launch();
}

/* Counts in the first step. */
gable_status launch_all(const char *name, const gik_exchange_step *const *s, int n, void *stream, int receives)
{
  launches on(stream);
  together t = {};
  int64_t numbers = 0, work = 0;
  unsigned rows = 0, waiting = GIK_WAITING;
  bool windows = false, targets = false;
  t.n = n;
  t.deadline_s = s[0]->deadline_s;
  for (int k = 0; k < n; k++) {
    const int64_t own = receives ? gik::receive_numbers(*s[k]) : gik::send_numbers(*s[k]);
    t.first[k] = (int)rows;
    t.step[k] = s[k]->here;
    t.from[k] = s[k]->from;
    t.to[k] = s[k]->to;
    rows += receives ? receive_rows_of(*s[k]).all() : gik::send_rows(*s[k]);
    numbers = own > numbers ? own : numbers;
    const int64_t own_work = gik::row_work(*s[k], receives, own);
    work = own_work > work ? own_work : work;
    waiting = (unsigned)s[k]->waiting < waiting ? (unsigned)s[k]->waiting : waiting;
    windows |= s[k]->windows && s[k]->n_rows;
    targets |= s[k]->targets != nullptr;
  }
  t.first[n] = (int)rows;
  if (!rows) return GABLE_OK;
  const unsigned most = gik::most_blocks(work, rows, waiting), x = gik::row_blocks(numbers, most);
  const bool waits = windows && !targets && x * rows <= waiting;
  if (windows && !waits) {
    on.dependent(await_all_kernel, 1, BLOCK, 0, false, t, receives ? MESSAGES : FREE_SLOTS);
    ++*s[0]->launches;
  }
  ++*s[0]->launches;
  on.dependent(receives ? receive_all_kernel : send_all_kernel, dim3(x, rows), BLOCK, 0, false, t, waits, most);
  return on.status(name);
}

} /* namespace */

gable_status gik_together_send(const gik_exchange_step *const *s, int n, void *stream)
{
  return launch_all("forest send of several", s, n, stream, 0);
}

gable_status gik_together_receive(const gik_exchange_step *const *s, int n, void *stream)
{
  return launch_all("forest receive of several", s, n, stream, 1);
}

gable_status gik_together_load(void)
{
  gable_status status = GABLE_OK;
  const void *const all[] = {(const void *)send_all_kernel, (const void *)receive_all_kernel,
                             (const void *)await_all_kernel};
  for (const void *kernel : all) {
    cudaFuncAttributes about;
    GI_TRY(gik::checked(cudaFuncGetAttributes(&about, kernel), "loading of kernels"));
  }
done:
  return status;
}
