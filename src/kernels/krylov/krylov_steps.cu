/* krylov_steps.cu: see krylov_steps.h.
 *
 * A step is one kernel: what each element does and adds to the sums, and what one thread does with the sums when the
 * last block has arrived.  Blocks add in an order that depends on n alone. */
#include <cfloat>
#include <cmath>

#include "cuda/block_sum.cuh"
#include "cuda/last_block.cuh"
#include "cuda/launch.cuh"
#include "kernels/krylov/krylov_steps.h"
#define SMALL static __device__ inline
#define SYNCHRONISE __syncwarp()
#include "kernels/krylov/hessenberg.inc"

using gik::block_sum;
using gik::launches;
using gik::whole_block_is_last;

namespace
{

enum { BLOCK = 256, STEP_PARTS = 1024, DOT_PARTS = BLOCK /* one block adds them */ };

/* each(i, sum): element i, which adds to sum[0..SUMS); end(state, sum): after all of them. */
template <int SUMS, class Each, class End>
__global__ void __launch_bounds__(BLOCK)
    step_kernel(gable_idx n, gik_krylov_state *s, double *parts, Each each, End end)
{
  __shared__ double of[BLOCK];
  double sum[SUMS];
  if (s->stop) return;
#pragma unroll
  for (int k = 0; k < SUMS; k++) sum[k] = 0;
  for (ptrdiff_t i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += (ptrdiff_t)gridDim.x * BLOCK) each(i, sum);
#pragma unroll
  for (int k = 0; k < SUMS; k++) {
    const double v = block_sum<BLOCK>(sum[k], of);
    if (!threadIdx.x) parts[k * STEP_PARTS + blockIdx.x] = v;
  }
  if (!whole_block_is_last(&s->arrived)) return;
#pragma unroll
  for (int k = 0; k < SUMS; k++) {
    double v = 0;
    for (unsigned q = threadIdx.x; q < gridDim.x; q += BLOCK) v += __ldcg(parts + k * STEP_PARTS + q);
    sum[k] = block_sum<BLOCK>(v, of);
  }
  if (threadIdx.x) return;
  s->arrived = 0;
  end(s, sum);
}

/* Elements alone; each(state, i). */
template <class Each>
__global__ void __launch_bounds__(BLOCK) map_kernel(gable_idx n, const gik_krylov_state *s, Each each)
{
  const ptrdiff_t i = blockIdx.x * (ptrdiff_t)BLOCK + threadIdx.x;
  if (i < n && !s->stop) each(s, i);
}

template <int SUMS, class Each, class End> gable_status step(const gik_krylov *k, const char *what, Each each, End end)
{
  const size_t wanted = ((size_t)k->n + 4 * BLOCK - 1) / (4 * BLOCK);
  const unsigned blocks = wanted < 1 ? 1 : wanted < STEP_PARTS ? (unsigned)wanted : (unsigned)STEP_PARTS;
  launches on(k->stream);
  on.launch(step_kernel<SUMS, Each, End>, blocks, BLOCK, 0, k->n, k->state, k->parts, each, end);
  return on.status(what);
}

template <class Each> gable_status map(const gik_krylov *k, const char *what, Each each)
{
  const unsigned blocks = ((unsigned)k->n + BLOCK - 1) / BLOCK;
  launches on(k->stream);
  if (k->n) on.launch(map_kernel<Each>, blocks, BLOCK, 0, k->n, k->state, each);
  return on.status(what);
}

/* Where the squares of b != 0 underflow there is no norm: NaN. */
gable_status measure(const gik_krylov *k, const double *b)
{
  return step<2>(
      k, "norm of b",
      [=] __device__(ptrdiff_t i, double *sum) {
        sum[0] = fma(b[i], b[i], sum[0]);
        sum[1] += b[i] != 0;
      },
      [] __device__(gik_krylov_state * s, const double *sum) {
        s->norm = sum[0] < DBL_MIN && sum[1] > 0 ? NAN : sqrt(sum[0]);
        s->norm_b = sum[0] == 0 ? 1 : sqrt(sum[0]);
      });
}

gable_status residual(const gik_krylov *k, const double *b, const double *q, double *r)
{
  return step<1>(
      k, "residual",
      [=] __device__(ptrdiff_t i, double *sum) {
        const double v = b[i] - q[i];
        r[i] = v;
        sum[0] = fma(v, v, sum[0]);
      },
      [] __device__(gik_krylov_state * s, const double *sum) {
        s->norm = sqrt(sum[0]);
        gik_note(s, sqrt(sum[0]));
      });
}

gable_status cg_start(const gik_krylov *k, const double *r, const double *z, double *p)
{
  return step<1>(
      k, "CG",
      [=] __device__(ptrdiff_t i, double *sum) {
        p[i] = z[i];
        sum[0] = fma(r[i], z[i], sum[0]);
      },
      [] __device__(gik_krylov_state * s, const double *sum) { s->rz = sum[0]; });
}

gable_status cg_curvature(const gik_krylov *k, const double *p, const double *q)
{
  return step<1>(
      k, "CG", [=] __device__(ptrdiff_t i, double *sum) { sum[0] = fma(p[i], q[i], sum[0]); },
      [] __device__(gik_krylov_state * s, const double *sum) {
        s->alpha = s->rz / sum[0];
        if (!(sum[0] > 0) || !(s->rz > 0)) s->stop = GIK_STOP_BREAKDOWN;
      });
}

gable_status cg_step(const gik_krylov *k, const double *p, const double *q, double *x, double *r)
{
  const gik_krylov_state *state = k->state;
  return step<1>(
      k, "CG",
      [=] __device__(ptrdiff_t i, double *sum) {
        const double alpha = state->alpha, v = r[i] - alpha * q[i];
        x[i] += alpha * p[i];
        r[i] = v;
        sum[0] = fma(v, v, sum[0]);
      },
      [] __device__(gik_krylov_state * s, const double *sum) {
        s->iteration++;
        gik_note(s, sqrt(sum[0]));
      });
}

gable_status cg_beta(const gik_krylov *k, const double *r, const double *z)
{
  return step<1>(
      k, "CG", [=] __device__(ptrdiff_t i, double *sum) { sum[0] = fma(r[i], z[i], sum[0]); },
      [] __device__(gik_krylov_state * s, const double *sum) {
        s->beta = sum[0] / s->rz;
        s->rz = sum[0];
      });
}

gable_status cg_direction(const gik_krylov *k, const double *z, double *p)
{
  return map(k, "CG", [=] __device__(const gik_krylov_state *s, ptrdiff_t i) { p[i] = fma(s->beta, p[i], z[i]); });
}

gable_status bi_start(const gik_krylov *k, const double *r, double *shadow, double *p, double *v)
{
  return step<1>(
      k, "BiCGSTAB",
      [=] __device__(ptrdiff_t i, double *sum) {
        shadow[i] = r[i];
        p[i] = v[i] = 0;
        sum[0] = fma(r[i], r[i], sum[0]);
      },
      [] __device__(gik_krylov_state * s, const double *sum) {
        s->rho = sum[0];
        s->beta = 0; /* p and v are zero */
        s->alpha = s->omega = 1;
      });
}

gable_status bi_direction(const gik_krylov *k, const double *r, const double *v, double *p)
{
  return map(k, "BiCGSTAB", [=] __device__(const gik_krylov_state *s, ptrdiff_t i) {
    p[i] = fma(s->beta, fma(-s->omega, v[i], p[i]), r[i]);
  });
}

gable_status bi_alpha(const gik_krylov *k, const double *shadow, const double *v)
{
  return step<1>(
      k, "BiCGSTAB", [=] __device__(ptrdiff_t i, double *sum) { sum[0] = fma(shadow[i], v[i], sum[0]); },
      [] __device__(gik_krylov_state * s, const double *sum) {
        s->alpha = s->rho / sum[0];
        if (s->rho == 0 || sum[0] == 0) s->stop = GIK_STOP_BREAKDOWN;
      });
}

gable_status bi_half(const gik_krylov *k, const double *r, const double *v, double *s_out)
{
  return map(k, "BiCGSTAB",
             [=] __device__(const gik_krylov_state *s, ptrdiff_t i) { s_out[i] = fma(-s->alpha, v[i], r[i]); });
}

gable_status bi_omega(const gik_krylov *k, const double *t, const double *s_in)
{
  return step<2>(
      k, "BiCGSTAB",
      [=] __device__(ptrdiff_t i, double *sum) {
        sum[0] = fma(t[i], t[i], sum[0]);
        sum[1] = fma(t[i], s_in[i], sum[1]);
      },
      [] __device__(gik_krylov_state * s, const double *sum) { s->omega = sum[0] > 0 ? sum[1] / sum[0] : 0; });
}

gable_status bi_step(const gik_krylov *k, const double *p_hat, const double *s_hat, const double *s_in, const double *t,
                     const double *shadow, double *x, double *r)
{
  const gik_krylov_state *state = k->state;
  return step<2>(
      k, "BiCGSTAB",
      [=] __device__(ptrdiff_t i, double *sum) {
        const double v = fma(-state->omega, t[i], s_in[i]);
        x[i] += fma(state->alpha, p_hat[i], state->omega * s_hat[i]);
        r[i] = v;
        sum[0] = fma(v, v, sum[0]);
        sum[1] = fma(shadow[i], v, sum[1]);
      },
      [] __device__(gik_krylov_state * s, const double *sum) {
        s->iteration++;
        gik_note(s, sqrt(sum[0]));
        if (!s->stop && s->omega == 0) s->stop = GIK_STOP_BREAKDOWN;
        s->beta = sum[1] / s->rho * (s->alpha / s->omega);
        s->rho = sum[1];
      });
}

/* Does a step of GMRES work? */
__device__ __forceinline__ bool works(const gik_krylov_state *s, int second)
{
  return s->cycling && (!second || s->again);
}

/* parts[j][block] = what the block adds to basis_j . v, and after the last j to v . v. */
__global__ void __launch_bounds__(BLOCK)
    dots_kernel(gable_idx n, const gik_gmres q, const double *v, const gik_krylov_state *s, int second)
{
  __shared__ double of[BLOCK];
  const int j = (int)blockIdx.y, k = s->column;
  if (!works(s, second) || j > k + 1) return;
  const double *column = j <= k ? q.basis + (ptrdiff_t)j * n : v;
  double sum = 0;
  for (ptrdiff_t i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += DOT_PARTS * BLOCK) sum = fma(column[i], v[i], sum);
  sum = block_sum<BLOCK>(sum, of);
  if (!threadIdx.x) q.parts[j * DOT_PARTS + blockIdx.x] = sum;
}

__global__ void dots_end_kernel(const gik_gmres q, const gik_krylov_state *s, int second)
{
  __shared__ double of[BLOCK];
  const int j = (int)blockIdx.x, k = s->column;
  if (!works(s, second) || j > k + 1) return;
  const double sum = block_sum<BLOCK>(q.parts[j * DOT_PARTS + threadIdx.x], of);
  if (!threadIdx.x) q.dots[j] = j <= k ? sum : sqrt(sum);
}

gable_status dots(const gik_krylov *k, const gik_gmres *q, int most, const double *v, int second)
{
  const dim3 grid(DOT_PARTS, (unsigned)most + 1);
  launches on(k->stream);
  on.launch(dots_kernel, grid, BLOCK, 0, k->n, *q, v, k->state, second);
  on.launch(dots_end_kernel, (unsigned)most + 1, BLOCK, 0, *q, k->state, second);
  return on.status("GMRES");
}

gable_status project(const gik_krylov *k, const gik_gmres *to, double *v, int second)
{
  const ptrdiff_t n = k->n;
  const gik_krylov_state *state = k->state;
  const gik_gmres q = *to;
  return step<1>(
      k, "GMRES",
      [=] __device__(ptrdiff_t i, double *sum) {
        if (!works(state, second)) return;
        double value = v[i];
        for (int j = 0; j <= state->column; j++) value = fma(-q.dots[j], q.basis[j * n + i], value);
        v[i] = value;
        sum[0] = fma(value, value, sum[0]);
      },
      [=] __device__(gik_krylov_state * s, const double *sum) {
        if (!works(s, second)) return;
        double *h = q.h + (ptrdiff_t)s->column * (q.restart + 1);
        for (int j = 0; j <= s->column; j++) h[j] = second ? h[j] + q.dots[j] : q.dots[j];
        s->norm = sqrt(sum[0]);
        s->again = !(s->norm > 0.5 * q.dots[s->column + 1]);
      });
}

__global__ void begin_cycle_kernel(const gik_gmres q, gik_krylov_state *s)
{
  s->column = 0;
  s->cycling = !s->stop;
  q.g[0] = s->norm;
}

gable_status cycle(const gik_krylov *k, const gik_gmres *q)
{
  gable_status status = GABLE_OK;
  double *v = q->basis;
  launches on(k->stream);
  GI_TRY(map(k, "GMRES", [=] __device__(const gik_krylov_state *s, ptrdiff_t i) {
    if (s->norm > 0) v[i] /= s->norm;
  }));
  on.launch(begin_cycle_kernel, 1, 1, 0, *q, k->state);
  GI_TRY(on.status("GMRES"));
done:
  return status;
}

__global__ void end_column_kernel(const gik_gmres q, gik_krylov_state *s)
{
  if (s->cycling) gik_end_column(&q, s);
}

gable_status enlarge(const gik_krylov *k, const gik_gmres *to, const double *v)
{
  gable_status status = GABLE_OK;
  const ptrdiff_t n = k->n;
  const gik_gmres q = *to;
  launches on(k->stream);
  GI_TRY(map(k, "GMRES", [=] __device__(const gik_krylov_state *s, ptrdiff_t i) {
    if (s->cycling) q.basis[(s->column + 1) * n + i] = s->norm > 0 ? v[i] / s->norm : v[i];
  }));
  on.launch(end_column_kernel, 1, 1, 0, q, k->state);
  GI_TRY(on.status("GMRES"));
done:
  return status;
}

/* One warp. */
__global__ void least_squares_kernel(const gik_gmres q, const gik_krylov_state *s)
{
  if (!s->stop) gik_back_substitute(&q, s->column, (int)threadIdx.x, 32);
}

gable_status combine(const gik_krylov *k, const gik_gmres *to, const double *z, double *out, double *x)
{
  gable_status status = GABLE_OK;
  const ptrdiff_t n = k->n;
  const gik_krylov_state *state = k->state;
  const double *y = to->g;
  launches on(k->stream);
  on.launch(least_squares_kernel, 1, 32, 0, *to, k->state);
  GI_TRY(on.status("GMRES"));
  GI_TRY(step<1>(
      k, "GMRES",
      [=] __device__(ptrdiff_t i, double *sum) {
        double value = 0;
        for (int j = 0; j < state->column; j++) value = fma(y[j], z[j * n + i], value);
        out[i] = value;
        sum[0] += !isfinite(value);
      },
      [] __device__(gik_krylov_state * s, const double *sum) { s->again = sum[0] == 0; }));
  if (x)
    GI_TRY(map(k, "GMRES", [=] __device__(const gik_krylov_state *s, ptrdiff_t i) {
      if (s->again) x[i] += out[i];
    }));
done:
  return status;
}

gable_status scale(const gik_krylov *k, const double *d, const double *r, double *z)
{
  return map(k, "Jacobi", [=] __device__(const gik_krylov_state *, ptrdiff_t i) { z[i] = r[i] / d[i]; });
}

} /* namespace */

extern "C" const gik_krylov_steps gik_krylov_steps_cuda = {
    STEP_PARTS, DOT_PARTS,    measure,  residual,     cg_start, cg_curvature, cg_step,
    cg_beta,    cg_direction, bi_start, bi_direction, bi_alpha, bi_half,      bi_omega,
    bi_step,    cycle,        dots,     project,      enlarge,  combine,      scale};
