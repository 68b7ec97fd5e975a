/* frame.c: measures one solver on one matrix and prints one line of JSON.
 *
 *   PEER MATRIX.raw [--mode M] [--variant V] [--given FILE] [--threads N] [--seconds S] [--write-order FILE]
 *
 * Before a solve is timed b is new and x is poisoned; the backward error is the worst over all solves of one vector. */
#include "frame.h"

#include <math.h>
#include <sys/resource.h>
#include <time.h>

typedef struct frame_arguments {
  const char *matrix, *given, *write_order;
  double seconds; /* spent on repeating each timed phase */
} frame_arguments;

enum { MOST_REPEATS = 101, BLOCK = 16 };

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double peak_bytes(void)
{
  struct rusage use;
  getrusage(RUSAGE_SELF, &use);
  return 1024.0 * (double)use.ru_maxrss;
}

static double resident_bytes(void)
{
  long pages = 0;
  FILE *f = fopen("/proc/self/statm", "r");
  if (!f) return 0;
  if (fscanf(f, "%*d %ld", &pages) != 1) pages = 0;
  fclose(f);
  return 4096.0 * (double)pages;
}

/* The first line of why, without what JSON would have to escape. */
static void fail(const char *phase, const char *why)
{
  printf("{\"peer\":\"%s\",\"ok\":false,\"phase\":\"%s\",\"reason\":\"", solver.name, phase);
  for (; *why && *why != '\n'; why++) putchar(*why == '"' || *why == '\\' || *why < ' ' ? '\'' : *why);
  printf("\"}\n");
  exit(0);
}

static void *need(size_t count, size_t size)
{
  void *p = malloc(count * size + 1);
  if (!p) fail("read", "out of memory");
  return p;
}

static void get(FILE *f, void *to, size_t size, size_t count)
{
  if (fread(to, size, count, f) != count) fail("read", "the raw matrix is cut short");
}

static void read_matrix(const char *path, frame_matrix *a)
{
  char magic[8];
  int64_t head[3];
  FILE *f = fopen(path, "rb");
  if (!f) fail("read", "no such file");
  get(f, magic, 1, 8);
  if (memcmp(magic, "GABLERAW", 8)) fail("read", "not a raw matrix: make it with bench/drivers/export");
  get(f, head, sizeof head[0], 3);
  a->n = (int)head[0];
  a->nnz = head[1];
  a->symmetric = (int)head[2];
  a->ptr = need((size_t)a->n + 1, sizeof *a->ptr);
  a->idx = need((size_t)a->nnz, sizeof *a->idx);
  a->val = need((size_t)a->nnz, sizeof *a->val);
  get(f, a->ptr, sizeof *a->ptr, (size_t)a->n + 1);
  get(f, a->idx, sizeof *a->idx, (size_t)a->nnz);
  get(f, a->val, sizeof *a->val, (size_t)a->nnz);
  fclose(f);
  if (a->nnz < INT32_MAX) {
    a->ptr32 = need((size_t)a->n + 1, sizeof *a->ptr32);
    for (int j = 0; j <= a->n; j++) a->ptr32[j] = (int)a->ptr[j];
  }
}

/* A line "column row" for each place. */
static void read_order(const char *path, frame_input *in)
{
  size_t n = (size_t)in->a->n;
  int *column = need(n, sizeof *column), *row = need(n, sizeof *row);
  FILE *f = fopen(path, "r");
  if (!f) fail("read", "no such order file");
  for (size_t k = 0; k < n; k++) {
    if (fscanf(f, "%d %d", &column[k], &row[k]) != 2) fail("read", "the order file is cut short");
  }
  fclose(f);
  in->given = column;
  in->given_rows = row;
}

/* splitmix64, to (-1,1) */
static double draw(uint64_t *state)
{
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (double)(int64_t)(z ^ (z >> 31)) / 9223372036854775808.0;
}

/* Oettli and Prager: max_i |b - A x|_i / (|A||x| + |b|)_i with 0/0 = 0, infinity where x is not finite. */
static double backward_error(const frame_matrix *a, const double *b, const double *x, double *r, double *w)
{
  double worst = 0;
  for (int i = 0; i < a->n; i++) {
    r[i] = b[i];
    w[i] = fabs(b[i]);
  }
  for (int j = 0; j < a->n; j++) {
    for (int64_t p = a->ptr[j]; p < a->ptr[j + 1]; p++) {
      r[a->idx[p]] -= a->val[p] * x[j];
      w[a->idx[p]] += fabs(a->val[p] * x[j]);
    }
  }
  for (int i = 0; i < a->n; i++) {
    double e = r[i] == 0 ? 0 : fabs(r[i]) / w[i];
    if (!(e <= worst)) worst = isfinite(e) ? e : INFINITY;
  }
  return worst;
}

static int by_size(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *t, int count)
{
  qsort(t, (size_t)count, sizeof *t, by_size);
  return count % 2 ? t[count / 2] : 0.5 * (t[count / 2 - 1] + t[count / 2]);
}

static double time_phase(const char *phase, const char *(*run)(const frame_input *), const frame_input *in)
{
  if (!run) return 0;
  double start = now();
  const char *why = run(in);
  double took = now() - start;
  if (why) fail(phase, why);
  return took;
}

/* The median over fresh right-hand sides; error, when asked for, the worst backward error. */
static double time_solves(const frame_input *in, int count, double seconds, int *repeats, double *error)
{
  const frame_matrix *a = in->a;
  size_t size = (size_t)a->n * (size_t)count;
  double *b = need(size, sizeof *b), *x = need(size, sizeof *x), t[MOST_REPEATS];
  double *r = need((size_t)a->n, sizeof *r), *w = need((size_t)a->n, sizeof *w);
  uint64_t seed = 7;
  int k = 0;
  double spent = 0;
  while (k < MOST_REPEATS && (k < 5 || spent < seconds)) {
    for (size_t i = 0; i < size; i++) b[i] = draw(&seed);
    for (size_t i = 0; i < size; i++) x[i] = solver.in_place ? b[i] : NAN;
    double start = now();
    const char *why = solver.solve(in, b, x, count);
    t[k] = now() - start;
    if (why) fail("solve", why);
    spent += t[k++];
    if (error && (k <= 3 || k % 16 == 0)) {
      double e = backward_error(a, b, x, r, w);
      *error = e > *error ? e : *error;
    }
    if (k >= 3 && spent > 30) break;
  }
  *repeats = k;
  free(b);
  free(x);
  free(r);
  free(w);
  return median(t, k);
}

static void write_order(const char *path, const frame_input *in)
{
  const int *column = solver.permutation ? solver.permutation(in, 0) : NULL;
  const int *row = column ? solver.permutation(in, 1) : NULL;
  FILE *f = row ? fopen(path, "w") : NULL;
  if (!f) fail("write", "no order to write, or no place to write it");
  for (int k = 0; k < in->a->n; k++) fprintf(f, "%d %d\n", column[k], row[k]);
  fclose(f);
}

static void print_number(const char *key, double value)
{
  if (isfinite(value))
    printf(",\"%s\":%.9g", key, value);
  else
    printf(",\"%s\":null", key);
}

static void measure(const frame_arguments *arg, const frame_input *in)
{
  double base = resident_bytes();
  double order_s = time_phase("order", solver.order, in);
  double symbolic_s = time_phase("symbolic", solver.symbolic, in);
  if (solver.split) solver.split(in, &order_s, &symbolic_s);
  double factor[MOST_REPEATS], spent = 0, error = 0;
  int factors = 0, solves, solves16;
  double peak = 0; /* of one analysis and one factorization */
  do {
    factor[factors] = time_phase("factor", solver.factor, in);
    spent += factor[factors++];
    if (factors == 1) peak = peak_bytes();
  } while (factors < 5 && spent < arg->seconds);
  double first_factor_s = factor[0];
  double solve_s = time_solves(in, 1, arg->seconds, &solves, &error);
  double solve16_s = time_solves(in, BLOCK, arg->seconds, &solves16, NULL);
  if (arg->write_order) write_order(arg->write_order, in);

  printf("{\"peer\":\"%s\",\"ok\":true,\"mode\":\"%s\",\"variant\":\"%s\",\"given_order\":%s,\"threads\":%d,\"n\":%d,"
         "\"nnz\":%lld",
         solver.name, in->mode, in->variant, in->given ? "true" : "false", in->threads, in->a->n,
         (long long)in->a->nnz);
  print_number("order_s", order_s);
  print_number("symbolic_s", symbolic_s);
  printf(",\"symbolic_apart\":%s", solver.symbolic || solver.split ? "true" : "false");
  print_number("first_factor_s", first_factor_s);
  print_number("factor_s", median(factor, factors));
  print_number("solve_s", solve_s);
  print_number("solve16_s", solve16_s);
  printf(",\"factors\":%d,\"solves\":%d,\"solves16\":%d", factors, solves, solves16);
  print_number("nnz_l", solver.nnz_l ? solver.nnz_l(in) : NAN);
  print_number("rss_before_bytes", base);
  print_number("peak_rss_bytes", peak);
  print_number("backward_error", error);
  if (solver.extra) solver.extra(stdout, in);
  printf(",\"options\":\"");
  solver.options(stdout, in);
  printf("\"}\n");
}

int main(int argc, char **argv)
{
  frame_arguments arg = {0};
  frame_matrix a = {0};
  frame_input in = {&a, "general", "", NULL, NULL, 1};
  arg.seconds = 1;
  for (int k = 1; k < argc; k++) {
    const char *next = k + 1 < argc ? argv[k + 1] : "";
    if (!strcmp(argv[k], "--mode"))
      in.mode = next, k++;
    else if (!strcmp(argv[k], "--variant"))
      in.variant = next, k++;
    else if (!strcmp(argv[k], "--given"))
      arg.given = next, k++;
    else if (!strcmp(argv[k], "--write-order"))
      arg.write_order = next, k++;
    else if (!strcmp(argv[k], "--threads"))
      in.threads = (int)strtol(next, NULL, 10), k++;
    else if (!strcmp(argv[k], "--seconds"))
      arg.seconds = strtod(next, NULL), k++;
    else
      arg.matrix = argv[k];
  }
  if (!arg.matrix) {
    fprintf(stderr,
            "usage: %s MATRIX.raw [--mode M] [--variant V] [--given FILE] [--threads N] [--seconds S] [--write-order "
            "FILE]\n",
            argv[0]);
    return 2;
  }
  read_matrix(arg.matrix, &a);
  if (arg.given) read_order(arg.given, &in);
  measure(&arg, &in);
  return 0;
}
