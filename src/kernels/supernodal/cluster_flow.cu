/* cluster_flow.cu: the solve in one launch: a thread block takes task after task.
 *
 * Outline; a block is one fetching warp, GROUPS groups of gathering warps and COMPUTE computing warps:
 *   fetch    finds the block's next task; copies its record and values into the ring as soon as there is room (copy
 *            engine)
 *   gather   a group takes the next task of the block and sums its inputs into its own v, so GROUPS tasks wait for
 *            inputs at a time; the one that has them first is computed first
 *   compute  1. multiply strips by v on the FP64 tensor cores, 8 outputs x 4 inputs x 8 right-hand sides at a time
 *            2. where warps share a strip's inputs: add their parts
 *            3. add what the outputs add; store on the board and into x; clear the other copy
 * Where tasks are few and all blocks run at once, each has every gridDim.x-th task; else they take tickets.  Either way
 * the first task of the list that is not done waits for done ones alone, and is in the ring of a block that runs, with
 * a group or next for one: it can go on.  One right-hand side takes the same path as 16, so that a column has the bits
 * that it has alone.
 *
 * Barriers, for task k of the block and its e-th gathered one: full[k % QUEUE] (the copies) -> gathered[e % GROUPS] ->
 * used[group] (v is free) and empty[k % QUEUE] (the piece of the ring is free).  A wait knows its phase by parity
 * alone: one for phase n of full also passes while phase n - 1 is not complete.  So a group first awaits that task k is
 * being fetched, which comes behind empty of task k - QUEUE.  Generic reads of a piece are ordered before the next copy
 * into it by the arrival at empty, which the fetching warp waits for. */
#include <cuda_runtime.h>

#include "cuda/device_wait.cuh"
#include "cuda/launch.cuh"
#include "cuda/undisturbed.cuh"
#include "kernels/supernodal/cluster_gather.cuh"
#include "kernels/supernodal/cluster_ring.h"

namespace
{

enum { COMPUTE = 8, QUEUE = 8, CHAINS = 4 };

/* How a block is made up. */
template <int R> struct make_up {
  static constexpr int GROUPS = R == 1 ? 3 : 2, GATHER = R == 1 ? 5 : 7; /* warps of a group */
  static constexpr int THREADS = (COMPUTE + GROUPS * GATHER + 1) * WARP;
};

/* Widths of the arrays in shared memory. */
template <int R> struct shape {
  static constexpr int HALVES = R == 16 ? 2 : 1;  /* groups of 8 right-hand sides */
  static constexpr int PART = GIK_FLOW_STRIP * R; /* sums of one strip */
  static constexpr int PARTS = GIK_FLOW_SHARED * PART;
};

/* What a block shares. */
struct room {
  unsigned char *ring;
  double *v, *part; /* [GROUPS][sums][R], [2][GIK_FLOW_SHARED][8][R] */
};

/* A task whose inputs are in a group's v. */
struct ready {
  unsigned task;
  int group; /* -1: the group has met the end */
};

template <int GROUPS> struct control_block {
  unsigned long long full[QUEUE], empty[QUEUE], gathered[GROUPS], used[GROUPS];
  unsigned place[QUEUE], end[QUEUE];     /* of a piece; end: see gik_ring_take */
  int last[QUEUE];                       /* no task is left */
  unsigned fetched;                      /* tasks and ends so far whose copies have been begun */
  unsigned taken, gathers, mine[GROUPS]; /* mine: the task that each group took */
  ready line[GROUPS];
};

__device__ __forceinline__ void compute_barrier()
{
  asm volatile("bar.sync %0, %1;" ::"n"((int)COMPUTE_BARRIER), "n"(COMPUTE * WARP) : "memory");
}

/* c += a b for 8 x 4 times 4 x 8. */
__device__ __forceinline__ void multiply(double c[2], double a, double b)
{
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
      : "+d"(c[0]), "+d"(c[1])
      : "d"(a), "d"(b));
}

__device__ __forceinline__ void store_entry(const gik_flow_vectors &v, gable_idx i, int r, double value)
{
  const gable_off k = i * v.row + r * v.column;
  if (v.type == GABLE_TYPE_S)
    ((float *)v.data)[k] = (float)value;
  else
    ((double *)v.data)[k] = value;
}

/* ---- fetch ---- */

/* Of control->ticket: set, tasks are taken by tickets. */
constexpr unsigned BY_TICKETS = 1u << 31;

/* Cycles that a block waits for the others to come; tasks a block with several right-hand sides, up to which lists keep
 * blocks busy alike. */
enum { PATIENCE = 10000, DEALT = 100 };

/* Do all blocks run?  Then each has a list; if not, the first to lose patience has all of them take tickets. */
__device__ bool have_all_come(gik_control *control)
{
  for (const long long begin = clock64();;) {
    const unsigned now = *(volatile unsigned *)&control->ticket;
    if (now & BY_TICKETS) return false;
    if (now >= gridDim.x) return true;
    if (clock64() - begin > PATIENCE) atomicCAS(&control->ticket, now, now | BY_TICKETS);
  }
}

/* By one lane.  A block's first task has the number of its coming.  Where tasks are few and all blocks have come, the
 * list of a block is every gridDim.x-th task from there; else it takes tickets, of which the next is under way while
 * this one's copies are begun: a block holds the tasks in its ring and one more. */
template <int R, int GROUPS>
__device__ void fetch(const gik_cluster_flow &p, unsigned char *ring, control_block<GROUPS> *c)
{
  gik_ring room = {(unsigned)p.ring, 0, 0, 0};
  unsigned done = 0, k = 0; /* done: pieces that are free again */
  const auto take = [&] { return atomicAdd(&p.control->ticket, 1u); };
  const auto task_of = [&](unsigned ticket) { return p.skip + (ticket & ~BY_TICKETS); };
  unsigned task = task_of(take()), ticket = 0; /* ticket: as it came, so that nothing waits for it before its use */
  bool lists = R == 1 || (unsigned)p.tasks <= DEALT * gridDim.x;
  for (; task < (unsigned)p.tasks; k++) {
    const gik_flow_at at = p.at[task], next = p.at[task + 1];
    const unsigned slot = k % QUEUE, full = gik::shared_address(&c->full[slot]);
    const unsigned record = (unsigned)(next.record - at.record), values = (unsigned)(next.values - at.values);
    unsigned place = 0, end = 0;
    if (!lists) ticket = take();
    while (k - done == QUEUE || !gik_ring_take(&room, record + values, &place, &end)) {
      gik::barrier_wait(gik::shared_address(&c->empty[done % QUEUE]), done / QUEUE & 1);
      room.tail = c->end[done++ % QUEUE];
    }
    c->end[slot] = end;
    c->place[slot] = place;
    gik::copy_expect(full, record + values);
    gik::copy_part(gik::shared_address(ring + place), p.records + at.record, record, full);
    if (values) gik::copy_part(gik::shared_address(ring + place + record), p.values + at.values, values, full);
    *(volatile unsigned *)&c->fetched = k + 1;
    if (!k && (R == 1 || lists) && !have_all_come(p.control)) {
      lists = false;
      ticket = take();
    }
    task = lists ? task + gridDim.x : task_of(ticket);
  }
  for (int e = 0; e < GROUPS; e++, k++) { /* each group meets one of them */
    for (; k - done >= QUEUE; done++) gik::barrier_wait(gik::shared_address(&c->empty[done % QUEUE]), done / QUEUE & 1);
    c->last[k % QUEUE] = 1;
    gik::barrier_arrive(gik::shared_address(&c->full[k % QUEUE]));
    *(volatile unsigned *)&c->fetched = k + 1;
  }
}

/* ---- gather ---- */

/* A group has one task at most between its push and the last read of its v, so GROUPS places in line are enough. */
template <int GROUPS> __device__ __forceinline__ void push(control_block<GROUPS> *c, unsigned task, int group)
{
  const unsigned e = atomicAdd(&c->gathers, 1u) % GROUPS;
  c->line[e] = {task, group};
  gik::barrier_arrive(gik::shared_address(&c->gathered[e]));
}

template <int R, int GROUPS, int WARPS>
__device__ void gather(const gik_cluster_flow &p, const room &shared, control_block<GROUPS> *c, const double *own,
                       int group, int thread)
{
  double *const v = shared.v + group * p.limits.sums * R;
  for (unsigned round = 0;; round++) {
    if (!thread) {
      const unsigned next = atomicAdd(&c->taken, 1u);
      while (*(volatile unsigned *)&c->fetched <= next) continue;
      c->mine[group] = next;
    }
    group_barrier(group, WARPS * WARP);
    const unsigned k = c->mine[group], slot = k % QUEUE;
    gik::barrier_wait(gik::shared_address(&c->full[slot]), k / QUEUE & 1);
    const int last = c->last[slot];
    if (round) gik::barrier_wait(gik::shared_address(&c->used[group]), (round - 1) & 1);
    if (!last) gather_task<R, WARPS>(p, own, shared.ring + c->place[slot], thread, v);
    group_barrier(group, WARPS * WARP);
    if (!thread) push(c, k, last ? -1 : group);
    if (last) return;
  }
}

/* ---- compute ---- */

/* This lane's row of a strip: what becomes of it. */
struct destination {
  gik_flow_out to;
  int add; /* q of v, or -1 */
  double scale;

  __device__ __forceinline__ destination(const gik_cluster_flow &p, const unsigned char *record, int o)
  {
    const gik_flow_task *t = (const gik_flow_task *)record;
    to = ((const gik_flow_out *)(record + t->out))[o];
    add = t->add < 0 ? -1 : t->add + o;
    scale = to.x >= 0 && p.x.scale ? p.x.scale[to.x] : 1;
  }
};

/* Compute 3: this lane's two columns of each half. */
template <int R>
__device__ __forceinline__ void finish(const gik_cluster_flow &p, double *own, double *next, const destination &d,
                                       const double *v, const double (&sum)[shape<R>::HALVES][2])
{
  if (d.to.id < 0) return;
#pragma unroll
  for (int h = 0; h < shape<R>::HALVES; h++)
#pragma unroll
    for (int e = 0; e < 2; e++) {
      const int r = h * 8 + threadIdx.x % 4 * 2 + e;
      if (r >= R) continue;
      const double value = d.add < 0 ? sum[h][e] : sum[h][e] + v[place_of<R>(d.add, r)];
      gik::store_relaxed(own + (gable_off)d.to.id * R + r, value);
      gik::store_not_yet(next + (gable_off)d.to.id * R + r);
      if (d.to.x >= 0 && r < p.count) store_entry(p.x, d.to.x, r, d.scale * value);
    }
}

/* Compute 1: chain c adds steps c, c + CHAINS, ... */
template <typename T, int R>
__device__ __forceinline__ void multiply_strip(const unsigned char *record, const gik_flow_strip &s, const double *v,
                                               double (&sum)[shape<R>::HALVES][2])
{
  constexpr int HALVES = shape<R>::HALVES;
  const int lane = threadIdx.x % WARP, k = lane % 4, n = R == 1 ? 0 : lane / 4 % R;
  const T *a = (const T *)(record + s.values) + lane;
  const double *b[HALVES];
  double acc[CHAINS][HALVES][2] = {};
#pragma unroll
  for (int h = 0; h < HALVES; h++) b[h] = v + s.first * R + place_of<R>(k, h * 8 + n);
  int step = 0;
  for (; step + CHAINS <= s.steps; step += CHAINS) {
    double x[CHAINS], y[CHAINS][HALVES];
#pragma unroll
    for (int c = 0; c < CHAINS; c++) {
      x[c] = (double)a[c * GIK_FLOW_TILE];
#pragma unroll
      for (int h = 0; h < HALVES; h++) y[c][h] = b[h][c * GIK_FLOW_STEP * R];
    }
#pragma unroll
    for (int c = 0; c < CHAINS; c++)
#pragma unroll
      for (int h = 0; h < HALVES; h++) multiply(acc[c][h], x[c], y[c][h]);
    a += CHAINS * GIK_FLOW_TILE;
#pragma unroll
    for (int h = 0; h < HALVES; h++) b[h] += CHAINS * GIK_FLOW_STEP * R;
  }
#pragma unroll
  for (int c = 0; c < CHAINS - 1; c++)
    if (step + c < s.steps)
#pragma unroll
      for (int h = 0; h < HALVES; h++) multiply(acc[c][h], (double)a[c * GIK_FLOW_TILE], b[h][c * GIK_FLOW_STEP * R]);
#pragma unroll
  for (int h = 0; h < HALVES; h++)
#pragma unroll
    for (int e = 0; e < 2; e++) sum[h][e] = (acc[0][h][e] + acc[1][h][e]) + (acc[2][h][e] + acc[3][h][e]);
}

/* Compute 2: the parts of strips that warps share, in order; part 0's warp has their sum. */
template <int R>
__device__ __forceinline__ void add_parts(double *part, int warp, int parts, int strips,
                                          double (&sum)[shape<R>::HALVES][2])
{
  const int lane = threadIdx.x % WARP;
#pragma unroll
  for (int h = 0; h < shape<R>::HALVES; h++)
#pragma unroll
    for (int e = 0; e < 2; e++) {
      const int r = h * 8 + lane % 4 * 2 + e;
      if (r < R && warp < strips) part[warp * shape<R>::PART + lane / 4 * R + r] = sum[h][e];
    }
  compute_barrier();
  if (warp % parts || warp >= strips) return;
  for (int k = 1; k < parts; k++)
#pragma unroll
    for (int h = 0; h < shape<R>::HALVES; h++)
#pragma unroll
      for (int e = 0; e < 2; e++) {
        const int r = h * 8 + lane % 4 * 2 + e;
        if (r < R) sum[h][e] += part[(warp + k) * shape<R>::PART + lane / 4 * R + r];
      }
}

template <typename T, int R, int GROUPS>
__device__ void compute(const gik_cluster_flow &p, const room &shared, control_block<GROUPS> *c, double *own,
                        double *next, int warp)
{
  const int lane = threadIdx.x % WARP;
  int turn = 0, ends = 0; /* turn: which of the arrays of parts: warps are at most one sharing task apart */
  for (unsigned e = 0; ends < GROUPS; e++) {
    gik::barrier_wait(gik::shared_address(&c->gathered[e % GROUPS]), e / GROUPS & 1);
    const ready now = c->line[e % GROUPS];
    if (now.group < 0) {
      ends++;
      continue;
    }
    const unsigned slot = now.task % QUEUE;
    const unsigned char *record = shared.ring + c->place[slot];
    const gik_flow_task *t = (const gik_flow_task *)record;
    const gik_flow_strip *strip = (const gik_flow_strip *)(record + t->strip);
    const double *v = shared.v + now.group * p.limits.sums * R;
    const int strips = t->strips, parts = t->parts;
    if (parts == 1) {
      const destination first(p, record, (warp < strips ? warp : 0) * GIK_FLOW_STRIP + lane / 4);
      for (int s = warp; s < strips; s += COMPUTE) {
        double sum[shape<R>::HALVES][2];
        multiply_strip<T, R>(record, strip[s], v, sum);
        finish<R>(p, own, next, s == warp ? first : destination(p, record, s * GIK_FLOW_STRIP + lane / 4), v, sum);
      }
    } else {
      const bool mine = warp < strips;
      const destination to(p, record, (mine ? warp / parts : 0) * GIK_FLOW_STRIP + lane / 4);
      double sum[shape<R>::HALVES][2] = {};
      if (mine) multiply_strip<T, R>(record, strip[warp], v, sum);
      add_parts<R>(shared.part + turn * shape<R>::PARTS, warp, parts, strips, sum);
      if (mine && warp % parts == 0) finish<R>(p, own, next, to, v, sum);
      turn ^= 1;
    }
    __syncwarp();
    if (!lane) {
      gik::barrier_arrive(gik::shared_address(&c->used[now.group]));
      gik::barrier_arrive(gik::shared_address(&c->empty[slot]));
    }
  }
}

/* ---- the kernel ---- */

template <typename T, int R>
__global__ void __launch_bounds__(make_up<R>::THREADS, 1) flow_kernel(const gik_cluster_flow p)
{
  constexpr int GROUPS = make_up<R>::GROUPS, GATHER = make_up<R>::GATHER;
  extern __shared__ __align__(128) unsigned char bytes[];
  __shared__ control_block<GROUPS> control;
  double *const v = (double *)(bytes + p.ring);
  const room shared = {bytes, v, v + GROUPS * p.limits.sums * R};
  const int warp = threadIdx.x / WARP;
  const gable_off size = p.places * R;
  if (!threadIdx.x) {
    for (int k = 0; k < QUEUE; k++) {
      gik::barrier_init(gik::shared_address(&control.full[k]), 1);
      gik::barrier_init(gik::shared_address(&control.empty[k]), COMPUTE);
      control.last[k] = 0;
    }
    for (int k = 0; k < GROUPS; k++) {
      gik::barrier_init(gik::shared_address(&control.gathered[k]), 1);
      gik::barrier_init(gik::shared_address(&control.used[k]), COMPUTE);
    }
    control.taken = control.gathers = control.fetched = 0;
    gik::barrier_init_fence();
  }
  __syncthreads();
  const unsigned parity = *(volatile unsigned *)&p.control->parity[0] & 1;
  double *own = p.board + (parity ? size : 0), *next = p.board + (parity ? 0 : size);
  if (warp < COMPUTE) {
    compute<T, R, GROUPS>(p, shared, &control, own, next, warp);
  } else if (warp < COMPUTE + GROUPS * GATHER) {
    const int group = (warp - COMPUTE) / GATHER, thread = (int)threadIdx.x - (COMPUTE + group * GATHER) * WARP;
    gather<R, GROUPS, GATHER>(p, shared, &control, own, group, thread);
  } else {
    if (threadIdx.x % WARP == 0) fetch<R>(p, shared.ring, &control);
    __syncwarp();
  }
  gik::leave(p.control, 1);
}

/* A warp a source. */
template <typename T> __global__ void pack_kernel(const gik_flow_pack p)
{
  const gable_off k = ((gable_off)blockIdx.x * blockDim.x + threadIdx.x) / WARP;
  const int lane = threadIdx.x % WARP, o = lane / GIK_FLOW_STEP;
  if (k >= p.sources) return;
  const gik_flow_source s = p.source[k];
  if (o < s.begin || o >= s.end) return;
  const T *from = (const T *)p.operators[s.side] + s.at + (gable_off)o * s.step_out;
  T *to = (T *)p.packed + s.to + lane;
  for (int i = lane % GIK_FLOW_STEP; i - lane % GIK_FLOW_STEP < s.inputs; i += GIK_FLOW_STEP, to += GIK_FLOW_TILE)
    *to = o < s.rows && i < s.inputs ? from[(gable_off)i * s.step_in] : T(0);
}

__global__ void clear_kernel(double *board, gable_off count)
{
  const gable_off e = (gable_off)blockIdx.x * blockDim.x + threadIdx.x;
  if (e < count) gik::store_not_yet(board + e);
}

/* ---- launches ---- */

enum { STATIC_SHARED = 1024, PIECES = 3 }; /* the control block at most; tasks in the ring at least */

template <int R> size_t fixed_bytes(gable_idx sums)
{
  return ((size_t)make_up<R>::GROUPS * (size_t)sums * R + 2 * (size_t)shape<R>::PARTS) * sizeof(double);
}

cudaError_t read_device(int *processors, int *shared)
{
  int device = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (!error) error = cudaDeviceGetAttribute(processors, cudaDevAttrMultiProcessorCount, device);
  if (!error) error = cudaDeviceGetAttribute(shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  return error;
}

/* Gathered values of 16 right-hand sides take a third of the shared memory at most. */
gable_status limits(gable_context *ctx, gik_flow_limits *out)
{
  int processors = 0, most = 0;
  (void)ctx;
  const cudaError_t error = read_device(&processors, &most);
  if (!error) {
    const int sums = most / (3 * 16 * make_up<16>::GROUPS * (int)sizeof(double)) / 32 * 32;
    out->sums = sums < GIK_FLOW_SUMS ? sums : GIK_FLOW_SUMS;
    const size_t fixed = fixed_bytes<16>(out->sums) + STATIC_SHARED;
    out->bytes = (gable_idx)(((size_t)most - fixed) / PIECES / GIK_FLOW_ALIGN * GIK_FLOW_ALIGN);
    out->terms = out->bytes / 40 < GIK_FLOW_TERMS ? out->bytes / 40 : GIK_FLOW_TERMS;
    out->workers = processors;
  }
  return gik::checked(error, "thread blocks of a solve");
}

/* As many blocks as the GPU holds at once, or as there are tasks.  The limit on shared memory is the function's, not
 * the launch's: all solves get the most there is. */
template <typename T, int R> cudaError_t count_blocks(gik_cluster_flow *p)
{
  cudaFuncAttributes kernel;
  int processors = 0, most = 0;
  cudaError_t error = read_device(&processors, &most);
  if (!error) error = cudaFuncGetAttributes(&kernel, flow_kernel<T, R>);
  if (error) return error;
  error = gik::undisturbed([&] {
    return cudaFuncSetAttribute(flow_kernel<T, R>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                most - (int)kernel.sharedSizeBytes);
  });
  p->ring = (gable_idx)(((size_t)most - STATIC_SHARED - fixed_bytes<R>(p->limits.sums)) / 128 * 128);
  p->blocks = p->tasks < processors ? p->tasks : processors;
  return error;
}

template <typename T, int R> void launch_one(const gik_cluster_flow *p, gik::launches *on)
{
  on->launch(flow_kernel<T, R>, (unsigned)p->blocks, make_up<R>::THREADS,
             (size_t)p->ring + fixed_bytes<R>(p->limits.sums), *p);
}

template <typename T> cudaError_t count_width(gik_cluster_flow *p)
{
  return p->rhs == 1 ? count_blocks<T, 1>(p) : p->rhs == 4 ? count_blocks<T, 4>(p) : count_blocks<T, 16>(p);
}

gable_status prepare(gable_context *ctx, gik_cluster_flow *p)
{
  (void)ctx;
  return gik::checked(p->type == GABLE_TYPE_S ? count_width<float>(p) : count_width<double>(p),
                      "thread blocks of a solve");
}

gable_status pack(gable_context *ctx, const gik_flow_pack *p, void *stream)
{
  enum { THREADS = 256 };
  gik::launches on(stream);
  (void)ctx;
  if (!p->sources) return GABLE_OK;
  const unsigned blocks = (unsigned)((p->sources * WARP + THREADS - 1) / THREADS);
  if (p->type == GABLE_TYPE_S)
    on.launch(pack_kernel<float>, blocks, THREADS, 0, *p);
  else
    on.launch(pack_kernel<double>, blocks, THREADS, 0, *p);
  return on.status("packing the tasks of a solve");
}

template <typename T> void launch_width(const gik_cluster_flow *p, gik::launches *on)
{
  if (p->rhs == 1)
    launch_one<T, 1>(p, on);
  else if (p->rhs == 4)
    launch_one<T, 4>(p, on);
  else
    launch_one<T, 16>(p, on);
}

gable_status solve(gable_context *ctx, const gik_cluster_flow *p, void *stream)
{
  gik::launches on(stream);
  (void)ctx;
  if (!p->tasks) return GABLE_OK;
  if (p->type == GABLE_TYPE_S)
    launch_width<float>(p, &on);
  else
    launch_width<double>(p, &on);
  return on.status("solve of clusters");
}

gable_status clear(gable_context *ctx, double *board, gable_off count, void *stream)
{
  enum { THREADS = 256 };
  gik::launches on(stream);
  (void)ctx;
  if (!count) return GABLE_OK;
  on.launch(clear_kernel, (unsigned)((count + THREADS - 1) / THREADS), THREADS, 0, board, count);
  return on.status("board of a solve");
}

} /* namespace */

extern "C" const gik_cluster_flows gik_cluster_flows_cuda = {limits, prepare, pack, solve, clear};
