/* A progress function that refuses at its k-th call cancels every phase, for every k (under a sanitizer one of three):
 * nobody asks again, and the same call works afterwards. */
#include <unistd.h>

#include "base/portable.h"
#include "support/test.h"

typedef struct listener {
  int calls, refuse_at; /* -1: never */
  const char *watched;  /* or NULL: a phase, and */
  int heard;            /* how often it asked */
} listener;

static int listen(void *user, const char *phase, double done)
{
  listener *l = user;
  CHECK(phase && done >= 0 && done <= 1, "%s: %g", phase, done);
  l->heard += l->watched && !strcmp(phase, l->watched);
  return l->calls++ == l->refuse_at;
}

typedef struct stage {
  gable_context *ctx;
  gable_matrix *a;
  gable_matrix_view view;
  double *b, *x;
  gable_trisolve *trisolve;
  gable_smoother *smoother;
  gable_krylov *krylov;
  gable_solver *solver;
  gable_krylov_options how;
  const char *method; /* of trisolve and smoother */
  char path[64];
  listener *listener;
} stage;

typedef gable_status phase(stage *s);

static gable_status generate(stage *s)
{
  gable_matrix *a = NULL;
  const gable_status status = gable_matrix_generate(s->ctx, "laplacian5:60x60", 1, &a);
  gable_matrix_destroy(&a);
  return status;
}
static gable_status write_text(stage *s)
{
  return gable_matrix_write(s->a, s->path, GABLE_FILE_MATRIX_MARKET);
}
static gable_status read_text(stage *s)
{
  gable_matrix *a = NULL;
  const gable_status status = gable_matrix_read(s->ctx, s->path, NULL, &a);
  gable_matrix_destroy(&a);
  return status;
}
static gable_status symbolic(stage *s)
{
  gable_symbolic *y = NULL;
  const gable_status status = gable_symbolic_create(s->ctx, &s->view, NULL, &y);
  gable_symbolic_destroy(&y);
  return status;
}
static gable_status analyse(stage *s)
{
  return gable_solver_analyse(s->solver, &s->view);
}
static gable_status factor(stage *s)
{
  listener *l = s->listener;
  const listener kept = *l;
  *l = (listener){.refuse_at = -1}; /* a factorization that was cancelled may have cost the analysis */
  CHECK_OK(analyse(s));
  *l = kept;
  return gable_solver_factor(s->solver, NULL, GABLE_REUSE_NOTHING);
}
static gable_status save(stage *s)
{
  return gable_solver_save(s->solver, s->path);
}
static gable_status load(stage *s)
{
  return gable_solver_load(s->solver, &s->view, s->path);
}
static gable_status analyse_triangle(stage *s)
{
  gable_trisolve_options options = GABLE_TRISOLVE_OPTIONS_INIT;
  gable_trisolve *t = NULL;
  options.uplo = GABLE_PART_LOWER;
  options.solves = 0;
  options.method = s->method;
  CHECK_OK(gable_trisolve_create(s->ctx, &options, &t));
  const gable_status status = gable_trisolve_analyse(t, &s->view);
  gable_trisolve_destroy(&t);
  return status;
}
static gable_status analyse_sweeps(stage *s)
{
  return gable_smoother_analyse(s->smoother, &s->view);
}
static gable_status sweep(stage *s)
{
  gable_vectors_view b = GABLE_VECTORS_VIEW_INIT, x;
  b.n = s->view.n_rows;
  b.ld = b.n;
  x = b;
  b.data = s->b;
  x.data = s->x;
  return gable_smoother_apply(s->smoother, &b, &x, 12, NULL);
}
static gable_status set_matrix(stage *s)
{
  return gable_krylov_set_matrix(s->krylov, &s->view);
}
static gable_status iterate(stage *s)
{
  for (gable_idx i = 0; i < s->view.n_rows; i++) s->x[i] = 0;
  const gable_status status = gable_krylov_solve(s->krylov, s->b, s->x, NULL);
  return status == GABLE_ERR_TOLERANCE ? GABLE_OK : status;
}

/* Without a refusal the phase asks at least so many times. */
static void every_call(stage *s, listener *l, const char *name, phase *run, int least)
{
  *l = (listener){.refuse_at = -1};
  CHECK_OK(run(s));
  const int calls = l->calls;
  CHECK(calls >= least, "%s asks %d times", name, calls);
  for (int k = 0; k < calls; k += GI_SANITIZED ? 3 : 1) {
    *l = (listener){.refuse_at = k};
    const gable_status status = run(s);
    if (l->calls <= k) { /* it was faster this time: fewer questions */
      CHECK(k >= least && status == GABLE_OK, "%s: refused at call %d: %s", name, k, gable_status_text(status));
      break;
    }
    CHECK(status == GABLE_ERR_CANCELLED, "%s: refused at call %d: %s", name, k, gable_status_text(status));
    CHECK(l->calls == k + 1, "%s: asked again after call %d", name, k);
  }
  *l = (listener){.refuse_at = -1};
  CHECK_OK(run(s));
}

static void files(stage *s, listener *l)
{
  every_call(s, l, "generate", generate, 1);
  every_call(s, l, "write", write_text, 1);
  every_call(s, l, "read", read_text, 1);
}

static void solvers(stage *s, listener *l)
{
  every_call(s, l, "symbolic", symbolic, 4);
  CHECK_OK(gable_solver_create(s->ctx, NULL, &s->solver));
  every_call(s, l, "analyse", analyse, 4);
  every_call(s, l, "factor", factor, gable_context_threads(s->ctx) == 1 ? 20 : 1);
  every_call(s, l, "save", save, 3);
  every_call(s, l, "load", load, 3);
  gable_solver_destroy(&s->solver);
}

static void triangles(stage *s, listener *l)
{
  static const char *const methods[] = {"serial", "levr", "tiles", "auto", "elmr"};
  for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
    gable_smoother_options options = GABLE_SMOOTHER_OPTIONS_INIT;
    options.method = s->method = methods[m];
    options.solves = 0;
    every_call(s, l, methods[m], analyse_triangle, 3);
    CHECK_OK(gable_smoother_create(s->ctx, &options, &s->smoother));
    every_call(s, l, methods[m], analyse_sweeps, 3);
    CHECK_OK(gable_smoother_update(s->smoother, s->view.val));
    every_call(s, l, methods[m], sweep, 11);
    gable_smoother_destroy(&s->smoother);
  }
}

/* A factorization in the pattern of the matrix asks before each 1,024 of its 3,600 rows. */
static void factorizations(stage *s, listener *l)
{
  static const char *const names[] = {[GABLE_PRECOND_ILU0] = "ILU(0)", [GABLE_PRECOND_IC0] = "IC(0)"};
  for (int p = GABLE_PRECOND_ILU0; p <= GABLE_PRECOND_IC0; p++) {
    s->how = (gable_krylov_options)GABLE_KRYLOV_OPTIONS_INIT;
    s->how.preconditioner = (gable_preconditioner)p;
    CHECK_OK(gable_krylov_create(s->ctx, &s->how, &s->krylov));
    *l = (listener){.refuse_at = -1, .watched = names[p]};
    CHECK_OK(set_matrix(s));
    CHECK(l->heard == 4, "%s asks %d times", names[p], l->heard);
    gable_krylov_destroy(&s->krylov);
  }
}

static void apply(const stage *s, const gable_precond *p, gable_precond_work *w, double *z)
{
  gable_vectors_view r = GABLE_VECTORS_VIEW_INIT, out;
  r.n = s->view.n_rows;
  r.ld = r.n;
  r.data = s->b;
  out = r;
  out.data = z;
  CHECK_OK(gable_precond_apply(p, w, &r, &out));
}

/* An update of ILUT analyses its factors: one that is cancelled there leaves none, so that a work which is created
 * then, and one from before, serve the next update. */
static void updates(stage *s, listener *l)
{
  gable_precond_options o = GABLE_PRECOND_OPTIONS_INIT;
  gable_precond *p = NULL;
  gable_precond_work *works[2] = {NULL, NULL};
  double *z = calloc((size_t)s->view.n_rows, sizeof *z);
  const size_t bytes = (size_t)s->view.n_rows * sizeof *z;
  gable_status cancelled = GABLE_ERR_CANCELLED;
  o.kind = GABLE_PRECOND_ILUT;
  CHECK_OK(gable_precond_create(s->ctx, &o, &p));
  for (int k = 0; cancelled; k++) {
    *l = (listener){.refuse_at = -1};
    CHECK_OK(gable_precond_analyse(p, &s->view));
    CHECK_OK(gable_precond_work_create(p, &works[0]));
    if (k) CHECK_OK(gable_precond_update(p, s->view.val));
    *l = (listener){.refuse_at = k};
    cancelled = gable_precond_update(p, s->view.val);
    CHECK(!cancelled || cancelled == GABLE_ERR_CANCELLED, "call %d: %s", k, gable_last_error());
    CHECK_OK(gable_precond_work_create(p, &works[1]));
    if (cancelled) CHECK_OK(gable_precond_update(p, s->view.val));
    for (int w = 0; w < 2; w++) {
      apply(s, p, works[w], k || w ? z : s->x);
      CHECK(!(k || w) || !memcmp(z, s->x, bytes), "work %d, call %d", w, k);
      gable_precond_work_destroy(&works[w]);
    }
    CHECK(cancelled || k > 2, "an update asks %d times", k);
  }
  gable_precond_destroy(&p);
  free(z);
}

static void iterations(stage *s, listener *l)
{
  s->how = (gable_krylov_options)GABLE_KRYLOV_OPTIONS_INIT;
  s->how.tolerance = 1e-16;
  s->how.max_iterations = 10;
  s->how.restart = 4;
  for (int solver = GABLE_KRYLOV_CG; solver <= GABLE_KRYLOV_GMRES; solver++) {
    for (int p = GABLE_PRECOND_NONE; p <= GABLE_PRECOND_ILUT; p++) {
      s->how.solver = (gable_krylov_solver)solver;
      s->how.preconditioner = (gable_preconditioner)p;
      CHECK_OK(gable_krylov_create(s->ctx, &s->how, &s->krylov));
      every_call(s, l, "set_matrix", set_matrix, p >= GABLE_PRECOND_GS ? 4 : 0);
      every_call(s, l, "krylov", iterate, 10);
      gable_krylov_destroy(&s->krylov);
    }
  }
}

static void with_threads(int threads)
{
  listener l = {.refuse_at = -1};
  stage s = {.view = GABLE_MATRIX_VIEW_INIT, .listener = &l};
  gable_context_options options = GABLE_CONTEXT_OPTIONS_INIT;
  gable_matrix *half = NULL;
  options.threads = threads;
  options.progress = listen;
  options.progress_user = &l;
  snprintf(s.path, sizeof s.path, "/tmp/gable_cancel_%ld.tmp", (long)getpid());
  CHECK_OK(gable_context_create("cpu", &options, &s.ctx));
  CHECK_OK(gable_matrix_generate(s.ctx, "laplacian5:60x60", 1, &half));
  CHECK_OK(gable_matrix_expand(half, &s.a));
  CHECK_OK(gable_matrix_get_view(s.a, &s.view));
  s.view.structure = GABLE_STRUCTURE_GENERAL;
  s.view.part = GABLE_PART_FULL;
  s.b = calloc((size_t)s.view.n_rows, sizeof *s.b);
  s.x = calloc((size_t)s.view.n_rows, sizeof *s.x);
  for (gable_idx i = 0; i < s.view.n_rows; i++) s.b[i] = 1 + i % 3;
  files(&s, &l);
  solvers(&s, &l);
  triangles(&s, &l);
  factorizations(&s, &l);
  updates(&s, &l);
  iterations(&s, &l);
  unlink(s.path);
  free(s.b);
  free(s.x);
  gable_matrix_destroy(&half);
  gable_matrix_destroy(&s.a);
  gable_context_destroy(&s.ctx);
}

int main(void)
{
  with_threads(1);
  with_threads(2);
  return 0;
}
