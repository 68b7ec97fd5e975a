/* A view with an enumerator, a base or a size out of range is GABLE_ERR_ARGUMENT for every object that takes one. */
#include "support/systems.h"
#include "support/test.h"

enum { N = 12 };
static gable_context *ctx;
static test_system a;

typedef gable_status taker(const gable_matrix_view *v);

static gable_status by_matrix(const gable_matrix_view *v)
{
  gable_matrix *m = NULL;
  const gable_status status = gable_matrix_from_view(ctx, v, &m);
  gable_matrix_destroy(&m);
  return status;
}
static gable_status by_symbolic(const gable_matrix_view *v)
{
  gable_symbolic *s = NULL;
  const gable_status status = gable_symbolic_create(ctx, v, NULL, &s);
  gable_symbolic_destroy(&s);
  return status;
}
static gable_status by_solver(const gable_matrix_view *v)
{
  gable_solver *s = NULL;
  CHECK_OK(gable_solver_create(ctx, NULL, &s));
  const gable_status status = gable_solver_analyse(s, v);
  gable_solver_destroy(&s);
  return status;
}
static gable_status by_trisolve(const gable_matrix_view *v)
{
  gable_trisolve_options options = GABLE_TRISOLVE_OPTIONS_INIT;
  gable_trisolve *t = NULL;
  options.uplo = GABLE_PART_LOWER;
  CHECK_OK(gable_trisolve_create(ctx, &options, &t));
  const gable_status status = gable_trisolve_analyse(t, v);
  gable_trisolve_destroy(&t);
  return status;
}
static gable_status by_smoother(const gable_matrix_view *v)
{
  gable_smoother *s = NULL;
  CHECK_OK(gable_smoother_create(ctx, NULL, &s));
  const gable_status status = gable_smoother_analyse(s, v);
  gable_smoother_destroy(&s);
  return status;
}
static gable_status by_krylov(const gable_matrix_view *v)
{
  gable_krylov *k = NULL;
  CHECK_OK(gable_krylov_create(ctx, NULL, &k));
  const gable_status status = gable_krylov_set_matrix(k, v);
  gable_krylov_destroy(&k);
  return status;
}

static const struct {
  const char *name;
  taker *take;
} takers[] = {{"matrix", by_matrix},     {"symbolic", by_symbolic}, {"solver", by_solver},
              {"trisolve", by_trisolve}, {"smoother", by_smoother}, {"krylov", by_krylov}};

/* Each wrong value of each member of the view. */
static void matrix_views(void)
{
  static const struct {
    const char *name;
    size_t offset;
    int wrong[4];
  } members[] = {
      {"format", offsetof(gable_matrix_view, format), {-1, 0, 3, 77}},
      {"base", offsetof(gable_matrix_view, base), {-1, 2, 77, 77}},
      {"offset_type", offsetof(gable_matrix_view, offset_type), {0, 3, 4, 77}},
      {"value_type", offsetof(gable_matrix_view, value_type), {0, 2, 7, 77}},
      {"structure", offsetof(gable_matrix_view, structure), {-1, 5, 6, 77}},
      {"part", offsetof(gable_matrix_view, part), {-1, 3, 4, 77}},
      {"space", offsetof(gable_matrix_view, space), {-1, 2, 3, 77}},
      {"n_rows", offsetof(gable_matrix_view, n_rows), {-1, -2, -3, -77}},
  };
  for (size_t t = 0; t < sizeof takers / sizeof *takers; t++) {
    const gable_matrix_view right = test_system_view(&a);
    CHECK_OK(takers[t].take(&right));
    for (size_t m = 0; m < sizeof members / sizeof *members; m++)
      for (int k = 0; k < 4; k++) {
        gable_matrix_view v = right;
        memcpy((char *)&v + members[m].offset, &members[m].wrong[k], sizeof(int));
        const gable_status status = takers[t].take(&v);
        CHECK(status == GABLE_ERR_ARGUMENT, "%s: %s = %d: %s", takers[t].name, members[m].name, members[m].wrong[k],
              gable_status_text(status));
      }
  }
}

/* An offset that no matrix of this size has is refused before an index is read: the last one, and one in the middle. */
static void offsets(void)
{
  static const int64_t wrong[] = {N * N + 1, (int64_t)1 << 40, (int64_t)1 << 62, INT64_MAX};
  const gable_matrix_view right = test_system_view(&a);
  int64_t ptr[N + 1];
  for (size_t t = 0; t < sizeof takers / sizeof *takers; t++)
    for (int part = 0; part < 2; part++)
      for (int at = N / 2; at <= N; at += N / 2)
        for (int k = 0; k < 4; k++) {
          gable_matrix_view v = right;
          memcpy(ptr, right.ptr, sizeof ptr);
          ptr[at] = wrong[k];
          v.ptr = ptr;
          v.part = part ? GABLE_PART_LOWER : right.part;
          const gable_status status = takers[t].take(&v);
          CHECK(status == GABLE_ERR_ARGUMENT || (part && status == GABLE_ERR_UNAVAILABLE), "%s: ptr[%d] = %lld: %s",
                takers[t].name, at, (long long)wrong[k], gable_last_error());
        }
}

typedef gable_status solves(const gable_vectors_view *b, gable_vectors_view *x);

static gable_solver *solver;
static gable_solver_work *solver_work;
static gable_trisolve *triangle;
static gable_trisolve_work *work;
static gable_smoother *smoother;
static gable_krylov *krylov;

static gable_status with_solver(const gable_vectors_view *b, gable_vectors_view *x)
{
  return gable_solver_solve(solver, solver_work, GABLE_OP_N, b, x);
}
static gable_status with_factors(const gable_vectors_view *b, gable_vectors_view *x)
{
  return gable_solver_apply(solver, solver_work, GABLE_OP_N, GABLE_FACTOR_ALL, b, x);
}
static gable_status with_trisolve(const gable_vectors_view *b, gable_vectors_view *x)
{
  return gable_trisolve_solve(triangle, work, GABLE_OP_N, b, x);
}
static gable_status with_smoother(const gable_vectors_view *b, gable_vectors_view *x)
{
  return gable_smoother_apply(smoother, b, x, 1, NULL);
}
static gable_status with_krylov(const gable_vectors_view *b, gable_vectors_view *x)
{
  const gable_status status = gable_krylov_solve_vectors(krylov, b, x, NULL);
  return status == GABLE_ERR_TOLERANCE ? GABLE_OK : status;
}
static gable_status with_matrix(const gable_vectors_view *b, gable_vectors_view *x)
{
  gable_matrix *m = NULL;
  gable_status status = gable_matrix_from_vectors(ctx, b, &m);
  gable_matrix_destroy(&m);
  if (!status) status = gable_matrix_from_vectors(ctx, x, &m);
  gable_matrix_destroy(&m);
  return status;
}

static void prepare(void)
{
  const gable_matrix_view v = test_system_view(&a);
  gable_trisolve_options lower = GABLE_TRISOLVE_OPTIONS_INIT;
  lower.uplo = GABLE_PART_LOWER;
  solver = test_factored(ctx, &v, NULL);
  CHECK_OK(gable_solver_work_create(solver, 1, &solver_work));
  CHECK_OK(gable_trisolve_create(ctx, &lower, &triangle));
  CHECK_OK(gable_trisolve_analyse(triangle, &v));
  CHECK_OK(gable_trisolve_update(triangle, v.val));
  CHECK_OK(gable_trisolve_work_create(triangle, 1, &work));
  CHECK_OK(gable_smoother_create(ctx, NULL, &smoother));
  CHECK_OK(gable_smoother_analyse(smoother, &v));
  CHECK_OK(gable_smoother_update(smoother, v.val));
  CHECK_OK(gable_krylov_create(ctx, NULL, &krylov));
  CHECK_OK(gable_krylov_set_matrix(krylov, &v));
}

static void vector_views(void)
{
  static const struct {
    const char *name;
    size_t offset;
    int wrong[4];
  } members[] = {
      {"type", offsetof(gable_vectors_view, type), {0, 1, 5, 77}},
      {"space", offsetof(gable_vectors_view, space), {-1, 2, 3, 77}},
      {"major", offsetof(gable_vectors_view, major), {-1, 2, 3, 77}},
      {"count", offsetof(gable_vectors_view, count), {-1, -2, -3, -77}},
  };
  solves *const all[] = {with_solver, with_factors, with_trisolve, with_smoother, with_krylov, with_matrix};
  double right[N], left[N] = {0};
  for (int i = 0; i < N; i++) right[i] = 1;
  prepare();
  for (size_t s = 0; s < sizeof all / sizeof *all; s++) {
    gable_vectors_view b = test_vectors(N, 1, right), x = test_vectors(N, 1, left);
    CHECK_OK(all[s](&b, &x));
    for (size_t m = 0; m < sizeof members / sizeof *members; m++)
      for (int k = 0; k < 8; k++) {
        gable_vectors_view vb = b, vx = x;
        memcpy((char *)(k < 4 ? &vb : &vx) + members[m].offset, &members[m].wrong[k % 4], sizeof(int));
        const gable_status status = all[s](&vb, &vx);
        CHECK(status == GABLE_ERR_ARGUMENT, "solve %zu: %s of %s = %d: %s", s, members[m].name, k < 4 ? "b" : "x",
              members[m].wrong[k % 4], gable_status_text(status));
      }
  }
  gable_solver_work_destroy(&solver_work);
  gable_solver_destroy(&solver);
  gable_trisolve_work_destroy(&work);
  gable_trisolve_destroy(&triangle);
  gable_smoother_destroy(&smoother);
  gable_krylov_destroy(&krylov);
}

int main(void)
{
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  a = test_system_make(TEST_SPD, N, 3);
  matrix_views();
  offsets();
  vector_views();
  test_system_free(&a);
  gable_context_destroy(&ctx);
  return 0;
}
