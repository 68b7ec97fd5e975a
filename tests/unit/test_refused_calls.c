/* A call that is refused for its arguments, or because its stream is being captured, leaves its object as it was: the
 * next solve gives the answer of before. */
#include "device/device.h"
#include "smooth/sweeps.h"
#include "support/systems.h"
#include "support/test.h"

enum { N = 3 };

static gi_device planted;
static int capturing;
static gable_context *ctx;
static gable_off ptr[] = {0, 2, 5, 7};
static gable_idx idx[] = {0, 1, 0, 1, 2, 1, 2};
static double val[] = {4, -1, -1, 4, -1, -1, 4}, other[] = {8, 1, 1, 8, 1, 1, 8};
static double b[N] = {2, 4, 10};

static gable_status tell_capture(gable_context *of, void *stream, int *out)
{
  (void)of;
  (void)stream;
  *out = capturing;
  return GABLE_OK;
}

static gable_matrix_view matrix(void)
{
  const test_system a = {N, ptr, idx, val};
  return test_system_view(&a);
}

#define REFUSED(call, meant)                                                                                           \
  do {                                                                                                                 \
    capturing = meant == GABLE_ERR_STATE;                                                                              \
    CHECK((call) == (meant), #call ": %s", gable_last_error());                                                        \
    capturing = 0;                                                                                                     \
  } while (0)

static void triangles(void)
{
  const gable_matrix_view a = matrix();
  gable_trisolve_options o = GABLE_TRISOLVE_OPTIONS_INIT;
  gable_trisolve *t = NULL;
  gable_trisolve_work *w = NULL;
  double x[2][N];
  const gable_vectors_view in = test_vectors(N, 1, b);
  o.uplo = GABLE_PART_LOWER;
  CHECK_OK(gable_trisolve_create(ctx, &o, &t));
  CHECK_OK(gable_trisolve_analyse(t, &a));
  CHECK_OK(gable_trisolve_update(t, val));
  CHECK_OK(gable_trisolve_work_create(t, 1, &w));
  for (int again = 0; again < 2; again++) {
    gable_vectors_view out = test_vectors(N, 1, x[again]);
    CHECK_OK(gable_trisolve_solve(t, w, GABLE_OP_N, &in, &out));
    REFUSED(gable_trisolve_analyse(t, NULL), GABLE_ERR_ARGUMENT);
    REFUSED(gable_trisolve_update(t, other), GABLE_ERR_STATE);
  }
  CHECK(!memcmp(x[0], x[1], sizeof x[0]));
  gable_trisolve_work_destroy(&w);
  gable_trisolve_destroy(&t);
}

static void sweeps(void)
{
  const gable_matrix_view a = matrix();
  gable_matrix_view half = a;
  gable_smoother *s = NULL;
  double x[2][N] = {{0}};
  const gable_vectors_view in = test_vectors(N, 1, b);
  half.structure = GABLE_STRUCTURE_SYMMETRIC;
  half.part = GABLE_PART_LOWER;
  CHECK_OK(gable_smoother_create(ctx, NULL, &s));
  CHECK_OK(gable_smoother_analyse(s, &a));
  CHECK_OK(gable_smoother_update(s, val));
  s->plan->reads_back = 1; /* as of values of host memory on a GPU */
  for (int again = 0; again < 2; again++) {
    gable_vectors_view out = test_vectors(N, 1, x[again]);
    CHECK_OK(gable_smoother_apply(s, &in, &out, 3, NULL));
    REFUSED(gable_smoother_analyse(s, NULL), GABLE_ERR_ARGUMENT);
    REFUSED(gable_smoother_analyse(s, &half), GABLE_ERR_ARGUMENT);
    REFUSED(gable_smoother_update(s, other), GABLE_ERR_STATE);
  }
  CHECK(!memcmp(x[0], x[1], sizeof x[0]));
  gable_smoother_destroy(&s);
}

static void preconditioners(gable_preconditioner kind)
{
  const gable_matrix_view a = matrix();
  gable_precond_options o = GABLE_PRECOND_OPTIONS_INIT;
  gable_precond *p = NULL;
  gable_precond_work *w = NULL;
  double z[2][N];
  const gable_vectors_view in = test_vectors(N, 1, b);
  o.kind = kind;
  CHECK_OK(gable_precond_create(ctx, &o, &p));
  CHECK_OK(gable_precond_analyse(p, &a));
  CHECK_OK(gable_precond_update(p, val));
  CHECK_OK(gable_precond_work_create(p, &w));
  for (int again = 0; again < 2; again++) {
    gable_vectors_view out = test_vectors(N, 1, z[again]);
    CHECK_OK(gable_precond_apply(p, w, &in, &out));
    REFUSED(gable_precond_analyse(p, NULL), GABLE_ERR_ARGUMENT);
    REFUSED(gable_precond_update(p, other), GABLE_ERR_STATE);
  }
  CHECK(!memcmp(z[0], z[1], sizeof z[0]), "kind %d", (int)kind);
  gable_precond_work_destroy(&w);
  gable_precond_destroy(&p);
}

static gable_status no_operator(void *user, const double *from, double *to)
{
  (void)user;
  (void)from;
  (void)to;
  return GABLE_ERR_BACKEND;
}

static void solvers(void)
{
  const gable_matrix_view a = matrix();
  const int host = gable_context_space(ctx) == GABLE_SPACE_HOST;
  gable_krylov *k = NULL;
  double x[2][N] = {{0}};
  CHECK_OK(gable_krylov_create(ctx, NULL, &k));
  CHECK_OK(gable_krylov_set_matrix(k, &a));
  for (int again = 0; again < 2; again++) {
    CHECK_OK(gable_krylov_solve(k, b, x[again], NULL));
    REFUSED(gable_krylov_analyse(k, NULL), GABLE_ERR_ARGUMENT);
    REFUSED(gable_krylov_update(k, other), GABLE_ERR_STATE);
    if (!host) REFUSED(gable_krylov_set_operator(k, N, no_operator, NULL), GABLE_ERR_UNAVAILABLE);
  }
  CHECK(!memcmp(x[0], x[1], sizeof x[0]));
  gable_krylov_destroy(&k);
}

static void all(const char *where)
{
  CHECK_OK(gable_context_create(where, NULL, &ctx));
  const gi_device *own = ctx->device;
  planted = *own;
  planted.is_capturing = tell_capture;
  ctx->device = &planted;
  triangles();
  sweeps();
  for (int kind = GABLE_PRECOND_NONE; kind <= GABLE_PRECOND_ILUT && own->space == GABLE_SPACE_HOST; kind++)
    preconditioners((gable_preconditioner)kind);
  solvers();
  ctx->device = own;
  gable_context_destroy(&ctx);
}

int main(void)
{
  all("cpu");
  all("mirror");
  return 0;
}
