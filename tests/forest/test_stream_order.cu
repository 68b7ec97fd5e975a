/* Exchanges on streams of the caller's, without a wait of the host between rounds: a kernel that takes long writes what
 * is sent, and a kernel keeps what came.  Whoever does not follow the stream sends or keeps values of another round.
 *
 * usage: test_stream_order [place], "cuda:0/peer:2" if it is not given. */
#include <cuda_runtime.h>

#include <cstdlib>
#include <vector>

#include "cuda/launch.cuh"
#include "support/rank_device.cuh"

#include <gable/gable.h>

namespace
{

enum { ITEMS = 3000, ROUNDS = 50, BLOCK = 256, GRID = (ITEMS + BLOCK - 1) / BLOCK };
const long long late_clocks = 200000; /* about 0.1 ms */

__host__ __device__ double value_of(int rank, int round, int i)
{
  return 1000.0 * rank + 100000.0 * round + i;
}

/* The roots of a round, late: until then they are -1. */
__global__ void write_kernel(double *root, int rank, int round)
{
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  const long long from = clock64();
  if (i < ITEMS) root[i] = -1.0;
  while (clock64() - from < late_clocks) continue;
  if (i < ITEMS) root[i] = value_of(rank, round, i);
}

__global__ void keep_kernel(const double *leaf, double *kept)
{
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < ITEMS) kept[i] = leaf[i];
}

/* On the rank's GPU, where its streams are made too. */
void load_kernels(gable_comm *comm)
{
  use_device(comm);
  load_kernel(write_kernel);
  load_kernel(keep_kernel);
}

/* Every rank's leaves are the roots of the next one, or of the next one and backwards; one stream of the caller's. */
struct flow {
  cudaStream_t stream;
  gable_exchange *x;
  double *root, *leaf, *kept;
};

double *take(gable_comm *comm, size_t n)
{
  void *p = nullptr;
  CHECK_OK(gable_device_alloc(gable_comm_context(comm), n * sizeof(double), &p));
  return (double *)p;
}

void open_flow(gable_comm *comm, int backwards, flow *w)
{
  gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
  gable_forest *f = nullptr;
  gable_plan *plan = nullptr;
  std::vector<gable_root> root(ITEMS);
  const int next = (gable_comm_rank(comm) + 1) % gable_comm_size(comm);
  for (int i = 0; i < ITEMS; i++) root[i] = {next, backwards ? ITEMS - 1 - i : i};
  o.root_space = o.leaf_space = GABLE_SPACE_DEVICE;
  CHECK_CUDA(cudaStreamCreateWithFlags(&w->stream, cudaStreamNonBlocking));
  CHECK_OK(gable_forest_create(comm, ITEMS, ITEMS, nullptr, root.data(), &f));
  CHECK_OK(gable_plan_create(f, &o, &plan));
  CHECK_OK(gable_exchange_create(plan, w->stream, &w->x));
  gable_plan_destroy(&plan);
  gable_forest_destroy(&f);
  w->root = take(comm, ITEMS);
  w->leaf = take(comm, ITEMS);
  w->kept = take(comm, (size_t)ROUNDS * ITEMS);
  CHECK_OK(gable_device_synchronise(gable_comm_context(comm), nullptr)); /* memory is ordered on the context's stream */
}

void check_flow(gable_comm *comm, int backwards, const flow *w)
{
  std::vector<double> found((size_t)ROUNDS * ITEMS);
  const int next = (gable_comm_rank(comm) + 1) % gable_comm_size(comm);
  CHECK_OK(gable_exchange_wait(w->x));
  CHECK_CUDA(cudaMemcpyAsync(found.data(), w->kept, found.size() * sizeof(double), cudaMemcpyDefault, w->stream));
  CHECK_CUDA(cudaStreamSynchronize(w->stream));
  for (int round = 0; round < ROUNDS; round++)
    for (int i = 0; i < ITEMS; i++) {
      const double right = value_of(next, round + 1000 * backwards, backwards ? ITEMS - 1 - i : i);
      const double v = found[(size_t)round * ITEMS + i];
      CHECK(v == right, "round %d, leaf %d: %g, not %g", round, i, v, right);
    }
}

gable_status flows(gable_comm *comm, void *user)
{
  flow w[2];
  const int me = gable_comm_rank(comm);
  (void)user;
  CHECK_OK(gable_comm_set_deadline(comm, 20));
  load_kernels(comm);
  for (int k = 0; k < 2; k++) open_flow(comm, k, &w[k]);
  CHECK_OK(gable_comm_barrier(comm));
  for (int round = 0; round < ROUNDS; round++)
    for (int k = 0; k < 2; k++) { /* the streams do not wait for each other */
      gik::launches on(w[k].stream);
      on.launch(write_kernel, GRID, BLOCK, 0, w[k].root, me, round + 1000 * k);
      CHECK_OK(on.status("what is sent"));
      CHECK_OK(gable_bcast_begin(w[k].x, w[k].root, w[k].leaf));
      CHECK_OK(gable_exchange_end(w[k].x));
      on.launch(keep_kernel, GRID, BLOCK, 0, w[k].leaf, w[k].kept + (size_t)round * ITEMS);
      CHECK_OK(on.status("what came"));
    }
  for (int k = 0; k < 2; k++) check_flow(comm, k, &w[k]);
  for (int k = 0; k < 2; k++) {
    void *const blocks[] = {w[k].root, w[k].leaf, w[k].kept};
    gable_exchange_destroy(&w[k].x);
    CHECK_CUDA(cudaStreamSynchronize(w[k].stream));
    for (void *p : blocks) gable_device_free(gable_comm_context(comm), &p);
  }
  return GABLE_OK;
}

} /* namespace */

int main(int argc, char **argv)
{
  const gable_status status = gable_comm_run(argc > 1 ? argv[1] : "cuda:0/peer:2", flows, nullptr);
  if (status == GABLE_ERR_UNAVAILABLE) SKIP("%s", gable_last_error());
  CHECK_OK(status);
  return 0;
}
