/* gpu_messages.cu: messages between two GPUs without Gable, for scripts/device-run forest.
 *
 *   mpirun -n 2 gpu_messages mpi|mpi-aware|nccl|nvshmem MOST
 *            arrays in device memory, 8 bytes to MOST, one JSON line each; nccl and nvshmem then again, from graphs
 *            of 20 round trips
 *
 *   mpirun -n 2 gpu_messages nvshmem-kernel MOST
 *            NVSHMEM's device calls inside one kernel on each GPU: the tests and sizes of
 *            tests/forest/test_kernel_messages.cu, of at most MOST bytes
 *
 *   gpu_messages calls
 *            calls of the CUDA runtime alone, and the five kernels of figure 15 of the star forest's seed, with and
 *            without synchronisation
 *
 * mpi stages through pinned memory; mpi-aware gives MPI the arrays in device memory.  One way is half a round trip;
 * an exchange is checked; batches take about two milliseconds; median and quartiles are over 15 of them.  Built with
 * -DWITH_NCCL, -DWITH_NVSHMEM where those are; NVSHMEM's device calls need -rdc=true and libnvshmem_device.a. */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <mpi.h>
#include <vector>
#ifdef WITH_NCCL
#include <nccl.h>
#endif
#ifdef WITH_NVSHMEM
#include <nvshmem.h>
#include <nvshmemx.h>
#endif

namespace
{

enum { BATCHES = 15, CAPTURED = 20 /* round trips of a graph */ };

int rank, ranks;
cudaStream_t stream;

void need(bool right, const char *what)
{
  if (right) return;
  fprintf(stderr, "gpu_messages: rank %d: %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

void need(cudaError_t error, const char *what)
{
  if (error) fprintf(stderr, "gpu_messages: %s\n", cudaGetErrorString(error));
  need(!error, what);
}

struct messages {
  double *out, *in, *host; /* device, device, pinned */
  size_t bytes;
  virtual void open(size_t most) = 0; /* takes the arrays */
  virtual void send() = 0;            /* out to the other rank */
  virtual void receive() = 0;         /* into in */
  virtual void close() = 0;
  virtual bool enqueues() { return true; } /* send and receive may be captured */
  virtual void measure(const char *name, size_t most);
  virtual ~messages() {}
};

struct staged : messages {
  void open(size_t most) override
  {
    need(cudaMalloc(&out, most), "cudaMalloc");
    need(cudaMalloc(&in, most), "cudaMalloc");
  }
  void send() override
  {
    need(cudaMemcpyAsync(host, out, bytes, cudaMemcpyDeviceToHost, stream), "copy out");
    need(cudaStreamSynchronize(stream), "synchronise");
    MPI_Send(host, (int)bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD);
  }
  void receive() override
  {
    MPI_Recv(host, (int)bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    need(cudaMemcpyAsync(in, host, bytes, cudaMemcpyHostToDevice, stream), "copy in");
  }
  void close() override {}
  bool enqueues() override { return false; }
};

/* By an MPI that takes device memory, which is complete when a call returns. */
struct aware : staged {
  void send() override { MPI_Send(out, (int)bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD); }
  void receive() override { MPI_Recv(in, (int)bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }
};

#ifdef WITH_NCCL
struct by_nccl : staged {
  ncclComm_t comm;
  void open(size_t most) override
  {
    ncclUniqueId id;
    staged::open(most);
    if (!rank) need(ncclGetUniqueId(&id) == ncclSuccess, "ncclGetUniqueId");
    MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD);
    need(ncclCommInitRank(&comm, ranks, id, rank) == ncclSuccess, "ncclCommInitRank (two ranks on one GPU?)");
  }
  void send() override { need(ncclSend(out, bytes, ncclChar, 1 - rank, comm, stream) == ncclSuccess, "ncclSend"); }
  void receive() override { need(ncclRecv(in, bytes, ncclChar, 1 - rank, comm, stream) == ncclSuccess, "ncclRecv"); }
  void close() override { ncclCommDestroy(comm); }
  bool enqueues() override { return true; }
};
#endif

#ifdef WITH_NVSHMEM
struct by_nvshmem : messages {
  uint64_t *flag, sent = 0, received = 0;
  void open(size_t most) override
  {
    nvshmemx_init_attr_t attributes = NVSHMEMX_INIT_ATTR_INITIALIZER;
    nvshmemx_uniqueid_t id = NVSHMEMX_UNIQUEID_INITIALIZER;
    if (!rank) need(!nvshmemx_get_uniqueid(&id), "nvshmemx_get_uniqueid");
    MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD);
    nvshmemx_set_attr_uniqueid_args(rank, ranks, &id, &attributes);
    need(!nvshmemx_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &attributes), "nvshmemx_init_attr");
    out = (double *)nvshmem_malloc(most);
    in = (double *)nvshmem_malloc(most);
    flag = (uint64_t *)nvshmem_calloc(1, sizeof *flag);
    need(out && in && flag, "nvshmem_malloc");
  }
  void send() override
  {
    sent = sent % CAPTURED + 1; /* as many values as a graph has messages, so that it can be replayed */
    nvshmemx_putmem_signal_on_stream(in, out, bytes, flag, sent, NVSHMEM_SIGNAL_SET, 1 - rank, stream);
  }
  void receive() override
  {
    received = received % CAPTURED + 1;
    nvshmemx_signal_wait_until_on_stream(flag, NVSHMEM_CMP_EQ, received, stream);
  }
  void close() override { nvshmem_finalize(); }
};
#endif

void enqueue(messages *m, long n)
{
  for (long k = 0; k < n; k++) {
    if (!rank) m->send();
    m->receive();
    if (rank) m->send();
  }
}

/* n round trips, by replays of a graph of CAPTURED where there is one. */
void round_trips(messages *m, cudaGraphExec_t graph, long n)
{
  if (!graph) enqueue(m, n);
  for (long k = 0; k < n && graph; k += CAPTURED) need(cudaGraphLaunch(graph, stream), "launch of a graph");
  need(cudaStreamSynchronize(stream), "synchronise");
}

/* CAPTURED round trips. */
cudaGraphExec_t capture(messages *m)
{
  cudaGraph_t graph;
  cudaGraphExec_t all;
  need(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
  enqueue(m, CAPTURED);
  need(cudaStreamEndCapture(stream, &graph), "end of a capture");
  need(cudaGraphInstantiate(&all, graph, 0), "graph");
  need(cudaGraphDestroy(graph), "graph");
  return all;
}

/* Whether the other rank's numbers come, which nobody had before. */
bool checked(messages *m, cudaGraphExec_t graph, double first)
{
  std::vector<double> host(m->bytes / 8);
  int wrong = 0, any = 0;
  for (size_t i = 0; i < host.size(); i++) host[i] = first + rank + (double)(i % 9);
  need(cudaMemcpyAsync(m->out, host.data(), m->bytes, cudaMemcpyDefault, stream), "copy");
  need(cudaStreamSynchronize(stream), "synchronise");
  MPI_Barrier(MPI_COMM_WORLD);
  round_trips(m, graph, 3);
  need(cudaMemcpyAsync(host.data(), m->in, m->bytes, cudaMemcpyDefault, stream), "copy");
  need(cudaStreamSynchronize(stream), "synchronise");
  for (size_t i = 0; i < host.size(); i++) wrong |= host[i] != first + 1 - rank + (double)(i % 9);
  MPI_Allreduce(&wrong, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return !any;
}

void row(messages *m, const char *name, bool captured)
{
  std::vector<double> t;
  cudaGraphExec_t graph = captured ? capture(m) : nullptr;
  const bool right = checked(m, graph, captured ? 1001 : 1);
  double begun = MPI_Wtime();
  round_trips(m, graph, 5);
  double each = (MPI_Wtime() - begun) / (graph ? CAPTURED : 5);
  MPI_Bcast(&each, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  long n = (long)std::min(5000.0, std::max(3.0, 2e-3 / each));
  if (graph) n = (n + CAPTURED - 1) / CAPTURED * CAPTURED;
  for (int k = 0; k < BATCHES; k++) {
    MPI_Barrier(MPI_COMM_WORLD);
    begun = MPI_Wtime();
    round_trips(m, graph, n);
    t.push_back((MPI_Wtime() - begun) / (2.0 * (double)n));
  }
  std::sort(t.begin(), t.end());
  if (graph) need(cudaGraphExecDestroy(graph), "graph");
  if (!rank)
    printf(
        "{\"program\": \"%s\", \"test\": \"raw\", \"captured\": %s, \"n\": %zu, \"bytes\": %zu, \"one_way_s\": %.6g, "
        "\"q1_s\": %.6g, \"q3_s\": %.6g, \"checked\": %s}\n",
        name, captured ? "true" : "false", m->bytes / 8, m->bytes, t[BATCHES / 2], t[BATCHES / 4], t[3 * BATCHES / 4],
        right ? "true" : "false");
}

void messages::measure(const char *name, size_t most)
{
  need(cudaMallocHost(&host, most), "pinned memory");
  for (int captured = 0; captured <= enqueues(); captured++)
    for (bytes = 8; bytes <= most; bytes *= 2) row(this, name, captured);
}

__device__ unsigned long long now_ns()
{
  unsigned long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}

#ifdef WITH_NVSHMEM
/* Messages inside a kernel.  Word i of message k of a launch is first + k + STRIDE i, which no earlier message had.
 * Rank 0 sends the even messages.  A rank compares each word that comes, adds 1 and sends it back. */
enum { TRIPS = 1001 /* the first round trip is not timed */, STRIDE = 4096, WORDS = 1024 /* of the longest message */ };
static_assert(STRIDE > 2 * TRIPS, "the words of a message differ from those of all others");

struct result {
  unsigned long long ns;
  unsigned wrong; /* words */
  int timed_out;
};

/* Polls until arrived() is true, as NVSHMEM's own waits do, but for at most 20 s. */
template <class condition> __device__ bool await(condition arrived)
{
  unsigned long long until = 0;
  for (unsigned polls = 1; !arrived(); polls++) {
    if (polls % 1024) continue;
    const unsigned long long now = now_ns();
    if (!until) until = now + 20000000000ull;
    if (now >= until) return false;
  }
  return true;
}

/* One thread.  Each message is a word that is its own flag, at a place of its own.  RAW: polls with volatile loads;
 * else with nvshmem_uint64_test, which has the fence of nvshmem_uint64_wait_until. */
template <bool RAW> __global__ void values_kernel(uint64_t *value, int me, uint64_t first, result *r)
{
  unsigned long long begun = 0;
  unsigned wrong = 0;
  uint64_t v = first;
  for (int t = 0; t < TRIPS; t++) {
    if (t == 1) begun = now_ns();
    if (!me) nvshmem_uint64_p(&value[t], v, 1);
    const bool came = await([&] {
      if (!RAW) return nvshmem_uint64_test(&value[t], NVSHMEM_CMP_NE, 0) != 0;
      v = nvshmem_signal_fetch(&value[t]);
      return v != 0;
    });
    if (!came) {
      r->timed_out = 1;
      return;
    }
    if (!RAW) v = value[t];
    wrong += v != first + 2 * t + !me;
    v++;
    if (me) nvshmem_uint64_p(&value[t], v, 0);
  }
  r->ns = now_ns() - begun;
  r->wrong = wrong;
}

struct of_warp {
  static __device__ void put(double *to, const double *from, size_t bytes, uint64_t *flag, uint64_t sent, int pe)
  {
    nvshmemx_putmem_signal_warp(to, from, bytes, flag, sent, NVSHMEM_SIGNAL_SET, pe);
  }
  static __device__ void sync() { __syncwarp(); }
};
struct of_block {
  static __device__ void put(double *to, const double *from, size_t bytes, uint64_t *flag, uint64_t sent, int pe)
  {
    nvshmemx_putmem_signal_block(to, from, bytes, flag, sent, NVSHMEM_SIGNAL_SET, pe);
  }
  static __device__ void sync() { __syncthreads(); }
};

__global__ void first_message(double *out, int n, double first)
{
  for (int i = (int)threadIdx.x; i < n; i += (int)blockDim.x) out[i] = first + (double)STRIDE * i;
}

/* A warp or a block.  Each message is n words and a signal, for which thread 0 waits. */
template <class team>
__global__ void messages_kernel(double *in, double *out, uint64_t *flag, int me, int n, double first, result *r)
{
  __shared__ bool came;
  const size_t bytes = n * sizeof(double);
  unsigned long long begun = 0;
  unsigned wrong = 0;
  for (int t = 0; t < TRIPS; t++) {
    const uint64_t sent = (uint64_t)t + 1;
    const double expected = first + (2 * t + !me); /* word 0 */
    if (t == 1) begun = now_ns();
    if (!me) team::put(in, out, bytes, flag, sent, 1);
    if (!threadIdx.x) came = await([&] { return nvshmem_signal_fetch(flag) >= sent; });
    team::sync();
    if (!came) {
      if (!threadIdx.x) r->timed_out = 1;
      return;
    }
    for (int i = (int)threadIdx.x; i < n; i += (int)blockDim.x) {
      const double v = in[i];
      wrong += v != expected + (double)STRIDE * i;
      out[i] = v + 1;
    }
    if (me) team::put(in, out, bytes, flag, sent, 0);
  }
  if (!threadIdx.x) r->ns = now_ns() - begun;
  atomicAdd(&r->wrong, wrong);
}

struct in_nvshmem_kernel : by_nvshmem {
  uint64_t *value;
  result *on_device;
  int launches = 0;

  void open(size_t most) override
  {
    by_nvshmem::open(most);
    value = (uint64_t *)nvshmem_malloc(TRIPS * sizeof *value);
    need(value != nullptr, "nvshmem_malloc");
    need(nvshmem_ptr(in, 1 - rank) != nullptr, "the GPUs do not reach each other's memory");
    need(cudaMalloc(&on_device, sizeof *on_device), "cudaMalloc");
  }

  /* launch(first) enqueues the kernel: one block on each GPU, so both are resident without a collective launch. */
  template <class call> void batches(const char *test, int n, call launch)
  {
    std::vector<double> t;
    unsigned wrong = 0, any = 0;
    for (int b = 0; b < BATCHES; b++) {
      const double first = (double)STRIDE * WORDS * ++launches;
      result got;
      need(cudaMemsetAsync(value, 0, TRIPS * sizeof *value, stream), "clear");
      need(cudaMemsetAsync(flag, 0, sizeof *flag, stream), "clear");
      need(cudaMemsetAsync(on_device, 0, sizeof *on_device, stream), "clear");
      first_message<<<1, 256, 0, stream>>>(out, n, first);
      need(cudaStreamSynchronize(stream), "synchronise");
      MPI_Barrier(MPI_COMM_WORLD);
      launch(first);
      need(cudaGetLastError(), "launch");
      need(cudaMemcpyAsync(&got, on_device, sizeof got, cudaMemcpyDefault, stream), "copy");
      need(cudaStreamSynchronize(stream), "synchronise");
      need(!got.timed_out, "a message did not come within 20 s");
      wrong += got.wrong;
      t.push_back(1e-9 * (double)got.ns / (2.0 * (TRIPS - 1)));
    }
    MPI_Allreduce(&wrong, &any, 1, MPI_UNSIGNED, MPI_SUM, MPI_COMM_WORLD);
    std::sort(t.begin(), t.end());
    if (!rank)
      printf("{\"program\": \"nvshmem in a kernel\", \"test\": \"%s\", \"n\": %d, \"bytes\": %d, \"one_way_s\": %.6g, "
             "\"q1_s\": %.6g, \"q3_s\": %.6g, \"wrong_words\": %u, \"checked\": %s}\n",
             test, n, 8 * n, t[BATCHES / 2], t[BATCHES / 4], t[3 * BATCHES / 4], any, any ? "false" : "true");
  }

  template <bool RAW> void values(const char *test)
  {
    batches(test, 1,
            [&](double first) { values_kernel<RAW><<<1, 1, 0, stream>>>(value, rank, (uint64_t)first, on_device); });
  }

  template <class team> void with_signal(const char *test, unsigned threads, int n)
  {
    batches(test, n, [&](double first) {
      messages_kernel<team><<<1, threads, 0, stream>>>(in, out, flag, rank, n, first, on_device);
    });
  }

  void measure(const char *, size_t most) override
  {
    values<true>("raw value");
    values<false>("value that is its own flag");
    for (const int n : {1, 16, 128})
      if (8 * (size_t)n <= most) with_signal<of_warp>("put with signal, a warp", 32, n);
    for (const int n : {128, (int)WORDS})
      if (8 * (size_t)n <= most) with_signal<of_block>("put with signal, a block", 256, n);
  }
};
#endif

__global__ void nothing() {}

/* Runs for so many ns. */
__global__ void run_for(unsigned long long ns)
{
  const unsigned long long begun = now_ns();
  while (now_ns() - begun < ns) continue;
}

void run_five(bool synchronised)
{
  for (int k = 0; k < 5; k++) {
    run_for<<<1, 1, 0, stream>>>(k ? 5000 : 40000);
    if (synchronised && k == 0) cudaStreamSynchronize(stream);
  }
}

template <class call> void alone(const char *name, int n, call f)
{
  std::vector<double> t;
  f();
  need(cudaStreamSynchronize(stream), "synchronise");
  for (int b = 0; b < BATCHES; b++) {
    const double begun = MPI_Wtime();
    for (int k = 0; k < n; k++) f();
    need(cudaStreamSynchronize(stream), "synchronise");
    t.push_back((MPI_Wtime() - begun) / n);
  }
  std::sort(t.begin(), t.end());
  printf("{\"program\": \"cuda\", \"test\": \"%s\", \"one_way_s\": %.6g, \"q1_s\": %.6g, \"q3_s\": %.6g}\n", name,
         t[BATCHES / 2], t[BATCHES / 4], t[3 * BATCHES / 4]);
}

void calls()
{
  enum { NODES = 200 };
  const size_t large = 64 << 20;
  char *a, *b;
  cudaEvent_t event;
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  cudaPointerAttributes attributes;
  int gpus = 0;
  need(cudaMalloc(&a, large), "cudaMalloc");
  need(cudaMalloc(&b, large), "cudaMalloc");
  need(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "event");
  need(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
  for (int k = 0; k < NODES; k++) nothing<<<1, 32, 0, stream>>>();
  need(cudaStreamEndCapture(stream, &graph), "capture");
  need(cudaGraphInstantiate(&ready, graph, 0), "graph");
  alone("launch", 1000, [&] { nothing<<<1, 32, 0, stream>>>(); });
  alone("graph of 200 nodes", 10, [&] { cudaGraphLaunch(ready, stream); });
  alone("launch and synchronise", 200, [&] {
    nothing<<<1, 32, 0, stream>>>();
    cudaStreamSynchronize(stream);
  });
  alone("synchronise an empty stream", 1000, [&] { cudaStreamSynchronize(stream); });
  alone("synchronise an idle device", 1000, [&] { cudaDeviceSynchronize(); });
  alone("ask where a pointer leads", 1000, [&] { cudaPointerGetAttributes(&attributes, a); });
  alone("event record", 1000, [&] { cudaEventRecord(event, stream); });
  alone("stream wait event", 1000, [&] { cudaStreamWaitEvent(stream, event, 0); });
  alone("copy 8 B in device memory", 1000, [&] { cudaMemcpyAsync(b, a, 8, cudaMemcpyDefault, stream); });
  alone("copy 64 MiB in device memory", 10, [&] { cudaMemcpyAsync(b, a, large, cudaMemcpyDefault, stream); });
  need(cudaGetDeviceCount(&gpus), "count");
  if (gpus > 1) {
    char *far;
    need(cudaSetDevice(1), "device 1");
    need(cudaMalloc(&far, large), "cudaMalloc");
    need(cudaSetDevice(0), "device 0");
    cudaDeviceEnablePeerAccess(1, 0);
    alone("copy 8 B to the other GPU", 1000, [&] { cudaMemcpyPeerAsync(far, 1, a, 0, 8, stream); });
    alone("copy 64 MiB to the other GPU", 10, [&] { cudaMemcpyPeerAsync(far, 1, a, 0, large, stream); });
  }
  alone("figure 15: kernels of 40, 5, 5, 5 and 5 us", 20, [&] { run_five(false); });
  alone("figure 15: the same, synchronised after the first launch", 20, [&] { run_five(true); });
  need(cudaGetLastError(), "calls");
}

messages *named(const char *name)
{
  if (!strcmp(name, "mpi")) return new staged;
  if (!strcmp(name, "mpi-aware")) return new aware;
#ifdef WITH_NCCL
  if (!strcmp(name, "nccl")) return new by_nccl;
#endif
#ifdef WITH_NVSHMEM
  if (!strcmp(name, "nvshmem")) return new by_nvshmem;
  if (!strcmp(name, "nvshmem-kernel")) return new in_nvshmem_kernel;
#endif
  return nullptr;
}

} /* namespace */

int main(int argc, char **argv)
{
  int gpus = 0;
  const char *name = argc > 1 ? argv[1] : "";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  messages *m = named(name);
  need(m || !strcmp(name, "calls"), "this build has no such test: mpi|mpi-aware|calls, with -DWITH_NCCL nccl, with "
                                    "-DWITH_NVSHMEM nvshmem|nvshmem-kernel");
  need(cudaGetDeviceCount(&gpus), "no GPU");
  need(cudaSetDevice(rank % gpus), "device");
  need(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
  if (!m) {
    calls();
  } else {
    const size_t most = argc > 2 ? (size_t)atoll(argv[2]) : 4 << 20;
    need(ranks == 2, "two ranks, please");
    m->open(most);
    m->measure(name, most);
    m->close();
  }
  MPI_Finalize();
  return 0;
}
