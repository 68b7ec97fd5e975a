/* gmres.c: see gmres.h. */
#include <math.h>
#include <string.h>

#include "krylov/gmres.h"
#include "krylov/hessenberg.h"

struct gi_gmres_work {
  gable_idx n, restart;
  int threads;
  double *basis; /* [(restart+1) * n] orthonormal */
  gi_hessenberg q;
  double *z; /* [restart * n] the basis preconditioned: what A was applied to, and what the update is made of */
};

gable_status gi_gmres_work_create(gable_context *ctx, gable_idx n, gable_idx restart, int threads, gi_gmres_work **out)
{
  gable_status status = GABLE_OK;
  gi_gmres_work *w = NULL;
  GI_ALLOC_ZERO(ctx, w, 1);
  w->n = n;
  w->threads = threads;
  w->restart = restart;
  GI_ALLOC(ctx, w->basis, (gable_off)(restart + 1) * n);
  GI_TRY(gi_hessenberg_init(ctx, restart, &w->q));
  GI_ALLOC(ctx, w->z, (gable_off)restart * n);
  *out = w;
  w = NULL;
done:
  gi_gmres_work_destroy(ctx, &w);
  return status;
}

void gi_gmres_work_destroy(gable_context *ctx, gi_gmres_work **work)
{
  if (!*work) return;
  gi_gmres_work *w = *work;
  *work = NULL;
  gi_free(ctx, w->basis);
  gi_hessenberg_release(ctx, &w->q);
  gi_free(ctx, w->z);
  gi_free(ctx, w);
}

double gi_dot(gable_idx n, const double *x, const double *y)
{
  double part[8] = {0};
  gable_idx i = 0;
  for (; i + 8 <= n; i += 8)
    for (int k = 0; k < 8; k++) part[k] += x[i + k] * y[i + k];
  for (; i < n; i++) part[0] += x[i] * y[i];
  return ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
}

/* Scaled when the plain sum of squares leaves the exponents. */
double gi_norm2(gable_idx n, const double *x)
{
  double sum = gi_dot(n, x, x);
  if (sum > 1e-280 && sum < 1e280) return sqrt(sum);
  double top = 0, scaled = 0;
  if (isnan(sum)) return sum;
  for (gable_idx i = 0; i < n; i++) top = fmax(top, fabs(x[i]));
  if (top == 0 || isinf(top)) return top;
  for (gable_idx i = 0; i < n; i++) scaled += (x[i] / top) * (x[i] / top);
  return top * sqrt(scaled);
}

/* Vectors of at least LONG are shared by the threads, in PIECES, so that no sum depends on how many there are. */
enum { PIECES = 64, LONG = 1 << 16 };

static double dot(const gi_gmres_work *w, const double *x, const double *y)
{
  double part[PIECES], sum = 0;
  const gable_off n = w->n;
  if (n < LONG) return gi_dot(w->n, x, y);
  GI_OMP(parallel for schedule(static) num_threads(w->threads))
  for (int p = 0; p < PIECES; p++) {
    const gable_off begin = n * p / PIECES, end = n * (p + 1) / PIECES;
    part[p] = gi_dot((gable_idx)(end - begin), x + begin, y + begin);
  }
  for (int p = 0; p < PIECES; p++) sum += part[p];
  return sum;
}

static void subtract(const gi_gmres_work *w, double factor, const double *x, double *y)
{
  const gable_idx n = w->n;
  GI_OMP(parallel for simd schedule(static) num_threads(w->threads) if (n >= LONG))
  for (gable_idx i = 0; i < n; i++) y[i] -= factor * x[i];
}

/* Makes basis vector k+1 from v = A z orthonormal to the first k+1; column k of h receives the coefficients.  Modified
 * Gram-Schmidt, twice when much was cancelled. */
static void orthogonalise(gi_gmres_work *w, gable_idx k)
{
  double *h = gi_hessenberg_column(&w->q, k), *v = w->basis + (gable_off)(k + 1) * w->n;
  double before = gi_norm2(w->n, v);
  for (gable_idx j = 0; j <= k; j++) h[j] = 0;
  for (int pass = 0; pass < 2; pass++) {
    for (gable_idx j = 0; j <= k; j++) {
      const double *q = w->basis + (gable_off)j * w->n;
      double c = dot(w, q, v);
      h[j] += c;
      subtract(w, c, q, v);
    }
    h[k + 1] = gi_norm2(w->n, v);
    if (h[k + 1] > 0.5 * before) break;
  }
  if (h[k + 1] > 0)
    for (gable_idx i = 0; i < w->n; i++) v[i] /= h[k + 1];
}

/* x += Z y, R y = g, over the first k columns of Z: the preconditioned basis, or without a preconditioner the basis. */
static void update(gi_gmres_work *w, gable_idx k, const double *z, double *x)
{
  double *step = w->basis + (gable_off)k * w->n; /* the last vector of the basis has served */
  gi_hessenberg_solve(&w->q, k);
  memset(step, 0, (size_t)w->n * sizeof *step);
  for (gable_idx j = 0; j < k; j++) subtract(w, -w->q.g[j], z + (gable_off)j * w->n, step);
  for (gable_idx i = 0; i < w->n; i++)
    if (!isfinite(step[i])) return;
  for (gable_idx i = 0; i < w->n; i++) x[i] += step[i];
}

/* basis[0] = (b - A x) / its norm, which is returned. */
static gable_status start(gi_operator apply, void *user, const double *b, const double *x, gi_gmres_work *w,
                          double *norm)
{
  gable_status status = GABLE_OK;
  GI_TRY(apply(user, x, w->basis));
  for (gable_idx i = 0; i < w->n; i++) w->basis[i] = b[i] - w->basis[i];
  *norm = gi_norm2(w->n, w->basis);
  if (*norm > 0)
    for (gable_idx i = 0; i < w->n; i++) w->basis[i] /= *norm;
done:
  return status;
}

gable_status gi_gmres(gi_operator apply, gi_operator precondition, void *user, const double *b, double *x,
                      double tolerance, gable_idx max_iterations, double *history, gi_gmres_work *w,
                      gi_gmres_result *result)
{
  gable_status status = GABLE_OK;
  double norm_b = gi_norm2(w->n, b), norm;
  *result = (gi_gmres_result){GI_GMRES_CONVERGED, 0, 0};
  if (norm_b == 0) {
    memset(x, 0, (size_t)w->n * sizeof *x);
    if (history) history[0] = 0;
    return GABLE_OK;
  }
  for (;;) {
    GI_TRY(start(apply, user, b, x, w, &norm));
    result->residual = norm / norm_b;
    if (history) history[result->iterations] = result->residual;
    if (!isfinite(norm)) result->reason = GI_GMRES_NOT_FINITE;
    if (!isfinite(norm) || norm <= tolerance * norm_b) break;
    if (result->iterations >= max_iterations) {
      result->reason = GI_GMRES_ITERATIONS;
      break;
    }
    w->q.g[0] = norm;
    gable_idx k = 0;
    while (k < w->restart && result->iterations < max_iterations && fabs(w->q.g[k]) > tolerance * norm_b) {
      double *v = w->basis + (gable_off)k * w->n, *z = w->z + (gable_off)k * w->n;
      if (precondition) GI_TRY(precondition(user, v, z));
      GI_TRY(apply(user, precondition ? z : v, v + w->n));
      orthogonalise(w, k);
      if (!isfinite(gi_hessenberg_column(&w->q, k)[k + 1])) break;
      gi_hessenberg_rotate(&w->q, k++);
      result->iterations++;
      if (history) history[result->iterations] = fabs(w->q.g[k]) / norm_b;
      if (gi_hessenberg_column(&w->q, k - 1)[k - 1] == 0) break;
    }
    if (!k) {
      result->reason = GI_GMRES_NOT_FINITE;
      break;
    }
    update(w, k, precondition ? w->z : w->basis, x);
  }
done:
  return status;
}
