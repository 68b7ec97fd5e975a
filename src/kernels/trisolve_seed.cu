/* trisolve_seed.cu: LEVR, LEVC, ELMR and ELMC of Li and Zhang (SIAM PP 2020, section 5.1), and GSF of Liu et al.
 *
 * The kernels are those printed there.  What differs: warps take their rows by ticket instead of trusting the order in
 * which blocks start, waits end at a deadline, and several right-hand sides are solved one after another. */
#include "kernels/cuda_status.cuh"
#include "kernels/device_wait.cuh"

namespace gik
{

enum { SEED_BLOCK = 512 };

template <typename T> struct seed_arguments {
  int n, reverse;
  const unsigned *ptr, *index, *order;
  const T *val, *diagonal, *b;
  T *x;
  ptrdiff_t b_row, x_row;
  volatile unsigned char *ready; /* [n] elmr */
  int *count;                    /* [n] elmc */
  gik_control *control;
  unsigned long long deadline_ns;

  __device__ __forceinline__ ptrdiff_t natural(unsigned k) const { return reverse ? n - 1 - (ptrdiff_t)k : k; }
  __device__ __forceinline__ T *at(unsigned k) const { return x + natural(k) * x_row; }
};

/* x_i for rows l1 <= place < l2 of order, K threads a row. */
template <typename T, int K>
static __device__ __forceinline__ void level_rows(const seed_arguments<T> &g, unsigned group, unsigned groups,
                                                  unsigned l1, unsigned l2)
{
  const int lane = threadIdx.x % K;
  for (unsigned p0 = l1 + group; __any_sync(ALL, p0 < l2); p0 += groups) {
    T sum = 0;
    unsigned i = 0;
    if (p0 < l2) {
      i = g.order[p0];
      for (unsigned p = g.ptr[i] + lane; p < g.ptr[i + 1]; p += K) sum += g.val[p] * *(volatile T *)g.at(g.index[p]);
    }
#pragma unroll
    for (int d = K / 2; d > 0; d >>= 1) sum += __shfl_down_sync(ALL, sum, d, K);
    if (p0 < l2 && lane == 0) *g.at(i) = (g.b[g.natural(i) * g.b_row] - sum) / g.diagonal[i];
  }
}

/* The same by columns: x holds b minus what lower levels have subtracted. */
template <typename T, int K>
static __device__ __forceinline__ void level_columns(const seed_arguments<T> &g, unsigned group, unsigned groups,
                                                     unsigned l1, unsigned l2)
{
  const int lane = threadIdx.x % K;
  for (unsigned p0 = l1 + group; __any_sync(ALL, p0 < l2); p0 += groups) {
    T t = 0;
    unsigned i = 0;
    if (p0 < l2) i = g.order[p0];
    if (p0 < l2 && lane == 0) {
      t = *(volatile T *)g.at(i) / g.diagonal[i];
      *g.at(i) = t;
    }
    t = __shfl_sync(ALL, t, 0, K);
    if (p0 < l2)
      for (unsigned p = g.ptr[i] + lane; p < g.ptr[i + 1]; p += K) atomicAdd(g.at(g.index[p]), -t * g.val[p]);
  }
}

template <typename T, int K, bool COLUMNS>
static __global__ void level_kernel(const seed_arguments<T> g, unsigned l1, unsigned l2)
{
  const unsigned group = (blockIdx.x * blockDim.x + threadIdx.x) / K, groups = gridDim.x * blockDim.x / K;
  if (COLUMNS)
    level_columns<T, K>(g, group, groups, l1, l2);
  else
    level_rows<T, K>(g, group, groups, l1, l2);
}

/* Several levels that fit one block, a barrier between two. */
template <typename T, int K, bool COLUMNS>
static __global__ void level_chain_kernel(const seed_arguments<T> g, const unsigned *start, int first, int last)
{
  for (int m = first; m < last; m++) {
    if (COLUMNS)
      level_columns<T, K>(g, threadIdx.x / K, blockDim.x / K, start[m], start[m + 1]);
    else
      level_rows<T, K>(g, threadIdx.x / K, blockDim.x / K, start[m], start[m + 1]);
    __threadfence();
    __syncthreads();
  }
}

/* A warp a row; ready[j] says that x_j is there. */
template <typename T> static __global__ void elmr_kernel(const seed_arguments<T> g)
{
  const int lane = threadIdx.x % 32;
  for (;;) {
    unsigned w = 0;
    if (!lane) w = atomicAdd(&g.control->ticket, 1u);
    w = __shfl_sync(ALL, w, 0);
    if (w >= (unsigned)g.n) break;
    const unsigned i = g.order[w], q = g.ptr[i + 1];
    patience patient;
    T sum = 0, diagonal = 1;
    if (!lane) {
      sum = g.b[g.natural(i) * g.b_row];
      diagonal = g.diagonal[i];
    }
    for (unsigned p = g.ptr[i] + lane; p < q; p += 32) {
      const unsigned j = g.index[p];
      while (!g.ready[j] && !patient.lost(g.control, g.deadline_ns, (int)g.natural(i))) {
      }
      __threadfence();
      sum -= g.val[p] * *(volatile T *)g.at(j);
    }
    __syncwarp();
#pragma unroll
    for (int d = 16; d > 0; d >>= 1) sum += __shfl_down_sync(ALL, sum, d);
    if (!lane) {
      *(volatile T *)g.at(i) = sum / diagonal;
      __threadfence();
      g.ready[i] = 1;
    }
  }
  leave(g.control, 0);
}

/* A warp a column; count[i] entries of row i are still to come.  Without an order: columns in index order (gsf). */
template <typename T> static __global__ void elmc_kernel(const seed_arguments<T> g)
{
  const int lane = threadIdx.x % 32;
  for (;;) {
    unsigned w = 0;
    if (!lane) w = atomicAdd(&g.control->ticket, 1u);
    w = __shfl_sync(ALL, w, 0);
    if (w >= (unsigned)g.n) break;
    const unsigned i = g.order ? g.order[w] : w, q = g.ptr[i + 1];
    T t = 0;
    if (!lane) {
      patience patient;
      while (*(volatile int *)(g.count + i) && !patient.lost(g.control, g.deadline_ns, (int)g.natural(i))) {
      }
      __threadfence();
      t = *(volatile T *)g.at(i) / g.diagonal[i];
      *g.at(i) = t;
    }
    t = __shfl_sync(ALL, t, 0);
    for (unsigned p = g.ptr[i] + lane; p < q; p += 32) {
      const unsigned j = g.index[p];
      atomicAdd(g.at(j), -t * g.val[p]);
      __threadfence();
      atomicSub(g.count + j, 1);
    }
  }
  leave(g.control, 0);
}

template <typename T> static __global__ void seed_copy_kernel(const seed_arguments<T> g)
{
  for (ptrdiff_t i = blockIdx.x * (ptrdiff_t)blockDim.x + threadIdx.x; i < g.n; i += (ptrdiff_t)gridDim.x * blockDim.x)
    g.x[i * g.x_row] = g.b[i * g.b_row];
}

template <typename T> static seed_arguments<T> seed_of(const gik_seed *m, gable_type type, const gik_solve *s, int rhs)
{
  seed_arguments<T> g = {};
  g.n = m->a.n;
  g.reverse = m->reverse;
  g.ptr = m->a.ptr;
  g.index = m->a.col;
  g.order = m->order;
  g.val = (const T *)m->val[type == GABLE_D];
  g.diagonal = (const T *)m->diagonal[type == GABLE_D];
  g.b = (const T *)s->v.b + rhs * s->v.b_rhs;
  g.x = (T *)s->v.x + rhs * s->v.x_rhs;
  g.b_row = s->v.b_row;
  g.x_row = s->v.x_row;
  g.ready = (volatile unsigned char *)s->published;
  g.count = (int *)s->published;
  g.control = s->control;
  g.deadline_ns = s->deadline_ns;
  return g;
}

/* Rows of a level that one block takes. */
static unsigned block_rows(const gik_seed *m)
{
  return SEED_BLOCK / (unsigned)m->lanes;
}

/* The end of the run of levels from m0 on that go in one launch. */
static int run_end(const gik_seed *m, int m0)
{
  int e = m0;
  while (e < m->levels && m->level[e + 1] - m->level[e] <= block_rows(m)) e++;
  return e > m0 ? e : m0 + 1;
}

template <typename T, int K, bool COLUMNS>
static void levels_run(const gik_seed *m, const seed_arguments<T> &g, const unsigned *start, cudaStream_t stream)
{
  for (int l = 0; l < m->levels;) {
    const int e = run_end(m, l);
    const unsigned rows = m->level[l + 1] - m->level[l];
    if (e > l + 1 || rows <= block_rows(m))
      level_chain_kernel<T, K, COLUMNS><<<1, SEED_BLOCK, 0, stream>>>(g, start, l, e);
    else
      level_kernel<T, K, COLUMNS>
          <<<(rows + block_rows(m) - 1) / block_rows(m), SEED_BLOCK, 0, stream>>>(g, m->level[l], m->level[l + 1]);
    l = e;
  }
}

template <typename T, bool COLUMNS> static void levels_solve(const gik_seed *m, gable_type type, const gik_solve *s)
{
  const unsigned *start = (const unsigned *)m->parents; /* for the level methods: ilev on the device */
  cudaStream_t stream = (cudaStream_t)s->stream;
  for (int rhs = 0; rhs < s->v.count; rhs++) {
    const seed_arguments<T> g = seed_of<T>(m, type, s, rhs);
    if (COLUMNS && s->v.b != s->v.x) seed_copy_kernel<<<4 * s->processors, 256, 0, stream>>>(g);
    switch (m->lanes) {
    case 2: levels_run<T, 2, COLUMNS>(m, g, start, stream); break;
    case 4: levels_run<T, 4, COLUMNS>(m, g, start, stream); break;
    case 8: levels_run<T, 8, COLUMNS>(m, g, start, stream); break;
    case 16: levels_run<T, 16, COLUMNS>(m, g, start, stream); break;
    default: levels_run<T, 32, COLUMNS>(m, g, start, stream);
    }
  }
}

template <typename T, bool COLUMNS> static void elements_solve(const gik_seed *m, gable_type type, const gik_solve *s)
{
  cudaStream_t stream = (cudaStream_t)s->stream;
  for (int rhs = 0; rhs < s->v.count; rhs++) {
    const seed_arguments<T> g = seed_of<T>(m, type, s, rhs);
    if (COLUMNS) {
      if (s->v.b != s->v.x) seed_copy_kernel<<<4 * s->processors, 256, 0, stream>>>(g);
      cudaMemcpyAsync(g.count, m->parents, (size_t)g.n * sizeof(int), cudaMemcpyDeviceToDevice, stream);
      elmc_kernel<T><<<4 * s->processors, SEED_BLOCK, 0, stream>>>(g);
    } else {
      cudaMemsetAsync((void *)g.ready, 0, (size_t)g.n, stream);
      elmr_kernel<T><<<4 * s->processors, SEED_BLOCK, 0, stream>>>(g);
    }
  }
}

template <typename T> static __global__ void prepare_kernel(gik_control *control, T *published, size_t count)
{
  const size_t i0 = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  for (size_t i = i0; i < count; i += (size_t)gridDim.x * blockDim.x) store_not_yet(published + i);
  if (i0) return;
  *control = gik_control{};
  control->fault_row = -1;
}

/* A method of the seed with vectors of each type. */
struct seed_method {
  const char *name;
  void (*in_double)(const gik_seed *m, gable_type type, const gik_solve *s);
  void (*in_float)(const gik_seed *m, gable_type type, const gik_solve *s);
};
enum { LEVR, LEVC, ELMR, ELMC };
static const seed_method seed_methods[] = {
    {"levr", levels_solve<double, false>, levels_solve<float, false>},
    {"levc", levels_solve<double, true>, levels_solve<float, true>},
    {"elmr", elements_solve<double, false>, elements_solve<float, false>},
    {"elmc", elements_solve<double, true>, elements_solve<float, true>},
};

static gable_status launch(int method, const gik_seed *m, gable_type vectors, const gik_solve *s)
{
  const seed_method *of = &seed_methods[method];
  (vectors == GABLE_D ? of->in_double : of->in_float)(m, vectors, s);
  return launched(of->name);
}

} /* namespace gik */

extern "C" {

int gik_seed_launches(const gik_seed *m)
{
  int n = 0;
  for (int l = 0; l < m->levels; n++) l = gik::run_end(m, l);
  return n;
}

gable_status gik_levr_solve(const gik_seed *m, gable_type vectors, const gik_solve *s)
{
  return gik::launch(gik::LEVR, m, vectors, s);
}

gable_status gik_levc_solve(const gik_seed *m, gable_type vectors, const gik_solve *s)
{
  return gik::launch(gik::LEVC, m, vectors, s);
}

gable_status gik_elmr_solve(const gik_seed *m, gable_type vectors, const gik_solve *s)
{
  return gik::launch(gik::ELMR, m, vectors, s);
}

gable_status gik_elmc_solve(const gik_seed *m, gable_type vectors, const gik_solve *s)
{
  return gik::launch(gik::ELMC, m, vectors, s);
}

gable_status gik_solve_prepare(gik_control *control, void *published, size_t count, gable_type vectors, void *stream)
{
  if (vectors == GABLE_D)
    gik::prepare_kernel<double><<<256, 256, 0, (cudaStream_t)stream>>>(control, (double *)published, count);
  else
    gik::prepare_kernel<float><<<256, 256, 0, (cudaStream_t)stream>>>(control, (float *)published, count);
  return gik::launched("prepare");
}

} /* extern "C" */
