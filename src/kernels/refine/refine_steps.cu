/* refine_steps.cu: see refine_steps.h.
 *
 * residual: LANES lanes share a row of A and add their terms in a fixed order; each column has its own thread blocks.
 * GMRES: kernels of one thread take decisions, the others a column.
 * judge: a thread an entry; blocks take maxima by atomicMax of bits, and the last block to arrive decides.
 * finish: blocks share a column; where pivots were replaced each leaves its part of ||b||_1 and ||x||_1, and the last
 * block to arrive adds the parts in the order of their numbers, which depend on n alone. */
#include <cfloat>
#include <cmath>

#include "cuda/block_sum.cuh"
#include "cuda/last_block.cuh"
#include "cuda/launch.cuh"
#define JUDGE static __device__ inline
#include "kernels/refine/judge.inc"

namespace
{

enum { THREADS = 256, LANES = 8, MOST_BLOCKS = 2048 };
constexpr unsigned ALL_LANES = 0xffffffffu;
constexpr uint64_t NOT_FINITE = ~0ull; /* above every number */

/* Takes the maximum over a warp of bits v to *at. */
__device__ __forceinline__ void put_largest(uint64_t *at, uint64_t v)
{
  for (int d = 16; d; d /= 2) {
    const uint64_t other = __shfl_xor_sync(ALL_LANES, v, d);
    v = other > v ? other : v;
  }
  if (threadIdx.x % 32 == 0 && v) atomicMax((unsigned long long *)at, (unsigned long long)v);
}

__device__ __forceinline__ uint64_t bits_of(double v)
{
  return (uint64_t)__double_as_longlong(v);
}

__device__ __forceinline__ int64_t clock_now()
{
  uint64_t now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return (int64_t)now;
}

template <typename T>
__global__ void __launch_bounds__(THREADS) load_kernel(const gik_refine f, const gik_refine_outside b)
{
  const gable_off n = f.a.n, e = (gable_off)blockIdx.x * THREADS + threadIdx.x;
  if (e >= n * f.count) return;
  const double v = (double)((const T *)b.data)[e % n * b.row + e / n * b.step];
  f.b[e] = v;
  /* ~row, so that the lowest row is the largest; finish turns it */
  if (!isfinite(v)) atomicMax((unsigned long long *)&f.column[e / n].strict_bits, ~(unsigned long long)(e % n));
}

__global__ void fresh_kernel(const gik_refine f)
{
  gik_refine_column c = {};
  c.ended = (int)threadIdx.x >= f.count;
  f.column[threadIdx.x] = c;
  if (threadIdx.x) return;
  gik_refine_control s = {};
  s.tolerance = f.tolerance;
  s.count = f.count;
  s.max_steps = f.max_steps;
  s.max_gmres = f.max_gmres;
  s.active = f.count;
  s.column = -1;
  s.begin = clock_now();
  *f.control = s;
}

/* The lowest row in which b is not finite, out of what load left. */
__global__ void bad_rows_kernel(const gik_refine f)
{
  if ((int)threadIdx.x >= f.count) return;
  gik_refine_column *c = f.column + threadIdx.x;
  c->bad_row = c->strict_bits ? (int)~c->strict_bits + 1 : 0;
  c->strict_bits = 0;
}

__global__ void __launch_bounds__(THREADS) residual_kernel(const gik_refine f)
{
  const gable_idx n = f.a.n, j = (gable_idx)blockIdx.y, rows = (gable_idx)(gridDim.x * (THREADS / LANES));
  const int lane = threadIdx.x % LANES;
  if (!f.control->active) return;
  if (!blockIdx.x && !j && !threadIdx.x && !f.control->swept) f.control->swept = clock_now();
  if (f.column[j].ended) return;
  const double *x = f.x + (gable_off)j * n;
  uint64_t largest = 0;
  for (gable_idx first = (gable_idx)(blockIdx.x * (THREADS / LANES)); first < n; first += rows) {
    const gable_idx i = first + (gable_idx)threadIdx.x / LANES;
    const bool mine = i < n;
    double sum = 0, size = 0;
    for (gable_off k = mine ? f.a.ptr[i] + lane : 0; mine && k < f.a.ptr[i + 1]; k += LANES) {
      const double term = f.a.val[k] * x[f.a.idx[k]];
      sum += term;
      size += fabs(term);
    }
    for (int d = LANES / 2; d; d /= 2) {
      sum += __shfl_xor_sync(ALL_LANES, sum, d);
      size += __shfl_xor_sync(ALL_LANES, size, d);
    }
    if (!mine || lane) continue;
    const gable_off e = (gable_off)j * n + i;
    const double r = f.b[e] - sum, entry = x[i];
    const uint64_t bits = isfinite(r) && isfinite(entry) ? bits_of(fabs(entry)) : NOT_FINITE;
    f.r[e] = r;
    f.weight[e] = size;
    largest = bits > largest ? bits : largest;
  }
  put_largest(&f.column[j].norm_x, largest);
}

/* What block (., j) adds to the look at column j. */
__device__ __forceinline__ void measure_column(const gik_refine &f, gable_idx j)
{
  const gable_idx n = f.a.n;
  const double slack = 1000 * (double)n * DBL_EPSILON;
  const uint64_t norm_bits = f.column[j].norm_x;
  const double norm_x = __longlong_as_double((long long)norm_bits);
  uint64_t strict = 0, omega_1 = 0, omega_2 = 0;
  for (gable_idx i = (gable_idx)(blockIdx.x * THREADS + threadIdx.x); i < n && norm_bits != NOT_FINITE;
       i += (gable_idx)(gridDim.x * THREADS)) {
    const gable_off e = (gable_off)j * n + i;
    const double size = fabs(f.r[e]), b = fabs(f.b[e]), w = f.weight[e] + b;
    if (!(size > 0)) continue;
    const uint64_t ratio = bits_of(size / w);
    strict = ratio > strict ? ratio : strict;
    if (w > slack * (f.a.top[i] * norm_x + b)) {
      omega_1 = ratio > omega_1 ? ratio : omega_1;
    } else {
      const uint64_t other = bits_of(size / (f.weight[e] + f.a.sum[i] * norm_x));
      omega_2 = other > omega_2 ? other : omega_2;
    }
  }
  put_largest(&f.column[j].strict_bits, strict);
  put_largest(&f.column[j].omega_1, omega_1);
  put_largest(&f.column[j].omega_2, omega_2);
}

__global__ void __launch_bounds__(THREADS) judge_kernel(const gik_refine f)
{
  if (!f.control->active) return;
  if (!f.column[blockIdx.y].ended) measure_column(f, (gable_idx)blockIdx.y);
  if (!gik::whole_block_is_last(&f.control->arrived)) return;
  __shared__ int going;
  if (!threadIdx.x) going = 0;
  __syncthreads();
  if ((int)threadIdx.x < f.count && !f.column[threadIdx.x].ended) {
    gik_refine_column c = f.column[threadIdx.x];
    const bool finite = __ldcg((const unsigned long long *)&f.column[threadIdx.x].norm_x) != NOT_FINITE;
    const auto number = [](const uint64_t *bits) {
      return __longlong_as_double((long long)__ldcg((const unsigned long long *)bits));
    };
    const gik_refine_column *at = f.column + threadIdx.x;
    const double backward = finite ? number(&at->omega_1) + number(&at->omega_2) : HUGE_VAL;
    const double strict = finite ? number(&at->strict_bits) : HUGE_VAL;
    gik_judge_look(&c, f.control, backward, strict);
    c.norm_x = c.strict_bits = c.omega_1 = c.omega_2 = 0;
    f.column[threadIdx.x] = c;
    if (!c.ended) atomicAdd(&going, 1);
  }
  __syncthreads();
  if (threadIdx.x) return;
  f.control->arrived = 0;
  f.control->active = going;
}

__global__ void __launch_bounds__(THREADS) correct_kernel(const gik_refine f)
{
  const gable_off n = f.a.n, e = (gable_off)blockIdx.x * THREADS + threadIdx.x;
  if (e >= n * f.count || f.column[e / n].ended) return;
  const double x = f.x[e];
  f.old[e] = x;
  f.x[e] = x + f.r[e];
}

__global__ void __launch_bounds__(THREADS) round_kernel(const gik_refine f)
{
  const gable_off n = f.a.n, e = (gable_off)blockIdx.x * THREADS + threadIdx.x;
  if (e < n * f.count) f.x[e] = (double)(float)(f.column[e / n].taken_back ? f.old[e] : f.x[e]);
}

__global__ void rounded_kernel(const gik_refine f)
{
  if ((int)threadIdx.x < f.count) f.column[threadIdx.x].taken_back = f.column[threadIdx.x].ended = 0;
  if (threadIdx.x) return;
  f.control->active = f.count;
  f.control->rounded = 1;
}

__device__ void add_columns(const gik_refine &f, int first)
{
  gik_refine_summary all = *f.summary;
  for (int j = 0; j < f.count; j++) gik_add_column(&all, &f, j, first + j);
  gik_add_times(&all, f.control, clock_now());
  *f.summary = all;
}

/* By one block: the verdict on the size of each x, out of the parts that blocks have left of the norms of a column. */
__device__ void find_huge(const gik_refine &f, int parts, double *room)
{
  const gable_off n = f.a.n;
  for (int j = 0; j < f.count; j++) {
    double norm_b = 0, norm_x = 0;
    for (int k = (int)threadIdx.x; k < parts; k += THREADS) {
      norm_b += __ldcg(f.r + j * n + k);
      norm_x += __ldcg(f.weight + j * n + k);
    }
    norm_b = gik::block_sum<THREADS>(norm_b, room);
    norm_x = gik::block_sum<THREADS>(norm_x, room);
    if (!threadIdx.x) f.column[j].huge = gik_is_huge(f.a.pivots->norm, norm_b, norm_x);
  }
}

/* parts blocks a column.  Parts of norms go to r and weight, which nobody reads any more: parts <= n. */
template <typename T>
__global__ void __launch_bounds__(THREADS)
    finish_kernel(const gik_refine f, const gik_refine_outside x, int first, int parts)
{
  __shared__ double room[THREADS];
  const gable_idx n = f.a.n;
  const int j = (int)blockIdx.x / parts, part = (int)blockIdx.x % parts;
  const double *from = (f.column[j].taken_back ? f.old : f.x) + (gable_off)j * n, *b = f.b + (gable_off)j * n;
  const bool measured = f.a.pivots->norm > 0;
  double norm_b = 0, norm_x = 0;
  for (gable_off i = (gable_off)part * THREADS + threadIdx.x; i < n; i += (gable_off)parts * THREADS) {
    const T v = (T)from[i];
    ((T *)x.data)[i * x.row + j * x.step] = v;
    if (!measured) continue;
    norm_b += fabs(b[i]);
    norm_x += fabs((double)v);
  }
  if (!measured) {
    if (!blockIdx.x && !threadIdx.x) add_columns(f, first);
    return;
  }
  norm_b = gik::block_sum<THREADS>(norm_b, room);
  norm_x = gik::block_sum<THREADS>(norm_x, room);
  if (!threadIdx.x) {
    f.r[(gable_off)j * n + part] = norm_b;
    f.weight[(gable_off)j * n + part] = norm_x;
  }
  if (!gik::whole_block_is_last(&f.control->arrived)) return;
  find_huge(f, parts, room);
  if (threadIdx.x) return;
  f.control->arrived = 0;
  add_columns(f, first);
}

/* ---- GMRES ---- */

__global__ void pick_kernel(const gik_refine f)
{
  gik_pick_column(f.column, f.control);
  f.control->active = f.control->going;
}

/* What an element of the column at hand does: each(i, e), e its place in X. */
template <class Each> __global__ void __launch_bounds__(THREADS) column_kernel(const gik_refine f, Each each)
{
  const gable_idx i = (gable_idx)(blockIdx.x * THREADS + threadIdx.x);
  if (i < f.a.n && f.control->going) each(i, (gable_off)f.control->column * f.a.n + i);
}

__global__ void __launch_bounds__(THREADS) heaviest_kernel(const gik_refine f)
{
  const gable_off first = (gable_off)f.control->column * f.a.n;
  uint64_t largest = 0;
  for (gable_idx i = (gable_idx)(blockIdx.x * THREADS + threadIdx.x); i < f.a.n;
       i += (gable_idx)(gridDim.x * THREADS)) {
    const uint64_t bits = bits_of(f.weight[first + i] + fabs(f.b[first + i]));
    largest = bits > largest ? bits : largest;
  }
  put_largest(&f.control->heaviest, largest);
}

__global__ void fresh_state_kernel(const gik_refine f, gik_krylov_state *state)
{
  gik_krylov_state fresh = {};
  fresh.norm_b = 1;
  *state = fresh;
  f.column[f.control->column].norm_x = 0;
  f.column[f.control->column].taken_back = 0;
}

__global__ void aim_kernel(const gik_refine f, gik_krylov_state *state, int restart)
{
  gik_aim(f.control, state, restart);
}

/* LANES lanes a row, as residual_kernel. */
__global__ void __launch_bounds__(THREADS) product_kernel(const gik_refine f, const gik_refine_gmres g)
{
  const gable_idx n = f.a.n, rows = (gable_idx)(gridDim.x * (THREADS / LANES));
  const int lane = threadIdx.x % LANES;
  const double *weight = f.weight + (gable_off)f.control->column * n;
  double *z = g.z + (gable_off)g.krylov.state->column * n;
  if (!g.krylov.state->cycling) return;
  for (gable_idx first = (gable_idx)(blockIdx.x * (THREADS / LANES)); first < n; first += rows) {
    const gable_idx i = first + (gable_idx)threadIdx.x / LANES;
    const bool mine = i < n;
    double sum = 0;
    for (gable_off k = mine ? f.a.ptr[i] + lane : 0; mine && k < f.a.ptr[i + 1]; k += LANES)
      sum += f.a.val[k] * g.direction[f.a.idx[k]];
    for (int d = LANES / 2; d; d /= 2) sum += __shfl_xor_sync(ALL_LANES, sum, d);
    if (!mine || lane) continue;
    g.step[i] = sum / weight[i];
    z[i] = g.direction[i];
  }
}

__global__ void end_cycle_kernel(const gik_refine f, const gik_krylov_state *state)
{
  f.control->cycle = state->iteration;
}

unsigned blocks_of(const gik_refine *f)
{
  return (unsigned)(((gable_off)f->a.n * f->count + THREADS - 1) / THREADS);
}

/* Blocks of a column of which each thread, or each group of lanes, takes several rows where there are many. */
unsigned shared_blocks(const gik_refine *f, int lanes, int columns)
{
  const gable_off wanted = ((gable_off)f->a.n * lanes + THREADS - 1) / THREADS, most = MOST_BLOCKS / columns;
  return (unsigned)(wanted < 1 ? 1 : wanted < most ? wanted : most);
}

gable_status load(const gik_refine *f, const gik_refine_outside *b, void *stream)
{
  gik::launches on(stream);
  on.launch(fresh_kernel, 1, GIK_REFINE_COLUMNS, 0, *f);
  if (f->a.n)
    on.launch(b->type == GABLE_TYPE_S ? load_kernel<float> : load_kernel<double>, blocks_of(f), THREADS, 0, *f, *b);
  on.launch(bad_rows_kernel, 1, GIK_REFINE_COLUMNS, 0, *f);
  return on.status("right-hand sides of a refined solve");
}

gable_status residual(const gik_refine *f, void *stream)
{
  gik::launches on(stream);
  on.launch(residual_kernel, dim3(shared_blocks(f, LANES, f->count), (unsigned)f->count), THREADS, 0, *f);
  return on.status("residual");
}

gable_status judge(const gik_refine *f, void *stream)
{
  gik::launches on(stream);
  on.launch(judge_kernel, dim3(shared_blocks(f, 1, f->count), (unsigned)f->count), THREADS, 0, *f);
  return on.status("backward errors");
}

gable_status correct(const gik_refine *f, void *stream)
{
  gik::launches on(stream);
  if (f->a.n) on.launch(correct_kernel, blocks_of(f), THREADS, 0, *f);
  return on.status("correction");
}

gable_status round_to_float(const gik_refine *f, void *stream)
{
  gik::launches on(stream);
  if (f->a.n) on.launch(round_kernel, blocks_of(f), THREADS, 0, *f);
  on.launch(rounded_kernel, 1, GIK_REFINE_COLUMNS, 0, *f);
  return on.status("rounding of solutions");
}

gable_status finish(const gik_refine *f, const gik_refine_outside *x, int first, void *stream)
{
  gik::launches on(stream);
  const unsigned parts = shared_blocks(f, 1, 1), blocks = parts * (unsigned)f->count;
  on.launch(x->type == GABLE_TYPE_S ? finish_kernel<float> : finish_kernel<double>, blocks, THREADS, 0, *f, *x, first,
            (int)parts);
  return on.status("solutions of a refined solve");
}

template <class Each> void each_of_column(gik::launches *on, const gik_refine *f, Each each)
{
  const unsigned blocks = ((unsigned)f->a.n + THREADS - 1) / THREADS;
  if (blocks) on->launch(column_kernel<Each>, blocks, THREADS, 0, *f, each);
}

gable_status pick(const gik_refine *f, void *stream)
{
  gik::launches on(stream);
  const gik_refine_column *column = f->column;
  const gik_refine_control *s = f->control;
  double *x = f->x, *old = f->old;
  on.launch(pick_kernel, 1, 1, 0, *f);
  each_of_column(&on, f, [=] __device__(gable_idx, gable_off e) {
    if (column[s->column].taken_back) x[e] = old[e];
  });
  return on.status("column of GMRES");
}

gable_status weigh(const gik_refine *f, const gik_refine_gmres *g, void *stream)
{
  gik::launches on(stream);
  const gik_refine_column *column = f->column;
  const gik_refine_control *s = f->control;
  const double *b = f->b, *r = f->r, *sum = f->a.sum;
  double *weight = f->weight, *basis = g->q.basis;
  on.launch(heaviest_kernel, shared_blocks(f, 1, 1), THREADS, 0, *f);
  each_of_column(&on, f, [=] __device__(gable_idx i, gable_off e) {
    const double norm_x = __longlong_as_double((long long)column[s->column].norm_x);
    const double w =
        gik_row_weight(weight[e] + fabs(b[e]), sum[i], norm_x, __longlong_as_double((long long)s->heaviest));
    weight[e] = w;
    basis[i] = r[e] / w;
  });
  on.launch(fresh_state_kernel, 1, 1, 0, *f, g->krylov.state);
  return on.status("weights of GMRES");
}

gable_status aim(const gik_refine *f, const gik_refine_gmres *g, void *stream)
{
  gik::launches on(stream);
  on.launch(aim_kernel, 1, 1, 0, *f, g->krylov.state, g->q.restart);
  return on.status("GMRES");
}

gable_status direct(const gik_refine *f, const gik_refine_gmres *g, void *stream)
{
  gik::launches on(stream);
  const gik_krylov_state *state = g->krylov.state;
  const double *weight = f->weight, *basis = g->q.basis;
  const gable_off n = f->a.n;
  double *direction = g->direction;
  each_of_column(&on, f,
                 [=] __device__(gable_idx i, gable_off e) { direction[i] = basis[state->column * n + i] * weight[e]; });
  return on.status("direction of GMRES");
}

gable_status product(const gik_refine *f, const gik_refine_gmres *g, void *stream)
{
  gik::launches on(stream);
  on.launch(product_kernel, shared_blocks(f, LANES, 1), THREADS, 0, *f, *g);
  return on.status("product of GMRES");
}

gable_status accept(const gik_refine *f, const gik_refine_gmres *g, void *stream)
{
  gik::launches on(stream);
  const gik_krylov_state *state = g->krylov.state;
  const double *step = g->step;
  double *x = f->x, *old = f->old;
  on.launch(end_cycle_kernel, 1, 1, 0, *f, g->krylov.state);
  each_of_column(&on, f, [=] __device__(gable_idx i, gable_off e) {
    old[e] = x[e];
    if (state->column && state->again) x[e] += step[i];
  });
  return on.status("update of GMRES");
}

} /* namespace */

extern "C" const gik_refine_steps gik_refine_steps_cuda = {load, residual, judge, correct, round_to_float, finish,
                                                           pick, weigh,    aim,   direct,  product,        accept};
