/* trisolve_cpu.c: triangular solves on the CPU beside a plain serial loop and Intel MKL's mkl_sparse_d_trsv.
 *
 *   trisolve_cpu [--mkl libmkl_rt.so] [--threads T,...] [--seconds S] [--methods M,...] [--uplo lower|upper] MATRIX...
 *
 * MATRIX: a file, or what gable_matrix_generate understands.  One JSON object a line for each triangle and method.  The
 * diagonal is 1.1 times the sum of its row's magnitudes.  All methods take turns, a tenth of the time at each turn;
 * x is poisoned before each sample, and held against its error bound at the end (of
 * LARGE rows and more in the first and the last turn): with NaN, but for MKL with -1e300,
 * since on several threads it multiplies what x held by zero.  A sample is as many solves as fill 20 microseconds,
 * since a clock is not free.  Threads: one, and each T.
 * bench/trisolve_cpu.py builds it, and runs it on everything. */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <gable/gable.h>

#include "../reference_solvers/mkl_trsv.h"
#include "reading.h"

enum { SAMPLES = 4000, TURNS = 10, METHODS = 32, COUNTS = 8, CHAIN = 4096, LARGE = 1000000 };

/* One triangle by rows, the diagonal included; MKL wants 32-bit offsets. */
typedef struct triangle {
  int n, *ptr, *idx;
  double *val, *b, *x;
  int upper;
} triangle;

static triangle triangle_of(int n, size_t entries, int upper)
{
  return (triangle){n,
                    malloc(((size_t)n + 1) * sizeof(int)),
                    malloc((entries + 1) * sizeof(int)),
                    malloc((entries + 1) * sizeof(double)),
                    malloc(((size_t)n + 1) * sizeof(double)),
                    malloc(((size_t)n + 1) * sizeof(double)),
                    upper};
}

static void triangle_free(triangle *t)
{
  free(t->ptr);
  free(t->idx);
  free(t->val);
  free(t->b);
  free(t->x);
}

/* rows: A^T by columns is A by rows. */
static triangle cut(const gable_matrix_view *rows, int upper)
{
  const int n = rows->n_cols;
  const int64_t *ptr = rows->ptr;
  triangle t = triangle_of(n, (size_t)ptr[n] + (size_t)n, upper);
  int q = 0;
  for (int i = 0; i < n; i++) {
    double sum = 0;
    int diagonal = q;
    t.ptr[i] = q;
    q += upper;
    for (int64_t p = ptr[i]; p < ptr[i + 1]; p++)
      if (rows->idx[p] != i && (rows->idx[p] > i) == upper) {
        t.idx[q] = rows->idx[p];
        t.val[q] = rows->val ? ((const double *)rows->val)[p] : 1 / (1 + (double)(p % 5));
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

/* One way of solving, and its samples. */
typedef struct job {
  const char *method;
  triangle *t;
  int threads, batch, count;
  double poison;                  /* what x holds before a sample */
  void (*prepare)(struct job *j); /* before each turn; NULL: nothing */
  void (*solve)(struct job *j);
  void (*drop)(struct job *j);
  double analyse_s, update_s, error, sample[SAMPLES];
  gable_trisolve_info info;

  double *reciprocal; /* plain */
  mkl_plan *mkl;
  gable_context *ctx;
  gable_trisolve *plan;
  gable_trisolve_work *work;
  gable_vectors_view b, x;
} job;

/* The yardstick: the loop that anyone writes, with reciprocals. */
static inline void plain_row(const job *j, int i)
{
  const triangle *t = j->t;
  double s = t->b[i];
  for (int p = t->ptr[i] + t->upper; p < t->ptr[i + 1] - !t->upper; p++) s -= t->val[p] * t->x[t->idx[p]];
  t->x[i] = s * j->reciprocal[i];
}

static void plain_solve(job *j)
{
  if (j->t->upper)
    for (int i = j->t->n - 1; i >= 0; i--) plain_row(j, i);
  else
    for (int i = 0; i < j->t->n; i++) plain_row(j, i);
}

static void plain_drop(job *j)
{
  free(j->reciprocal);
}

static job *job_of(const char *method, triangle *t, int threads)
{
  job *j = calloc(1, sizeof *j);
  j->method = method;
  j->t = t;
  j->threads = threads;
  j->poison = NAN;
  j->info = (gable_trisolve_info)GABLE_TRISOLVE_INFO_INIT;
  snprintf(j->info.method_used, sizeof j->info.method_used, "%s", method);
  return j;
}

static job *plain_job(triangle *t)
{
  job *j = job_of("plain", t, 1);
  j->solve = plain_solve;
  j->drop = plain_drop;
  j->reciprocal = malloc(((size_t)t->n + 1) * sizeof(double));
  for (int i = 0; i < t->n; i++) j->reciprocal[i] = 1 / t->val[t->upper ? t->ptr[i] : t->ptr[i + 1] - 1];
  return j;
}

static void peer_prepare(job *j)
{
  mkl_prepare(j->mkl);
}

static void peer_solve(job *j)
{
  mkl_solve(j->mkl, j->t->b, j->t->x);
}

static void peer_drop(job *j)
{
  mkl_drop(j->mkl);
}

static job *peer_job(const mkl *m, triangle *t, int threads)
{
  job *j = job_of("mkl", t, threads);
  const double start = stopwatch_now();
  j->poison = -1e300;
  j->prepare = peer_prepare;
  j->solve = peer_solve;
  j->drop = peer_drop;
  j->mkl = mkl_analyse(m, t->n, t->ptr, t->idx, t->val, t->upper, threads);
  j->analyse_s = stopwatch_now() - start;
  if (j->mkl) return j;
  free(j);
  return NULL;
}

static void own_solve(job *j)
{
  if (gable_trisolve_solve(j->plan, j->work, GABLE_OP_N, &j->b, &j->x)) fprintf(stderr, "%s\n", gable_last_error());
}

static void own_drop(job *j)
{
  gable_trisolve_work_destroy(&j->work);
  gable_trisolve_destroy(&j->plan);
  gable_context_destroy(&j->ctx);
}

static job *own_job(triangle *t, const char *method, int threads)
{
  job *j = job_of(method, t, threads);
  gable_context_options context = GABLE_CONTEXT_OPTIONS_INIT;
  gable_trisolve_options options = GABLE_TRISOLVE_OPTIONS_INIT;
  gable_matrix_view view = GABLE_MATRIX_VIEW_INIT;
  context.threads = threads;
  options.method = method;
  options.solves = 0; /* many */
  options.ops = GABLE_TRISOLVE_N;
  view.n_rows = view.n_cols = t->n;
  view.offset_type = GABLE_TYPE_I32;
  view.part = t->upper ? GABLE_PART_UPPER : GABLE_PART_LOWER;
  view.ptr = t->ptr;
  view.idx = t->idx;
  j->b = j->x = (gable_vectors_view)GABLE_VECTORS_VIEW_INIT;
  j->b.n = j->x.n = j->b.ld = j->x.ld = t->n;
  j->b.data = t->b;
  j->x.data = t->x;
  j->solve = own_solve;
  j->drop = own_drop;
  if (gable_context_create("cpu", &context, &j->ctx) || gable_trisolve_create(j->ctx, &options, &j->plan) ||
      gable_trisolve_analyse(j->plan, &view) || gable_trisolve_update(j->plan, t->val) ||
      gable_trisolve_update(j->plan, t->val) || gable_trisolve_work_create(j->plan, 1, &j->work)) {
    fprintf(stderr, "%s: %s\n", method, gable_last_error());
    own_drop(j);
    free(j);
    return NULL;
  }
  gable_trisolve_get_info(j->plan, GABLE_OP_N, &j->info);
  j->analyse_s = j->info.analyse_s;
  j->update_s = j->info.update_s;
  return j;
}

static double sample_of(job *j)
{
  for (int i = 0; i < j->t->n; i++) j->t->x[i] = j->poison;
  const double start = stopwatch_now();
  for (int k = 0; k < j->batch; k++) j->solve(j);
  return (stopwatch_now() - start) / j->batch;
}

/* One turn: a few solves to warm up, then samples for so long, three at least. */
static void take_turn(job *j, double seconds, int check)
{
  if (j->prepare) j->prepare(j);
  j->batch = 1;
  sample_of(j);
  const double once = sample_of(j), start = stopwatch_now();
  j->batch = once < 20e-6 ? (int)(20e-6 / (once + 1e-9)) + 1 : 1;
  sample_of(j);
  for (int k = 0; j->count < SAMPLES && (k < 3 || stopwatch_now() - start < seconds); k++)
    j->sample[j->count++] = sample_of(j);
  if (check) j->error = fmax(j->error, error_of(j->t));
}

/* Seconds in which so many bytes can be read again and again by so many threads: from the caches if they fit. */
static double read_s(size_t bytes, int threads)
{
  enum { PASSES = 21 };
  const size_t share = bytes / sizeof(double) / (size_t)threads + LANES;
  double *x = malloc(share * (size_t)threads * sizeof *x), took[PASSES], sum = 0;
  for (size_t i = 0; i < share * (size_t)threads; i++) x[i] = 1;
  for (int k = 0; k < PASSES; k++) {
    const double start = stopwatch_now();
#pragma omp parallel for num_threads(threads) reduction(+ : sum) schedule(static, 1) if (threads > 1)
    for (int t = 0; t < threads; t++) sum += add_up(x + share * (size_t)t, share);
    took[k] = stopwatch_now() - start;
  }
  free(x);
  return sum > 0 ? stopwatch_quartiles(took, PASSES).q1 : 0;
}

/* Seconds a row of a chain takes: from one unknown to the next that needs it. */
static double row_latency(void)
{
  triangle t = triangle_of(CHAIN, 2 * CHAIN, 0);
  int q = 0;
  for (int i = 0; i < CHAIN; i++) {
    t.ptr[i] = q;
    if (i) t.idx[q] = i - 1, t.val[q++] = 0.5;
    t.idx[q] = i, t.val[q++] = 1;
    t.b[i] = 1;
  }
  t.ptr[CHAIN] = q;
  job *j = plain_job(&t);
  for (int k = 0; k < 20; k++) take_turn(j, 1e-4, 1);
  const double s = stopwatch_quartiles(j->sample, j->count).q1 / CHAIN;
  plain_drop(j);
  free(j);
  triangle_free(&t);
  return s;
}

typedef struct floors {
  double bytes, chain_s;
  double bytes_s[COUNTS + 1]; /* of one thread, and of each number of threads that was asked for */
} floors;

typedef struct request {
  const mkl *m;
  int counts, threads[COUNTS + 1]; /* [0] is 1 */
  double seconds, latency;
  const char *methods; /* of Gable, each with each number of threads */
  const char *uplo;    /* one triangle alone, or NULL */
} request;

static double bytes_floor(const request *q, const floors *f, int threads)
{
  int k = 0;
  while (q->threads[k] != threads) k++;
  return f->bytes_s[k];
}

static void say(const request *q, const char *matrix, job *j, const floors *f, int levels)
{
  const triangle *t = j->t;
  const int c = j->count;
  char ratio[32] = "null"; /* a NaN in x: no number */
  if (isfinite(j->error)) snprintf(ratio, sizeof ratio, "%.3g", j->error);
  const quartiles took = stopwatch_quartiles(j->sample, c);
  const double solve = took.median, bytes_s = bytes_floor(q, f, j->threads);
  const double floor_s = fmax(bytes_s, f->chain_s);
  printf("{\"matrix\": \"%s\", \"uplo\": \"%s\", \"op\": \"n\", \"type\": \"d\", \"rhs\": 1, \"method\": \"%s\", "
         "\"method_used\": \"%s\", \"where\": \"cpu\", \"threads\": %d, \"n\": %d, \"nnz\": %d, \"levels\": %d, ",
         matrix, t->upper ? "upper" : "lower", j->method, j->info.method_used, j->threads, t->n, t->ptr[t->n], levels);
  printf("\"threads_used\": %d, \"tiles\": %lld, \"waits\": %lld, \"model_s\": %.4g, \"analyse_s\": %.4g, "
         "\"update_s\": %.4g, \"solve_s\": %.4g, \"solve_q1_s\": %.4g, \"solve_q3_s\": %.4g, \"samples\": %d, ",
         j->info.threads ? j->info.threads : j->threads, (long long)j->info.tiles, (long long)j->info.waits,
         j->info.model_s, j->analyse_s, j->update_s, solve, took.q1, took.q3, c);
  printf("\"gflops\": %.4g, \"gbytes_s\": %.4g, \"floor_s\": %.4g, \"floor_bytes_s\": %.4g, \"floor_chain_s\": %.4g, "
         "\"share\": %.3f, \"max_error_bound_ratio\": %s, \"why\": \"%s\"}\n",
         2e-9 * t->ptr[t->n] / solve, 1e-9 * f->bytes / solve, floor_s, bytes_s, f->chain_s, floor_s / solve, ratio,
         j->info.why);
  fflush(stdout);
}

static int add(job **list, int count, job *j)
{
  if (!j || count == METHODS) return count;
  list[count] = j;
  return count + 1;
}

static int jobs_of(const request *q, triangle *t, job **list, char *names)
{
  int count = add(list, 0, plain_job(t));
  for (int k = 0; q->m && k < q->counts; k++) count = add(list, count, peer_job(q->m, t, q->threads[k]));
  for (char *name = strtok(names, ","); name; name = strtok(NULL, ","))
    for (int k = 0; k < (strcmp(name, "serial") ? q->counts : 1); k++)
      count = add(list, count, own_job(t, name, q->threads[k]));
  return count;
}

static void run_triangle(const request *q, const char *label, triangle *t)
{
  job *list[METHODS];
  char *names = malloc(strlen(q->methods) + 1);
  strcpy(names, q->methods);
  const int count = jobs_of(q, t, list, names);
  int levels = 0;
  floors f = {.bytes = 12.0 * (t->ptr[t->n] - t->n) + 28.0 * t->n}; /* an entry; length, reciprocal, b and x of a row */
  for (int k = 0; k < q->counts; k++) {
    f.bytes_s[k] = read_s((size_t)f.bytes, q->threads[k]);
    if (k && f.bytes_s[k] > f.bytes_s[k - 1]) f.bytes_s[k] = f.bytes_s[k - 1];
  }
  for (int turn = 0; turn < TURNS; turn++)
    for (int k = 0; k < count; k++) take_turn(list[k], q->seconds / TURNS, t->n < LARGE || turn % (TURNS - 1) == 0);
  for (int k = 0; k < count; k++)
    if (list[k]->info.levels > levels) levels = list[k]->info.levels;
  f.chain_s = levels * q->latency;
  for (int k = 0; k < count; k++) {
    say(q, label, list[k], &f, levels);
    list[k]->drop(list[k]);
    free(list[k]);
  }
  free(names);
}

static gable_status open_rows(gable_context *ctx, const char *name, gable_matrix **rows)
{
  gable_matrix *file = NULL, *a = NULL;
  gable_read_options real = GABLE_READ_OPTIONS_INIT;
  real.accept_complex = 0;
  gable_status status = strstr(name, ".mtx") || strstr(name, ".gbl") ? gable_matrix_read(ctx, name, &real, &file)
                                                                     : gable_matrix_generate(ctx, name, 1, &file);
  if (!status) status = gable_matrix_expand(file, &a);
  if (!status) status = gable_matrix_transpose(a, rows);
  gable_matrix_destroy(&file);
  gable_matrix_destroy(&a);
  return status;
}

/* The file's name without its folder and ending. */
static void label_of(const char *name, char *out, size_t room)
{
  const char *slash = strrchr(name, '/');
  snprintf(out, room, "%s", slash ? slash + 1 : name);
  char *end = strstr(out, ".mtx");
  if (!end) end = strstr(out, ".gbl");
  if (end) *end = 0;
}

static void run(gable_context *ctx, const request *q, const char *name)
{
  gable_matrix *rows = NULL;
  gable_matrix_view view = GABLE_MATRIX_VIEW_INIT;
  char label[128];
  gable_status status = open_rows(ctx, name, &rows);
  if (!status) status = gable_matrix_get_view(rows, &view);
  label_of(name, label, sizeof label);
  if (status || view.n_rows != view.n_cols) {
    fprintf(stderr, "%s: left out: %s\n", name, status ? gable_last_error() : "not square");
  } else {
    for (int upper = 0; upper < 2; upper++) {
      if (q->uplo && (*q->uplo == 'u') != upper) continue;
      triangle t = cut(&view, upper);
      run_triangle(q, label, &t);
      triangle_free(&t);
    }
  }
  gable_matrix_destroy(&rows);
}

/* "2,4": after the one that is always there. */
static void read_threads(request *q, const char *text)
{
  char *end = NULL;
  q->counts = 1;
  for (; *text && q->counts <= COUNTS; text = *end ? end + 1 : end) {
    const int threads = (int)strtol(text, &end, 10);
    if (end == text) return;
    if (threads > 1) q->threads[q->counts++] = threads;
  }
}

int main(int argc, char **argv)
{
  gable_context *ctx = NULL;
  request q = {NULL, 2, {1, 2}, 0.2, row_latency(), "serial,auto", NULL};
  if (gable_context_create("cpu", NULL, &ctx)) return 1;
  for (int k = 1; k < argc; k++) {
    const char *value = k + 1 < argc ? argv[k + 1] : "";
    if (!strcmp(argv[k], "--mkl")) {
      if (!(q.m = mkl_open(value))) return 1;
    } else if (!strcmp(argv[k], "--threads")) {
      read_threads(&q, value);
    } else if (!strcmp(argv[k], "--seconds")) {
      q.seconds = strtod(value, NULL);
    } else if (!strcmp(argv[k], "--methods")) {
      q.methods = value;
    } else if (!strcmp(argv[k], "--uplo")) {
      q.uplo = value;
    } else {
      run(ctx, &q, argv[k]);
      continue;
    }
    k++;
  }
  gable_context_destroy(&ctx);
  return 0;
}
