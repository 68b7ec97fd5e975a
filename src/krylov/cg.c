/* cg.c: see cg.h. */
#include <math.h>
#include <string.h>

#include "krylov/cg.h"

int gi_iteration_note(const gi_iteration *how, gi_iteration_result *result, gable_idx k, double residual)
{
  result->iterations = k;
  result->residual = residual;
  if (how->history) how->history[k] = residual;
  if (residual <= how->tolerance) {
    result->stop = GI_STOP_CONVERGED;
    return 1;
  }
  result->stop = isfinite(residual) ? GI_STOP_ITERATIONS : GI_STOP_NOT_FINITE;
  return !isfinite(residual) || k == how->max_iterations;
}

static gable_status precondition_or_copy(gable_idx n, gi_operator precondition, void *user, const double *r, double *z)
{
  if (precondition) return precondition(user, r, z);
  memcpy(z, r, (size_t)n * sizeof *z);
  return GABLE_OK;
}

gable_status gi_cg(gable_idx n, gi_operator apply, gi_operator precondition, void *user, const double *b, double *x,
                   const gi_iteration *how, gi_iteration_result *result)
{
  gable_status status = GABLE_OK;
  double *r = how->work, *z = r + n, *p = z + n, *q = p + n;
  double norm = gi_norm2(n, b), rz;
  if (norm == 0) norm = 1;
  GI_TRY(apply(user, x, r));
  for (gable_idx i = 0; i < n; i++) r[i] = b[i] - r[i];
  if (gi_iteration_note(how, result, 0, gi_norm2(n, r) / norm)) goto done;
  GI_TRY(precondition_or_copy(n, precondition, user, r, z));
  memcpy(p, z, (size_t)n * sizeof *p);
  rz = gi_dot(n, r, z);
  for (gable_idx k = 1;; k++) {
    GI_TRY(apply(user, p, q));
    const double pq = gi_dot(n, p, q);
    if (!(pq > 0) || !(rz > 0)) {
      result->stop = GI_STOP_BREAKDOWN;
      goto done;
    }
    const double alpha = rz / pq;
    for (gable_idx i = 0; i < n; i++) {
      x[i] += alpha * p[i];
      r[i] -= alpha * q[i];
    }
    if (gi_iteration_note(how, result, k, gi_norm2(n, r) / norm)) goto done;
    GI_TRY(precondition_or_copy(n, precondition, user, r, z));
    const double next = gi_dot(n, r, z), beta = next / rz;
    rz = next;
    for (gable_idx i = 0; i < n; i++) p[i] = z[i] + beta * p[i];
  }
done:
  return status;
}
