/* Exchanges between kernels of ranks that wait for each other, captured in a graph, one by one and together: they go on
 * between eager ones, a thousand times, with new data.  Messages of one block, of several, of more than may wait, and
 * of so many that senders store them in the receiver's array.
 *
 * usage: test_peer_kernels [place [copy|small]], "cuda:0/peer:2" if it is not given; copy: by the copy engine; small:
 * few rounds. */
#include <cuda_runtime.h>

#include <cstdlib>
#include <cstring>
#include <vector>

#include "support/rank_device.cuh"

#include <gable/gable.h>

namespace
{

enum { REPLAYS = 1000, ITEMS = 300 };
gable_path path = GABLE_PATH_AUTO;
int less = 1; /* of so many rounds one */

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
  o.path = path;
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
  gable_exchange *down = ring(comm, GABLE_DIRECTION_BCAST, GABLE_FOREST_OP_REPLACE);
  gable_exchange *up = ring(comm, GABLE_DIRECTION_REDUCE, GABLE_FOREST_OP_SUM);
  gable_exchange *fetch = ring(comm, GABLE_DIRECTION_FETCH, GABLE_FOREST_OP_SUM);
  double *r = on_device(comm, root.data(), ITEMS), *l = on_device(comm, leaf.data(), ITEMS);
  double *o = on_device(comm, one.data(), ITEMS), *u = on_device(comm, update.data(), ITEMS);
  CHECK_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  round_trip(down, up, fetch, r, l, o, u);
  CHECK_CUDA(cudaStreamEndCapture(stream, &graph));
  CHECK_CUDA(cudaGraphInstantiate(&exec, graph, 0));
  CHECK_OK(gable_comm_barrier(comm));
  for (int k = 0, replayed = 0; replayed < REPLAYS / less; k++) { /* a round in seven is eager */
    for (int i = 0; i < ITEMS; i++) root[i] = 1000.0 * k + 10 * i + me;
    CHECK_OK(gable_device_copy_in(ctx, r, root.data(), ITEMS * sizeof(double), nullptr));
    if (k % 7 == 3) {
      round_trip(down, up, fetch, r, l, o, u);
    } else {
      CHECK_CUDA(cudaGraphLaunch(exec, stream));
      replayed++;
    }
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

/* Four exchanges that begin and end together, eagerly and replayed: each rank sends to the next one. */
enum { GROUP = 4, GROUP_REPLAYS = 200 };

struct member {
  gable_exchange *x;
  std::vector<double> root, leaf, update;
  double *r, *l, *u;
};

void go(const gable_exchange_arrays *all)
{
  CHECK_OK(gable_exchange_begin_all(GROUP, all));
  CHECK_OK(gable_exchange_end_all(GROUP, all));
}

gable_off launches_of(const member *m)
{
  gable_off sum = 0;
  for (int k = 0; k < GROUP; k++) {
    gable_exchange_info info = GABLE_EXCHANGE_INFO_INIT;
    CHECK_OK(gable_exchange_get_info(m[k].x, &info));
    sum += info.launches;
  }
  return sum;
}

/* Item i of array a of member k of a rank, in a round. */
double put(int rank, int k, int a, int round, int i)
{
  return (round * 7 + rank * 31 + k * 101 + a * 57 + i * 13) % 1009;
}

void check_group(const member *m, int me, int ranks, int round)
{
  const int next = (me + 1) % ranks, last = (me + ranks - 1) % ranks;
  for (int i = 0; i < ITEMS; i++) {
    const int j = ITEMS - 1 - i;
    const double sum = put(me, 1, 0, round, i) + put(last, 1, 1, round, j), own = put(me, 2, 0, round, i),
                 other = put(last, 2, 1, round, j), fetched = put(me, 3, 0, round, i) + put(last, 3, 1, round, j);
    CHECK(m[0].leaf[i] == put(next, 0, 0, round, j), "round %d, bcast, leaf %d: %g", round, i, m[0].leaf[i]);
    CHECK(m[1].root[i] == sum, "round %d, sum, root %d: %g", round, i, m[1].root[i]);
    CHECK(m[2].root[i] == (other > own ? other : own), "round %d, max, root %d: %g", round, i, m[2].root[i]);
    CHECK(m[3].root[i] == fetched, "round %d, fetch, root %d: %g", round, i, m[3].root[i]);
    CHECK(m[3].update[i] == put(next, 3, 0, round, j), "round %d, update %d: %g", round, i, m[3].update[i]);
  }
}

gable_status groups(gable_comm *comm, void *user)
{
  gable_context *ctx = gable_comm_context(comm);
  const int me = gable_comm_rank(comm), ranks = gable_comm_size(comm);
  const cudaStream_t stream = (cudaStream_t)gable_context_stream(ctx);
  member m[GROUP];
  gable_exchange_arrays all[GROUP];
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  (void)user;
  CHECK_OK(gable_comm_set_deadline(comm, 10));
  const gable_direction directions[] = {GABLE_DIRECTION_BCAST, GABLE_DIRECTION_REDUCE, GABLE_DIRECTION_REDUCE,
                                        GABLE_DIRECTION_FETCH};
  const gable_forest_op ops[] = {GABLE_FOREST_OP_REPLACE, GABLE_FOREST_OP_SUM, GABLE_FOREST_OP_MAX,
                                 GABLE_FOREST_OP_SUM};
  for (int k = 0; k < GROUP; k++) {
    m[k].x = ring(comm, directions[k], ops[k]);
    m[k].root.resize(ITEMS);
    m[k].leaf.resize(ITEMS);
    m[k].update.resize(ITEMS);
    m[k].r = on_device(comm, m[k].root.data(), ITEMS);
    m[k].l = on_device(comm, m[k].leaf.data(), ITEMS);
    m[k].u = on_device(comm, m[k].update.data(), ITEMS);
    all[k] = {m[k].x, k ? m[k].l : m[k].r, k ? m[k].r : m[k].l, m[k].u};
  }
  CHECK_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  go(all);
  CHECK_CUDA(cudaStreamEndCapture(stream, &graph));
  CHECK_CUDA(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(launches_of(m) == 3, "%d launches: a send, a receive and the roots' half of the fetch", (int)launches_of(m));
  CHECK_OK(gable_comm_barrier(comm));
  for (int round = 0; round < GROUP_REPLAYS / less; round++) {
    for (int k = 0; k < GROUP; k++) {
      for (int i = 0; i < ITEMS; i++) {
        m[k].root[i] = put(me, k, 0, round, i);
        m[k].leaf[i] = put(me, k, 1, round, i);
      }
      CHECK_OK(gable_device_copy_in(ctx, m[k].r, m[k].root.data(), ITEMS * sizeof(double), nullptr));
      CHECK_OK(gable_device_copy_in(ctx, m[k].l, m[k].leaf.data(), ITEMS * sizeof(double), nullptr));
    }
    if (round % 5 == 2)
      go(all);
    else
      CHECK_CUDA(cudaGraphLaunch(exec, stream));
    for (int k = 0; k < GROUP; k++) CHECK_OK(gable_exchange_wait(m[k].x));
    for (int k = 0; k < GROUP; k++) {
      CHECK_OK(gable_device_copy_out(ctx, m[k].root.data(), m[k].r, ITEMS * sizeof(double), nullptr));
      CHECK_OK(gable_device_copy_out(ctx, m[k].leaf.data(), m[k].l, ITEMS * sizeof(double), nullptr));
      CHECK_OK(gable_device_copy_out(ctx, m[k].update.data(), m[k].u, ITEMS * sizeof(double), nullptr));
    }
    CHECK_OK(gable_device_synchronise(ctx, nullptr));
    check_group(m, me, ranks, round);
  }
  CHECK_CUDA(cudaGraphExecDestroy(exec));
  CHECK_CUDA(cudaGraphDestroy(graph));
  for (int k = 0; k < GROUP; k++) {
    void *const blocks[] = {m[k].r, m[k].l, m[k].u};
    for (void *b : blocks) gable_device_free(ctx, &b);
    gable_exchange_destroy(&m[k].x);
  }
  return GABLE_OK;
}

/* Leaf i of each rank is root i of the next one, but the last ones are root i of their own rank.  Up to 1 MiB a step is
 * one launch, of as many blocks as parts, and of 32 that take several; and beside any number of own edges, which from 1
 * MiB on have a launch of their own. */
gable_status lengths(gable_comm *comm, void *user)
{
  gable_context *ctx = gable_comm_context(comm);
  const int me = gable_comm_rank(comm), next = (me + 1) % gable_comm_size(comm);
  static const struct {
    int sent, own;
  } cases[] = {{1, 0},      {1024, 0},   {1025, 0},   {2048, 0},   {16384, 0},  {32768, 0},    {32769, 0},
               {100000, 0}, {131072, 0}, {1, 100000}, {1, 131071}, {1, 131072}, {512, 262144}, {20000, 33000}};
  (void)user;
  CHECK_OK(gable_comm_set_deadline(comm, 10));
  for (const auto &c : cases) {
    const int n = c.sent + c.own;
    gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
    gable_exchange_info info = GABLE_EXCHANGE_INFO_INIT;
    gable_forest *f = nullptr;
    gable_plan *plan = nullptr;
    gable_exchange *x = nullptr;
    std::vector<gable_root> edge(n);
    std::vector<double> root(n), leaf(n);
    for (int i = 0; i < n; i++) edge[i] = {i < c.sent ? next : me, i};
    o.root_space = o.leaf_space = GABLE_SPACE_DEVICE;
    CHECK_OK(gable_forest_create(comm, n, n, nullptr, edge.data(), &f));
    CHECK_OK(gable_plan_create(f, &o, &plan));
    CHECK_OK(gable_exchange_create(plan, nullptr, &x));
    double *r = on_device(comm, root.data(), n), *l = on_device(comm, leaf.data(), n);
    for (int round = 0; round < 20; round++) {
      for (int i = 0; i < n; i++) root[i] = put(me, 0, 0, round, i);
      CHECK_OK(gable_device_copy_in(ctx, r, root.data(), n * sizeof(double), nullptr));
      CHECK_OK(gable_bcast_begin(x, r, l));
      CHECK_OK(gable_exchange_end(x));
      CHECK_OK(gable_exchange_wait(x));
      CHECK_OK(gable_device_copy_out(ctx, leaf.data(), l, n * sizeof(double), nullptr));
      CHECK_OK(gable_device_synchronise(ctx, nullptr));
      for (int i = 0; i < n; i++)
        CHECK(leaf[i] == put(i < c.sent ? next : me, 0, 0, round, i), "round %d, leaf %d of %d: %g", round, i, n,
              leaf[i]);
    }
    CHECK_OK(gable_exchange_get_info(x, &info));
    CHECK(info.launches == 20 * (c.own < 131072 ? 2 : 3), "%d launches of 20 rounds of %d doubles and %d own ones",
          (int)info.launches, c.sent, c.own);
    void *const blocks[] = {r, l};
    for (void *p : blocks) gable_device_free(ctx, &p);
    gable_exchange_destroy(&x);
    gable_plan_destroy(&plan);
    gable_forest_destroy(&f);
  }
  return GABLE_OK;
}

/* Two exchanges of messages with targets, begun in another order on every second rank: captured with arrays of the
 * context's, which other GPUs reach, between eager rounds with arrays that they need not reach. */
enum { TARGET_ITEMS = (1 << 17) + 40, TARGET_ROUNDS = 60 };

void cross(gable_exchange *const *x, double *const *root, double *const *leaf, int first)
{
  for (int k = 0; k < 2; k++) CHECK_OK(gable_bcast_begin(x[k ^ first], root[k ^ first], leaf[k ^ first]));
  for (int k = 0; k < 2; k++) CHECK_OK(gable_exchange_end(x[k]));
}

gable_status targets(gable_comm *comm, void *user)
{
  gable_context *ctx = gable_comm_context(comm);
  const int me = gable_comm_rank(comm), next = (me + 1) % gable_comm_size(comm), n = TARGET_ITEMS;
  const cudaStream_t stream = (cudaStream_t)gable_context_stream(ctx);
  const size_t bytes = n * sizeof(double);
  gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
  gable_forest *f = nullptr;
  gable_plan *plan = nullptr;
  gable_exchange *x[2] = {nullptr, nullptr};
  std::vector<gable_root> edge(n);
  std::vector<double> host(n);
  double *root[2], *leaf[2], *plain[2];
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  (void)user;
  use_device(comm);
  CHECK_OK(gable_comm_set_deadline(comm, 10));
  for (int i = 0; i < n; i++) edge[i] = {next, i};
  o.root_space = o.leaf_space = GABLE_SPACE_DEVICE;
  o.path = path;
  CHECK_OK(gable_forest_create(comm, n, n, nullptr, edge.data(), &f));
  CHECK_OK(gable_plan_create(f, &o, &plan));
  for (int k = 0; k < 2; k++) {
    CHECK_OK(gable_exchange_create(plan, nullptr, &x[k]));
    root[k] = on_device(comm, host.data(), n);
    leaf[k] = on_device(comm, host.data(), n);
    CHECK_CUDA(cudaMalloc(&plain[k], bytes));
  }
  CHECK_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  cross(x, root, leaf, me % 2);
  CHECK_CUDA(cudaStreamEndCapture(stream, &graph));
  CHECK_CUDA(cudaGraphInstantiate(&exec, graph, 0));
  CHECK_OK(gable_comm_barrier(comm));
  for (int round = 0; round < TARGET_ROUNDS / less; round++) {
    const int captured = round % 4 < 2;
    double **to = round % 4 == 3 ? plain : leaf;
    for (int k = 0; k < 2; k++) {
      for (int i = 0; i < n; i++) host[i] = put(me, k, 0, round, i);
      CHECK_OK(gable_device_copy_in(ctx, root[k], host.data(), bytes, nullptr));
      CHECK_OK(gable_device_synchronise(ctx, nullptr));
    }
    if (captured)
      CHECK_CUDA(cudaGraphLaunch(exec, stream));
    else
      cross(x, root, to, me % 2);
    for (int k = 0; k < 2; k++) {
      CHECK_OK(gable_exchange_wait(x[k]));
      CHECK_OK(gable_device_copy_out(ctx, host.data(), to[k], bytes, nullptr));
      CHECK_OK(gable_device_synchronise(ctx, nullptr));
      for (int i = 0; i < n; i++)
        CHECK(host[i] == put(next, k, 0, round, i), "round %d, exchange %d, leaf %d: %g", round, k, i, host[i]);
    }
  }
  CHECK_CUDA(cudaGraphExecDestroy(exec));
  CHECK_CUDA(cudaGraphDestroy(graph));
  CHECK_OK(gable_comm_barrier(comm)); /* cudaFree may wait for kernels of another rank */
  for (int k = 0; k < 2; k++) {
    gable_exchange_destroy(&x[k]);
    void *const blocks[] = {root[k], leaf[k]};
    for (void *p : blocks) gable_device_free(ctx, &p);
    CHECK_CUDA(cudaFree(plain[k]));
  }
  gable_plan_destroy(&plan);
  gable_forest_destroy(&f);
  return GABLE_OK;
}

} /* namespace */

int main(int argc, char **argv)
{
  const char *where = argc > 1 ? argv[1] : "cuda:0/peer:2";
  if (argc > 2 && !strcmp(argv[2], "copy")) path = GABLE_PATH_COPY;
  if (argc > 2 && !strcmp(argv[2], "small")) less = 15;
  const gable_status status = gable_comm_run(where, replays, nullptr);
  if (status == GABLE_ERR_UNAVAILABLE) SKIP("%s", gable_last_error());
  CHECK_OK(status);
  CHECK_OK(gable_comm_run(where, targets, nullptr));
  if (path == GABLE_PATH_AUTO) { /* they count launches */
    CHECK_OK(gable_comm_run(where, groups, nullptr));
    CHECK_OK(gable_comm_run(where, lengths, nullptr));
  }
  return 0;
}
