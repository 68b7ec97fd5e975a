/* Options of a size that no version had are refused, by every object; shorter ones, of an older version, are taken. */
#include "support/test.h"

static gable_context *ctx;

/* make: tries to create something with these options; struct: starts with its size. */
#define TRY_SIZES(type, init, make)                                                                                    \
  do {                                                                                                                 \
    type options = init;                                                                                               \
    CHECK_OK(make);                                                                                                    \
    options.size = 2 * sizeof(size_t); /* one member: older than any version, all others at their defaults */          \
    CHECK_OK(make);                                                                                                    \
    const size_t wrong[] = {0, 1, sizeof(size_t), sizeof options + 1, (size_t)-1};                                     \
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {                                                        \
      options.size = wrong[k];                                                                                         \
      CHECK((make) == GABLE_ERR_ARGUMENT, "%s of %zu bytes", #type, wrong[k]);                                         \
      CHECK(strstr(gable_last_error(), #init), "%s", gable_last_error());                                              \
    }                                                                                                                  \
  } while (0)

static gable_status make_context(const gable_context_options *options)
{
  gable_context *made = NULL;
  gable_status status = gable_context_create("cpu", options, &made);
  gable_context_destroy(&made);
  return status;
}

static gable_status make_solver(const gable_solver_options *options)
{
  gable_solver *made = NULL;
  gable_status status = gable_solver_create(ctx, options, &made);
  gable_solver_destroy(&made);
  return status;
}

static gable_status make_trisolve(const gable_trisolve_options *options)
{
  gable_trisolve *made = NULL;
  gable_status status = gable_trisolve_create(ctx, options, &made);
  gable_trisolve_destroy(&made);
  return status;
}

static gable_status make_smoother(const gable_smoother_options *options)
{
  gable_smoother *made = NULL;
  gable_status status = gable_smoother_create(ctx, options, &made);
  gable_smoother_destroy(&made);
  return status;
}

static gable_status make_krylov(const gable_krylov_options *options)
{
  gable_krylov *made = NULL;
  gable_status status = gable_krylov_create(ctx, options, &made);
  gable_krylov_destroy(&made);
  return status;
}

static gable_status make_symbolic(const gable_symbolic_options *options)
{
  const int64_t ptr[] = {0, 1, 2};
  const gable_idx idx[] = {0, 1};
  gable_matrix_view a = GABLE_MATRIX_VIEW_INIT;
  gable_symbolic *made = NULL;
  a.n_rows = a.n_cols = 2;
  a.ptr = ptr;
  a.idx = idx;
  gable_status status = gable_symbolic_create(ctx, &a, options, &made);
  gable_symbolic_destroy(&made);
  return status;
}

static gable_status read_matrix(const gable_read_options *options)
{
  gable_matrix *made = NULL;
  gable_status status = gable_matrix_read(ctx, "tests/fuzz/corpus/mm/general.mtx", options, &made);
  gable_matrix_destroy(&made);
  return status;
}

int main(void)
{
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  TRY_SIZES(gable_context_options, GABLE_CONTEXT_OPTIONS_INIT, make_context(&options));
  TRY_SIZES(gable_solver_options, GABLE_SOLVER_OPTIONS_INIT, make_solver(&options));
  TRY_SIZES(gable_trisolve_options, GABLE_TRISOLVE_OPTIONS_INIT, make_trisolve(&options));
  TRY_SIZES(gable_smoother_options, GABLE_SMOOTHER_OPTIONS_INIT, make_smoother(&options));
  TRY_SIZES(gable_krylov_options, GABLE_KRYLOV_OPTIONS_INIT, make_krylov(&options));
  TRY_SIZES(gable_symbolic_options, GABLE_SYMBOLIC_OPTIONS_INIT, make_symbolic(&options));
  TRY_SIZES(gable_read_options, GABLE_READ_OPTIONS_INIT, read_matrix(&options));
  gable_context_destroy(&ctx);
  return 0;
}
