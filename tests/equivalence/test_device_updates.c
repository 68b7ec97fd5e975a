/* Streams of the program's own: four of them apply a smoother or a preconditioner while a fifth updates its values a
 * hundred times.  Every apply has the values of the update before it, to the bit where the method repeats its bits.
 *
 * [place]: "cpu", where a call is done when it returns; on a GPU nobody waits for the host. */
#include "support/test.h"

#include "support/place.h"
#include "support/scaled_grid.h"

enum { LANES = 4, UPDATES = 100, SWEEPS = 2 };

/* What is updated and applied. */
typedef struct subject {
  gable_smoother *smoother;
  gable_smoother_work *sweeps[LANES];
  gable_precond *precond;
  gable_precond_work *applies[LANES];
  double rounding; /* relative */
  char name[48];
} subject;

static subject smoother_of(gable_context *ctx, const scaled_grid *g, const char *method, void *updater,
                           void *const *stream)
{
  subject s = {0};
  gable_smoother_options options = GABLE_SMOOTHER_OPTIONS_INIT;
  snprintf(s.name, sizeof s.name, "smoother, %s", method);
  s.rounding = test_method_repeats(method) ? 0 : 1e-9;
  options.method = method;
  options.solves = 0;
  options.threads = 1;
  CHECK_OK(gable_smoother_create(ctx, &options, &s.smoother));
  CHECK_OK(gable_smoother_set_stream(s.smoother, updater));
  CHECK_OK(gable_smoother_analyse(s.smoother, &g->view));
  for (int k = 0; k < LANES; k++) {
    CHECK_OK(gable_smoother_work_create(s.smoother, &s.sweeps[k]));
    CHECK_OK(gable_smoother_work_set_stream(s.sweeps[k], stream[k]));
  }
  return s;
}

static subject precond_of(gable_context *ctx, const scaled_grid *g, gable_preconditioner kind, void *updater,
                          void *const *stream)
{
  subject s = {0};
  gable_precond_options options = GABLE_PRECOND_OPTIONS_INIT;
  snprintf(s.name, sizeof s.name, "preconditioner %d", (int)kind);
  s.rounding = kind == GABLE_PRECOND_IC0 ? 1e-12 : 0; /* its square roots round */
  options.kind = kind;
  options.threads = 1;
  CHECK_OK(gable_precond_create(ctx, &options, &s.precond));
  CHECK_OK(gable_precond_set_stream(s.precond, updater));
  CHECK_OK(gable_precond_analyse(s.precond, &g->view));
  for (int k = 0; k < LANES; k++) {
    CHECK_OK(gable_precond_work_create(s.precond, &s.applies[k]));
    CHECK_OK(gable_precond_work_set_stream(s.applies[k], stream[k]));
  }
  return s;
}

static void update(subject *s, const void *val)
{
  CHECK_OK(s->smoother ? gable_smoother_update(s->smoother, val) : gable_precond_update(s->precond, val));
}

static void apply(gable_context *ctx, subject *s, int k, const gable_vectors_view *b, gable_vectors_view *x,
                  void *stream)
{
  if (s->precond) {
    CHECK_OK(gable_precond_apply(s->precond, s->applies[k], b, x));
    return;
  }
  if (x->space == GABLE_SPACE_DEVICE)
    CHECK_OK(gable_device_fill(ctx, x->data, 0, (size_t)x->n * sizeof(double), stream));
  CHECK_OK(gable_smoother_work_apply(s->sweeps[k], b, x, SWEEPS, NULL));
}

static void destroy(subject *s)
{
  for (int k = 0; k < LANES; k++) {
    gable_smoother_work_destroy(&s->sweeps[k]);
    gable_precond_work_destroy(&s->applies[k]);
  }
  gable_smoother_destroy(&s->smoother);
  gable_precond_destroy(&s->precond);
}

/* All results, by round and lane, in host memory. */
static double *run(gable_context *ctx, const scaled_grid *g, subject *s, void *const *stream)
{
  const size_t n = (size_t)g->view.n_rows, bytes = n * sizeof(double), all = bytes * LANES * UPDATES;
  double *out = calloc(1, all);
  double *b = scaled_grid_memory(ctx, g->b, bytes), *x = scaled_grid_memory(ctx, NULL, all);
  gable_vectors_view from = scaled_grid_column(g, b);
  for (int round = 0; round < UPDATES; round++) {
    update(s, g->val[round % SCALED_GRID_SCALES]);
    for (int k = 0; k < LANES; k++) {
      gable_vectors_view to = scaled_grid_column(g, x + n * (size_t)(round * LANES + k));
      apply(ctx, s, k, &from, &to, stream[k]);
    }
  }
  for (int k = 0; k < LANES; k++)
    CHECK_OK(s->smoother ? gable_smoother_work_status(s->sweeps[k], NULL) : gable_precond_work_status(s->applies[k]));
  scaled_grid_fetch(ctx, out, x, all);
  scaled_grid_give(ctx, b);
  scaled_grid_give(ctx, x);
  return out;
}

/* A round's results are those with the values times 1, over the scale of the round. */
static void check(gable_context *ctx, const scaled_grid *g, subject s, void *const *stream)
{
  const size_t n = (size_t)g->view.n_rows;
  double *all = run(ctx, g, &s, stream);
  const double *first = all + n * LANES * (SCALED_GRID_SCALES / 2); /* its scale is 1 */
  CHECK(first[n / 2] != 0 && isfinite(first[n / 2]), "%s: x is %g", s.name, first[n / 2]);
  for (int round = 0; round < UPDATES; round++)
    for (int k = 0; k < LANES; k++)
      for (size_t i = 0; i < n; i++) {
        const double meant = first[i] / scaled_grid_scale(round), x = all[n * (size_t)(round * LANES + k) + i];
        CHECK(fabs(x - meant) <= s.rounding * fabs(meant), "%s: round %d, stream %d, row %zu: %.17g, not %.17g", s.name,
              round, k, i, x, meant);
      }
  destroy(&s);
  free(all);
}

/* A Krylov solver on a stream of its own, its preconditioner updated in between. */
static void krylov(gable_context *ctx, const scaled_grid *g, void *updater, void *const *stream)
{
  const size_t n = (size_t)g->view.n_rows;
  gable_krylov_options options = GABLE_KRYLOV_OPTIONS_INIT;
  gable_krylov *k = NULL;
  gable_krylov_work *w = NULL;
  double *x = calloc(n, sizeof *x);
  gable_vectors_view from = scaled_grid_column(g, (void *)g->b), to = scaled_grid_column(g, x);
  from.space = to.space = GABLE_SPACE_HOST;
  options.preconditioner = GABLE_PRECOND_ILU0;
  options.threads = 1;
  options.tolerance = 1e-10;
  CHECK_OK(gable_krylov_create(ctx, &options, &k));
  CHECK_OK(gable_krylov_set_stream(k, updater));
  CHECK_OK(gable_krylov_analyse(k, &g->view));
  double first = 0;
  for (int round = SCALED_GRID_SCALES / 2; round < 8; round++) {
    CHECK_OK(gable_krylov_update(k, g->val[round % SCALED_GRID_SCALES]));
    if (!w) {
      CHECK_OK(gable_krylov_work_create(k, &w));
      CHECK_OK(gable_krylov_work_set_stream(w, stream[0]));
    }
    memset(x, 0, n * sizeof *x);
    CHECK_OK(gable_krylov_work_solve(w, &from, &to, NULL));
    if (round == SCALED_GRID_SCALES / 2) first = x[n / 2];
    CHECK(x[n / 2] == first / scaled_grid_scale(round), "krylov: round %d: %.17g, not %.17g", round, x[n / 2],
          first / scaled_grid_scale(round));
  }
  gable_krylov_work_destroy(&w);
  gable_krylov_destroy(&k);
  free(x);
}

int main(int argc, char **argv)
{
  gable_context_options options = GABLE_CONTEXT_OPTIONS_INIT;
  void *updater = NULL, *stream[LANES];
  options.threads = 2;
  gable_context *ctx = test_place(argc, argv, &options);
  const int gpu = test_place_is_gpu(ctx), there = gable_context_space(ctx) == GABLE_SPACE_DEVICE;
  scaled_grid g = scaled_grid_make(ctx, gpu ? 120 : 20);
  if (there) CHECK_OK(gable_stream_create(ctx, &updater));
  for (int k = 0; k < LANES; k++) {
    stream[k] = NULL;
    if (there) CHECK_OK(gable_stream_create(ctx, &stream[k]));
  }
  for (const char *const *method = test_place_methods(ctx); *method; method++)
    check(ctx, &g, smoother_of(ctx, &g, *method, updater, stream), stream);
  for (int kind = GABLE_PRECOND_NONE + 1; kind <= GABLE_PRECOND_IC0; kind++)
    check(ctx, &g, precond_of(ctx, &g, (gable_preconditioner)kind, updater, stream), stream);
  krylov(ctx, &g, updater, stream);
  for (int k = 0; k < LANES; k++) gable_stream_destroy(ctx, &stream[k]);
  gable_stream_destroy(ctx, &updater);
  scaled_grid_drop(ctx, &g);
  gable_context_destroy(&ctx);
  return 0;
}
