/* GMRES gives the same bits for every number of threads, and from run to run, above and below the length from which on
 * threads share its vectors. */
#include "support/test.h"

#include "krylov/gmres.h"

enum { RESTART = 12, STEPS = 30 };

/* A tridiagonal matrix without symmetry. */
static gable_status apply(void *user, const double *x, double *y)
{
  const gable_idx n = *(const gable_idx *)user;
  for (gable_idx i = 0; i < n; i++)
    y[i] = (2.0 + 1e-3 * (i % 7)) * x[i] - (i ? 1.2 * x[i - 1] : 0) - (i + 1 < n ? 0.7 * x[i + 1] : 0);
  return GABLE_OK;
}

static double solve(int threads, gable_idx n, double *x)
{
  gable_context_options options = GABLE_CONTEXT_OPTIONS_INIT;
  gable_context *ctx = NULL;
  gi_gmres_work *w = NULL;
  gi_gmres_result result;
  double *b = malloc((size_t)n * sizeof *b);
  options.threads = threads;
  CHECK(b);
  CHECK_OK(gable_context_create("cpu", &options, &ctx));
  CHECK_OK(gi_gmres_work_create(ctx, n, RESTART, threads, &w));
  for (gable_idx i = 0; i < n; i++) {
    b[i] = 1 + i % 5;
    x[i] = 0;
  }
  CHECK_OK(gi_gmres(apply, NULL, &n, b, x, 1e-14, STEPS, NULL, w, &result));
  CHECK(result.iterations == STEPS && result.residual < 1, "%d iterations, residual %g", result.iterations,
        result.residual);
  gi_gmres_work_destroy(ctx, &w);
  gable_context_destroy(&ctx);
  free(b);
  return result.residual;
}

int main(void)
{
  static const gable_idx lengths[] = {1000, 65535, 65536, 100003};
  for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
    const gable_idx n = lengths[k];
    double *x = malloc((size_t)n * sizeof *x), *y = malloc((size_t)n * sizeof *y);
    CHECK(x && y);
    const double residual = solve(1, n, x);
    for (int threads = 1; threads <= 7; threads += 2) {
      const double again = solve(threads, n, y);
      CHECK(again == residual && !memcmp(x, y, (size_t)n * sizeof *x), "n %d: other bits with %d threads", n, threads);
    }
    free(x);
    free(y);
  }
  return 0;
}
