/* cluster_flow.cu: the solve in one launch: a thread block takes task after task.
 *
 * Outline; a block is COMPUTE / 32 computing warps and one that fetches:
 *   fetch    1. take a ticket; copy the task's record into shared memory as soon as a buffer is free
 *            2. fetch the operator of the task into L2
 *   compute  1. load the first values of this warp's strip into registers: they arrive while it waits for inputs
 *            2. gather the inputs; a place that is not there yet is asked again
 *            3. multiply on the FP64 tensor cores, 8 outputs x 4 inputs x 8 right-hand sides at a time
 *            4. add the parts and what the outputs add; store on the board and into x; clear the other copy
 * One right-hand side takes the same path as 16, so that a column has the bits that it has alone. */
#include <cuda_runtime.h>

#include "cuda/device_wait.cuh"
#include "cuda/launch.cuh"
#include "cuda/undisturbed.cuh"
#include "kernels/supernodal/cluster_flow.h"

namespace
{

enum { COMPUTE = 256, WARPS = COMPUTE / 32, THREADS = COMPUTE + 32, RECORDS = 3 };
enum { AHEAD = 8 }; /* steps of 4 inputs that a warp has in registers */
enum { CHUNK = AHEAD * GIK_FLOW_STEP };
enum { GROUP = GIK_FLOW_PAD / GIK_FLOW_STEP }; /* steps whose inputs are there together, zeros beyond a strip's last */
enum { COMPUTE_BARRIER = 1 };

/* Widths of the arrays in shared memory; the pitch spreads a fragment over all banks. */
template <int R> struct shape {
  static constexpr int PITCH = R == 16 ? 20 : R;
  static constexpr int HALVES = R == 16 ? 2 : 1; /* groups of 8 right-hand sides */
  static constexpr int BLOCKS = R == 16 ? 2 : 3; /* of a multiprocessor */
  static constexpr size_t V = (size_t)GIK_FLOW_INPUTS * PITCH, ADD = (size_t)GIK_FLOW_OUTPUTS * R,
                          SUM = (size_t)GIK_FLOW_STRIPS * GIK_FLOW_STRIP * R;
  static constexpr size_t BYTES = (V + 2 * ADD + SUM) * sizeof(double);
};

/* What a block shares. */
template <int R> struct room {
  double *v, *add, *sum; /* [inputs][PITCH], [2][outputs][R], [strips][8][R] */
  unsigned char *record; /* [RECORDS][record_bytes] */
};

struct control_block {
  unsigned long long full[RECORDS], empty[RECORDS];
  int last[RECORDS]; /* no task is left */
};

__device__ __forceinline__ void compute_barrier()
{
  asm volatile("bar.sync %0, %1;" ::"n"((int)COMPUTE_BARRIER), "n"((int)COMPUTE) : "memory");
}

/* c += a b for 8 x 4 times 4 x 8. */
__device__ __forceinline__ void multiply(double c[2], double a, double b)
{
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
               : "+d"(c[0]), "+d"(c[1])
               : "d"(a), "d"(b));
}

__device__ __forceinline__ double load_value(const double *p)
{
  double v;
  asm volatile("ld.global.nc.L1::no_allocate.f64 %0, [%1];" : "=d"(v) : "l"(p));
  return v;
}
__device__ __forceinline__ float load_value(const float *p)
{
  float v;
  asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(v) : "l"(p));
  return v;
}

__device__ __forceinline__ double load_entry(const gik_flow_vectors &v, gable_idx i, int r)
{
  const gable_off k = i * v.row + r * v.column;
  const double value = v.type == GABLE_TYPE_S ? (double)((const float *)v.data)[k] : ((const double *)v.data)[k];
  return v.scale ? v.scale[i] * value : value;
}

__device__ __forceinline__ void store_entry(const gik_flow_vectors &v, gable_idx i, int r, double value)
{
  const gable_off k = i * v.row + r * v.column;
  if (v.scale) value *= v.scale[i];
  if (v.type == GABLE_TYPE_S)
    ((float *)v.data)[k] = (float)value;
  else
    ((double *)v.data)[k] = value;
}

/* Fetch 2: the operator of a task into L2, by the lanes of the fetching warp: rows as they lie in memory, whole or cut
 * to a strip's inputs; of a transposed operator the eight values that a strip takes of each row. */
template <typename T> __device__ void prefetch_operator(const gik_cluster_flow &p, const unsigned char *record)
{
  const gik_flow_task *t = (const gik_flow_task *)record;
  const gik_flow_strip *strip = (const gik_flow_strip *)(record + t->strip);
  const int lane = threadIdx.x % 32;
  for (int e = lane; e < t->strips * GIK_FLOW_STRIP; e += 32) {
    const gik_flow_strip &s = strip[e / GIK_FLOW_STRIP];
    const int row = e % GIK_FLOW_STRIP;
    if (s.step_in == 1 && row < s.rows)
      gik::prefetch_bulk((const T *)p.values[s.side] + s.at + (gable_off)row * s.step_out, s.inputs * sizeof(T));
  }
  for (int k = 0; k < t->strips; k++) {
    const gik_flow_strip &s = strip[k];
    if (s.step_in == 1) continue;
    const T *m = (const T *)p.values[s.side] + s.at;
    for (int i = lane; i < s.inputs; i += 32) gik::prefetch_line(m + (gable_off)i * s.step_in);
  }
}

/* A ticket is taken when a buffer is free, so a block holds RECORDS tasks at most; operators are fetched one task
 * later, when the record is there. */
template <typename T> __device__ void fetch(const gik_cluster_flow &p, unsigned char *records, control_block *shared)
{
  const int lane = threadIdx.x % 32;
  for (unsigned k = 0;; k++) {
    const unsigned buffer = k % RECORDS, last = (k + RECORDS - 1) % RECORDS;
    const unsigned full = gik::shared_address(&shared->full[buffer]);
    int more = 0;
    if (k >= RECORDS) gik::barrier_wait(gik::shared_address(&shared->empty[buffer]), (k / RECORDS - 1) & 1);
    if (!lane) {
      const unsigned ticket = p.skip + atomicAdd(&p.control->ticket, 1u);
      more = ticket < (unsigned)p.tasks;
      if (more) {
        const gable_off at = p.task_at[ticket], end = p.task_at[ticket + 1];
        gik::copy_bulk(gik::shared_address(records + (size_t)buffer * p.record_bytes), p.stream + at,
                       (unsigned)(end - at), full);
      } else {
        shared->last[buffer] = 1;
        gik::barrier_arrive(full);
      }
    }
    more = __shfl_sync(gik::ALL, more, 0);
    if (k) {
      gik::barrier_wait(gik::shared_address(&shared->full[last]), ((k - 1) / RECORDS) & 1);
      prefetch_operator<T>(p, records + (size_t)last * p.record_bytes);
    }
    if (!more) return;
  }
}

/* Compute 2.  Sums of gathered terms, C of a list at once, N right-hand sides a thread. */
template <int R> struct gatherer {
  static constexpr int N = R == 16 ? 2 : 1;
  static constexpr int LANES = R / N, GROUPS = COMPUTE / LANES, LISTS = R == 16 ? 2 : 1, C = R == 16 ? 2 : 4;

  const gik_cluster_flow &p;
  const double *own; /* the copy of the board in use, at this thread's first right-hand side */
  gik::patience patience;
  int r;
  gable_idx cluster;

  __device__ __forceinline__ void load(gable_idx id, double v[N])
  {
    const double *at = own + (gable_off)id * R;
    if (N == 2)
      asm volatile("ld.relaxed.gpu.global.v2.f64 {%0,%1}, [%2];" : "=d"(v[0]), "=d"(v[N - 1]) : "l"(at) : "memory");
    else
      v[0] = gik::load_relaxed(at);
  }

  __device__ __forceinline__ bool missing(const double v[N])
  {
    return gik::not_yet(v[0]) || (N == 2 && gik::not_yet(v[N - 1]));
  }

  /* Asks for all places that are still empty together; those with id < 0 are none. */
  template <int M> __device__ __forceinline__ void wait(const gable_idx (&id)[M], double (&v)[M][N])
  {
    for (;;) {
      bool again = false;
#pragma unroll
      for (int k = 0; k < M; k++) again |= id[k] >= 0 && missing(v[k]);
      if (!again || patience.lost(p.control, p.deadline_ns, cluster)) return;
#pragma unroll
      for (int k = 0; k < M; k++)
        if (id[k] >= 0 && missing(v[k])) load(id[k], v[k]);
    }
  }

  /* Lists q, q + GROUPS, ... of LISTS into sum. */
  __device__ __forceinline__ void terms(const unsigned short *ptr, const gable_idx *term, int q, int count,
                                        double sum[LISTS][N])
  {
    int at[LISTS], end[LISTS];
    bool more = false;
#pragma unroll
    for (int u = 0; u < LISTS; u++) {
      const bool there = q + u * GROUPS < count;
      at[u] = there ? ptr[q + u * GROUPS] : 0;
      end[u] = there ? ptr[q + u * GROUPS + 1] : 0;
      more |= at[u] < end[u];
#pragma unroll
      for (int n = 0; n < N; n++) sum[u][n] = 0;
    }
    while (more) {
      gable_idx id[LISTS * C];
      double v[LISTS * C][N];
      more = false;
#pragma unroll
      for (int u = 0; u < LISTS; u++)
#pragma unroll
        for (int c = 0; c < C; c++) {
          const bool there = at[u] + c < end[u];
          id[u * C + c] = there ? term[at[u] + c] : 0;
#pragma unroll
          for (int n = 0; n < N; n++) v[u * C + c][n] = 0;
          if (there && id[u * C + c] >= 0) load(id[u * C + c], v[u * C + c]);
          if (there && id[u * C + c] < 0)
#pragma unroll
            for (int n = 0; n < N; n++)
              if (r + n < p.count) v[u * C + c][n] = load_entry(p.b, ~id[u * C + c], r + n);
        }
      wait(id, v);
#pragma unroll
      for (int u = 0; u < LISTS; u++) {
#pragma unroll
        for (int c = 0; c < C; c++)
#pragma unroll
          for (int n = 0; n < N; n++) sum[u][n] += v[u * C + c][n];
        at[u] += C;
        more |= at[u] < end[u];
      }
    }
  }

  /* Products of list q, C at a time; coefficients that are zero stand for no product. */
  __device__ __forceinline__ void products(const unsigned short *ptr, const gable_idx *product, int q, double sum[N])
  {
    const int end = ptr[q + 1];
    for (int k = ptr[q]; k < end; k += C) {
      gable_idx id[C];
      double a[C], v[C][N];
#pragma unroll
      for (int c = 0; c < C; c++) {
        const bool there = k + c < end;
        id[c] = there ? product[2 * (k + c) + 1] : -1;
        a[c] = there ? p.coefficient[product[2 * (k + c)]] : 0;
        if (there) load(id[c], v[c]);
      }
#pragma unroll
      for (int c = 0; c < C; c++)
        if (a[c] == 0) id[c] = -1;
      wait(id, v);
#pragma unroll
      for (int c = 0; c < C; c++)
#pragma unroll
        for (int n = 0; n < N; n++)
          if (a[c] != 0) sum[n] += a[c] * v[c][n];
    }
  }
};

template <int R>
__device__ void gather(const gik_cluster_flow &p, const double *own, const unsigned char *record, double *v,
                       double *add)
{
  typedef gatherer<R> G;
  const gik_flow_task *t = (const gik_flow_task *)record;
  const int group = threadIdx.x / G::LANES, r = threadIdx.x % G::LANES * G::N;
  const int inputs = t->add < 0 ? t->sums : t->add;
  G g = {p, own + r, {}, r, t->cluster};
  for (int base = group; base < t->sums; base += G::GROUPS * G::LISTS) {
    double sum[G::LISTS][G::N];
    g.terms((const unsigned short *)(record + t->ptr), (const gable_idx *)(record + t->term), base, t->sums, sum);
#pragma unroll
    for (int u = 0; u < G::LISTS; u++) {
      const int q = base + u * G::GROUPS;
      if (q >= t->sums) break;
      if (t->product_ptr)
        g.products((const unsigned short *)(record + t->product_ptr), (const gable_idx *)(record + t->product), q,
                   sum[u]);
      double *to = q < inputs ? v + q * shape<R>::PITCH + r : add + (q - inputs) * R + r;
#pragma unroll
      for (int n = 0; n < G::N; n++) to[n] = sum[u][n];
    }
  }
}

/* A warp's way over its strips, CHUNK inputs at a time. */
struct cursor {
  const gik_flow_strip *strip;
  int s, strips, begin; /* first input of the chunk */

  __device__ __forceinline__ bool there() const { return s < strips; }
  __device__ __forceinline__ int left() const { return strip[s].inputs - begin; }
  __device__ __forceinline__ bool ends() const { return left() <= CHUNK; }
  __device__ __forceinline__ cursor next() const
  {
    cursor n = *this;
    n.begin += CHUNK;
    if (ends()) {
      n.s += WARPS;
      n.begin = 0;
    }
    return n;
  }
};

/* Where this lane's values of a chunk lie. */
template <typename T> struct lane_values {
  const T *at;
  gable_off step;
  int left; /* inputs from this lane's first one; <= 0: none */

  __device__ __forceinline__ lane_values(const gik_cluster_flow &p, const cursor &c)
  {
    const int row = threadIdx.x % 32 / 4, k = threadIdx.x % 4;
    left = 0;
    at = NULL;
    step = 0;
    if (!c.there()) return;
    const gik_flow_strip &s = c.strip[c.s];
    at = (const T *)p.values[s.side] + s.at + (gable_off)row * s.step_out + (gable_off)(c.begin + k) * s.step_in;
    step = (gable_off)s.step_in * GIK_FLOW_STEP;
    left = row < s.rows ? s.inputs - c.begin - k : 0;
  }
  __device__ __forceinline__ T load(int j) const { return j * GIK_FLOW_STEP < left ? load_value(at + j * step) : T(0); }
};

/* Compute 3. */
template <typename T, int R>
__device__ __forceinline__ void multiply_strips(const gik_cluster_flow &p, cursor c, T a[AHEAD], const double *v,
                                                double *sums)
{
  constexpr int HALVES = shape<R>::HALVES, PITCH = shape<R>::PITCH;
  const int lane = threadIdx.x % 32, k = lane % 4, n = R == 1 ? 0 : lane / 4 % R;
  double acc[HALVES][2][2] = {};
  while (c.there()) {
    const cursor next = c.next();
    const lane_values<T> more(p, next);
    const int left = c.left();
    const double *in = v + (c.strip[c.s].first + c.begin + k) * PITCH + n;
#pragma unroll
    for (int group = 0; group < AHEAD; group += GROUP) {
      if (group * GIK_FLOW_STEP < left) {
        double b[GROUP][HALVES];
#pragma unroll
        for (int j = 0; j < GROUP; j++)
#pragma unroll
          for (int h = 0; h < HALVES; h++) b[j][h] = in[(group + j) * GIK_FLOW_STEP * PITCH + h * 8];
#pragma unroll
        for (int j = 0; j < GROUP; j++)
#pragma unroll
          for (int h = 0; h < HALVES; h++) multiply(acc[h][j % 2], (double)a[group + j], b[j][h]);
      }
#pragma unroll
      for (int j = 0; j < GROUP; j++) a[group + j] = more.load(group + j);
    }
    if (c.ends()) {
      double *to = sums + (c.s * GIK_FLOW_STRIP + lane / 4) * R;
#pragma unroll
      for (int h = 0; h < HALVES; h++)
#pragma unroll
        for (int e = 0; e < 2; e++) {
          const int column = h * 8 + 2 * k + e;
          if (column < R) to[column] = acc[h][0][e] + acc[h][1][e];
          acc[h][0][e] = acc[h][1][e] = 0;
        }
    }
    c = next;
  }
}

/* Compute 4. */
template <int R>
__device__ void finish(const gik_cluster_flow &p, double *own, double *next, const unsigned char *record,
                       const double *add, const double *sums)
{
  const gik_flow_task *t = (const gik_flow_task *)record;
  const gik_flow_out *out = (const gik_flow_out *)(record + t->out);
  const int parts = t->strips ? t->parts : 0;
  for (int e = threadIdx.x; e < t->outputs * R; e += COMPUTE) {
    const int o = e / R, r = e % R;
    const gik_flow_out to = out[o];
    double sum = 0;
    if (to.id < 0) continue;
    for (int part = 0; part < parts; part++)
      sum += sums[((o / GIK_FLOW_STRIP * parts + part) * GIK_FLOW_STRIP + o % GIK_FLOW_STRIP) * R + r];
    if (t->add >= 0) sum += add[o * R + r];
    gik::store_relaxed(own + (gable_off)to.id * R + r, sum);
    gik::store_not_yet(next + (gable_off)to.id * R + r);
    if (to.x >= 0 && r < p.count) store_entry(p.x, to.x, r, sum);
  }
}

template <typename T, int R>
__device__ void compute(const gik_cluster_flow &p, const room<R> &shared, control_block *control)
{
  const gable_off size = p.places * R;
  const unsigned parity = *(volatile unsigned *)&p.control->parity[0] & 1;
  double *own = p.board + (parity ? size : 0), *next = p.board + (parity ? 0 : size);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (unsigned k = 0;; k++) {
    const unsigned buffer = k % RECORDS;
    gik::barrier_wait(gik::shared_address(&control->full[buffer]), (k / RECORDS) & 1);
    if (control->last[buffer]) return;
    const unsigned char *record = shared.record + (size_t)buffer * p.record_bytes;
    const gik_flow_task *t = (const gik_flow_task *)record;
    const cursor c = {(const gik_flow_strip *)(record + t->strip), warp, t->strips, 0};
    double *add = shared.add + (k & 1) * shape<R>::ADD;
    const lane_values<T> first(p, c);
    T a[AHEAD];
#pragma unroll
    for (int j = 0; j < AHEAD; j++) a[j] = first.load(j);
    gather<R>(p, own, record, shared.v, add);
    compute_barrier();
    multiply_strips<T, R>(p, c, a, shared.v, shared.sum);
    compute_barrier();
    finish<R>(p, own, next, record, add, shared.sum);
    __syncwarp();
    if (!lane) gik::barrier_arrive(gik::shared_address(&control->empty[buffer]));
  }
}

template <typename T, int R>
__global__ void __launch_bounds__(THREADS, shape<R>::BLOCKS) flow_kernel(const gik_cluster_flow p)
{
  extern __shared__ __align__(128) unsigned char bytes[];
  __shared__ control_block control;
  double *const numbers = (double *)bytes;
  const room<R> shared = {numbers, numbers + shape<R>::V, numbers + shape<R>::V + 2 * shape<R>::ADD,
                          bytes + shape<R>::BYTES};
  if (!threadIdx.x) {
    for (int b = 0; b < RECORDS; b++) {
      gik::barrier_init(gik::shared_address(&control.full[b]), 1);
      gik::barrier_init(gik::shared_address(&control.empty[b]), WARPS);
      control.last[b] = 0;
    }
    gik::barrier_init_fence();
  }
  __syncthreads();
  if (threadIdx.x < COMPUTE)
    compute<T, R>(p, shared, &control);
  else
    fetch<T>(p, shared.record, &control);
  gik::leave(p.control, 1);
}

__global__ void clear_kernel(double *board, gable_off count)
{
  const gable_off e = (gable_off)blockIdx.x * blockDim.x + threadIdx.x;
  if (e < count) gik::store_not_yet(board + e);
}

template <int R> size_t shared_bytes(const gik_cluster_flow *p)
{
  return shape<R>::BYTES + (size_t)RECORDS * (size_t)p->record_bytes;
}

/* As many blocks as the GPU holds at once, or as there are tasks.  The limit on shared memory is the function's, not
 * the launch's: all solves get the most there is. */
template <typename T, int R> cudaError_t count_blocks(const gik_cluster_flow *p, gable_idx *out)
{
  cudaFuncAttributes kernel;
  int device = 0, processors = 0, most_shared = 0, each = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (!error) error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  if (!error) error = cudaDeviceGetAttribute(&most_shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  if (!error) error = cudaFuncGetAttributes(&kernel, flow_kernel<T, R>);
  if (!error)
    error = gik::undisturbed([&] {
      return cudaFuncSetAttribute(flow_kernel<T, R>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  most_shared - (int)kernel.sharedSizeBytes);
    });
  if (!error)
    error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, flow_kernel<T, R>, THREADS, shared_bytes<R>(p));
  const gable_idx most = (gable_idx)((each < 1 ? 1 : each) * processors);
  *out = p->tasks < most ? p->tasks : most;
  return error;
}

template <typename T> cudaError_t count_width(const gik_cluster_flow *p, gable_idx *out)
{
  return p->rhs == 1   ? count_blocks<T, 1>(p, out)
         : p->rhs == 4 ? count_blocks<T, 4>(p, out)
                       : count_blocks<T, 16>(p, out);
}

gable_status prepare(gable_context *ctx, const gik_cluster_flow *p, gable_idx *blocks)
{
  (void)ctx;
  return gik::checked(p->type == GABLE_TYPE_S ? count_width<float>(p, blocks) : count_width<double>(p, blocks),
                      "thread blocks of a solve");
}

template <typename T> void launch_width(const gik_cluster_flow *p, gik::launches *on)
{
  const unsigned blocks = (unsigned)p->blocks;
  if (p->rhs == 1)
    on->launch(flow_kernel<T, 1>, blocks, THREADS, shared_bytes<1>(p), *p);
  else if (p->rhs == 4)
    on->launch(flow_kernel<T, 4>, blocks, THREADS, shared_bytes<4>(p), *p);
  else
    on->launch(flow_kernel<T, 16>, blocks, THREADS, shared_bytes<16>(p), *p);
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
  gik::launches on(stream);
  (void)ctx;
  if (!count) return GABLE_OK;
  on.launch(clear_kernel, (unsigned)((count + COMPUTE - 1) / COMPUTE), COMPUTE, 0, board, count);
  return on.status("board of a solve");
}

} /* namespace */

extern "C" const gik_cluster_flows gik_cluster_flows_cuda = {prepare, solve, clear};
