/* The k-th allocation fails, alone or with all after it, for every k, in triangular solves, sweeps and Krylov solvers;
 * solves allocate nothing. */
#include "support/test.h"

#include "base/portable.h"
#include "support/failing_allocator.h"
#include "support/memory_message.h"
#include "support/place.h"
#include "support/plans.h"
#include "support/triangles.h"

typedef struct bench {
  gable_context *ctx;
  failing_allocator *memory;
  failing_mode mode;
  test_triangle t;
  gable_matrix_view view;
  double *b, *x;
} bench;

static gable_vectors_view vector(const bench *s, double *data)
{
  gable_vectors_view v = GABLE_VECTORS_VIEW_INIT;
  v.n = s->t.n;
  v.ld = s->t.n;
  v.data = data;
  return v;
}

/* Solves, counting allocations: there must be none. */
static gable_status trisolve(const bench *s, const char *method)
{
  gable_vectors_view b = vector(s, s->b), x = vector(s, s->x);
  test_plan p;
  gable_status status = test_plan_create(s->ctx, &s->view, s->t.val, method, &p);
  long before = atomic_load(&s->memory->count);
  if (!status) status = gable_trisolve_solve(p.solve, p.work, GABLE_OP_N, &b, &x);
  if (!status) status = gable_trisolve_solve(p.solve, p.work, GABLE_OP_T, &x, &x);
  CHECK(atomic_load(&s->memory->count) == before, "%s: solve allocates", method);
  test_plan_destroy(&p);
  return status;
}

static gable_status smooth(const bench *s, const char *method)
{
  gable_vectors_view b = vector(s, s->b), x = vector(s, s->x);
  gable_smoother *smoother = NULL;
  gable_status status = test_smoother_create(s->ctx, &s->view, s->t.val, method, &smoother);
  long before = atomic_load(&s->memory->count);
  if (!status) status = gable_smoother_apply(smoother, &b, &x, 2, NULL);
  CHECK(atomic_load(&s->memory->count) == before, "%s: a sweep allocates", method);
  gable_smoother_destroy(&smoother);
  return status;
}

static gable_status krylov(const bench *s, const char *precond)
{
  gable_krylov_options options = GABLE_KRYLOV_OPTIONS_INIT;
  gable_krylov *k = NULL;
  options.solver = GABLE_KRYLOV_GMRES;
  options.preconditioner = !strcmp(precond, "ilu0")   ? GABLE_PRECOND_ILU0
                           : !strcmp(precond, "ic0")  ? GABLE_PRECOND_IC0
                           : !strcmp(precond, "iluk") ? GABLE_PRECOND_ILUK
                           : !strcmp(precond, "ilut") ? GABLE_PRECOND_ILUT
                                                      : GABLE_PRECOND_GS;
  memset(s->x, 0, (size_t)s->t.n * 8);
  gable_status status = gable_krylov_create(s->ctx, &options, &k);
  if (!status) status = gable_krylov_set_matrix(k, &s->view);
  long before = atomic_load(&s->memory->count);
  if (!status) status = gable_krylov_solve(k, s->b, s->x, NULL);
  CHECK(atomic_load(&s->memory->count) == before, "%s: solve allocates", precond);
  gable_krylov_destroy(&k);
  return status;
}

/* A plan says what it took of the allocator's memory. */
static void check_bytes(const bench *s, const char *method)
{
  gable_trisolve_options options = GABLE_TRISOLVE_OPTIONS_INIT;
  gable_trisolve_info info = GABLE_TRISOLVE_INFO_INIT;
  gable_trisolve *plan = NULL;
  const long before = atomic_load(&s->memory->bytes);
  options.method = method;
  options.solves = 0;
  CHECK_OK(gable_trisolve_create(s->ctx, &options, &plan));
  CHECK_OK(gable_trisolve_analyse(plan, &s->view));
  CHECK_OK(gable_trisolve_get_info(plan, GABLE_OP_N, &info));
  const double taken = (double)(atomic_load(&s->memory->bytes) - before), said = (double)info.plan_bytes_host;
  CHECK(fabs(taken - said) < 0.01 * taken + 1000, "%s: a plan of %.0f bytes says %.0f", method, taken, said);
  gable_trisolve_destroy(&plan);
}

/* first: the first allocation that fails; under a sanitizer the cases begin with different ones. */
static void fail_all(bench *s, gable_status (*phase)(const bench *, const char *), const char *how, size_t first)
{
  const long before = atomic_load(&s->memory->live);
  for (long k = (long)first % FAIL_STEP;; k += FAIL_STEP) {
    failing_allocator_arm_mode(s->memory, s->mode, k);
    gable_status status = phase(s, how);
    CHECK(atomic_load(&s->memory->live) == before, "%s: allocation %ld leaks", how, k);
    if (status == GABLE_ERR_UNAVAILABLE) {
      printf("%s: not there on %s\n", how, gable_context_where(s->ctx));
      break;
    }
    if (!atomic_load(&s->memory->failures)) {
      CHECK_OK(status);
      break;
    }
    CHECK(status == GABLE_ERR_MEMORY, "%s: mode %d, allocation %ld: %s", how, (int)s->mode, k,
          gable_status_text(status));
    CHECK(test_place_is_gpu(s->ctx) || memory_message_is_clear(), "%s: allocation %ld: %s", how, k, gable_last_error());
  }
  failing_allocator_disarm(s->memory);
}

/* Alone each allocation fails in a small triangle, which is quick. */
static void every_phase(bench *s, gable_idx most)
{
  static const char *const preconditioners[] = {"ilu0", "ic0", "iluk", "ilut", "gs"};
  const char *const *methods = test_place_methods(s->ctx);
  s->t = test_triangle_named_small("7 point grid", 1, most);
  test_triangle_set_diagonal(&s->t, 2);
  s->view = test_triangle_view(&s->t);
  s->b = malloc((size_t)s->t.n * 8);
  s->x = calloc((size_t)s->t.n, 8);
  for (gable_idx i = 0; i < s->t.n; i++) s->b[i] = 1;
  for (int m = 0; methods[m]; m++) fail_all(s, trisolve, methods[m], (size_t)m);
  for (int m = 0; methods[m] && !test_place_is_gpu(s->ctx); m++) check_bytes(s, methods[m]);
  s->view.part = GABLE_PART_FULL;
  for (int m = 0; methods[m]; m++) fail_all(s, smooth, methods[m], (size_t)m + 2);
  for (size_t m = 0; m < sizeof preconditioners / sizeof *preconditioners; m++)
    fail_all(s, krylov, preconditioners[m], m);
  test_triangle_free(&s->t);
  free(s->b);
  free(s->x);
}

int main(int argc, char **argv)
{
  failing_allocator memory = failing_allocator_init();
  gable_context_options options = failing_allocator_options(&memory);
  bench s = {.memory = &memory};
  options.threads = 2;
  s.ctx = test_place(argc, argv, &options);
  every_phase(&s, GI_SANITIZED ? 300 : INT32_MAX); /* 300 rows make within 5% as many allocations */
  s.mode = FAIL_ONE;
  every_phase(&s, 300);
  gable_context_destroy(&s.ctx);
  CHECK(atomic_load(&memory.live) == 0, "%ld blocks are left", atomic_load(&memory.live));
  return 0;
}
