/* Each allocation of each phase of the solver fails once: GABLE_ERR_MEMORY, nothing leaked, and the next try succeeds.
 * Solving allocates nothing at all. */
#include <unistd.h>

#include "graph/order/order_parts.h"
#include "support/failing_allocator.h"
#include "support/memory_message.h"
#include "support/place.h"
#include "support/systems.h"
#include "support/test.h"

static failing_allocator memory;
static char path[] = "/tmp/gable_fault_XXXXXX";

typedef struct stage {
  failing_mode mode;
  gable_solver *solver, *other;
  gable_factors *factors;
  gable_solver_work *work;
  gable_matrix_view view;
  double *b, *x;
} stage;

static gable_status analyse(stage *s)
{
  return gable_solver_analyse(s->solver, &s->view);
}
static gable_status factor(stage *s)
{
  return gable_solver_factor(s->solver, NULL, GABLE_REUSE_NOTHING);
}
static gable_status factor_again(stage *s)
{
  return gable_solver_factor(s->solver, s->view.val, GABLE_REUSE_ALL);
}
static gable_status make_work(stage *s)
{
  gable_solver_work_destroy(&s->work);
  return gable_solver_work_create(s->solver, 2, &s->work);
}
static gable_status save(stage *s)
{
  return gable_solver_save(s->solver, path);
}
static gable_status load(stage *s)
{
  return gable_solver_load(s->solver, &s->view, path);
}

static gable_status export(stage *s)
{
  gable_factors_destroy(&s->factors);
  return gable_solver_export(s->solver, &s->factors);
}
static gable_status import(stage *s)
{
  gable_factors_view view = GABLE_FACTORS_VIEW_INIT;
  CHECK_OK(gable_factors_get_view(s->factors, &view));
  return gable_solver_import(s->other, &view, &s->view);
}

/* Fails allocation 0, 1, 2, .. of the phase; before each, prepare (may be NULL) brings the stage back.  Under a
 * sanitizer one of FAIL_STEP fails, each case beginning with another. */
static long every_failure(stage *s, const char *name, gable_status (*prepare)(stage *), gable_status (*phase)(stage *))
{
  static long cases;
  for (long k = cases++ % FAIL_STEP;; k += FAIL_STEP) {
    failing_allocator_disarm(&memory);
    if (prepare) CHECK_OK(prepare(s));
    failing_allocator_arm_mode(&memory, s->mode, k);
    gable_status status = phase(s);
    if (!memory.failures) {
      failing_allocator_disarm(&memory);
      CHECK(status == GABLE_OK, "%s: %s", name, gable_last_error());
      return k;
    }
    CHECK(status == GABLE_ERR_MEMORY, "%s, mode %d, allocation %ld: status %d: %s", name, (int)s->mode, k, (int)status,
          gable_last_error());
    CHECK(memory_message_is_clear(), "%s, allocation %ld: %s", name, k, gable_last_error());
  }
}

static void one_kind(const char *where, test_kind kind, gable_idx n, failing_mode mode, gable_solve_method method)
{
  gable_context_options options = failing_allocator_options(&memory);
  gable_context *ctx = NULL;
  test_system a = test_system_make(kind, n, 3);
  stage s = {.mode = mode,
             .view = test_system_view(&a),
             .b = calloc((size_t)n, 2 * sizeof(double)),
             .x = calloc((size_t)n, 2 * sizeof(double))};
  options.threads = 2;
  CHECK_OK(gable_context_create(where, &options, &ctx));
  gable_solver_options how = GABLE_SOLVER_OPTIONS_INIT;
  if (mode == FAIL_ONE) /* the automatic order does without METIS where an allocation for that fails */
    how.order = gi_order_has_amd() ? GABLE_ORDER_AMD : GABLE_ORDER_NATURAL;
  how.solve_method = method;
  how.merge_blocks = method == GABLE_SOLVE_PARTITIONED;
  CHECK_OK(gable_solver_create(ctx, &how, &s.solver));
  CHECK(every_failure(&s, "analyse", NULL, analyse) > 10);
  CHECK(every_failure(&s, "factor", analyse, factor) > 5);
  every_failure(&s, "factor again", NULL, factor_again);
  CHECK(every_failure(&s, "work", NULL, make_work) > 5);
  for (gable_idx i = 0; i < 2 * n; i++) s.b[i] = i % 5;
  gable_vectors_view vb = test_vectors(n, 2, s.b), vx = test_vectors(n, 2, s.x);
  failing_allocator_arm(&memory, 0);
  for (int op = 0; op < 2; op++) {
    CHECK_OK(gable_solver_solve(s.solver, s.work, (gable_op)op, &vb, &vx));
    CHECK_OK(gable_solver_apply(s.solver, s.work, (gable_op)op, GABLE_FACTOR_ALL, &vb, &vx));
  }
  double number;
  CHECK_OK(gable_solver_rcond(s.solver, s.work, &number));
  CHECK(memory.count == 0, "a solve of %s allocates", test_kind_name(kind));
  failing_allocator_disarm(&memory);
  every_failure(&s, "save", NULL, save);
  every_failure(&s, "load", NULL, load);
  CHECK_OK(gable_solver_create(ctx, NULL, &s.other));
  CHECK(every_failure(&s, "export", NULL, export) > 10);
  CHECK(every_failure(&s, "import", NULL, import) > 20);
  gable_factors_destroy(&s.factors);
  gable_solver_destroy(&s.other);
  gable_solver_work_destroy(&s.work);
  gable_solver_destroy(&s.solver);
  gable_context_destroy(&ctx);
  CHECK(memory.live == 0, "%s: %ld blocks leaked", test_kind_name(kind), (long)memory.live);
  free(s.b);
  free(s.x);
  test_system_free(&a);
}

/* Values that could not be taken for lack of memory leave the old ones, or are there whole: never a mixture. */
static void values_stay_whole(failing_mode mode)
{
  enum { N = 60 };
  gable_context_options options = failing_allocator_options(&memory);
  gable_context *ctx = NULL;
  test_system a = test_system_make(TEST_SPD, N, 7), twice = a;
  stage s = {.view = test_system_view(&a), .b = malloc(N * sizeof(double)), .x = malloc(N * sizeof(double))};
  gable_vectors_view vb = test_vectors(N, 1, s.b), vx = test_vectors(N, 1, s.x);
  twice.val = malloc((size_t)a.ptr[N] * sizeof *twice.val);
  for (int64_t k = 0; k < a.ptr[N]; k++) twice.val[k] = 2 * (a.val[k] *= 1 + 0.1 * (double)(k % 3)); /* unsymmetric */
  for (int i = 0; i < N; i++) s.b[i] = 1 + i % 5;
  CHECK_OK(gable_context_create("cpu", &options, &ctx));
  CHECK_OK(gable_solver_create(ctx, NULL, &s.solver));
  for (long k = 0, failures = 1; failures; k += FAIL_STEP) {
    CHECK_OK(analyse(&s));
    CHECK_OK(factor(&s));
    failing_allocator_arm_mode(&memory, mode, k);
    gable_status status = gable_solver_factor(s.solver, twice.val, GABLE_REUSE_ALL);
    failures = memory.failures;
    failing_allocator_disarm(&memory);
    CHECK(status == (failures ? GABLE_ERR_MEMORY : GABLE_OK));
    CHECK_OK(make_work(&s));
    CHECK(!failures || gable_solver_solve(s.solver, s.work, GABLE_OP_N, &vb, &vx) == GABLE_ERR_STATE,
          "allocation %ld: half a factor is solved with", k);
    CHECK_OK(gable_solver_factor(s.solver, NULL, GABLE_REUSE_ALL));
    CHECK_OK(make_work(&s));
    CHECK_OK(gable_solver_solve(s.solver, s.work, GABLE_OP_N, &vb, &vx));
    const double old = test_backward_error(&a, GABLE_OP_N, s.b, s.x),
                 new = test_backward_error(&twice, GABLE_OP_N, s.b, s.x);
    CHECK((failures && old < 1e-12) || new < 1e-12, "allocation %ld: errors %g and %g", k, old, new);
  }
  gable_solver_work_destroy(&s.work);
  gable_solver_destroy(&s.solver);
  gable_context_destroy(&ctx);
  free(s.b);
  free(s.x);
  free(twice.val);
  test_system_free(&a);
}

/* Where each failure costs a GPU's calls, and a library that is opened anew. */
static void on_place(const char *where)
{
  one_kind(where, TEST_SPD, 60, FAIL_ONE, GABLE_SOLVE_AUTO);
  one_kind(where, TEST_REDUCIBLE, 60, FAIL_ONE, GABLE_SOLVE_AUTO);
  for (int m = GABLE_SOLVE_LEVELS; m <= GABLE_SOLVE_PARTITIONED_CUSPARSE; m++)
    one_kind(where, m % 2 ? TEST_REDUCIBLE : TEST_SPD, 30, FAIL_ONE, (gable_solve_method)m);
}

int main(int argc, char **argv)
{
  gable_context *ctx = test_place(argc, argv, NULL); /* skips where there is no GPU */
  gable_context_destroy(&ctx);
  memory = failing_allocator_init();
  int fd = mkstemp(path);
  CHECK(fd >= 0);
  close(fd);
  if (argc > 1) on_place(argv[1]);
  for (int mode = 0; argc < 2 && mode < FAIL_MODES; mode++) {
    one_kind("cpu", TEST_SPD, 60, (failing_mode)mode, GABLE_SOLVE_AUTO);
    one_kind("cpu", TEST_INDEFINITE, 60, (failing_mode)mode, GABLE_SOLVE_AUTO);
    one_kind("cpu", TEST_SADDLE, 60, (failing_mode)mode, GABLE_SOLVE_AUTO);
    one_kind("cpu", TEST_REDUCIBLE, 60, (failing_mode)mode, GABLE_SOLVE_AUTO);
    one_kind("cpu", TEST_GROWTH, 150, (failing_mode)mode, GABLE_SOLVE_AUTO);
    one_kind("mirror", TEST_SPD, 60, (failing_mode)mode, GABLE_SOLVE_AUTO);
    one_kind("mirror", TEST_REDUCIBLE, 60, (failing_mode)mode, GABLE_SOLVE_AUTO);
    for (int m = GABLE_SOLVE_LEVELS; m <= GABLE_SOLVE_PARTITIONED_CUSPARSE; m++) {
      one_kind("cpu", m % 2 ? TEST_REDUCIBLE : TEST_SPD, 30, (failing_mode)mode, (gable_solve_method)m);
      one_kind("mirror", m % 2 ? TEST_INDEFINITE : TEST_REDUCIBLE, 30, (failing_mode)mode, (gable_solve_method)m);
    }
    values_stay_whole((failing_mode)mode);
  }
  unlink(path);
  return 0;
}
