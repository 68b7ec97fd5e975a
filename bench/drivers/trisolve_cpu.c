/* trisolve_cpu.c: triangular solves on the CPU beside a plain serial loop and Intel MKL's mkl_sparse_d_trsv.
 *
 *   trisolve_cpu [--mkl libmkl_rt.so] [--threads T] [--seconds S] MATRIX...
 *
 * MATRIX: a file, or what gable_matrix_generate understands.  One JSON object a line for each triangle and method.  The
 * diagonal is 1.1 times the sum of its row's magnitudes.  Medians; b is the same for all, x poisoned before each solve.
 * MKL is opened at run time and never linked. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <gable/gable.h>

enum { MOST = 2000 };

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* One triangle by rows, the diagonal included; MKL wants 32-bit offsets. */
typedef struct triangle {
  int n, *ptr, *idx;
  double *val, *b, *x;
  int upper;
} triangle;

/* rows: A^T by columns is A by rows. */
static triangle cut(const gable_matrix_view *rows, int upper)
{
  const int n = rows->n_cols;
  const int64_t *ptr = rows->ptr;
  const size_t room = (size_t)ptr[n] + (size_t)n + 1;
  triangle t = {n,
                malloc(((size_t)n + 1) * sizeof(int)),
                malloc(room * sizeof(int)),
                malloc(room * sizeof(double)),
                malloc(((size_t)n + 1) * sizeof(double)),
                malloc(((size_t)n + 1) * sizeof(double)),
                upper};
  int q = 0;
  for (int i = 0; i < n; i++) {
    double sum = 0;
    int diagonal = q;
    t.ptr[i] = q;
    q += upper;
    for (int64_t p = ptr[i]; p < ptr[i + 1]; p++)
      if (rows->idx[p] != i && (rows->idx[p] > i) == upper) {
        t.idx[q] = rows->idx[p];
        t.val[q] = ((const double *)rows->val)[p];
        sum += fabs(t.val[q++]);
      }
    if (!upper) diagonal = q++;
    t.idx[diagonal] = i;
    t.val[diagonal] = sum > 0 && isfinite(sum) ? 1.1 * sum : 1;
    t.b[i] = 1 + 0.1 * (i % 7);
  }
  t.ptr[n] = q;
  return t;
}

static int by_value(const void *p, const void *q)
{
  double a = *(const double *)p, b = *(const double *)q;
  return (a > b) - (a < b);
}

/* The median of solves that fill seconds, five at least. */
static double median_of(void (*solve)(void *), void *job, triangle *t, double seconds)
{
  static double times[MOST];
  int count = 0;
  double total = 0;
  while (count < MOST && (count < 7 || total < seconds)) {
    memset(t->x, 0xff, (size_t)t->n * sizeof *t->x);
    double start = now();
    solve(job);
    times[count] = now() - start;
    total += times[count++];
  }
  qsort(times, (size_t)count, sizeof *times, by_value);
  return times[count / 2];
}

/* The worst |b - Tx|_i over 4 nnz_i eps (|T||x| + |b|)_i. */
static double error_of(const triangle *t)
{
  double worst = 0;
  for (int i = 0; i < t->n; i++) {
    long double r = t->b[i], size = fabs(t->b[i]);
    for (int p = t->ptr[i]; p < t->ptr[i + 1]; p++) {
      r -= (long double)t->val[p] * t->x[t->idx[p]];
      size += fabsl((long double)t->val[p] * t->x[t->idx[p]]);
    }
    double ratio = (double)(fabsl(r) / (4 * (t->ptr[i + 1] - t->ptr[i]) * 0x1p-53L * size));
    if (!(ratio <= worst)) worst = isnan(ratio) ? INFINITY : ratio;
  }
  return worst;
}

static void say(const char *matrix, const triangle *t, const char *method, const char *used, int threads,
                double analyse, double solve, int levels, const char *why)
{
  const double error = error_of(t);
  char ratio[32] = "null"; /* a NaN in x: no number */
  if (isfinite(error)) snprintf(ratio, sizeof ratio, "%.3g", error);
  printf("{\"matrix\": \"%s\", \"uplo\": \"%s\", \"op\": \"n\", \"type\": \"d\", \"rhs\": 1, \"method\": \"%s\", "
         "\"method_used\": \"%s\", \"where\": \"cpu\", \"threads\": %d, \"n\": %d, \"nnz\": %d, \"levels\": %d, "
         "\"analyse_s\": %.4e, \"solve_s\": %.4e, \"gflops\": %.4g, \"max_error_bound_ratio\": %s, \"why\": \"%s\"}\n",
         matrix, t->upper ? "upper" : "lower", method, used, threads, t->n, t->ptr[t->n], levels, analyse, solve,
         2e-9 * t->ptr[t->n] / solve, ratio, why);
  fflush(stdout);
}

/* The yardstick: the loop that anyone writes, with reciprocals. */
typedef struct plain_job {
  triangle *t;
  double *reciprocal;
} plain_job;

static void plain_row(const plain_job *j, int i)
{
  const triangle *t = j->t;
  double s = t->b[i];
  for (int p = t->ptr[i] + t->upper; p < t->ptr[i + 1] - !t->upper; p++) s -= t->val[p] * t->x[t->idx[p]];
  t->x[i] = s * j->reciprocal[i];
}

static void plain_solve(void *job)
{
  const plain_job *j = job;
  if (j->t->upper)
    for (int i = j->t->n - 1; i >= 0; i--) plain_row(j, i);
  else
    for (int i = 0; i < j->t->n; i++) plain_row(j, i);
}

static void plain(const char *name, triangle *t, double seconds)
{
  plain_job j = {t, malloc(((size_t)t->n + 1) * sizeof(double))};
  for (int i = 0; i < t->n; i++) j.reciprocal[i] = 1 / t->val[t->upper ? t->ptr[i] : t->ptr[i + 1] - 1];
  double s = median_of(plain_solve, &j, t, seconds);
  say(name, t, "plain", "plain", 1, 0, s, 0, "");
  free(j.reciprocal);
}

/* MKL, by the names of its C interface. */
typedef struct mkl_descr {
  int type, mode, diag;
} mkl_descr;
typedef struct mkl {
  int (*create)(void **, int, int, int, int *, int *, int *, double *);
  int (*hint)(void *, int, mkl_descr, int);
  int (*optimize)(void *);
  int (*trsv)(int, double, void *, mkl_descr, const double *, double *);
  int (*destroy)(void *);
  void (*threads)(int);
} mkl;
typedef struct mkl_job {
  const mkl *m;
  void *a;
  mkl_descr descr;
  triangle *t;
} mkl_job;

static void mkl_solve(void *job)
{
  const mkl_job *j = job;
  j->m->trsv(10, 1.0, j->a, j->descr, j->t->b, j->t->x);
}

static void *symbol(void *library, const char *name)
{
  void *p = dlsym(library, name);
  if (!p) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
  return p;
}

static mkl mkl_open(const char *path)
{
  mkl m;
  void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
  *(void **)&m.create = symbol(library, "mkl_sparse_d_create_csr");
  *(void **)&m.hint = symbol(library, "mkl_sparse_set_sv_hint");
  *(void **)&m.optimize = symbol(library, "mkl_sparse_optimize");
  *(void **)&m.trsv = symbol(library, "mkl_sparse_d_trsv");
  *(void **)&m.destroy = symbol(library, "mkl_sparse_destroy");
  *(void **)&m.threads = symbol(library, "MKL_Set_Num_Threads");
  return m;
}

static void mkl_run(const mkl *m, const char *name, triangle *t, int threads, double seconds)
{
  mkl_job j = {m, NULL, {23, t->upper ? 41 : 40, 50}, t}; /* triangular, upper or lower, its own diagonal */
  m->threads(threads);
  double start = now();
  m->create(&j.a, 0, t->n, t->n, t->ptr, t->ptr + 1, t->idx, t->val);
  m->hint(j.a, 10, j.descr, 1000);
  m->optimize(j.a);
  double analyse = now() - start, s = median_of(mkl_solve, &j, t, seconds);
  say(name, t, "mkl", "mkl", threads, analyse, s, 0, "");
  m->destroy(j.a);
}

typedef struct gable_job {
  gable_trisolve *plan;
  gable_work *work;
  gable_vectors_view b, x;
} gable_job;

static void gable_solve_once(void *job)
{
  gable_job *j = job;
  if (gable_trisolve_solve(j->plan, j->work, GABLE_N, &j->b, &j->x)) fprintf(stderr, "%s\n", gable_last_error());
}

static void gable_run(const char *name, triangle *t, const char *method, int threads, double seconds)
{
  gable_context_options context = GABLE_CONTEXT_OPTIONS_INIT;
  gable_trisolve_options options = GABLE_TRISOLVE_OPTIONS_INIT;
  gable_matrix_view view = GABLE_MATRIX_VIEW_INIT;
  gable_trisolve_info info = GABLE_TRISOLVE_INFO_INIT;
  gable_context *ctx = NULL;
  gable_job j = {NULL, NULL, GABLE_VECTORS_VIEW_INIT, GABLE_VECTORS_VIEW_INIT};
  context.threads = threads;
  options.method = method;
  options.ops = GABLE_TRISOLVE_N;
  view.n_rows = view.n_cols = t->n;
  view.offset_type = GABLE_I32;
  view.part = t->upper ? GABLE_UPPER : GABLE_LOWER;
  view.ptr = t->ptr;
  view.idx = t->idx;
  j.b.n = j.x.n = t->n;
  j.b.ld = j.x.ld = t->n;
  j.b.data = t->b;
  j.x.data = t->x;
  if (gable_context_create("cpu", &context, &ctx) || gable_trisolve_create(ctx, &options, &j.plan) ||
      gable_trisolve_analyse(j.plan, &view) || gable_trisolve_update(j.plan, t->val) ||
      gable_work_create(j.plan, 1, &j.work)) {
    fprintf(stderr, "%s: %s\n", name, gable_last_error());
  } else {
    double s = median_of(gable_solve_once, &j, t, seconds);
    gable_trisolve_get_info(j.plan, GABLE_N, &info);
    say(name, t, method, info.method_used, threads, info.analyse_s, s, info.levels, info.why);
  }
  gable_work_destroy(&j.work);
  gable_trisolve_destroy(&j.plan);
  gable_context_destroy(&ctx);
}

static void run(gable_context *ctx, const char *name, const mkl *m, int threads, double seconds)
{
  gable_matrix *file = NULL, *a = NULL, *rows = NULL;
  gable_matrix_view view = GABLE_MATRIX_VIEW_INIT;
  gable_matrix_info info = GABLE_MATRIX_INFO_INIT;
  gable_read_options real = GABLE_READ_OPTIONS_INIT;
  real.accept_complex = real.accept_pattern = 0;
  gable_status status =
      strstr(name, ".mtx") ? gable_matrix_read(ctx, name, &real, &file) : gable_matrix_generate(ctx, name, 1, &file);
  if (!status) status = gable_matrix_expand(file, &a);
  if (!status) status = gable_matrix_transpose(a, &rows);
  if (!status) status = gable_matrix_get_view(rows, &view);
  if (!status) status = gable_matrix_get_info(rows, &info);
  if (status || info.n_rows != info.n_cols) {
    fprintf(stderr, "%s: left out: %s\n", name, status ? gable_last_error() : "not square");
  } else {
    const char *slash = strrchr(name, '/');
    for (int upper = 0; upper < 2; upper++) {
      triangle t = cut(&view, upper);
      const char *label = slash ? slash + 1 : name;
      plain(label, &t, seconds);
      if (m)
        for (int k = 1; k <= threads; k += threads > 1 ? threads - 1 : 1) mkl_run(m, label, &t, k, seconds);
      gable_run(label, &t, "serial", 1, seconds);
      for (int k = 1; k <= threads; k *= 2) gable_run(label, &t, "auto", k, seconds);
      free(t.ptr);
      free(t.idx);
      free(t.val);
      free(t.b);
      free(t.x);
    }
  }
  gable_matrix_destroy(&file);
  gable_matrix_destroy(&a);
  gable_matrix_destroy(&rows);
}

int main(int argc, char **argv)
{
  gable_context *ctx = NULL;
  mkl m;
  int with_mkl = 0, threads = 2;
  double seconds = 0.2;
  if (gable_context_create("cpu", NULL, &ctx)) return 1;
  for (int k = 1; k < argc; k++) {
    if (k + 1 < argc && !strcmp(argv[k], "--mkl")) {
      m = mkl_open(argv[++k]);
      with_mkl = 1;
    } else if (k + 1 < argc && !strcmp(argv[k], "--threads")) {
      threads = (int)strtol(argv[++k], NULL, 10);
    } else if (k + 1 < argc && !strcmp(argv[k], "--seconds")) {
      seconds = strtod(argv[++k], NULL);
    } else {
      run(ctx, argv[k], with_mkl ? &m : NULL, threads, seconds);
    }
  }
  gable_context_destroy(&ctx);
  return 0;
}
