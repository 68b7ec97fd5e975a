/* Two ranks' kernels send each other a message to and fro, by what cuda/symmetric.cuh has, with no launch and no call
 * between: a value that is its own flag, and bytes with a signal, by a warp and by a block.  Every message comes as it
 * was sent; a JSON line says what one way takes: half a round trip by the first rank's clock, median and quartiles of
 * 15 launches of 1,000 round trips.  raw: a value in a loop of loads, which nothing ends, for comparison.
 *
 * usage: test_kernel_messages [place], of two ranks, "cuda:0/peer:2" if it is not given. */
#include <cuda_runtime.h>

#include <algorithm>
#include <vector>

#include "cuda/launch.cuh"
#include "cuda/symmetric.cuh"

extern "C" {
#include "support/peer_memory.h"
}

#include "support/rank_device.cuh"

#include <gable/gable.h>

namespace
{

enum { TRIPS = 1001, BATCHES = 15 }; /* the first round trip is not timed */
const int MOST = 1024;               /* doubles of a message */
const unsigned long long DEADLINE_NS = 20000000000ull;

/* A rank's bytes: a word for each round trip, a message that comes in and one that goes out, and its flag. */
struct mailbox {
  double value[TRIPS];
  alignas(16) double in[MOST], out[MOST];
  unsigned flag;
};

struct result {
  double last; /* of the values that came */
  unsigned long long ns;
};

__device__ double await_raw(const double *p)
{
  double v;
  do v = gik::load_relaxed_system(p);
  while (gik::not_yet(v));
  return v;
}

__global__ void clear_kernel(mailbox *m)
{
  for (unsigned i = threadIdx.x; i < TRIPS; i += blockDim.x) gik::store_not_yet(&m->value[i]);
  for (unsigned i = threadIdx.x; i < MOST; i += blockDim.x) m->out[i] = i;
  if (!threadIdx.x) m->flag = 0;
}

/* One thread.  Rank 0 sends 0; rank 1 sends back what came and 1, rank 0 that and 1. */
template <bool RAW>
__global__ void values_kernel(mailbox *mine, mailbox *other, int me, double first, gik_control *control, result *out)
{
  unsigned long long begun = 0;
  double v = first;
  for (int t = 0; t < TRIPS; t++) {
    if (t == 1) begun = gik::now_ns();
    if (!me) gik::store_relaxed_system(&other->value[t], v);
    v = RAW ? await_raw(&mine->value[t]) : gik::await_system(&mine->value[t], control, DEADLINE_NS, t);
    if (gik::not_yet(v)) return;
    v += 1;
    if (me) gik::store_relaxed_system(&other->value[t], v);
  }
  *out = {v, gik::now_ns() - begun};
}

/* A warp or a block, the same with n doubles. */
template <typename Team>
__global__ void messages_kernel(mailbox *mine, mailbox *other, int me, int n, gik_control *control, result *out)
{
  __shared__ unsigned mask;
  __shared__ int came;
  unsigned long long begun = 0;
  for (int t = 0; t < TRIPS; t++) {
    if (t == 1) begun = gik::now_ns();
    if (!me) gik::put_with_signal<Team>(other->in, mine->out, n * sizeof(double), &other->flag, (unsigned)t + 1);
    if (!threadIdx.x) mask = 1;
    Team::sync();
    if (threadIdx.x < 32) {
      const int k = gik::await_any(&mine->flag, &mask, 1, (unsigned)t + 1, 0, control, DEADLINE_NS, t);
      if (!threadIdx.x) came = k;
    }
    Team::sync();
    if (came) return;
    for (unsigned i = Team::rank(); i < (unsigned)n; i += Team::size()) mine->out[i] = mine->in[i] + 1;
    if (me) gik::put_with_signal<Team>(other->in, mine->out, n * sizeof(double), &other->flag, (unsigned)t + 1);
  }
  if (!threadIdx.x) *out = {0, gik::now_ns() - begun};
}

/* What a rank has. */
struct rank_of {
  gable_comm *comm;
  mailbox *at[2];
  gik_control *control;
  result *out;
};

/* 15 times, from cleared mailboxes: launch(first) enqueues the kernel, check(r, first) looks at what came. */
template <typename L, typename C> void measure(const rank_of &r, const char *name, int n, L launch, C check)
{
  gable_context *ctx = gable_comm_context(r.comm);
  const int me = gable_comm_rank(r.comm);
  std::vector<double> t;
  gik_control zero = {};
  zero.fault_row = -1;
  for (int b = 0; b < BATCHES; b++) {
    gik::launches on(gable_context_stream(ctx));
    result got = {};
    CHECK_OK(gable_device_copy_in(ctx, r.control, &zero, sizeof zero, nullptr));
    on.launch(clear_kernel, 1, 256, 0, r.at[me]);
    CHECK_OK(gable_device_synchronise(ctx, nullptr));
    CHECK_OK(gable_comm_barrier(r.comm));
    launch(on, 1000.0 * b);
    CHECK_OK(on.status(name));
    CHECK_OK(gable_device_synchronise(ctx, nullptr));
    CHECK_OK(gable_device_copy_out(ctx, &got, r.out, sizeof got, nullptr));
    CHECK_OK(gable_device_synchronise(ctx, nullptr));
    check(got, 1000.0 * b);
    t.push_back(1e-9 * (double)got.ns / (2.0 * (TRIPS - 1)));
    CHECK_OK(gable_comm_barrier(r.comm));
  }
  std::sort(t.begin(), t.end());
  if (!me)
    printf("{\"test\": \"%s\", \"where\": \"%s\", \"n\": %d, \"bytes\": %d, \"one_way_s\": %.6g, \"q1_s\": %.6g, "
           "\"q3_s\": %.6g, \"checked\": true}\n",
           name, gable_comm_where(r.comm), n, 8 * n, t[BATCHES / 2], t[BATCHES / 4], t[3 * BATCHES / 4]);
}

template <bool RAW> void values(const rank_of &r, const char *name)
{
  const int me = gable_comm_rank(r.comm);
  measure(
      r, name, 1,
      [&](gik::launches &on, double first) {
        on.launch(values_kernel<RAW>, 1, 1, 0, r.at[me], r.at[1 - me], me, first, r.control, r.out);
      },
      [&](const result &got, double first) {
        const double right = first + 2 * TRIPS - me;
        CHECK(got.last == right, "rank %d: the last value is %g, not %g", me, got.last, right);
      });
}

template <typename Team> void messages(const rank_of &r, const char *name, unsigned threads, int n)
{
  const int me = gable_comm_rank(r.comm);
  std::vector<double> out(MOST);
  measure(
      r, name, n,
      [&](gik::launches &on, double) {
        on.launch(messages_kernel<Team>, 1, threads, 0, r.at[me], r.at[1 - me], me, n, r.control, r.out);
      },
      [&](const result &, double) {
        gable_context *ctx = gable_comm_context(r.comm);
        CHECK_OK(gable_device_copy_out(ctx, out.data(), r.at[me]->out, sizeof r.at[me]->out, nullptr));
        CHECK_OK(gable_device_synchronise(ctx, nullptr));
        for (int i = 0; i < n; i++)
          CHECK(out[i] == i + 2 * TRIPS - me, "rank %d, number %d of %d: %g, not %g", me, i, n, out[i],
                (double)(i + 2 * TRIPS - me));
      });
}

gable_status run(gable_comm *comm, void *user)
{
  const gik_control control = {};
  const result none = {};
  rank_of r = {};
  peer_memory *memory = nullptr;
  (void)user;
  CHECK(gable_comm_size(comm) == 2, "%d ranks", gable_comm_size(comm));
  use_device(comm);
  load_kernel(clear_kernel);
  load_kernel(values_kernel<false>);
  load_kernel(values_kernel<true>);
  load_kernel(messages_kernel<gik::of_warp>);
  load_kernel(messages_kernel<gik::of_block>);
  CHECK_OK(peer_memory_open(comm, sizeof(mailbox), GABLE_PATH_DIRECT, (void **)r.at, &memory));
  r.comm = comm;
  r.control = on_device(comm, &control, 1);
  r.out = on_device(comm, &none, 1);
  values<true>(r, "raw value");
  values<false>(r, "value that is its own flag");
  for (const int n : {1, 16, 128}) messages<gik::of_warp>(r, "put with signal, a warp", 32, n);
  for (const int n : {128, MOST}) messages<gik::of_block>(r, "put with signal, a block", 256, n);
  void *const blocks[] = {r.control, r.out};
  for (void *p : blocks) gable_device_free(gable_comm_context(comm), &p);
  peer_memory_close(memory);
  return GABLE_OK;
}

} /* namespace */

int main(int argc, char **argv)
{
  const gable_status status = gable_comm_run(argc > 1 ? argv[1] : "cuda:0/peer:2", run, nullptr);
  if (status == GABLE_ERR_UNAVAILABLE) SKIP("%s", gable_last_error());
  CHECK_OK(status);
  return 0;
}
