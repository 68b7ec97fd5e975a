/* GMRES gives the same bits for every number of threads, and from run to run, above and below the length from which on
 * threads share its vectors. */
#include "support/test.h"

#include "krylov/iteration.h"

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
  const gi_iteration how = {.tolerance = 1e-14, .max_iterations = STEPS};
  gi_krylov_vectors w = {0};
  gi_iteration_result result;
  double *b = malloc((size_t)n * sizeof *b);
  options.threads = threads;
  CHECK(b);
  CHECK_OK(gable_context_create("cpu", &options, &ctx));
  CHECK_OK(gi_krylov_vectors_init(ctx, &gi_device_cpu, n, RESTART, 0, threads, &w));
  for (gable_idx i = 0; i < n; i++) {
    b[i] = 1 + i % 5;
    x[i] = 0;
  }
  CHECK_OK(gi_gmres(&w, apply, NULL, &n, b, x, &how, &result));
  CHECK(result.iterations == STEPS && result.residual < 1, "%d iterations, residual %g", result.iterations,
        result.residual);
  gi_krylov_vectors_release(&w);
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
