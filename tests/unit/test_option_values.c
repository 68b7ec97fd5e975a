/* Words and enumerators of options are checked in create, for every object, and a word is not read again after it. */
#include "support/test.h"

static gable_context *ctx;

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

/* options.member = each value in turn: refused. */
#define REFUSE(type, init, member, make, ...)                                                                          \
  do {                                                                                                                 \
    const int wrong[] = {__VA_ARGS__};                                                                                 \
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {                                                        \
      type options = init;                                                                                             \
      memcpy(&options.member, &wrong[k], sizeof options.member);                                                       \
      CHECK((make) == GABLE_ERR_ARGUMENT, "%s: " #member " = %d is taken", #type, wrong[k]);                           \
    }                                                                                                                  \
  } while (0)

/* A word that no method has is refused, whatever else is asked for. */
static void refuse_words(void)
{
  for (int p = GABLE_PRECOND_NONE; p <= GABLE_PRECOND_IC0; p++) {
    gable_krylov_options k = GABLE_KRYLOV_OPTIONS_INIT;
    k.preconditioner = (gable_preconditioner)p;
    k.method = "fastest";
    CHECK(make_krylov(&k) == GABLE_ERR_ARGUMENT, "preconditioner %d", p);
  }
  gable_trisolve_options t = GABLE_TRISOLVE_OPTIONS_INIT;
  gable_smoother_options s = GABLE_SMOOTHER_OPTIONS_INIT;
  gable_symbolic_options y = GABLE_SYMBOLIC_OPTIONS_INIT;
  t.method = s.method = y.order = "fastest";
  CHECK(make_trisolve(&t) == GABLE_ERR_ARGUMENT);
  CHECK(make_smoother(&s) == GABLE_ERR_ARGUMENT);
  CHECK(make_symbolic(&y) == GABLE_ERR_ARGUMENT);
}

/* The word of a method may be gone after create. */
static void forget_words(void)
{
  const int64_t ptr[] = {0, 1, 3};
  const gable_idx idx[] = {0, 0, 1};
  const double val[] = {2, 1, 4};
  gable_matrix_view a = GABLE_MATRIX_VIEW_INIT;
  gable_krylov_options options = GABLE_KRYLOV_OPTIONS_INIT;
  gable_krylov_info info = GABLE_KRYLOV_INFO_INIT;
  gable_krylov *k = NULL;
  char *word = malloc(5);
  a.n_rows = a.n_cols = 2;
  a.ptr = ptr;
  a.idx = idx;
  a.val = val;
  memcpy(word, "levr", 5);
  options.method = word;
  options.preconditioner = GABLE_PRECOND_ILU0;
  CHECK_OK(gable_krylov_create(ctx, &options, &k));
  memcpy(word, "gone", 5);
  free(word);
  CHECK_OK(gable_krylov_set_matrix(k, &a));
  CHECK_OK(gable_krylov_get_info(k, &info));
  CHECK(!strcmp(info.method_used, "levr"), "%s", info.method_used);
  gable_krylov_destroy(&k);
}

static void refuse_enumerators(void)
{
  REFUSE(gable_krylov_options, GABLE_KRYLOV_OPTIONS_INIT, solver, make_krylov(&options), -1, 4, 77);
  REFUSE(gable_krylov_options, GABLE_KRYLOV_OPTIONS_INIT, preconditioner, make_krylov(&options), -1, 7, 77);
  REFUSE(gable_smoother_options, GABLE_SMOOTHER_OPTIONS_INIT, sweep, make_smoother(&options), -1, 0, 4);
  REFUSE(gable_trisolve_options, GABLE_TRISOLVE_OPTIONS_INIT, uplo, make_trisolve(&options), -1, 3, 77);
  REFUSE(gable_trisolve_options, GABLE_TRISOLVE_OPTIONS_INIT, diag, make_trisolve(&options), -1, 3, 77);
  REFUSE(gable_trisolve_options, GABLE_TRISOLVE_OPTIONS_INIT, ops, make_trisolve(&options), -1, 4, 77);
  REFUSE(gable_symbolic_options, GABLE_SYMBOLIC_OPTIONS_INIT, form, make_symbolic(&options), -1, 5, 77);
  REFUSE(gable_solver_options, GABLE_SOLVER_OPTIONS_INIT, method, make_solver(&options), -1, 4, 77);
  REFUSE(gable_solver_options, GABLE_SOLVER_OPTIONS_INIT, order, make_solver(&options), -1, 6, 77);
  REFUSE(gable_solver_options, GABLE_SOLVER_OPTIONS_INIT, match, make_solver(&options), -1, 3, 77);
  REFUSE(gable_solver_options, GABLE_SOLVER_OPTIONS_INIT, blocks, make_solver(&options), -1, 3, 77);
  REFUSE(gable_solver_options, GABLE_SOLVER_OPTIONS_INIT, factor_type, make_solver(&options), 0, 2, 5);
  REFUSE(gable_solver_options, GABLE_SOLVER_OPTIONS_INIT, unchecked, make_solver(&options), -1, 1, 2);
  REFUSE(gable_solver_options, GABLE_SOLVER_OPTIONS_INIT, blas, make_solver(&options), -1, 3, 77);
}

int main(void)
{
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  refuse_words();
  forget_words();
  refuse_enumerators();
  gable_context_destroy(&ctx);
  return 0;
}
