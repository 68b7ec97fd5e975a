/* The k-th allocation of device memory fails, alone or with all after it, for every k, in triangular solves, sweeps,
 * Krylov and direct solvers and in vectors of the caller's: an error that says so, nothing is left behind, and the next
 * attempt works; direct solvers by every solve method, and by auto where the inverses of clusters do not serve; where
 * the library chooses the place of a direct solver, no error: the CPU solves. */
#include "support/test.h"

#include "device/device.h"
#include "support/failing_allocator.h"
#include "support/plans.h"
#include "support/systems.h"
#include "support/triangles.h"

/* The context's own device, but for memory. */
static struct {
  const gi_device *own;
  gi_device table;
  long live, count, fail_at, failures; /* count: since armed; fail_at: -1, never */
  int once;                            /* 1: that one alone */
} memory;

static gable_status failing_alloc(gable_context *ctx, size_t bytes, void **out)
{
  const int fails = memory.fail_at >= 0 && memory.count >= memory.fail_at && (!memory.once || !memory.failures);
  gable_status status = memory.own->alloc(ctx, fails ? (size_t)1 << 60 : bytes, out);
  memory.count++;
  memory.failures += fails;
  if (!status) memory.live++;
  CHECK(!fails || status == GABLE_ERR_MEMORY, "an exabyte was given");
  return status;
}

static void counting_release(gable_context *ctx, void *p)
{
  if (p) memory.live--;
  memory.own->release(ctx, p);
}

typedef struct bench {
  gable_context *ctx;
  test_triangle t;
  gable_matrix_view view; /* in host memory */
  gable_vectors_view b;   /* in device memory, made anew in every attempt */
} bench;

static gable_status trisolve(bench *s, const char *method)
{
  test_plan p;
  gable_status status = test_plan_create(s->ctx, &s->view, s->t.val, method, &p);
  const long before = memory.count;
  if (!status) status = gable_trisolve_solve(p.solve, p.work, GABLE_OP_N, &s->b, &s->b);
  if (!status) status = gable_trisolve_solve(p.solve, p.work, GABLE_OP_T, &s->b, &s->b);
  CHECK(memory.count == before, "%s: solve allocates device memory", method);
  test_plan_destroy(&p);
  return status;
}

static gable_status smooth(bench *s, const char *method)
{
  gable_smoother *smoother = NULL;
  gable_vectors_view b = s->b, x = s->b;
  double *host = calloc(2 * (size_t)s->t.n, 8);
  b.space = x.space = GABLE_SPACE_HOST;
  b.data = host;
  x.data = host + s->t.n;
  gable_status status = test_smoother_create(s->ctx, &s->view, s->t.val, method, &smoother);
  const long before = memory.count;
  if (!status) status = gable_smoother_apply(smoother, &b, &x, 1, NULL);
  CHECK(memory.count == before, "%s: a sweep allocates device memory", method);
  gable_smoother_destroy(&smoother);
  free(host);
  return status;
}

static gable_status krylov(bench *s, const char *precond)
{
  gable_krylov_options options = GABLE_KRYLOV_OPTIONS_INIT;
  gable_krylov *k = NULL;
  double *b = calloc((size_t)s->t.n, 8), *x = calloc((size_t)s->t.n, 8);
  b[0] = 1;
  options.solver = GABLE_KRYLOV_GMRES;
  options.preconditioner = !strcmp(precond, "ilu0") ? GABLE_PRECOND_ILU0 : GABLE_PRECOND_JACOBI;
  gable_status status = gable_krylov_create(s->ctx, &options, &k);
  if (!status) status = gable_krylov_set_matrix(k, &s->view);
  const long before = memory.count;
  if (!status) status = gable_krylov_solve(k, b, x, NULL);
  CHECK(memory.count == before, "%s: solve allocates device memory", precond);
  gable_krylov_destroy(&k);
  free(b);
  free(x);
  return status;
}

/* The solve method that how names; AUTO: none. */
static gable_solve_method method_of(const char *how)
{
  int m = GABLE_SOLVE_PARTITIONED_CUSPARSE;
  while (m > GABLE_SOLVE_AUTO && strcmp(how, gable_solve_method_text((gable_solve_method)m))) m--;
  return (gable_solve_method)m;
}

/* Refined solves with vectors in device memory, and estimates; new values, other ones of them zero, take no more of
 * it.  The first estimate takes some where a factor of floats is to be corrected and solves are not refined. */
static gable_status direct(bench *s, const char *how)
{
  enum { N = 90 };
  gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
  gable_solver *solver = NULL;
  gable_solver_work *w = NULL;
  double rcond = 0, *sparser = NULL;
  test_system a = test_system_make(TEST_DOMINANT, N, 3);
  gable_matrix_view view = test_system_view(&a);
  gable_vectors_view b = s->b;
  b.n = N;
  b.ld = N;
  sparser = calloc((size_t)a.ptr[N], sizeof *sparser);
  CHECK(sparser && s->t.n >= N);
  for (gable_idx j = 0; j < N; j++)
    for (int64_t k = a.ptr[j]; k < a.ptr[j + 1]; k++) sparser[k] = a.idx[k] != j && k % 3 ? 0 : a.val[k];
  options.solve_method = method_of(how);
  options.factor_type = !strncmp(how, "float factor", 12) ? GABLE_TYPE_S : GABLE_TYPE_D;
  options.refine_steps = strstr(how, "without refinement") ? 0 : -1;
  gable_status status = gable_solver_create(s->ctx, &options, &solver);
  if (!status) status = gable_solver_analyse(solver, &view);
  if (!status) status = gable_solver_factor(solver, sparser, GABLE_REUSE_ALL);
  if (!status) status = gable_solver_work_create(solver, 2, &w);
  const int takes = options.factor_type == GABLE_TYPE_S && !options.refine_steps;
  long before = memory.count;
  if (!status) status = gable_solver_factor(solver, a.val, GABLE_REUSE_ALL);
  for (int op = 0; op < 2 && !status; op++) status = gable_solver_solve(solver, w, (gable_op)op, &b, &b);
  if (!status) status = gable_solver_work_status(w);
  CHECK(memory.count == before, "%s: new values or solves allocate device memory", how);
  if (!status) status = gable_solver_rcond(solver, w, &rcond);
  CHECK(takes || memory.count == before, "%s: an estimate allocates device memory", how);
  if (takes) before = memory.count;
  if (!status) status = gable_solver_rcond(solver, w, &rcond);
  CHECK(memory.count == before, "%s: the second estimate allocates device memory", how);
  gable_solver_work_destroy(&w);
  gable_solver_destroy(&solver);
  test_system_free(&a);
  free(sparser);
  return status;
}

/* A band of ones on the diagonal and, above it in the first ill columns, minus ones: the inverse of their triangle has
 * no digit. */
static test_system ill_band(gable_idx n, gable_idx band, gable_idx ill)
{
  const size_t room = (size_t)n * (size_t)(2 * band + 1);
  test_system a = {n, calloc((size_t)n + 1, sizeof *a.ptr), malloc(room * sizeof *a.idx), malloc(room * sizeof *a.val)};
  int64_t count = 0;
  CHECK(a.ptr && a.idx && a.val);
  for (gable_idx j = 0; j < n; a.ptr[++j] = count)
    for (gable_idx i = j > band ? j - band : 0; i < n && i <= j + band; i++, count++) {
      a.idx[count] = i;
      a.val[count] = i == j ? 1 : i > j ? 1e-9 : j < ill ? -1 : -1e-3;
    }
  return a;
}

/* A factor of it, and a solve that is not refined.  *method: what solves, *error: the backward error. */
static gable_status solve_ill(gable_context *ctx, const test_system *a, gable_solve_method *method, double *error)
{
  gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
  gable_solver *solver = NULL;
  gable_solver_work *w = NULL;
  int64_t run = -1;
  double *b = calloc((size_t)a->n, 8), *x = calloc((size_t)a->n, 8);
  const gable_matrix_view view = test_system_view(a);
  gable_vectors_view vb = test_vectors(a->n, 1, b), vx = test_vectors(a->n, 1, x);
  CHECK(b && x);
  b[a->n - 1] = 1;
  options.match = options.blocks = GABLE_CHOICE_NEVER;
  options.order = GABLE_ORDER_NATURAL;
  options.method = GABLE_METHOD_LU;
  gable_status status = gable_solver_create(ctx, &options, &solver);
  if (!status) status = gable_solver_analyse(solver, &view);
  if (!status) status = gable_solver_factor(solver, NULL, GABLE_REUSE_NOTHING);
  if (!status) CHECK_OK(gable_solver_get(solver, GABLE_SOLVER_SOLVE_METHOD, &run, sizeof run));
  if (!status) status = gable_solver_work_create(solver, 1, &w);
  for (int values = 0; values < 2 && !status; values++) { /* new ones stay with the method */
    status = gable_solver_apply(solver, w, GABLE_OP_N, GABLE_FACTOR_ALL, &vb, &vx);
    *error = test_backward_error(a, GABLE_OP_N, b, x);
    if (!status && !values) status = gable_solver_factor(solver, a->val, GABLE_REUSE_ALL);
  }
  *method = (gable_solve_method)run;
  gable_solver_work_destroy(&w);
  gable_solver_destroy(&solver);
  free(b);
  free(x);
  return status;
}

/* Where the partitioned inverse finds no memory batches of substitutions solve; elsewhere a failure is an error. */
static void fail_by_level(gable_context *ctx)
{
  test_system a = ill_band(120, 20, 120);
  gable_solve_method method = GABLE_SOLVE_AUTO;
  double error = 1;
  long turned = 0, refused = 0;
  memory.once = 1;
  memory.failures = 1;
  for (long k = 0; memory.failures; k++) {
    memory.count = memory.failures = 0;
    memory.fail_at = k;
    const gable_status status = solve_ill(ctx, &a, &method, &error);
    CHECK(!memory.live, "allocation %ld leaves %ld blocks", k, memory.live);
    CHECK(status == GABLE_OK || (status == GABLE_ERR_MEMORY && memory.failures), "allocation %ld: %s", k,
          gable_last_error());
    refused += status != GABLE_OK;
    if (status) continue;
    CHECK(method == (memory.failures ? GABLE_SOLVE_BATCHED : GABLE_SOLVE_PARTITIONED), "allocation %ld: by %s", k,
          gable_solve_method_text(method));
    CHECK(error <= 1e-12, "allocation %ld: backward error %g", k, error);
    turned += memory.failures > 0;
  }
  CHECK(turned > 10 && refused > 10, "%ld turn to batched, %ld end", turned, refused);
  memory.fail_at = -1;
  test_system_free(&a);
}

/* A solver whose place is the library's to choose, on the device for well conditioned values of this band. */
typedef struct chooser {
  gable_solver *s;
  gable_solver_work *w;
  test_system good, ill; /* of one pattern */
  double *b, *x;
} chooser;

static void chooser_make(chooser *c, gable_context *ctx)
{
  enum { N = 1000, BAND = 40, ILL = 90 };
  gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
  options.match = options.blocks = GABLE_CHOICE_NEVER;
  options.order = GABLE_ORDER_NATURAL;
  options.method = GABLE_METHOD_LU;
  options.place = GABLE_PLACE_SHORTER;
  options.solves = 100000;
  *c = (chooser){.good = ill_band(N, BAND, 0), .ill = ill_band(N, BAND, ILL), .b = malloc(N * 8), .x = malloc(N * 8)};
  CHECK(c->b && c->x);
  for (int i = 0; i < N; i++) c->b[i] = 1 + i % 3;
  CHECK_OK(gable_solver_create(ctx, &options, &c->s));
  const gable_matrix_view view = test_system_view(&c->good);
  CHECK_OK(gable_solver_analyse(c->s, &view));
}

static void chooser_free(chooser *c)
{
  gable_solver_work_destroy(&c->w);
  gable_solver_destroy(&c->s);
  test_system_free(&c->good);
  test_system_free(&c->ill);
  free(c->b);
  free(c->x);
}

static int64_t integer_of(const gable_solver *s, gable_solver_key key)
{
  int64_t value = -1;
  CHECK_OK(gable_solver_get(s, key, &value, sizeof value));
  return value;
}

/* Factors a's values and solves with the work that is there; where it is refused, with a new one.  1: it was. */
static int solve_chosen(chooser *c, const test_system *a, int on_device)
{
  gable_vectors_view b = test_vectors(a->n, 1, c->b), x = test_vectors(a->n, 1, c->x);
  CHECK_OK(gable_solver_factor(c->s, a->val, GABLE_REUSE_ALL));
  CHECK(integer_of(c->s, GABLE_SOLVER_ON_DEVICE) == on_device, "on device: not %d", on_device);
  if (!c->w) CHECK_OK(gable_solver_work_create(c->s, 1, &c->w));
  const gable_status status = gable_solver_apply(c->s, c->w, GABLE_OP_N, GABLE_FACTOR_ALL, &b, &x);
  const int refused = status == GABLE_ERR_STATE;
  CHECK(refused || status == GABLE_OK, "%s", gable_last_error());
  if (refused) gable_solver_work_destroy(&c->w);
  if (refused) CHECK_OK(gable_solver_work_create(c->s, 1, &c->w));
  CHECK_OK(gable_solver_solve(c->s, c->w, GABLE_OP_N, &b, &x));
  CHECK(test_backward_error(a, GABLE_OP_N, c->b, c->x) <= 1e-12, "on device %d", on_device);
  return refused;
}

/* What is prepared on the device finds no memory, first of all or for values that need another form: the CPU solves,
 * new values too, although there is memory then, until the matrix is analysed again. */
static void fail_chosen(gable_context *ctx, int first)
{
  const long step = GI_SANITIZED ? 27 : 9; /* the other cases fail each */
  memory.once = 0;
  memory.failures = 1;
  for (long k = 0; memory.failures; k += step) {
    chooser c;
    chooser_make(&c, ctx);
    if (!first) solve_chosen(&c, &c.good, 1);
    (void)gable_set_error(GABLE_ERR_ARGUMENT, "an older one");
    memory.count = memory.failures = 0;
    memory.fail_at = k;
    CHECK_OK(gable_solver_factor(c.s, first ? c.good.val : c.ill.val, GABLE_REUSE_ALL));
    const int failed = memory.failures > 0;
    memory.fail_at = -1;
    CHECK(integer_of(c.s, GABLE_SOLVER_PLACE_FALLBACK) == failed, "allocation %ld: failed %d", k, failed);
    CHECK(!failed || !integer_of(c.s, GABLE_SOLVER_DEVICE_BYTES), "allocation %ld: a factor there", k);
    CHECK(!strcmp(gable_last_error(), "an older one"), "allocation %ld: %s", k, gable_last_error());
    const int refused = solve_chosen(&c, first ? &c.good : &c.ill, first && !failed);
    CHECK(refused == !first, "allocation %ld: the work of the device is accepted", k);
    CHECK(!failed || !memory.live, "allocation %ld leaves %ld blocks", k, memory.live);
    CHECK(!failed || !solve_chosen(&c, &c.good, 0), "allocation %ld: the work of the CPU is refused", k);
    const gable_matrix_view view = test_system_view(&c.good);
    CHECK_OK(gable_solver_analyse(c.s, &view));
    solve_chosen(&c, &c.good, 1);
    CHECK(!integer_of(c.s, GABLE_SOLVER_PLACE_FALLBACK), "analysed again");
    chooser_free(&c);
    CHECK(!memory.live, "allocation %ld leaves %ld blocks", k, memory.live);
  }
}

/* What the errors of auto say in the end: how many name another method, and how many fewer right-hand sides. */
static int named_method, named_width;

static void note_advice(const char *said)
{
  named_method += strstr(said, "the solve method merged") != NULL;
  named_width += strstr(said, "fewer right-hand sides") != NULL;
}

/* b in device memory, then the phase. */
static gable_status attempt(bench *s, gable_status (*phase)(bench *, const char *), const char *how)
{
  gable_status status = gable_device_alloc(s->ctx, (size_t)s->t.n * 8, &s->b.data);
  if (!status) status = gable_device_fill(s->ctx, s->b.data, 0, (size_t)s->t.n * 8, NULL);
  if (!status) status = phase(s, how);
  gable_device_free(s->ctx, &s->b.data);
  return status;
}

static void fail_each(bench *s, gable_status (*phase)(bench *, const char *), const char *how, int once)
{
  memory.once = once;
  for (long k = 0;; k++) {
    memory.count = memory.failures = 0;
    memory.fail_at = k;
    const gable_status status = attempt(s, phase, how);
    CHECK(!memory.live, "%s: allocation %ld leaves %ld blocks", how, k, memory.live);
    if (status == GABLE_ERR_UNAVAILABLE) {
      printf("%s: not there on %s\n", how, gable_context_where(s->ctx));
      break;
    }
    if (!memory.failures) {
      CHECK(k > 1 || strncmp(gable_context_where(s->ctx), "cuda", 4), "%s: no allocation but that of b was seen", how);
      CHECK_OK(status);
      break;
    }
    CHECK(status == GABLE_ERR_MEMORY && strstr(gable_last_error(), "memory"), "%s: allocation %ld: %s", how, k,
          gable_last_error());
    note_advice(gable_last_error());
  }
  memory.fail_at = -1;
  CHECK_OK(attempt(s, phase, how));
  CHECK(!memory.live, "%s: %ld blocks are left", how, memory.live);
}

static void fail_all(bench *s, gable_status (*phase)(bench *, const char *), const char *how)
{
  for (int once = 0; once < 2; once++) fail_each(s, phase, how, once);
}

static bench bench_make(gable_context *ctx)
{
  bench s = {.ctx = ctx, .t = test_triangle_named("7 point grid", 1), .b = GABLE_VECTORS_VIEW_INIT};
  test_triangle_set_diagonal(&s.t, 2);
  s.view = test_triangle_view(&s.t);
  s.b.n = s.t.n;
  s.b.ld = s.t.n;
  s.b.space = GABLE_SPACE_DEVICE;
  return s;
}

int main(int argc, char **argv)
{
  static const char *const methods[] = {"levr", "levc", "elmr", "elmc", "gsf", "tiles", "rows", "auto"};
  gable_context *ctx = NULL;
  failing_allocator host = failing_allocator_init();
  gable_context_options options = failing_allocator_options(&host);
  options.threads = 2;
  const gable_status status = gable_context_create(argc > 1 ? argv[1] : "mirror", &options, &ctx);
  if (status == GABLE_ERR_UNAVAILABLE) SKIP("%s", gable_last_error());
  CHECK_OK(status);
  memory.own = ctx->device;
  memory.table = *ctx->device;
  memory.table.alloc = failing_alloc;
  memory.table.release = counting_release;
  memory.fail_at = -1;
  ctx->device = &memory.table;
  bench s = bench_make(ctx);
  const int gpu = !strncmp(gable_context_where(ctx), "cuda", 4);
  for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
    if (!gpu && !strcmp(methods[m], "rows")) continue;
    fail_all(&s, trisolve, methods[m]);
  }
  s.view.part = GABLE_PART_FULL;
  fail_all(&s, smooth, "levr");
  fail_all(&s, smooth, "auto");
  fail_all(&s, krylov, "ilu0");
  fail_all(&s, krylov, "jacobi");
  fail_all(&s, direct, "double factor");
  fail_all(&s, direct, "float factor");
  fail_all(&s, direct, "without refinement");
  fail_all(&s, direct, "float factor without refinement");
  CHECK(named_method > 10 && named_width > 10, "of auto %d errors advise another method, %d fewer right-hand sides",
        named_method, named_width);
  for (int m = GABLE_SOLVE_AUTO + 1; m <= GABLE_SOLVE_PARTITIONED_CUSPARSE; m++)
    fail_all(&s, direct, gable_solve_method_text((gable_solve_method)m));
  fail_by_level(ctx);
  fail_chosen(ctx, 1);
  fail_chosen(ctx, 0);
  ctx->device = memory.own;
  gable_context_destroy(&ctx);
  CHECK(atomic_load(&host.live) == 0, "%ld blocks of host memory are left", atomic_load(&host.live));
  test_triangle_free(&s.t);
  return 0;
}
