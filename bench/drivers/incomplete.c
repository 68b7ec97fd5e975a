/* incomplete.c: ILU(0) and IC(0) of gable_precond on a GPU beside cuSPARSE's csrilu02 and csric02.
 *
 *   incomplete OUT.json SOURCE ...     SOURCE: a file, or laplacian5:2048x2048
 *
 * The diagonal of a row is 1.1 times its magnitudes, so that both factorizations exist.  Seconds by the clock until the
 * device is idle, values in device memory.  Analysis: ours includes the plans of the two triangular solves that apply,
 * cuSPARSE's does not (SpSV_analysis follows).  Update: ours is the factorization and the values of those plans,
 * cuSPARSE's the factorization alone.  The second analysis counts, of updates the median of 9; cuSPARSE runs under both
 * of its policies, and the faster factorization counts.  z = M^-1 r must agree to 1e-8. */
#include <dlfcn.h>
#include <math.h>

#define DISABLE_CUSPARSE_DEPRECATED
#include <cusparse.h>

#include "matrices.h"

enum { UPDATES = 9 };
static const double apart = 1e-8;

#define FUNCTIONS(X)                                                                                                   \
  X(cusparseCreate)                                                                                                    \
  X(cusparseDestroy)                                                                                                   \
  X(cusparseSetStream)                                                                                                 \
  X(cusparseCreateMatDescr)                                                                                            \
  X(cusparseDestroyMatDescr)                                                                                           \
  X(cusparseCreateCsrilu02Info)                                                                                        \
  X(cusparseDestroyCsrilu02Info)                                                                                       \
  X(cusparseDcsrilu02_bufferSize)                                                                                      \
  X(cusparseDcsrilu02_analysis)                                                                                        \
  X(cusparseDcsrilu02)                                                                                                 \
  X(cusparseXcsrilu02_zeroPivot)                                                                                       \
  X(cusparseCreateCsric02Info)                                                                                         \
  X(cusparseDestroyCsric02Info)                                                                                        \
  X(cusparseDcsric02_bufferSize)                                                                                       \
  X(cusparseDcsric02_analysis)                                                                                         \
  X(cusparseDcsric02)                                                                                                  \
  X(cusparseXcsric02_zeroPivot)

#define MEMBER(f) static __typeof__(&f) p_##f;
FUNCTIONS(MEMBER)

static void need(int status, const char *what)
{
  if (!status) return;
  fprintf(stderr, "incomplete: %s: %s\n", what, *gable_last_error() ? gable_last_error() : "cuSPARSE refused");
  exit(1);
}
#define NEED(call) need((int)(call), #call)

static void load(void)
{
  char name[32];
  snprintf(name, sizeof name, "libcusparse.so.%d", CUSPARSE_VER_MAJOR);
  void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  need(!handle, name);
#define LOAD(f)                                                                                                        \
  *(void **)&p_##f = dlsym(handle, #f);                                                                                \
  need(!p_##f, #f);
  FUNCTIONS(LOAD)
}

/* A whole matrix by rows on the host and on the device; factor holds cuSPARSE's factor in place of the values. */
typedef struct problem {
  gable_context *ctx;
  bench_rows rows;
  void *ptr, *idx, *val, *factor, *r, *z;
  double *host_r, *host_z, *host_factor;
  void *stream;
} problem;

typedef struct times {
  double analyse_s, update_s;
} times;

static void *bring(gable_context *ctx, const void *host, size_t bytes)
{
  void *p = NULL;
  NEED(gable_device_alloc(ctx, bytes, &p));
  NEED(gable_device_copy_in(ctx, p, host, bytes, NULL));
  NEED(gable_device_synchronise(ctx, NULL));
  return p;
}

static void make_dominant(bench_rows *r)
{
  for (gable_idx i = 0; i < r->n; i++) {
    double sum = 1e-300;
    int32_t diagonal = r->ptr[i];
    for (int32_t p = r->ptr[i]; p < r->ptr[i + 1]; p++) {
      if (r->idx[p] == i)
        diagonal = p;
      else
        sum += fabs(r->val[p]);
    }
    r->val[diagonal] = 1.1 * sum;
  }
}

static void open_problem(gable_context *ctx, const bench_matrix *m, problem *p)
{
  memset(p, 0, sizeof *p);
  p->ctx = ctx;
  NEED(bench_matrix_whole(m, &p->rows));
  make_dominant(&p->rows);
  const size_t n = (size_t)p->rows.n, nnz = (size_t)p->rows.nnz;
  p->host_r = malloc((n + 1) * sizeof(double));
  p->host_z = malloc((n + 1) * sizeof(double));
  p->host_factor = malloc((nnz + 1) * sizeof(double));
  need(!p->host_r || !p->host_z || !p->host_factor, "memory");
  for (size_t i = 0; i < n; i++) p->host_r[i] = 1 + 0.5 * sin((double)i);
  p->ptr = bring(ctx, p->rows.ptr, (n + 1) * sizeof(int32_t));
  p->idx = bring(ctx, p->rows.idx, nnz * sizeof(gable_idx));
  p->val = bring(ctx, p->rows.val, nnz * sizeof(double));
  p->factor = bring(ctx, p->rows.val, nnz * sizeof(double));
  p->r = bring(ctx, p->host_r, n * sizeof(double));
  p->z = bring(ctx, p->host_r, n * sizeof(double));
  p->stream = gable_context_stream(ctx);
}

static void close_problem(problem *p)
{
  void **device[] = {&p->ptr, &p->idx, &p->val, &p->factor, &p->r, &p->z};
  for (int k = 0; k < 6; k++) gable_device_free(p->ctx, device[k]);
  bench_rows_free(&p->rows);
  free(p->host_r);
  free(p->host_z);
  free(p->host_factor);
}

static times run_gable(problem *p, gable_preconditioner kind)
{
  gable_precond_options o = GABLE_PRECOND_OPTIONS_INIT;
  gable_matrix_view a = GABLE_MATRIX_VIEW_INIT;
  gable_vectors_view r = GABLE_VECTORS_VIEW_INIT, z = GABLE_VECTORS_VIEW_INIT;
  gable_precond *m = NULL;
  gable_precond_work *w = NULL;
  double update[UPDATES];
  times t = {0, 0};
  a.n_rows = a.n_cols = r.n = r.ld = z.n = z.ld = p->rows.n;
  a.offset_type = GABLE_TYPE_I32;
  a.space = r.space = z.space = GABLE_SPACE_DEVICE;
  a.ptr = p->ptr;
  a.idx = p->idx;
  a.val = p->val;
  r.data = p->r;
  z.data = p->z;
  o.kind = kind;
  NEED(gable_precond_create(p->ctx, &o, &m));
  for (int k = 0; k < 2; k++) {
    const double begin = stopwatch_now();
    NEED(gable_precond_analyse(m, &a));
    NEED(gable_device_synchronise(p->ctx, NULL));
    t.analyse_s = stopwatch_now() - begin;
  }
  NEED(gable_precond_update(m, p->val));
  for (int k = 0; k < UPDATES; k++) {
    NEED(gable_device_synchronise(p->ctx, NULL));
    const double begin = stopwatch_now();
    NEED(gable_precond_update(m, p->val));
    NEED(gable_device_synchronise(p->ctx, NULL));
    update[k] = stopwatch_now() - begin;
  }
  t.update_s = stopwatch_quartiles(update, UPDATES).median;
  NEED(gable_precond_work_create(m, &w));
  NEED(gable_precond_apply(m, w, &r, &z));
  NEED(gable_precond_work_status(w));
  NEED(gable_device_copy_out(p->ctx, p->host_z, p->z, (size_t)p->rows.n * sizeof(double), NULL));
  NEED(gable_device_synchronise(p->ctx, NULL));
  gable_precond_work_destroy(&w);
  gable_precond_destroy(&m);
  return t;
}

typedef struct cusparse_run {
  cusparseHandle_t handle;
  cusparseMatDescr_t descr;
  csrilu02Info_t ilu;
  csric02Info_t ic;
  void *buffer;
  cusparseSolvePolicy_t policy;
} cusparse_run;

static void analyse(const problem *p, cusparse_run *c, int ic)
{
  const int n = p->rows.n, nnz = (int)p->rows.nnz;
  if (ic)
    NEED(p_cusparseDcsric02_analysis(c->handle, n, nnz, c->descr, p->factor, p->ptr, p->idx, c->ic, c->policy,
                                     c->buffer));
  else
    NEED(p_cusparseDcsrilu02_analysis(c->handle, n, nnz, c->descr, p->factor, p->ptr, p->idx, c->ilu, c->policy,
                                      c->buffer));
}

static void factor(const problem *p, cusparse_run *c, int ic)
{
  const int n = p->rows.n, nnz = (int)p->rows.nnz;
  if (ic)
    NEED(p_cusparseDcsric02(c->handle, n, nnz, c->descr, p->factor, p->ptr, p->idx, c->ic, c->policy, c->buffer));
  else
    NEED(p_cusparseDcsrilu02(c->handle, n, nnz, c->descr, p->factor, p->ptr, p->idx, c->ilu, c->policy, c->buffer));
}

static times run_policy(const problem *p, int ic, cusparseSolvePolicy_t policy)
{
  cusparse_run c = {.policy = policy};
  const int n = p->rows.n, nnz = (int)p->rows.nnz;
  int bytes = 0, row = 0;
  double update[UPDATES];
  times t = {0, 0};
  NEED(p_cusparseCreate(&c.handle));
  NEED(p_cusparseSetStream(c.handle, p->stream));
  NEED(p_cusparseCreateMatDescr(&c.descr));
  for (int k = 0; k < 2; k++) { /* the second time with a new info: nothing is kept */
    if (k) {
      NEED(ic ? p_cusparseDestroyCsric02Info(c.ic) : p_cusparseDestroyCsrilu02Info(c.ilu));
      gable_device_free(p->ctx, &c.buffer);
    }
    NEED(ic ? p_cusparseCreateCsric02Info(&c.ic) : p_cusparseCreateCsrilu02Info(&c.ilu));
    NEED(ic ? p_cusparseDcsric02_bufferSize(c.handle, n, nnz, c.descr, p->factor, p->ptr, p->idx, c.ic, &bytes)
            : p_cusparseDcsrilu02_bufferSize(c.handle, n, nnz, c.descr, p->factor, p->ptr, p->idx, c.ilu, &bytes));
    NEED(gable_device_alloc(p->ctx, (size_t)bytes, &c.buffer));
    NEED(gable_device_synchronise(p->ctx, NULL));
    const double begin = stopwatch_now();
    analyse(p, &c, ic);
    NEED(gable_device_synchronise(p->ctx, NULL));
    t.analyse_s = stopwatch_now() - begin;
  }
  for (int k = -1; k < UPDATES; k++) {
    NEED(gable_device_copy_in(p->ctx, p->factor, p->rows.val, (size_t)nnz * sizeof(double), NULL));
    NEED(gable_device_synchronise(p->ctx, NULL));
    const double begin = stopwatch_now();
    factor(p, &c, ic);
    NEED(gable_device_synchronise(p->ctx, NULL));
    if (k >= 0) update[k] = stopwatch_now() - begin;
  }
  if ((ic ? p_cusparseXcsric02_zeroPivot(c.handle, c.ic, &row)
          : p_cusparseXcsrilu02_zeroPivot(c.handle, c.ilu, &row)) ||
      row >= 0)
    need(1, "cuSPARSE found a zero pivot");
  t.update_s = stopwatch_quartiles(update, UPDATES).median;
  NEED(gable_device_copy_out(p->ctx, p->host_factor, p->factor, (size_t)nnz * sizeof(double), NULL));
  NEED(gable_device_synchronise(p->ctx, NULL));
  NEED(ic ? p_cusparseDestroyCsric02Info(c.ic) : p_cusparseDestroyCsrilu02Info(c.ilu));
  gable_device_free(p->ctx, &c.buffer);
  NEED(p_cusparseDestroyMatDescr(c.descr));
  NEED(p_cusparseDestroy(c.handle));
  return t;
}

/* The largest difference of host_z to M^-1 r by the factor of cuSPARSE, over the largest entry. */
static double difference(const problem *p, int ic)
{
  const bench_rows *a = &p->rows;
  const double *f = p->host_factor;
  double *z = malloc(((size_t)a->n + 1) * sizeof *z), most = 0, worst = 0;
  need(!z, "memory");
  for (gable_idx i = 0; i < a->n; i++) {
    double d = 1;
    z[i] = p->host_r[i];
    for (int32_t k = a->ptr[i]; k < a->ptr[i + 1]; k++) {
      if (a->idx[k] < i) z[i] -= f[k] * z[a->idx[k]];
      if (a->idx[k] == i) d = f[k];
    }
    if (ic) z[i] /= d;
  }
  for (gable_idx i = a->n - 1; i >= 0; i--) {
    double d = 1;
    for (int32_t k = a->ptr[i]; k < a->ptr[i + 1]; k++) {
      if (!ic && a->idx[k] > i) z[i] -= f[k] * z[a->idx[k]];
      if (a->idx[k] == i) d = f[k];
    }
    z[i] /= d;
    for (int32_t k = a->ptr[i]; ic && k < a->ptr[i + 1]; k++)
      if (a->idx[k] < i) z[a->idx[k]] -= f[k] * z[i];
  }
  for (gable_idx i = 0; i < a->n; i++) {
    most = fmax(most, fabs(z[i]));
    if (!(fabs(z[i] - p->host_z[i]) <= worst)) worst = fabs(z[i] - p->host_z[i]);
  }
  free(z);
  return worst / most;
}

static int measure(problem *p, const char *name, int ic, FILE *out)
{
  const times own = run_gable(p, ic ? GABLE_PRECOND_IC0 : GABLE_PRECOND_ILU0);
  times theirs = run_policy(p, ic, CUSPARSE_SOLVE_POLICY_USE_LEVEL);
  const times other = run_policy(p, ic, CUSPARSE_SOLVE_POLICY_NO_LEVEL);
  const int levels = theirs.update_s <= other.update_s;
  const double error = difference(p, ic);
  if (!levels) theirs = other;
  printf("%-28s %-5s analysis %9.4f ms, %s %9.4f; factor %9.4f ms, %s %9.4f; difference %.2g\n", name,
         ic ? "ic0" : "ilu0", 1e3 * own.analyse_s, ic ? "csric02" : "csrilu02", 1e3 * theirs.analyse_s,
         1e3 * own.update_s, ic ? "csric02" : "csrilu02", 1e3 * theirs.update_s, error);
  fflush(stdout);
  fprintf(out,
          "{\"matrix\":\"%s\",\"kind\":\"%s\",\"n\":%d,\"nnz\":%lld,\"levels\":%d,\"analyse_s\":%.6g,\"update_s\":%.6g,"
          "\"reference\":\"%s\",\"policy\":\"%s\",\"reference_analyse_s\":%.6g,\"reference_update_s\":%.6g,"
          "\"difference\":%.3g",
          name, ic ? "ic0" : "ilu0", p->rows.n, (long long)p->rows.nnz, p->rows.levels, own.analyse_s, own.update_s,
          ic ? "csric02" : "csrilu02", levels ? "level" : "no level", theirs.analyse_s, theirs.update_s, error);
  end_line(out);
  return !(error <= apart);
}

int main(int argc, char **argv)
{
  gable_context *host = NULL, *ctx = NULL;
  FILE *out = argc > 2 ? fopen(argv[1], "a") : NULL;
  int wrong = 0;
  if (!out) {
    fprintf(stderr, "usage: incomplete OUT.json SOURCE ...\n");
    return 2;
  }
  NEED(gable_context_create("cpu", NULL, &host));
  NEED(gable_context_create("cuda:0", NULL, &ctx));
  load();
  for (int k = 2; k < argc; k++) {
    bench_matrix m;
    problem p;
    if (!open_matrix(host, argv[k], &m)) continue;
    open_problem(ctx, &m, &p);
    for (int ic = 0; ic < 2; ic++) wrong |= measure(&p, m.name, ic, out);
    close_problem(&p);
    bench_matrix_close(&m);
  }
  gable_context_destroy(&ctx);
  gable_context_destroy(&host);
  if (wrong) fprintf(stderr, "incomplete: some M^-1 r differs from cuSPARSE's\n");
  return fclose(out) || wrong;
}
