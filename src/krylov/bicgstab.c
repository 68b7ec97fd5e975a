/* bicgstab.c: see bicgstab.h. */
#include <string.h>

#include "krylov/bicgstab.h"

typedef struct vectors {
  double *r, *shadow, *p, *v, *s, *t, *p_hat, *s_hat;
} vectors;

static vectors split(double *work, gable_idx n)
{
  const size_t m = (size_t)n;
  return (vectors){work, work + m, work + 2 * m, work + 3 * m, work + 4 * m, work + 5 * m, work + 6 * m, work + 7 * m};
}

/* out = A M^-1 in, hat = M^-1 in. */
static gable_status apply_both(gable_idx n, gi_operator apply, gi_operator precondition, void *user, const double *in,
                               double *hat, double *out)
{
  gable_status status = GABLE_OK;
  if (precondition)
    GI_TRY(precondition(user, in, hat));
  else
    memcpy(hat, in, (size_t)n * sizeof *hat);
  GI_TRY(apply(user, hat, out));
done:
  return status;
}

gable_status gi_bicgstab(gable_idx n, gi_operator apply, gi_operator precondition, void *user, const double *b,
                         double *x, const gi_iteration *how, gi_iteration_result *result)
{
  gable_status status = GABLE_OK;
  const vectors w = split(how->work, n);
  double norm = gi_norm2(n, b), rho = 1, alpha = 1, omega = 1;
  if (norm == 0) norm = 1;
  GI_TRY(apply(user, x, w.r));
  for (gable_idx i = 0; i < n; i++) {
    w.r[i] = w.shadow[i] = b[i] - w.r[i];
    w.p[i] = w.v[i] = 0;
  }
  if (gi_iteration_note(how, result, 0, gi_norm2(n, w.r) / norm)) goto done;
  for (gable_idx k = 1;; k++) {
    const double next = gi_dot(n, w.shadow, w.r), beta = next / rho * (alpha / omega);
    for (gable_idx i = 0; i < n; i++) w.p[i] = w.r[i] + beta * (w.p[i] - omega * w.v[i]);
    GI_TRY(apply_both(n, apply, precondition, user, w.p, w.p_hat, w.v));
    const double sv = gi_dot(n, w.shadow, w.v);
    rho = next;
    alpha = rho / sv;
    if (rho == 0 || sv == 0) {
      result->stop = GI_STOP_BREAKDOWN;
      goto done;
    }
    for (gable_idx i = 0; i < n; i++) w.s[i] = w.r[i] - alpha * w.v[i];
    GI_TRY(apply_both(n, apply, precondition, user, w.s, w.s_hat, w.t));
    const double tt = gi_dot(n, w.t, w.t);
    omega = tt > 0 ? gi_dot(n, w.t, w.s) / tt : 0;
    for (gable_idx i = 0; i < n; i++) {
      x[i] += alpha * w.p_hat[i] + omega * w.s_hat[i];
      w.r[i] = w.s[i] - omega * w.t[i];
    }
    if (gi_iteration_note(how, result, k, gi_norm2(n, w.r) / norm)) goto done;
    if (omega == 0) {
      result->stop = GI_STOP_BREAKDOWN;
      goto done;
    }
  }
done:
  return status;
}
