/* Ranks whose kernels wait for each other: a random graph of 10^5 values that depend on values of other ranks has the
 * bits of a serial program, by values that are their own flags, and by blocks of 16 that are put with a signal and
 * taken by wait-any.
 *
 * usage: test_task_graphs [place], "cuda:0/peer:2" if it is not given.
 * Compiled with PROCESSES and an MPI, under mpirun: test_task_graphs cuda:0|cuda direct|nvshmem, in memory of CUDA IPC
 * or of NVSHMEM's heap; cuda: each process has the GPU of its rank. */
#include <cuda_runtime.h>

#include <vector>

#include "cuda/launch.cuh"
#include "cuda/symmetric.cuh"

extern "C" {
#include "support/peer_memory.h"
}

#include "support/rank_device.cuh"

#include <gable/gable.h>
#ifdef PROCESSES
#include <gable/mpi.h>
#endif

namespace
{

enum { NODES = 100000, OPERANDS = 4, MOST_RANKS = 8, BLOCKS = 8, BLOCK = 256, ROUNDS = 3 };
enum { WIDTH = 16, MESSAGES = NODES / WIDTH }; /* numbers of a block, and blocks */
const unsigned long long DEADLINE_NS = 20000000000ull;
gable_path memory_path = GABLE_PATH_DIRECT;

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

std::vector<node> random_graph(int n, int ranks, unsigned long long seed)
{
  std::vector<node> g(n);
  auto next = [&seed] {
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(seed >> 33);
  };
  for (int i = 0; i < n; i++) {
    g[i].owner = (int)(next() % (unsigned)ranks);
    g[i].needs = 1u << g[i].owner;
    const unsigned reach = next() % 64 ? (unsigned)n : 8; /* some chains go from rank to rank */
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
      mine = gik::await_system(&all.at[me][g[i].before[lane]], control, DEADLINE_NS, i);
    for (int k = 0; k < OPERANDS; k++) operand[k] = __shfl_sync(gik::ALL, mine, k);
    const double v = value_of(i, round, operand);
    if (lane < ranks && g[i].needs >> lane & 1) gik::store_relaxed_system(&all.at[lane][i], v);
  }
}

gable_status graphs(gable_comm *comm, void *user)
{
  gable_context *ctx = gable_comm_context(comm);
  const int me = gable_comm_rank(comm), ranks = gable_comm_size(comm);
  const cudaStream_t stream = (cudaStream_t)gable_context_stream(ctx);
  const std::vector<node> g = random_graph(NODES, ranks, 5);
  std::vector<int> own;
  std::vector<double> right(NODES), found(NODES);
  addresses all = {};
  peer_memory *memory = nullptr;
  gik_control zero = {};
  (void)user;
  use_device(comm);
  load_kernel(graph_kernel);
  for (int i = 0; i < NODES; i++)
    if (g[i].owner == me) own.push_back(i);
  CHECK(ranks <= MOST_RANKS, "%d ranks", ranks);
  CHECK_OK(peer_memory_open(comm, NODES * (int64_t)sizeof(double), memory_path, (void **)all.at, &memory));
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

enum { FLAG_BYTES = (MESSAGES * 4 + 255) / 256 * 256 };

/* A rank's bytes: a flag for each block of the graph, then the blocks. */
struct mailboxes {
  char *at[MOST_RANKS];

  __device__ unsigned *flag(int rank, int i) const { return (unsigned *)at[rank] + i; }
  __device__ double *block(int rank, int i) const { return (double *)(at[rank] + FLAG_BYTES) + (size_t)i * WIDTH; }
};

/* A rank's work: own nodes whose operands are here, a stack; those that wait, and for how many. */
struct work {
  int *ready, *open;       /* [MESSAGES] */
  const int *first, *user; /* own nodes with operand b: user[first[b]..first[b+1]) */
  unsigned *mask;          /* nodes of other ranks that are still to come */
  int n_ready, coming;
};

/* One warp: computes what is ready, puts it with a signal to the ranks that need it, then takes the first that comes.
 */
__global__ void message_kernel(const node *g, work w, mailboxes all, int ranks, int me, int round, gik_control *control)
{
  const int lane = (int)threadIdx.x;
  int n_ready = w.n_ready, coming = w.coming, last = 0;
  while (n_ready || coming) {
    int here;
    if (n_ready) {
      here = *(volatile int *)&w.ready[--n_ready];
      double operand[OPERANDS] = {}, *mine = all.block(me, here);
      for (int k = 0; k < OPERANDS && lane < WIDTH; k++)
        if (g[here].before[k] >= 0) operand[k] = *(volatile double *)&all.block(me, g[here].before[k])[lane];
      if (lane < WIDTH) mine[lane] = value_of(here + 13 * lane, round, operand);
      for (int r = 0; r < ranks; r++)
        if (r != me && g[here].needs >> r & 1)
          gik::put_with_signal<gik::of_warp>(all.block(r, here), mine, WIDTH * sizeof(double), all.flag(r, here),
                                             (unsigned)round + 1);
    } else {
      here = gik::await_any(all.flag(me, 0), w.mask, MESSAGES, (unsigned)round + 1, last, control, DEADLINE_NS, 0);
      if (here < 0) return;
      last = here;
      coming--;
    }
    __syncwarp();
    for (int u = w.first[here]; u < w.first[here + 1]; u++) {
      if (!lane && !--w.open[w.user[u]]) w.ready[n_ready] = w.user[u];
      n_ready += __shfl_sync(gik::ALL, !lane && !w.open[w.user[u]], 0);
      __syncwarp();
    }
  }
}

/* The host's arrays of a rank's work; open and mask are new in each round. */
struct plan {
  std::vector<int> ready, open, first, user;
  std::vector<unsigned> mask;
  int coming = 0;
};

plan plan_of(const std::vector<node> &g, int me)
{
  plan p;
  const int n = (int)g.size();
  p.open.resize(n);
  p.first.resize(n + 2);
  p.mask.resize(n / 32 + 1);
  for (int i = 0; i < n; i++) {
    if (g[i].owner != me && g[i].needs >> me & 1) {
      p.mask[i / 32] |= 1u << i % 32;
      p.coming++;
    }
    if (g[i].owner != me) continue;
    for (int b : g[i].before)
      if (b >= 0) {
        p.open[i]++;
        p.first[b + 2]++;
      }
    if (!p.open[i]) p.ready.push_back(i);
  }
  for (int b = 0; b < n; b++) p.first[b + 2] += p.first[b + 1];
  p.user.resize(p.first[n + 1]);
  for (int i = 0; i < n; i++)
    if (g[i].owner == me)
      for (int b : g[i].before)
        if (b >= 0) p.user[p.first[b + 1]++] = i;
  return p;
}

/* One round by the serial program. */
void solve_blocks(const std::vector<node> &g, int round, std::vector<double> &value)
{
  for (size_t i = 0; i < g.size(); i++)
    for (int j = 0; j < WIDTH; j++) {
      double operand[OPERANDS] = {};
      for (int k = 0; k < OPERANDS; k++)
        if (g[i].before[k] >= 0) operand[k] = value[(size_t)g[i].before[k] * WIDTH + j];
      value[i * WIDTH + j] = value_of((int)i + 13 * j, round, operand);
    }
}

gable_status messages(gable_comm *comm, void *user)
{
  gable_context *ctx = gable_comm_context(comm);
  const int me = gable_comm_rank(comm), ranks = gable_comm_size(comm);
  const cudaStream_t stream = (cudaStream_t)gable_context_stream(ctx);
  const std::vector<node> g = random_graph(MESSAGES, ranks, 11);
  const plan p = plan_of(g, me);
  const size_t n = MESSAGES, room = n * WIDTH * sizeof(double), flags = FLAG_BYTES;
  std::vector<double> right(n * WIDTH), found(n * WIDTH);
  std::vector<int> ready(n);
  mailboxes all = {};
  peer_memory *memory = nullptr;
  gik_control zero = {};
  (void)user;
  use_device(comm);
  load_kernel(message_kernel);
  zero.fault_row = -1;
  CHECK(ranks <= MOST_RANKS, "%d ranks", ranks);
  CHECK_OK(peer_memory_open(comm, (int64_t)(flags + room), memory_path, (void **)all.at, &memory));
  for (size_t i = 0; i < p.ready.size(); i++) ready[i] = p.ready[i];
  node *nodes = on_device(comm, g.data(), n);
  gik_control *control = on_device(comm, &zero, 1);
  work w = {on_device(comm, ready.data(), n),
            on_device(comm, p.open.data(), n),
            on_device(comm, p.first.data(), p.first.size()),
            on_device(comm, p.user.data(), p.user.size()),
            on_device(comm, p.mask.data(), p.mask.size()),
            (int)p.ready.size(),
            p.coming};
  for (int round = 0; round < ROUNDS; round++) {
    gik::launches on(stream);
    CHECK_OK(gable_device_copy_in(ctx, w.open, p.open.data(), n * sizeof(int), nullptr));
    CHECK_OK(gable_device_copy_in(ctx, w.ready, ready.data(), n * sizeof(int), nullptr));
    CHECK_OK(gable_device_copy_in(ctx, w.mask, p.mask.data(), p.mask.size() * sizeof(unsigned), nullptr));
    CHECK_OK(gable_device_synchronise(ctx, nullptr));
    CHECK_OK(gable_comm_barrier(comm)); /* nobody reads blocks of the round before */
    on.launch(message_kernel, 1, 32, 0, nodes, w, all, ranks, me, round, control);
    CHECK_OK(on.status("messages"));
    CHECK_OK(gable_device_synchronise(ctx, nullptr));
    CHECK_OK(gable_device_copy_out(ctx, found.data(), all.at[me] + flags, room, nullptr));
    CHECK_OK(gable_device_synchronise(ctx, nullptr));
    solve_blocks(g, round, right);
    for (size_t i = 0; i < n; i++)
      if (g[i].needs >> me & 1)
        CHECK(!memcmp(&right[i * WIDTH], &found[i * WIDTH], WIDTH * sizeof(double)),
              "rank %d, round %d, block %d: %.17g, not %.17g", me, round, (int)i, found[i * WIDTH], right[i * WIDTH]);
    CHECK_OK(gable_comm_barrier(comm));
  }
  void *const blocks[] = {nodes, control, w.ready, w.open, (void *)w.first, (void *)w.user, w.mask};
  for (void *b : blocks) gable_device_free(ctx, &b);
  peer_memory_close(memory);
  return GABLE_OK;
}

} /* namespace */

#ifdef PROCESSES
int main(int argc, char **argv)
{
  gable_context *ctx = nullptr;
  gable_comm *comm = nullptr;
  if (argc > 2 && !strcmp(argv[2], "nvshmem")) memory_path = GABLE_PATH_NVSHMEM;
  MPI_Init(&argc, &argv);
  char own[16];
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  snprintf(own, sizeof own, "cuda:%d", rank);
  const char *where = argc > 1 ? argv[1] : "cuda:0";
  gable_status status = gable_context_create(strcmp(where, "cuda") ? where : own, nullptr, &ctx);
  if (!status) status = gable_comm_from_mpi(ctx, MPI_COMM_WORLD, &comm);
  if (!status) status = graphs(comm, nullptr);
  if (!status) status = messages(comm, nullptr);
  if (status) {
    fprintf(stderr, "%s\n", gable_last_error());
    MPI_Abort(MPI_COMM_WORLD, 1); /* the other process may wait for this one */
  }
  gable_comm_destroy(&comm);
  gable_context_destroy(&ctx);
  MPI_Finalize();
  return 0;
}
#else
int main(int argc, char **argv)
{
  const char *where = argc > 1 ? argv[1] : "cuda:0/peer:2";
  const gable_status status = gable_comm_run(where, graphs, nullptr);
  if (status == GABLE_ERR_UNAVAILABLE) SKIP("%s", gable_last_error());
  CHECK_OK(status);
  CHECK_OK(gable_comm_run(where, messages, nullptr));
  return 0;
}
#endif
