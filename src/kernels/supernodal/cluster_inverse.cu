/* cluster_inverse.cu: operators of clusters on the FP64 tensor cores.
 *
 * A thread block of 4 warps owns a tile of 64 columns (rows) of one cluster; tiles do not depend on each other, and
 * those of the last clusters, which are the large ones, come first.  All products are those of cluster_product.cuh.
 *
 *   substitute   for each 32 rows of T:
 *                1. subtract T times the rows of x before them
 *                2. substitute with the 32 x 32 block on the diagonal inside each warp, where 4 lanes share a column
 *                3. store, and add to the measure
 *   multiply     for each 32 columns: rows of -L_IJ times columns of inv(L_JJ), in place
 *   combine      for each 32 of 128 rows of inverse_J: upper_JJ (or lower_JJ^T D^-1) times 64 columns of lower_JJ
 *
 * The measure of inverse_J needs the triangles, which combine overwrites, and all rows of a column: a kernel before
 * (weight) and one after it (measure).
 */
#include <cuda_runtime.h>
#include <math_constants.h>

#include "cuda/launch.cuh"
#include "kernels/supernodal/cluster_product.cuh"

namespace
{

/* ---- gather and place ---- */

template <typename T, typename U> __global__ void gather_kernel(const gik_inverse_gather p)
{
  const gable_off k = (gable_off)blockIdx.x * blockDim.x + threadIdx.x;
  if (k < p.count) ((U *)p.to)[k] = (U)(p.factor * (double)((const T *)p.from)[p.index ? p.index[k] : k]);
}

template <typename T>
__device__ void place_lower(const gik_cluster_inverse &p, const gik_panel &q, gable_idx k, const T *values)
{
  const gik_inverse_side &s = p.side[0];
  const gable_idx first = p.first[q.cluster], w = p.first[q.cluster + 1] - first;
  T *square = (T *)p.inverse + p.inverse_at[q.cluster] + q.at + k, *below = (T *)s.values + s.at[q.cluster] + q.at + k;
  const gable_idx from = p.side[1].values ? 0 : k;
  for (gable_idx i = from + lane(); i < q.w; i += WARP)
    square[(q.at + i) * (gable_off)w] = i == k ? (T)p.dinv[first + q.at + k] : values[i];
  for (gable_idx i = lane(); i < q.nl; i += WARP) {
    const gable_idx row = s.position[q.rows + i];
    const T v = values[q.w + i];
    if (row < w)
      square[(p.after ? p.after[first + row] : row) * (gable_off)w] = v;
    else
      below[row * (gable_off)w] = -v;
  }
}

template <typename T>
__device__ void place_upper(const gik_cluster_inverse &p, const gik_panel &q, gable_idx k, const T *values)
{
  const gik_inverse_side &s = p.side[1];
  const gable_idx j = q.cluster, w = p.first[j + 1] - p.first[j];
  T *square = (T *)p.inverse + p.inverse_at[j] + (q.at + k) * (gable_off)w;
  T *right = (T *)s.values + s.at[j] + (q.at + k) * (w + s.ptr[j + 1] - s.ptr[j]);
  for (gable_idx i = lane(); i < q.nu; i += WARP) {
    const gable_idx column = s.position[q.columns + i];
    const T v = values[i];
    if (column < w)
      square[column] = v;
    else
      right[column] = -v;
  }
}

/* A warp a column of A'. */
template <typename T> __global__ void place_kernel(const gik_cluster_inverse p, const gik_panel_part part)
{
  const gable_idx i = part.begin + (gable_idx)(((gable_off)blockIdx.x * blockDim.x + threadIdx.x) / WARP);
  if (i >= part.end) return;
  const gik_panel q = p.panel[p.of[i]];
  const gable_idx k = i - q.first;
  const T *values = (const T *)part.values - part.from;
  if (part.side)
    place_upper(p, q, k, values + q.u + k * (gable_off)q.nu);
  else
    place_lower(p, q, k, values + q.l + k * (gable_off)(q.w + q.nl));
}

/* ---- invert ---- */

/* The tile of this block, of both sides in turn. */
__device__ __forceinline__ bool find_tile(const gik_cluster_inverse &p, int sides, int *side, gik_inverse_work *k)
{
  *side = sides == 2 ? blockIdx.x % 2 : 0;
  const gable_off t = p.side[*side].tiles - 1 - blockIdx.x / sides;
  if (t < 0) return false;
  *k = gik_inverse_work_of(&p, *side, p.side[*side].tile + t);
  return true;
}

/* Magnitudes in the columns of the tile, a thread each. */
template <typename T> __global__ void magnitude_kernel(const gik_cluster_inverse p, int sides)
{
  int side;
  gik_inverse_work k;
  if (!find_tile(p, sides, &side, &k) || !k.identity || (gable_idx)threadIdx.x >= k.count) return;
  const gable_idx q = k.start + (gable_idx)threadIdx.x;
  const T *at = (const T *)p.inverse + k.triangle.at + q * k.triangle.column;
  double sum = p.unit && !side ? 1 : fabs(1 / (double)at[q * k.triangle.row]);
#pragma unroll 8
  for (gable_idx i = q + 1; i < k.w; i++) sum += fabs((double)at[i * k.triangle.row]);
  p.side[side].sums[k.first + q] = sum;
}

/* Magnitudes in the tile's columns of |L_JJ| |D| |U_JJ|, a thread each. */
template <typename T> __global__ void weight_kernel(const gik_cluster_inverse p)
{
  const gik_inverse_work k = gik_inverse_work_of(&p, 0, p.side[0].tile + p.side[0].tiles - 1 - blockIdx.x);
  if ((gable_idx)threadIdx.x >= k.count) return;
  const gik_inverse_view u = gik_inverse_upper(&p, &k);
  const gable_idx c = k.start + (gable_idx)threadIdx.x;
  const T *at = (const T *)p.inverse + u.at + c * u.column;
  double sum = gik_inverse_times_d(&p, k.first, k.w, c);
  if (!p.coupling) sum /= fabs((double)at[c * u.row]);
#pragma unroll 8
  for (gable_idx i = 0; i < c; i++) sum += gik_inverse_times_d(&p, k.first, k.w, i) * fabs((double)at[i * u.row]);
  p.weights[k.first + c] = sum;
}

/* Right-hand sides less the sums, at rows i0 .. of the tile's columns. */
template <typename T> __device__ void subtract_sums(sums &c, const gik_inverse_work &k, const T *values, gable_idx i0)
{
  for (int h = 0; h < 2; h++)
    for (int t = 0; t < 4; t++)
      for (int e = 0; e < 2; e++) {
        const gable_idx i = i0 + row_of(t, e), column = column_of(h);
        double b = k.start + column == i;
        if (!k.identity)
          b = i < k.w && column < k.count ? (double)values[k.x.at + i * k.x.row + column * k.x.column] : 0;
        c[h][t][e] = b - c[h][t][e];
      }
}

/* c := inv(block) c for the block in r, of which what is strictly below the diagonal is read, and r.pivot. */
template <typename T> __device__ void substitute_block(sums &c, const room &r)
{
#pragma unroll
  for (int i = 0; i < STEP; i++) {
    const int t = i / 8, owner = i % 8 / 2, e = i % 2;
    double x[2];
    for (int h = 0; h < 2; h++) {
      x[h] = (double)(T)(c[h][t][e] * r.pivot[i]);
      x[h] = __shfl_sync(0xffffffffu, x[h], (lane() & ~3) | owner);
      if (lane() % 4 == owner) c[h][t][e] = x[h];
    }
    for (int u = t; u < 4; u++)
      for (int f = 0; f < 2; f++) {
        if (row_of(u, f) <= i) continue;
        const double l = r.block[row_of(u, f) * SQUARE + i];
        for (int h = 0; h < 2; h++) c[h][u][f] -= l * x[h];
      }
  }
}

/* The rows that were substituted into x; their share of the measure. */
template <typename T>
__device__ void store_rows(const sums &c, const gik_inverse_work &k, const room &r, T *values, gable_idx i0,
                           double size[2])
{
  for (int h = 0; h < 2; h++)
    for (int t = 0; t < 4; t++)
      for (int e = 0; e < 2; e++) {
        const gable_idx i = i0 + row_of(t, e), column = column_of(h);
        if (i >= k.w || column >= k.count) continue;
        values[k.x.at + i * k.x.row + column * k.x.column] = (T)c[h][t][e];
        size[h] += r.size[row_of(t, e)] * fabs(c[h][t][e]);
      }
}

/* Numbers that are not negative are in the order of their bits. */
__device__ void keep_largest(double *residual, double size)
{
  if (!(size < CUDART_INF)) size = CUDART_INF;
  for (int step = 1; step < WARP; step *= 2) size = fmax(size, __shfl_xor_sync(0xffffffffu, size, step));
  if (!lane()) atomicMax((unsigned long long *)residual, (unsigned long long)__double_as_longlong(size));
}

/* The block on the diagonal at i0, the reciprocals of its pivots, the magnitudes of its columns. */
template <typename T>
__device__ void load_block(const gik_cluster_inverse &p, int side, const gik_inverse_work &k, gable_idx i0, room &r)
{
  const T *triangle = (const T *)p.inverse;
  load<STEP, STEP, SQUARE>(r.block, triangle, k.triangle, i0, k.w, i0, k.w);
  if (threadIdx.x < STEP) {
    const gable_idx i = i0 + (gable_idx)threadIdx.x;
    const bool one = i >= k.w || (p.unit && !side);
    r.pivot[threadIdx.x] = one ? 1 : (double)triangle[k.triangle.at + i * (k.triangle.row + k.triangle.column)];
    r.size[threadIdx.x] = i < k.w ? p.side[side].sums[k.first + i] : 0;
  }
  end_stage();
  wait_for_stage<0>();
}

template <typename T>
__global__ void __launch_bounds__(THREADS, RESIDENT) substitute_kernel(const gik_cluster_inverse p, int sides)
{
  __shared__ room r;
  int side;
  gik_inverse_work k;
  if (!find_tile(p, sides, &side, &k)) return;
  T *values = (T *)p.side[side].values;
  double size[2] = {0, 0};
  sums c;
  for (gable_idx i0 = k.start; i0 < k.w; i0 += STEP) {
    clear(c);
    multiply_stages<1, WIDE, NARROW, 1>(c, r, k.start, i0, [&](int q, stage &s) {
      load<DEPTH, TILE, WIDE>(s.a, values, k.x, q, k.w, 0, k.count);
      load<STEP, DEPTH, NARROW>(s.b, (const T *)p.inverse, k.triangle, i0, k.w, q, k.w);
    });
    load_block<T>(p, side, k, i0, r);
    subtract_sums(c, k, values, i0);
    __syncthreads();
    substitute_block<T>(c, r);
    store_rows(c, k, r, values, i0, size);
    __syncthreads();
  }
  for (int h = 0; k.identity && h < 2; h++) { /* four lanes share a column */
    for (int step = 1; step < 4; step *= 2) size[h] += __shfl_xor_sync(0xffffffffu, size[h], step);
    keep_largest(&p.residual[0], size[h]);
  }
}

/* ---- products ---- */

/* Rows of -L_IJ: column c of the product needs what stands at c and right of it. */
template <typename T>
__device__ void multiply_rows(const gik_cluster_inverse &p, const gik_inverse_work &k, gable_idx j, room &r)
{
  T *values = (T *)p.side[0].values;
  const gik_inverse_view x = gik_inverse_view_of(p.side[0].at[j], k.w, 1);
  sums c;
  for (gable_idx c0 = 0; c0 < k.w; c0 += STEP) {
    clear(c);
    multiply_stages<NARROW, 1, 1, SQUARE>(c, r, c0, k.w, [&](int q, stage &s) {
      load<TILE, DEPTH, NARROW>(s.a, values, k.row, 0, k.count, q, k.w);
      load<DEPTH, STEP, SQUARE>(s.b, values, x, q, k.w, c0, k.w);
    });
    for (int h = 0; h < 2; h++)
      for (int t = 0; t < 4; t++)
        for (int e = 0; e < 2; e++)
          if (column_of(h) < k.count && c0 + row_of(t, e) < k.w)
            values[k.row.at + column_of(h) * k.row.row + c0 + row_of(t, e)] = (T)c[h][t][e];
  }
}

/* DEPTH rows q0 .. of D^-1 lower_JJ, columns i0 .., by rows. */
template <typename T>
__device__ void load_divided(const gik_cluster_inverse &p, const gik_inverse_work &k, const T *lower, int q0, int i0,
                             double *to)
{
  for (int e = threadIdx.x; e < DEPTH * STEP; e += THREADS) {
    const gable_idx q = q0 + e / STEP, i = i0 + e % STEP;
    const T *at = lower + q * (gable_off)k.w + i;
    double sum = 0;
    if (q < k.w && i < k.w) {
      sum = p.dinv[k.first + q] * (double)*at;
      if (q + 1 < k.w) sum += p.coupling[k.first + q] * (double)at[k.w];
      if (q > 0) sum += p.coupling[k.first + q - 1] * (double)at[-k.w];
    }
    to[e / STEP * SQUARE + e % STEP] = sum;
  }
}

/* 32 rows i0 .. of the tile's columns of inverse_J: a block of D beside i0 may begin one row before it. */
template <typename T>
__device__ void combine_rows(const gik_cluster_inverse &p, const gik_inverse_work &k, gable_idx j, gable_idx i0,
                             sums &c, room &r)
{
  const T *lower = (const T *)p.side[0].values, *upper = (const T *)p.side[1].values;
  const gik_inverse_side &u = p.side[1];
  const gik_inverse_view row = upper ? gik_inverse_view_of(u.at[j], k.w + u.ptr[j + 1] - u.ptr[j], 1)
                                     : gik_inverse_view_of(p.side[0].at[j], k.w, 1);
  const gable_idx before = p.coupling && i0 ? i0 - DEPTH : i0, from = before > k.start ? before : k.start;
  if (upper)
    multiply_stages<1, WIDE, NARROW, 1>(c, r, from, k.w, [&](int q, stage &s) {
      load<DEPTH, TILE, WIDE>(s.a, lower, k.x, q, k.w, 0, k.count);
      load<STEP, DEPTH, NARROW>(s.b, upper, row, i0, k.w, q, k.w);
    });
  else
    multiply_stages<1, WIDE, 1, SQUARE>(c, r, from, k.w, [&](int q, stage &s) {
      load<DEPTH, TILE, WIDE>(s.a, lower, k.x, q, k.w, 0, k.count);
      if (p.coupling)
        load_divided(p, k, lower + row.at, q, i0, s.b);
      else
        load<DEPTH, STEP, SQUARE>(s.b, lower, row, q, k.w, i0, k.w);
    });
}

/* The tile's columns and part of inverse_J. */
template <typename T>
__device__ void combine_columns(const gik_cluster_inverse &p, const gik_inverse_work &k, const gik_inverse_tile &tile,
                                room &r)
{
  const gable_idx *before = p.before ? p.before + k.first : nullptr;
  const bool both = before && !p.side[1].values;
  T *square = (T *)p.inverse + p.inverse_at[tile.cluster];
  const gable_idx begin = tile.part * GIK_INVERSE_PART, most = begin + GIK_INVERSE_PART, end = most < k.w ? most : k.w;
  sums c;
  for (gable_idx i0 = begin; i0 < end; i0 += STEP) {
    clear(c);
    combine_rows<T>(p, k, tile.cluster, i0, c, r);
    for (int h = 0; h < 2; h++)
      for (int t = 0; t < 4; t++)
        for (int e = 0; e < 2; e++) {
          const gable_idx i = i0 + row_of(t, e), column = k.start + column_of(h);
          if (i >= k.w || column_of(h) >= k.count) continue;
          square[(both ? before[i] : i) * (gable_off)k.w + (before ? before[column] : column)] = (T)c[h][t][e];
        }
  }
}

template <typename T> __global__ void __launch_bounds__(THREADS) product_kernel(const gik_cluster_inverse p)
{
  __shared__ room r;
  const gik_inverse_tile tile = p.product[p.products - 1 - blockIdx.x];
  const gik_inverse_work k = gik_inverse_work_of(&p, 0, &tile);
  if (k.identity)
    combine_columns<T>(p, k, tile, r);
  else
    multiply_rows<T>(p, k, tile.cluster, r);
}

/* The tile's columns of |L_JJ| |D| |U_JJ| |inverse_J|, a thread each. */
template <typename T> __global__ void measure_kernel(const gik_cluster_inverse p)
{
  const gik_inverse_work k = gik_inverse_work_of(&p, 0, p.side[0].tile + p.side[0].tiles - 1 - blockIdx.x);
  const gable_idx *before = p.before && !p.side[1].values ? p.before + k.first : nullptr;
  const gable_idx end = (gable_idx)threadIdx.x < k.count ? k.w : 0;
  const T *at = (const T *)p.inverse + k.triangle.at + k.start + threadIdx.x;
  double sum = 0;
#pragma unroll 8
  for (gable_idx i = 0; i < end; i++)
    sum += p.weights[k.first + i] * fabs((double)at[(before ? before[i] : i) * (gable_off)k.w]);
  keep_largest(&p.residual[1], sum);
}

/* to[place[c]] = from[c], c < w, by a warp that has many loads under way; place NULL: to[c]. */
template <typename T> __device__ void move_row(T *to, const T *from, gable_idx w, const gable_idx *place)
{
  enum { AHEAD = 8 };
  for (gable_idx c0 = lane(); c0 < w; c0 += AHEAD * WARP) {
    T v[AHEAD];
    gable_idx at[AHEAD];
#pragma unroll
    for (int e = 0; e < AHEAD; e++) {
      const gable_idx c = c0 + e * WARP;
      at[e] = c < w ? (place ? place[c] : c) : -1;
      v[e] = c < w ? from[c] : T(0);
    }
#pragma unroll
    for (int e = 0; e < AHEAD; e++)
      if (at[e] >= 0) to[at[e]] = v[e];
  }
  __syncwarp();
}

/* A warp a row at a time. */
template <typename T> __global__ void permute_kernel(const gik_cluster_inverse p)
{
  const int warp = blockIdx.x * WARPS + threadIdx.x / WARP;
  T *held = (T *)p.held + warp * (gable_off)p.widest, *values = (T *)p.side[0].values;
  for (gable_off t = blockIdx.x; t < p.products; t += gridDim.x) {
    if (p.product[t].part) continue;
    const gik_inverse_work k = gik_inverse_work_of(&p, 0, p.product + t);
    for (gable_idx i = threadIdx.x / WARP; i < k.count; i += WARPS) {
      T *row = values + k.row.at + i * k.row.row;
      move_row<T>(held, row, k.w, nullptr);
      move_row<T>(row, held, k.w, p.before + k.first);
    }
  }
}

/* ---- launches ---- */

template <typename T> void launch_gather(const gik_inverse_gather *p, gik::launches *on)
{
  const unsigned blocks = (unsigned)((p->count + THREADS - 1) / THREADS);
  if (p->to_type == GABLE_TYPE_S)
    on->launch(gather_kernel<T, float>, blocks, THREADS, 0, *p);
  else
    on->launch(gather_kernel<T, double>, blocks, THREADS, 0, *p);
}

gable_status gather(gable_context *ctx, const gik_inverse_gather *p, void *stream)
{
  gik::launches on(stream);
  (void)ctx;
  if (!p->count) return GABLE_OK;
  if (p->type == GABLE_TYPE_S)
    launch_gather<float>(p, &on);
  else
    launch_gather<double>(p, &on);
  return on.status("values of a factor in the order of a solve");
}

gable_status place(gable_context *ctx, const gik_cluster_inverse *p, const gik_panel_part *part, void *stream)
{
  gik::launches on(stream);
  (void)ctx;
  if (part->end <= part->begin) return GABLE_OK;
  const unsigned blocks = (unsigned)((part->end - part->begin + WARPS - 1) / WARPS);
  if (p->type == GABLE_TYPE_S)
    on.launch(place_kernel<float>, blocks, THREADS, 0, *p, *part);
  else
    on.launch(place_kernel<double>, blocks, THREADS, 0, *p, *part);
  return on.status("panels of a factor");
}

template <typename T> void launch_invert(const gik_cluster_inverse *p, gik::launches *on)
{
  const int sides = p->side[1].values ? 2 : 1;
  const gable_off most = sides == 2 && p->side[1].tiles > p->side[0].tiles ? p->side[1].tiles : p->side[0].tiles;
  const unsigned blocks = (unsigned)(sides * most);
  on->launch(magnitude_kernel<T>, blocks, TILE, 0, *p, sides);
  on->launch(substitute_kernel<T>, blocks, THREADS, 0, *p, sides);
  on->launch(weight_kernel<T>, (unsigned)p->side[0].tiles, TILE, 0, *p);
  on->launch(product_kernel<T>, (unsigned)p->products, THREADS, 0, *p);
  on->launch(measure_kernel<T>, (unsigned)p->side[0].tiles, TILE, 0, *p);
  if (p->before) on->launch(permute_kernel<T>, GIK_INVERSE_HELD / WARPS, THREADS, 0, *p);
}

gable_status invert(gable_context *ctx, const gik_cluster_inverse *p, void *stream)
{
  gik::launches on(stream);
  (void)ctx;
  if (!p->side[0].tiles) return GABLE_OK;
  if (p->type == GABLE_TYPE_S)
    launch_invert<float>(p, &on);
  else
    launch_invert<double>(p, &on);
  return on.status("inverses of clusters");
}

} /* namespace */

extern "C" const gik_cluster_inverses gik_cluster_inverses_cuda = {gather, place, invert};
