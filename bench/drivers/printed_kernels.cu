/* printed_kernels.cu: the kernels as their papers describe them, beside the library's methods of the same names.
 *
 *   printed_kernels OUT.json SOURCE ...     SOURCE: a file, or laplacian5:2048x2048
 *
 * LEVR, LEVC, ELMR, ELMC: R. Li and C. Zhang (SIAM PP 2020), section 5.1; GSF: W. Liu et al. (Euro-Par 2016), with its
 * counters in global memory.  A thread block is 512 threads as in the first paper, 1024 for GSF: every multiprocessor
 * is full.  Warp k of the grid solves row k of the order, and the kernels trust blocks to start in that order.  Ready
 * flags, counters and sums are cleared on the stream before each solve, within the time (kernel_s: without it).  Lower
 * triangles, double, one right-hand side; median of up to 9 solves, the last one held against its error bound. */
#include <algorithm>
#include <vector>

#include <cuda_runtime.h>

#include "matrices.h"

enum { LEVEL_BLOCK = 512, ELEMENT_BLOCK = 512, GSF_BLOCK = 1024, REPEATS = 9 };
static const double enough_s = 1.0;
static const unsigned ALL = 0xffffffffu;

#define NEED(call)                                                                                                     \
  do {                                                                                                                 \
    const cudaError_t error_ = (call);                                                                                 \
    if (error_) {                                                                                                      \
      fprintf(stderr, "printed_kernels: %s: %s\n", #call, cudaGetErrorString(error_));                                 \
      exit(1);                                                                                                         \
    }                                                                                                                  \
  } while (0)

/* A strict lower triangle by rows or by columns, its diagonal and an order by levels, in device memory. */
struct triangle {
  int n;
  const int *ptr, *idx, *order;
  const double *val, *d;
};

/* K threads a row.  First and end of the rows of a level. */
template <int K>
static __device__ void levr_row(const triangle &t, const double *f, double *x, int first, int end, int group)
{
  const int lane = threadIdx.x & (K - 1);
  int p = 0, i = -1;
  double sum = 0;
  if (group + first < end && lane < 2) {
    i = t.order[group + first];
    p = t.ptr[i + lane];
  }
  const int last = __shfl_sync(ALL, p, 1, K);
  p = __shfl_sync(ALL, p, 0, K);
  for (p += lane; p < last; p += K) sum += t.val[p] * x[t.idx[p]];
  for (int step = K / 2; step > 0; step /= 2) sum += __shfl_down_sync(ALL, sum, step);
  if (i >= 0 && lane == 0) x[i] = (f[i] - sum) / t.d[i];
}

template <int K> static __device__ void levc_column(const triangle &t, double *x, int first, int end, int group)
{
  const int lane = threadIdx.x & (K - 1);
  int p = 0;
  double value = 0;
  if (group + first < end && lane < 2) {
    const int i = t.order[group + first];
    p = t.ptr[i + lane];
    if (lane == 0) x[i] = value = x[i] / t.d[i];
  }
  const int last = __shfl_sync(ALL, p, 1, K);
  p = __shfl_sync(ALL, p, 0, K);
  value = __shfl_sync(ALL, value, 0, K);
  for (p += lane; p < last; p += K) atomicAdd(&x[t.idx[p]], -value * t.val[p]);
}

template <int K> static __global__ void levr(triangle t, const double *f, double *x, int first, int end)
{
  levr_row<K>(t, f, x, first, end, (int)((blockIdx.x * blockDim.x + threadIdx.x) / K));
}

template <int K> static __global__ void levc(triangle t, double *x, int first, int end)
{
  levc_column<K>(t, x, first, end, (int)((blockIdx.x * blockDim.x + threadIdx.x) / K));
}

/* Levels that fit one block, one after another with a barrier between two; level: where each begins in the order. */
template <int K> static __global__ void levr_chain(triangle t, const double *f, double *x, const int *level, int count)
{
  for (int k = 0; k < count; k++) {
    levr_row<K>(t, f, x, level[k], level[k + 1], (int)threadIdx.x / K);
    __syncthreads();
  }
}

template <int K> static __global__ void levc_chain(triangle t, double *x, const int *level, int count)
{
  for (int k = 0; k < count; k++) {
    levc_column<K>(t, x, level[k], level[k + 1], (int)threadIdx.x / K);
    __syncthreads();
  }
}

static __global__ void elmr(triangle t, const double *f, volatile double *x, volatile char *ready)
{
  const int warp = (int)((blockIdx.x * blockDim.x + threadIdx.x) / 32), lane = threadIdx.x & 31;
  if (warp >= t.n) return;
  int p = 0, i = -1;
  double sum = 0, diagonal = 1;
  if (lane < 2) {
    i = t.order[warp];
    p = t.ptr[i + lane];
  }
  const int last = __shfl_sync(ALL, p, 1);
  p = __shfl_sync(ALL, p, 0);
  if (lane == 0) {
    sum = f[i];
    diagonal = t.d[i];
  }
  for (p += lane; p < last; p += 32) {
    while (ready[t.idx[p]] == 0) {
    }
    sum -= t.val[p] * x[t.idx[p]];
  }
  __syncwarp();
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(ALL, sum, step);
  if (lane == 0) {
    x[i] = sum / diagonal;
    __threadfence();
    ready[i] = 1;
  }
}

static __global__ void elmc(triangle t, double *x, int *count)
{
  const int warp = (int)((blockIdx.x * blockDim.x + threadIdx.x) / 32), lane = threadIdx.x & 31;
  if (warp >= t.n) return;
  int p = 0, i = 0;
  double value = 0;
  if (lane < 2) {
    i = t.order[warp];
    p = t.ptr[i + lane];
  }
  const int last = __shfl_sync(ALL, p, 1);
  p = __shfl_sync(ALL, p, 0);
  if (lane == 0) {
    volatile double *place = x;
    value = 1.0 / t.d[i];
    while (((volatile int *)count)[i] != 0) {
    }
    place[i] = value = place[i] * value;
  }
  value = __shfl_sync(ALL, value, 0);
  for (p += lane; p < last; p += 32) {
    atomicAdd(&x[t.idx[p]], -value * t.val[p]);
    __threadfence();
    atomicSub(&count[t.idx[p]], 1);
  }
}

/* Warp i solves x_i in the matrix's own order; all of its lanes poll. */
static __global__ void gsf(triangle t, const double *f, double *x, double *sum, int *count)
{
  const int i = (int)((blockIdx.x * blockDim.x + threadIdx.x) / 32), lane = threadIdx.x & 31;
  if (i >= t.n) return;
  const int first = t.ptr[i], last = t.ptr[i + 1];
  while (((volatile int *)count)[i] != 0) {
  }
  const double value = (f[i] - ((volatile double *)sum)[i]) / t.d[i];
  for (int p = first + lane; p < last; p += 32) {
    atomicAdd(&sum[t.idx[p]], value * t.val[p]);
    __threadfence();
    atomicSub(&count[t.idx[p]], 1);
  }
  if (lane == 0) x[i] = value;
}

template <typename T> static T *on_device(const std::vector<T> &host)
{
  T *p = nullptr;
  NEED(cudaMalloc(&p, (host.size() + 1) * sizeof(T)));
  NEED(cudaMemcpy(p, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
  return p;
}

/* The triangle twice, by rows and by columns, and scratch memory of the kernels. */
struct problem {
  const bench_rows *rows;
  triangle by_rows, by_columns;
  std::vector<int> level; /* where each begins in the order, and the end */
  int *device_level, *first_count, *count;
  char *ready;
  double *f, *x, *sum;
  std::vector<double> b;
  std::vector<void *> owned;
  cudaStream_t stream;
};

static void levels_of(const bench_rows &r, std::vector<int> *order, std::vector<int> *begin)
{
  std::vector<int> level(r.n);
  begin->assign((size_t)r.levels + 1, 0);
  for (int i = 0; i < r.n; i++) {
    for (int p = r.ptr[i]; p < r.ptr[i + 1] - 1; p++) level[i] = std::max(level[i], level[r.idx[p]] + 1);
    (*begin)[(size_t)level[i] + 1]++;
  }
  for (int k = 0; k < r.levels; k++) (*begin)[(size_t)k + 1] += (*begin)[k];
  std::vector<int> next(*begin);
  order->resize((size_t)r.n);
  for (int i = 0; i < r.n; i++) (*order)[(size_t)next[level[i]]++] = i;
}

static problem open_problem(const bench_rows &r)
{
  problem s{};
  std::vector<int> ptr(r.n + 1), idx, order, column(r.n + 1), row, count(r.n);
  std::vector<double> val, d(r.n), column_val;
  for (int i = 0; i < r.n; i++) { /* the diagonal entry is the last one of its row */
    ptr[i + 1] = ptr[i] + r.ptr[i + 1] - 1 - r.ptr[i];
    count[i] = ptr[i + 1] - ptr[i];
    d[i] = r.val[r.ptr[i + 1] - 1];
    idx.insert(idx.end(), r.idx + r.ptr[i], r.idx + r.ptr[i + 1] - 1);
    val.insert(val.end(), r.val + r.ptr[i], r.val + r.ptr[i + 1] - 1);
  }
  for (int j : idx) column[j + 1]++;
  for (int j = 0; j < r.n; j++) column[j + 1] += column[j];
  std::vector<int> next(column);
  row.resize(idx.size());
  column_val.resize(idx.size());
  for (int i = 0; i < r.n; i++)
    for (int p = ptr[i]; p < ptr[i + 1]; p++) {
      const int at = next[idx[p]]++;
      row[at] = i;
      column_val[at] = val[p];
    }
  levels_of(r, &order, &s.level);
  s.rows = &r;
  s.b.resize(r.n);
  unsigned long long state = 1;
  for (double &v : s.b) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    v = (double)(int)(state >> 32) * 0x1p-31;
  }
  const int *device_order = on_device(order);
  const double *device_d = on_device(d);
  s.by_rows = {r.n, on_device(ptr), on_device(idx), device_order, on_device(val), device_d};
  s.by_columns = {r.n, on_device(column), on_device(row), device_order, on_device(column_val), device_d};
  s.device_level = on_device(s.level);
  s.first_count = on_device(count);
  s.count = on_device(count);
  s.ready = on_device(std::vector<char>((size_t)r.n));
  s.f = on_device(s.b);
  s.x = on_device(s.b);
  s.sum = on_device(s.b);
  for (const void *p : {(const void *)s.by_rows.ptr, (const void *)s.by_rows.idx, (const void *)s.by_rows.val,
                        (const void *)device_order, (const void *)device_d, (const void *)s.by_columns.ptr,
                        (const void *)s.by_columns.idx, (const void *)s.by_columns.val, (const void *)s.device_level,
                        (const void *)s.first_count, (const void *)s.count, (const void *)s.ready, (const void *)s.f,
                        (const void *)s.x, (const void *)s.sum})
    s.owned.push_back(const_cast<void *>(p));
  NEED(cudaStreamCreateWithFlags(&s.stream, cudaStreamNonBlocking));
  return s;
}

static unsigned blocks_of(long long threads, int block)
{
  return (unsigned)((threads + block - 1) / block);
}

/* All levels: those that fit a block in chains, a launch for each other one. */
template <int K> static void by_levels(const problem &s, bool rows)
{
  const int count = (int)s.level.size() - 1, room = LEVEL_BLOCK / K;
  for (int k = 0; k < count;) {
    int chain = k;
    while (chain < count && s.level[chain + 1] - s.level[chain] <= room) chain++;
    if (chain > k) {
      if (rows)
        levr_chain<K><<<1, LEVEL_BLOCK, 0, s.stream>>>(s.by_rows, s.f, s.x, s.device_level + k, chain - k);
      else
        levc_chain<K><<<1, LEVEL_BLOCK, 0, s.stream>>>(s.by_columns, s.x, s.device_level + k, chain - k);
      k = chain;
      continue;
    }
    const unsigned blocks = blocks_of((long long)(s.level[k + 1] - s.level[k]) * K, LEVEL_BLOCK);
    if (rows)
      levr<K><<<blocks, LEVEL_BLOCK, 0, s.stream>>>(s.by_rows, s.f, s.x, s.level[k], s.level[k + 1]);
    else
      levc<K><<<blocks, LEVEL_BLOCK, 0, s.stream>>>(s.by_columns, s.x, s.level[k], s.level[k + 1]);
    k++;
  }
}

/* The least power of two from 2 to 32 that is at least the entries of a row in the mean. */
static void by_levels(const problem &s, bool rows)
{
  const double mean = (double)(s.rows->nnz - s.rows->n) / s.rows->n;
  if (mean <= 2)
    by_levels<2>(s, rows);
  else if (mean <= 4)
    by_levels<4>(s, rows);
  else if (mean <= 8)
    by_levels<8>(s, rows);
  else if (mean <= 16)
    by_levels<16>(s, rows);
  else
    by_levels<32>(s, rows);
}

static void clear(const problem &s, int method)
{
  const size_t n = (size_t)s.rows->n;
  if (method == 1 || method == 3)
    NEED(cudaMemcpyAsync(s.x, s.f, n * sizeof(double), cudaMemcpyDeviceToDevice, s.stream));
  if (method == 2) NEED(cudaMemsetAsync(s.ready, 0, n, s.stream));
  if (method >= 3) NEED(cudaMemcpyAsync(s.count, s.first_count, n * sizeof(int), cudaMemcpyDeviceToDevice, s.stream));
  if (method == 4) NEED(cudaMemsetAsync(s.sum, 0, n * sizeof(double), s.stream));
}

static void launch(const problem &s, int method)
{
  const long long threads = 32LL * s.rows->n;
  if (method < 2)
    by_levels(s, method == 0);
  else if (method == 2)
    elmr<<<blocks_of(threads, ELEMENT_BLOCK), ELEMENT_BLOCK, 0, s.stream>>>(s.by_rows, s.f, s.x, s.ready);
  else if (method == 3)
    elmc<<<blocks_of(threads, ELEMENT_BLOCK), ELEMENT_BLOCK, 0, s.stream>>>(s.by_columns, s.x, s.count);
  else
    gsf<<<blocks_of(threads, GSF_BLOCK), GSF_BLOCK, 0, s.stream>>>(s.by_columns, s.f, s.x, s.sum, s.count);
  NEED(cudaGetLastError());
}

static void measure(const problem &s, const char *name, int method, FILE *out)
{
  static const char *const methods[] = {"levr", "levc", "elmr", "elmc", "gsf"};
  double with[REPEATS + 1], kernel[REPEATS + 1], total = 0;
  std::vector<double> x(s.b.size());
  cudaEvent_t event[3];
  int done = 0;
  for (cudaEvent_t &e : event) NEED(cudaEventCreate(&e));
  while (done <= REPEATS && (done < 3 || total < enough_s)) {
    float all = 0, alone = 0;
    NEED(cudaMemsetAsync(s.x, 0xff, x.size() * sizeof(double), s.stream));
    NEED(cudaEventRecord(event[0], s.stream));
    clear(s, method);
    NEED(cudaEventRecord(event[1], s.stream));
    launch(s, method);
    NEED(cudaEventRecord(event[2], s.stream));
    NEED(cudaEventSynchronize(event[2]));
    NEED(cudaEventElapsedTime(&all, event[0], event[2]));
    NEED(cudaEventElapsedTime(&alone, event[1], event[2]));
    with[done] = 1e-3 * all;
    kernel[done++] = 1e-3 * alone;
    total += 1e-3 * all;
  }
  for (cudaEvent_t &e : event) NEED(cudaEventDestroy(e));
  NEED(cudaMemcpy(x.data(), s.x, x.size() * sizeof(double), cudaMemcpyDeviceToHost));
  gable_vectors_view b = GABLE_VECTORS_VIEW_INIT, v = GABLE_VECTORS_VIEW_INIT;
  b.n = b.ld = v.n = v.ld = s.rows->n;
  b.data = const_cast<double *>(s.b.data());
  v.data = x.data();
  const double error = bench_rows_ratio(s.rows, &b, &v, 16);
  const quartiles time = stopwatch_quartiles(with + 1, done - 1), alone = stopwatch_quartiles(kernel + 1, done - 1);
  printf("%-28s %-5s as printed %9.4f ms, kernel %9.4f ms, error over bound %.2g\n", name, methods[method],
         1e3 * time.median, 1e3 * alone.median, error);
  fflush(stdout);
  fprintf(
      out,
      "{\"matrix\":\"%s\",\"uplo\":\"lower\",\"op\":\"n\",\"type\":\"d\",\"rhs\":1,\"method\":\"%s\",\"printed\":true,"
      "\"n\":%d,\"nnz\":%lld,\"levels\":%d,\"solve_s\":%.6g,\"kernel_s\":%.6g,\"max_error_bound_ratio\":",
      name, methods[method], s.rows->n, (long long)s.rows->nnz, s.rows->levels, time.median, alone.median);
  fprintf(out, error <= 1 ? "%.6g" : "null", error);
  end_line(out);
  if (!(error <= 1)) exit(1);
}

int main(int argc, char **argv)
{
  gable_context *host = nullptr;
  FILE *out = argc > 2 ? fopen(argv[1], "a") : nullptr;
  if (!out || gable_context_create("cpu", nullptr, &host)) {
    fprintf(stderr, "usage: printed_kernels OUT.json SOURCE ...\n");
    return 2;
  }
  for (int k = 2; k < argc; k++) {
    bench_matrix m;
    if (!open_matrix(host, argv[k], &m)) continue;
    problem s = open_problem(m.part[0]);
    for (int method = 0; method < 5; method++) measure(s, m.name, method, out);
    for (void *p : s.owned) NEED(cudaFree(p));
    NEED(cudaStreamDestroy(s.stream));
    bench_matrix_close(&m);
  }
  gable_context_destroy(&host);
  return fclose(out) ? 1 : 0;
}
