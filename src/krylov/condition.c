#include "krylov/condition.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum { MOST_ROUNDS = 5 };

gi_estimate_place gi_estimate_on_host(gable_context *ctx, gik_estimate *state)
{
  memset(state, 0, sizeof *state);
  return (gi_estimate_place){ctx, &gi_device_cpu, state, NULL};
}

gable_status gi_estimate_look(const gi_estimate_place *at, gik_estimate *out)
{
  gable_status status = GABLE_OK;
  GI_TRY(at->device->copy_out(at->ctx, out, at->state, offsetof(gik_estimate, part), at->stream));
  GI_TRY(at->device->synchronise(at->ctx, at->stream));
done:
  return status;
}

/* y = B x, B = diag(d) op(A)^-1, and the sum of its entries' sizes. */
static gable_status apply(const gi_estimate_place *at, const gi_inverse *of, const double *x, double *y, double *sum)
{
  gable_status status = GABLE_OK;
  gik_estimate found;
  GI_TRY(of->inverse(of->user, of->op, 1, x, y));
  GI_TRY(at->device->kernels->estimate_steps->weigh(of->n, of->d, y, at->state, at->stream));
  GI_TRY(gi_estimate_look(at, &found));
  *sum = found.sum;
done:
  return status;
}

/* x = B^T s, s = signs of y; y is scratch after. */
static gable_status apply_transposed_signs(const gi_estimate_place *at, const gi_inverse *of, double *y, double *x)
{
  gable_status status = GABLE_OK;
  GI_TRY(at->device->kernels->estimate_steps->signs(of->n, of->d, y, at->stream));
  GI_TRY(of->inverse(of->user, of->op == GABLE_OP_N ? GABLE_OP_T : GABLE_OP_N, 1, y, x));
done:
  return status;
}

/* Higham's last guess, a vector with alternating signs and growing entries, for the matrices that deceive the
 * iteration. */
static gable_status alternative(const gi_estimate_place *at, const gi_inverse *of, double *x, double *y, double *norm)
{
  gable_status status = GABLE_OK;
  double sum;
  GI_TRY(at->device->kernels->estimate_steps->alternate(of->n, x, at->stream));
  GI_TRY(apply(at, of, x, y, &sum));
  const double guess = 2 * sum / (3 * (double)of->n);
  if (!(guess <= *norm)) *norm = isfinite(guess) ? guess : (double)INFINITY;
done:
  return status;
}

gable_status gi_inverse_norm(const gi_estimate_place *at, const gi_inverse *of, double *work, double *norm)
{
  gable_status status = GABLE_OK;
  double *x = work, *y = work + of->n;
  gable_idx last = -1;
  *norm = 0;
  if (!of->n) return GABLE_OK;
  GI_TRY(at->device->kernels->estimate_steps->start(of->n, x, at->stream));
  for (int round = 0; round < MOST_ROUNDS; round++) {
    double reached;
    gik_estimate found;
    GI_TRY(apply(at, of, x, y, &reached));
    if (!isfinite(reached)) {
      *norm = INFINITY;
      goto done;
    }
    if (round && reached <= *norm) break;
    *norm = reached;
    if (of->enough > 0 && reached >= of->enough) goto done;
    GI_TRY(apply_transposed_signs(at, of, y, x));
    GI_TRY(at->device->kernels->estimate_steps->largest(of->n, x, last, at->state, at->stream));
    GI_TRY(gi_estimate_look(at, &found));
    if (found.best < 0 || found.best == last || (round && found.largest <= found.last)) break;
    last = found.best;
    GI_TRY(at->device->kernels->estimate_steps->unit(of->n, last, x, at->stream));
  }
  GI_TRY(alternative(at, of, x, y, norm));
done:
  return status;
}
