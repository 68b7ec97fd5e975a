/* smooth_cuda.c: symmetric Gauss-Seidel sweeps on a GPU, and iterations of Krylov solvers, checked and then timed.
 *
 *   smooth_cuda laplacian OUT.json METHODS [NAME]   the 20 Laplacians of Li and Zhang; NAME: only those with it in
 * their name smooth_cuda matrices LIST OUT.json METHODS      matrices by path; the diagonal is made dominant
 *   smooth_cuda krylov OUT.json [LIST]              CG and BiCGSTAB with each preconditioner, here and on the CPU
 *
 * Built by scripts/device-run.  x is zero before each sweep and b changes in every repeat; the first sweep is compared
 * with a plain loop on the host. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <gable/gable.h>

enum { REPEATS = 9, RHS = 2 };

typedef struct rows {
  char name[128];
  gable_idx n;
  int64_t *ptr;
  gable_idx *idx;
  double *val;
} rows;

static void need(gable_status status, const char *what)
{
  if (!status) return;
  fprintf(stderr, "smooth_cuda: %s: %s\n", what, gable_last_error());
  exit(1);
}

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double random_unit(unsigned long long *s)
{
  *s = *s * 6364136223846793005ull + 1442695040888963407ull;
  return (double)(*s >> 11) / 9007199254740992.0;
}

static void drop(rows *a)
{
  free(a->ptr);
  free(a->idx);
  free(a->val);
}

typedef struct grid {
  int nx, ny, nz, points;
} grid;

static const grid grids[] = {{2048, 2048, 1, 5}, {1024, 4096, 1, 5}, {512, 8192, 1, 5},  {256, 16384, 1, 5},
                             {128, 32768, 1, 5}, {2048, 2048, 1, 9}, {1024, 4096, 1, 9}, {512, 8192, 1, 9},
                             {256, 16384, 1, 9}, {128, 32768, 1, 9}, {128, 128, 128, 7}, {64, 128, 256, 7},
                             {64, 64, 512, 7},   {32, 64, 1024, 7},  {32, 32, 2048, 7},  {128, 128, 128, 27},
                             {64, 128, 256, 27}, {64, 64, 512, 27},  {32, 64, 1024, 27}, {32, 32, 2048, 27}};

static void grid_name(const grid *g, char *name, size_t size)
{
  if (g->nz > 1)
    snprintf(name, size, "%d-point %dx%dx%d", g->points, g->nx, g->ny, g->nz);
  else
    snprintf(name, size, "%d-point %dx%d", g->points, g->nx, g->ny);
}

static rows laplacian(const grid *g)
{
  rows a = {.n = g->nx * g->ny * g->nz};
  int64_t q = 0;
  grid_name(g, a.name, sizeof a.name);
  a.ptr = malloc(((size_t)a.n + 1) * sizeof *a.ptr);
  a.idx = malloc((size_t)a.n * (size_t)g->points * sizeof *a.idx);
  a.val = malloc((size_t)a.n * (size_t)g->points * sizeof *a.val);
  a.ptr[0] = 0;
  for (int i = 0; i < a.n; i++) {
    const int x = i % g->nx, y = i / g->nx % g->ny, z = i / g->nx / g->ny;
    for (int k = 0; k < 27; k++) {
      const int dx = k % 3 - 1, dy = k / 3 % 3 - 1, dz = k / 9 - 1, far = abs(dx) + abs(dy) + abs(dz);
      if (x + dx < 0 || y + dy < 0 || z + dz < 0 || x + dx >= g->nx || y + dy >= g->ny || z + dz >= g->nz) continue;
      if (far > 1 && (g->points == 5 || g->points == 7)) continue;
      a.idx[q] = i + (dz * g->ny + dy) * g->nx + dx;
      a.val[q++] = far ? -1 : g->points - 1;
    }
    a.ptr[i + 1] = q;
  }
  return a;
}

/* Both triangles of a file, by rows, which for the symmetric ones are its columns; dominant: 1.1 times the magnitudes
 * of the row as the diagonal. */
static rows from_file(gable_context *ctx, const char *path)
{
  gable_matrix *file = NULL, *a = NULL;
  gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
  rows r = {.n = 0};
  const char *base = strrchr(path, '/');
  need(gable_matrix_read(ctx, path, NULL, &file), path);
  need(gable_matrix_expand(file, &a), path);
  need(gable_matrix_get_view(a, &v), path);
  snprintf(r.name, sizeof r.name, "%.*s", (int)strcspn(base ? base + 1 : path, "."), base ? base + 1 : path);
  const int64_t *ptr = v.ptr;
  int64_t q = 0;
  r.n = v.n_cols;
  r.ptr = malloc(((size_t)r.n + 1) * sizeof *r.ptr);
  r.idx = malloc((size_t)(ptr[r.n] + r.n) * sizeof *r.idx);
  r.val = malloc((size_t)(ptr[r.n] + r.n) * sizeof *r.val);
  r.ptr[0] = 0;
  for (gable_idx j = 0; j < r.n; j++) { /* columns taken as rows: the transpose, with the same levels the other way */
    double sum = 1e-300;
    int64_t diagonal = -1;
    for (int64_t p = ptr[j]; p <= ptr[j + 1]; p++) {
      if (diagonal < 0 && (p == ptr[j + 1] || v.idx[p] >= j)) {
        r.idx[q] = j;
        diagonal = q++;
      }
      if (p == ptr[j + 1] || v.idx[p] == j) continue;
      r.idx[q] = v.idx[p];
      r.val[q] = ((const double *)v.val)[p];
      sum += fabs(r.val[q++]);
    }
    r.val[diagonal] = 1.1 * sum;
    r.ptr[j + 1] = q;
  }
  gable_matrix_destroy(&file);
  gable_matrix_destroy(&a);
  return r;
}

static gable_matrix_view view_of(const rows *a)
{
  gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
  v.n_rows = v.n_cols = a->n;
  v.ptr = a->ptr;
  v.idx = a->idx;
  v.val = a->val;
  return v;
}

static void plain_sweep(const rows *a, const double *b, double *x)
{
  for (gable_idx k = 0; k < 2 * a->n; k++) {
    const gable_idx i = k < a->n ? k : 2 * a->n - 1 - k;
    double sum = b[i], d = 1;
    for (int64_t p = a->ptr[i]; p < a->ptr[i + 1]; p++)
      if (a->idx[p] == i)
        d = a->val[p];
      else
        sum -= a->val[p] * x[a->idx[p]];
    x[i] = sum / d;
  }
}

static int by_value(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* One matrix on the GPU with two right-hand sides, and what a plain sweep makes of the first. */
typedef struct bench {
  gable_context *ctx;
  const rows *a;
  double *b, *expected, *got; /* [n]: b of RHS columns */
  void *b_device, *x_device, *stream;
  gable_event *begin, *end;
  FILE *out;
} bench;

static void open_bench(bench *k)
{
  const size_t n = (size_t)k->a->n;
  unsigned long long seed = 7;
  k->b = malloc((RHS * n + 1) * sizeof(double));
  k->expected = calloc(n + 1, sizeof(double));
  k->got = malloc((n + 1) * sizeof(double));
  for (size_t i = 0; i < RHS * n; i++) k->b[i] = 2 * random_unit(&seed) - 1;
  plain_sweep(k->a, k->b, k->expected);
  need(gable_device_alloc(k->ctx, RHS * n * sizeof(double), &k->b_device), "memory");
  need(gable_device_alloc(k->ctx, n * sizeof(double), &k->x_device), "memory");
  need(gable_device_copy_in(k->ctx, k->b_device, k->b, RHS * n * sizeof(double), NULL), "copy");
  need(gable_stream_create(k->ctx, &k->stream), "stream");
  need(gable_event_create(k->ctx, &k->begin), "event");
  need(gable_event_create(k->ctx, &k->end), "event");
}

static void close_bench(bench *k)
{
  free(k->b);
  free(k->expected);
  free(k->got);
  gable_device_free(k->ctx, &k->b_device);
  gable_device_free(k->ctx, &k->x_device);
  gable_stream_destroy(k->ctx, &k->stream);
  gable_event_destroy(&k->begin);
  gable_event_destroy(&k->end);
}

/* Seconds of one symmetric sweep of right-hand side r from x = 0; x is fetched when wanted. */
static double sweep(bench *k, gable_smoother *s, int r, int fetch)
{
  const size_t bytes = (size_t)k->a->n * sizeof(double);
  gable_vectors_view b = GABLE_VECTORS_VIEW_INIT, x;
  double seconds = 0;
  b.space = GABLE_DEVICE;
  b.n = k->a->n;
  b.ld = b.n;
  b.data = (char *)k->b_device + (size_t)r * bytes;
  x = b;
  x.data = k->x_device;
  need(gable_device_fill(k->ctx, k->x_device, 0, bytes, k->stream), "x = 0");
  need(gable_event_record(k->begin, k->stream), "event");
  need(gable_smoother_apply(s, &b, &x, 1, NULL), "sweep");
  need(gable_event_record(k->end, k->stream), "event");
  need(gable_event_elapsed(k->begin, k->end, &seconds), "event");
  if (fetch) {
    need(gable_device_copy_out(k->ctx, k->got, k->x_device, bytes, k->stream), "copy");
    need(gable_device_synchronise(k->ctx, k->stream), "copy");
  }
  return seconds;
}

static void ending(FILE *out)
{
  char date[32];
  const time_t t = time(NULL);
  struct tm utc;
  strftime(date, sizeof date, "%Y-%m-%d", gmtime_r(&t, &utc));
  fprintf(out, ",\"machine\":\"%s\",\"commit\":\"%s\",\"date\":\"%s\"}\n",
          getenv("GABLE_BENCH_MACHINE") ? getenv("GABLE_BENCH_MACHINE") : "unnamed",
          getenv("GABLE_BENCH_COMMIT") ? getenv("GABLE_BENCH_COMMIT") : "unknown", date);
  fflush(out);
}

/* Largest difference from the plain sweep over the largest value. */
static double error_of(const bench *k)
{
  double error = 0, scale = 1e-300;
  for (gable_idx i = 0; i < k->a->n; i++) {
    const double difference = fabs(k->got[i] - k->expected[i]);
    scale = fmax(scale, fabs(k->expected[i]));
    if (!(difference <= error)) error = difference;
  }
  return error / scale;
}

static void smooth(bench *k, const char *method)
{
  const rows *a = k->a;
  const gable_matrix_view view = view_of(a);
  gable_smoother_options options = GABLE_SMOOTHER_OPTIONS_INIT;
  gable_smoother_info info = GABLE_SMOOTHER_INFO_INIT;
  gable_smoother *s = NULL;
  double times[REPEATS], start = now(), analyse, update;
  const int repeats = !strncmp(method, "lev", 3) || !strcmp(method, "gsf") ? 3 : REPEATS;
  options.method = method;
  options.deadline_s = 5;
  need(gable_smoother_create(k->ctx, &options, &s), method);
  need(gable_smoother_analyse(s, &view), method);
  analyse = now() - start;
  need(gable_smoother_update(s, a->val), method);
  start = now();
  need(gable_smoother_update(s, a->val), method);
  update = now() - start;
  need(gable_smoother_set_stream(s, k->stream), method);
  const double first = sweep(k, s, 0, 1), error = error_of(k);
  for (int r = 0; r < repeats; r++) times[r] = sweep(k, s, 1 - r % RHS, 0);
  need(gable_smoother_status(s, NULL), method);
  need(gable_smoother_get_info(s, &info), method);
  qsort(times, (size_t)repeats, sizeof *times, by_value);
  const double median = times[repeats / 2], nnz = (double)info.nnz, gflops = 4e-9 * nnz / median;
  const double floor_bytes = 2 * (12 * nnz + 24.0 * a->n) / 4.28e12;
  const double floor_hops = 0.07e-6 * ((double)info.levels_forward + info.levels_backward);
  fprintf(
      k->out,
      "{\"matrix\":\"%s\",\"sweep\":\"symmetric\",\"type\":\"d\",\"rhs\":1,\"method\":\"%s\",\"method_used\":\"%s\","
      "\"where\":\"cuda:0\",\"n\":%d,\"nnz\":%.0f,\"levels_forward\":%d,\"levels_backward\":%d,\"in_place\":%s,"
      "\"analyse_s\":%.6g,\"update_s\":%.6g,\"first_apply_s\":%.6g,\"apply_s\":%.6g,\"apply_q1_s\":%.6g,"
      "\"apply_q3_s\":%.6g,\"gflops\":%.4g,\"floor_bytes_s\":%.4g,\"floor_hops_s\":%.4g,\"error\":%.3g",
      a->name, method, info.method_used, a->n, nnz, info.levels_forward, info.levels_backward,
      info.in_place ? "true" : "false", analyse, update, first, median, times[repeats / 4], times[3 * repeats / 4],
      gflops, floor_bytes, floor_hops, error);
  ending(k->out);
  printf("%-26s %-6s %-6s pair %8.4f ms %7.2f GFLOPS  analyse %8.2f update %7.2f ms  error %.2g%s\n", a->name, method,
         info.method_used, 1e3 * median, gflops, 1e3 * analyse, 1e3 * update, error, error < 1e-10 ? "" : "  WRONG");
  fflush(stdout);
  gable_smoother_destroy(&s);
}

static void smooth_all(gable_context *ctx, rows *a, const char *methods, FILE *out)
{
  char list[256], *rest = list;
  bench k = {.ctx = ctx, .a = a, .out = out};
  snprintf(list, sizeof list, "%s", methods);
  open_bench(&k);
  for (char *m = strtok_r(list, ",", &rest); m; m = strtok_r(NULL, ",", &rest)) smooth(&k, m);
  close_bench(&k);
  drop(a);
}

static void krylov_one(gable_context *ctx, const rows *a, gable_krylov_solver solver, gable_preconditioner precond,
                       FILE *out)
{
  static const char *const solvers[] = {"cg", "bicgstab", "gmres"};
  static const char *const preconds[] = {"none", "jacobi", "gs", "ilu0", "ic0"};
  const gable_matrix_view view = view_of(a);
  gable_krylov_options options = GABLE_KRYLOV_OPTIONS_INIT;
  gable_krylov_info info = GABLE_KRYLOV_INFO_INIT;
  gable_krylov *k = NULL;
  double *b = malloc(((size_t)a->n + 1) * sizeof *b), *x = malloc(((size_t)a->n + 1) * sizeof *x), setup = 0;
  for (gable_idx i = 0; i < a->n; i++) {
    b[i] = 0;
    for (int64_t p = a->ptr[i]; p < a->ptr[i + 1]; p++) b[i] += a->val[p];
  }
  options.solver = solver;
  options.preconditioner = precond;
  options.max_iterations = 100;
  options.tolerance = 1e-8;
  gable_status status = gable_krylov_create(ctx, &options, &k);
  for (int twice = 0; twice < 2 && !status; twice++) {
    status = gable_krylov_set_matrix(k, &view);
    if (!status) status = gable_krylov_get_info(k, &info);
    setup = info.setup_s;
  }
  if (status) {
    printf("%-26s %s %s: %s\n", a->name, solvers[solver], preconds[precond], gable_last_error());
  } else {
    for (int twice = 0; twice < 2; twice++) {
      memset(x, 0, (size_t)a->n * sizeof *x);
      (void)gable_krylov_solve(k, b, x, NULL);
    }
    need(gable_krylov_get_info(k, &info), "info");
    const double each = info.solve_s / (info.iterations ? info.iterations : 1);
    fprintf(out,
            "{\"matrix\":\"%s\",\"solver\":\"%s\",\"precond\":\"%s\",\"method_used\":\"%s\",\"where\":\"%s\",\"n\":%d,"
            "\"nnz\":%lld,\"iterations\":%d,\"stop\":\"%s\",\"true_residual\":%.3g,\"shift\":%.3g,\"setup_s\":%.6g,"
            "\"solve_s\":%.6g,\"iteration_s\":%.6g",
            a->name, solvers[solver], preconds[precond], info.method_used, gable_context_where(ctx), a->n,
            (long long)a->ptr[a->n], info.iterations, info.stop, info.true_residual, info.shift, setup, info.solve_s,
            each);
    ending(out);
    printf("%-26s %-8s %-6s %-6s %4d iterations %-10s residual %.2g setup %9.3f ms, iteration %8.4f ms\n", a->name,
           solvers[solver], preconds[precond], gable_context_where(ctx), info.iterations, info.stop, info.true_residual,
           1e3 * setup, 1e3 * each);
    fflush(stdout);
  }
  gable_krylov_destroy(&k);
  free(b);
  free(x);
}

static void krylov_all(gable_context *gpu, rows *a, int on_cpu, FILE *out)
{
  gable_context *cpu = NULL;
  need(gable_context_create("cpu", NULL, &cpu), "context");
  for (int p = GABLE_PRECOND_NONE; p <= GABLE_PRECOND_IC0; p++)
    krylov_one(gpu, a, GABLE_CG, (gable_preconditioner)p, out);
  krylov_one(gpu, a, GABLE_BICGSTAB, GABLE_PRECOND_ILU0, out);
  krylov_one(gpu, a, GABLE_GMRES, GABLE_PRECOND_ILU0, out);
  if (on_cpu) krylov_one(cpu, a, GABLE_CG, GABLE_PRECOND_IC0, out);
  if (on_cpu) krylov_one(cpu, a, GABLE_BICGSTAB, GABLE_PRECOND_ILU0, out);
  gable_context_destroy(&cpu);
  drop(a);
}

static int next_path(FILE *list, char *line)
{
  return list && fscanf(list, "%511s", line) == 1;
}

int main(int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "";
  const int listed = !strcmp(what, "matrices"), krylov = !strcmp(what, "krylov");
  gable_context *ctx = NULL;
  char line[512], name[128];
  if (argc < (listed ? 5 : krylov ? 3 : 4)) {
    fprintf(stderr,
            "usage: smooth_cuda laplacian OUT METHODS [NAME] | matrices LIST OUT METHODS | krylov OUT [LIST]\n");
    return 2;
  }
  need(gable_context_create("cuda:0", NULL, &ctx), "context");
  FILE *out = fopen(argv[listed ? 3 : 2], "a");
  FILE *list = listed ? fopen(argv[2], "r") : krylov && argc > 3 ? fopen(argv[3], "r") : NULL;
  if (!out) return 1;
  while (next_path(list, line)) {
    rows a = from_file(ctx, line);
    if (krylov)
      krylov_all(ctx, &a, 1, out);
    else
      smooth_all(ctx, &a, argv[4], out);
  }
  for (size_t g = 0; g < sizeof grids / sizeof *grids && !listed; g++) {
    grid_name(&grids[g], name, sizeof name);
    if (krylov ? g % 5 : argc > 4 && !strstr(name, argv[4])) continue;
    rows a = laplacian(&grids[g]);
    if (krylov)
      krylov_all(ctx, &a, g == 0, out);
    else
      smooth_all(ctx, &a, argv[3], out);
  }
  if (list) fclose(list);
  fclose(out);
  gable_context_destroy(&ctx);
  return 0;
}
