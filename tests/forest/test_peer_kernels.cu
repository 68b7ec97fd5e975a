/* Ranks whose kernels wait for each other: a random graph of 10^5 values that depend on values of other ranks has the
 * bits of a serial program, and exchanges captured in a graph go on between eager ones, a thousand times, with new
 * data.
 *
 * usage: test_peer_kernels [place], "cuda:0/peer:2" if it is not given. */
#include <cuda_runtime.h>

#include <vector>

#include "cuda/launch.cuh"
#include "cuda/system_wait.cuh"

extern "C" {
#include "support/peer_memory.h"
}

#include "support/test.h"

#include <gable/gable.h>

#define CHECK_CUDA(call) CHECK((call) == cudaSuccess, "%s", #call)

namespace
{

enum { NODES = 100000, OPERANDS = 4, MOST_RANKS = 8, BLOCKS = 8, BLOCK = 256, ROUNDS = 3, REPLAYS = 1000, ITEMS = 300 };

struct node {
  int owner, before[OPERANDS]; /* -1: none */
  unsigned needs;              /* bit r: rank r has a node with this operand, or is the owner */
};

/* Never contracted. */
__host__ __device__ double multiply_add(double a, double b, double c)
{
#ifdef __CUDA_ARCH__
  return __dadd_rn(__dmul_rn(a, b), c);
#else
  volatile double product = a * b;
  return product + c;
#endif
}

__host__ __device__ double value_of(int i, int round, const double *operand)
{
  double sum = (double)((i * 7 + round * 11) % 101 + 1);
  for (int k = 0; k < OPERANDS; k++) sum = multiply_add(operand[k], 1.0 / (double)(3 + k + i % 5), sum);
  return sum;
}

std::vector<node> random_graph(int ranks, unsigned long long seed)
{
  std::vector<node> g(NODES);
  auto next = [&seed] {
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(seed >> 33);
  };
  for (int i = 0; i < NODES; i++) {
    g[i].owner = (int)(next() % (unsigned)ranks);
    g[i].needs = 1u << g[i].owner;
    const unsigned reach = next() % 64 ? NODES : 8; /* some chains go from rank to rank */
    for (int k = 0; k < OPERANDS; k++) {
      const int back = 1 + (int)(next() % reach);
      g[i].before[k] = back > i ? -1 : i - back;
    }
  }
  for (const node &v : g)
    for (int b : v.before)
      if (b >= 0) g[b].needs |= 1u << v.owner;
  return g;
}

struct addresses {
  double *at[MOST_RANKS];
};

__global__ void clear_kernel(double *value)
{
  for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x); i < NODES; i += (int)(gridDim.x * blockDim.x))
    gik::store_not_yet(&value[i]);
}

/* A warp takes the next own node; a lane waits for each operand; lane r stores for rank r.  Nodes are taken in
 * increasing order, so the one that others wait for is always under way. */
__global__ void __launch_bounds__(BLOCK) graph_kernel(const node *g, const int *own, int n, addresses all, int ranks,
                                                      int me, int round, gik_control *control)
{
  const int lane = (int)threadIdx.x % 32;
  for (;;) {
    int t = 0;
    if (!lane) t = (int)atomicAdd(&control->ticket, 1u);
    t = __shfl_sync(gik::ALL, t, 0);
    if (t >= n) return;
    const int i = own[t];
    double mine = 0, operand[OPERANDS];
    if (lane < OPERANDS && g[i].before[lane] >= 0)
      mine = gik::await_system(&all.at[me][g[i].before[lane]], control, 20000000000ull, i);
    for (int k = 0; k < OPERANDS; k++) operand[k] = __shfl_sync(gik::ALL, mine, k);
    const double v = value_of(i, round, operand);
    if (lane < ranks && g[i].needs >> lane & 1) gik::store_relaxed_system(&all.at[lane][i], v);
  }
}

template <typename T> T *on_device(gable_comm *comm, const T *host, size_t n)
{
  void *p = nullptr;
  CHECK_OK(gable_device_alloc(gable_comm_context(comm), n * sizeof(T), &p));
  CHECK_OK(gable_device_copy_in(gable_comm_context(comm), p, host, n * sizeof(T), nullptr));
  CHECK_OK(gable_device_synchronise(gable_comm_context(comm), nullptr));
  return (T *)p;
}

gable_status graphs(gable_comm *comm, void *user)
{
  gable_context *ctx = gable_comm_context(comm);
  const int me = gable_comm_rank(comm), ranks = gable_comm_size(comm);
  const cudaStream_t stream = (cudaStream_t)gable_context_stream(ctx);
  const std::vector<node> g = random_graph(ranks, 5);
  std::vector<int> own;
  std::vector<double> right(NODES), found(NODES);
  addresses all = {};
  peer_memory *memory = nullptr;
  gik_control zero = {};
  (void)user;
  for (int i = 0; i < NODES; i++)
    if (g[i].owner == me) own.push_back(i);
  CHECK(ranks <= MOST_RANKS, "%d ranks", ranks);
  CHECK_OK(peer_memory_open(comm, NODES * (int64_t)sizeof(double), (void **)all.at, &memory));
  zero.fault_row = -1;
  node *nodes = on_device(comm, g.data(), NODES);
  int *list = on_device(comm, own.data(), own.size());
  gik_control *control = on_device(comm, &zero, 1);
  for (int round = 0; round < ROUNDS; round++) {
    gik::launches on(stream);
    CHECK_OK(gable_device_copy_in(ctx, control, &zero, sizeof zero, nullptr));
    on.launch(clear_kernel, BLOCKS, BLOCK, 0, all.at[me]);
    CHECK_OK(gable_device_synchronise(ctx, nullptr));
    CHECK_OK(gable_comm_barrier(comm));
    on.launch(graph_kernel, BLOCKS, BLOCK, 0, nodes, list, (int)own.size(), all, ranks, me, round, control);
    CHECK_OK(on.status("graph"));
    CHECK_OK(gable_device_synchronise(ctx, nullptr)); /* a copy to pageable memory would hold up launches */
    CHECK_OK(gable_device_copy_out(ctx, found.data(), all.at[me], NODES * sizeof(double), nullptr));
    CHECK_OK(gable_device_synchronise(ctx, nullptr));
    for (int i = 0; i < NODES; i++) {
      double operand[OPERANDS] = {};
      for (int k = 0; k < OPERANDS; k++)
        if (g[i].before[k] >= 0) operand[k] = right[g[i].before[k]];
      right[i] = value_of(i, round, operand);
      if (g[i].needs >> me & 1)
        CHECK(!memcmp(&right[i], &found[i], sizeof right[i]), "rank %d, round %d, value %d: %.17g, not %.17g", me,
              round, i, found[i], right[i]);
    }
    CHECK_OK(gable_comm_barrier(comm));
  }
  void *const blocks[] = {nodes, list, control};
  for (void *p : blocks) gable_device_free(ctx, &p);
  peer_memory_close(memory);
  return GABLE_OK;
}

/* Rank r's leaves are the roots of rank r + 1, backwards. */
gable_exchange *ring(gable_comm *comm, gable_direction direction, gable_forest_op op)
{
  gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
  gable_forest *f = nullptr;
  gable_plan *plan = nullptr;
  gable_exchange *x = nullptr;
  std::vector<gable_root> root(ITEMS);
  for (int i = 0; i < ITEMS; i++) root[i] = {(gable_comm_rank(comm) + 1) % gable_comm_size(comm), ITEMS - 1 - i};
  o.direction = direction;
  o.op = op;
  o.root_space = o.leaf_space = GABLE_SPACE_DEVICE;
  CHECK_OK(gable_forest_create(comm, ITEMS, ITEMS, nullptr, root.data(), &f));
  CHECK_OK(gable_plan_create(f, &o, &plan));
  CHECK_OK(gable_exchange_create(plan, nullptr, &x));
  gable_plan_destroy(&plan);
  gable_forest_destroy(&f);
  return x;
}

/* The roots then are 2 root + 1: their leaf's value, which is the root's, and 1 for each fetch. */
void round_trip(gable_exchange *down, gable_exchange *up, gable_exchange *fetch, double *root, double *leaf,
                double *one, double *update)
{
  CHECK_OK(gable_bcast_begin(down, root, leaf));
  CHECK_OK(gable_exchange_end(down));
  CHECK_OK(gable_reduce_begin(up, leaf, root));
  CHECK_OK(gable_exchange_end(up));
  CHECK_OK(gable_fetch_begin(fetch, root, one, update));
  CHECK_OK(gable_exchange_end(fetch));
}

gable_status replays(gable_comm *comm, void *user)
{
  gable_context *ctx = gable_comm_context(comm);
  const int me = gable_comm_rank(comm), next = (me + 1) % gable_comm_size(comm);
  const cudaStream_t stream = (cudaStream_t)gable_context_stream(ctx);
  std::vector<double> root(ITEMS), leaf(ITEMS), one(ITEMS, 1.0), update(ITEMS);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  (void)user;
  CHECK_OK(gable_comm_set_deadline(comm, 10));
  gable_exchange *down = ring(comm, GABLE_FOREST_BCAST, GABLE_FOREST_REPLACE);
  gable_exchange *up = ring(comm, GABLE_FOREST_REDUCE, GABLE_FOREST_SUM);
  gable_exchange *fetch = ring(comm, GABLE_FOREST_FETCH, GABLE_FOREST_SUM);
  double *r = on_device(comm, root.data(), ITEMS), *l = on_device(comm, leaf.data(), ITEMS);
  double *o = on_device(comm, one.data(), ITEMS), *u = on_device(comm, update.data(), ITEMS);
  CHECK_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  round_trip(down, up, fetch, r, l, o, u);
  CHECK_CUDA(cudaStreamEndCapture(stream, &graph));
  CHECK_CUDA(cudaGraphInstantiate(&exec, graph, 0));
  CHECK_OK(gable_comm_barrier(comm));
  for (int k = 0; k < REPLAYS; k++) {
    for (int i = 0; i < ITEMS; i++) root[i] = 1000.0 * k + 10 * i + me;
    CHECK_OK(gable_device_copy_in(ctx, r, root.data(), ITEMS * sizeof(double), nullptr));
    if (k % 7 == 3)
      round_trip(down, up, fetch, r, l, o, u);
    else
      CHECK_CUDA(cudaGraphLaunch(exec, stream));
    CHECK_OK(gable_exchange_wait(down));
    CHECK_OK(gable_exchange_wait(up));
    CHECK_OK(gable_exchange_wait(fetch));
    CHECK_OK(gable_device_copy_out(ctx, root.data(), r, ITEMS * sizeof(double), nullptr));
    CHECK_OK(gable_device_copy_out(ctx, leaf.data(), l, ITEMS * sizeof(double), nullptr));
    CHECK_OK(gable_device_copy_out(ctx, update.data(), u, ITEMS * sizeof(double), nullptr));
    CHECK_OK(gable_device_synchronise(ctx, nullptr));
    for (int i = 0; i < ITEMS; i++) {
      CHECK(leaf[i] == 1000.0 * k + 10 * (ITEMS - 1 - i) + next, "replay %d, leaf %d: %g", k, i, leaf[i]);
      CHECK(root[i] == 2 * (1000.0 * k + 10 * i + me) + 1, "replay %d, root %d: %g", k, i, root[i]);
      CHECK(update[i] == 2 * leaf[i], "replay %d, update %d: %g", k, i, update[i]);
    }
  }
  CHECK_CUDA(cudaGraphExecDestroy(exec));
  CHECK_CUDA(cudaGraphDestroy(graph));
  gable_exchange_destroy(&down);
  gable_exchange_destroy(&up);
  gable_exchange_destroy(&fetch);
  void *const blocks[] = {r, l, o, u};
  for (void *p : blocks) gable_device_free(ctx, &p);
  return GABLE_OK;
}

} /* namespace */

int main(int argc, char **argv)
{
  const char *where = argc > 1 ? argv[1] : "cuda:0/peer:2";
  const gable_status status = gable_comm_run(where, graphs, nullptr);
  if (status == GABLE_ERR_UNAVAILABLE) {
    printf("%s\n", gable_last_error());
    return 77;
  }
  CHECK_OK(status);
  CHECK_OK(gable_comm_run(where, replays, nullptr));
  return 0;
}
