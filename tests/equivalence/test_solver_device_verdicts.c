/* What solves and estimates say on a device beside the CPU, on random small systems: regular, singular, singular within
 * rounding, with rows of zeros, badly scaled; every method, both factor types, ops and vector types, 1, 4, 16 and 20
 * right-hand sides, NaN in b, limits on refinement.  On the device host vectors and device vectors have the same
 * verdict, report and bits.  Beside the CPU the status is the same, but for a backward error near the tolerance and,
 * seldom, a system with replaced pivots; rcond and forward error are the same within a factor.
 */
#include "support/test.h"

#include <float.h>

#include "base/random.h"
#include "support/place.h"
#include "support/systems.h"

enum { MOST = 20, CASES = 400, CASES_GPU = 100 }; /* a GPU records graphs for each work */

static gable_context *there, *cpu;

/* Of solves, by what the CPU says; erratic: where the places disagree on a system with replaced pivots. */
static struct {
  int met, missed, singular, not_finite, refused, replaced, erratic;
} seen;

/* ---- a case ---- */

typedef enum matrix_kind {
  DOMINANT,
  SMALL_INTEGERS, /* often singular, with entries that cancel without rounding */
  SYMMETRIC,
  POSITIVE,
  SADDLE,
  REPEATED_ROW,  /* a multiple of another: singular within rounding */
  REPEATED_PAIR, /* a symmetric matrix with a row and a column repeated */
  EMPTY_ROW,     /* zeros in a pattern that has none */
  ZERO,
  SCALED, /* rows and columns by powers of ten */
  GROWTH,
  KINDS
} matrix_kind;

static const char *const kind_names[KINDS] = {"dominant", "integers",     "symmetric",     "positive",
                                              "saddle",   "repeated row", "repeated pair", "empty row",
                                              "zero",     "scaled",       "growth"};

typedef struct problem {
  matrix_kind kind;
  test_system a;
  gable_solver_options options;
  gable_op op;
  gable_type type;
  gable_major major;
  gable_idx count, max_rhs;
  int alone; /* this column of b alone is not zero; -1: all */
  int bad;   /* entry of b that is NaN or infinite; -1: none */
  double *b; /* [n count] by columns */
  uint64_t seed;
} problem;

static double centred(gi_random *r)
{
  return 2 * gi_random_unit(r) - 1;
}

static double *entry(const test_system *a, gable_idx i, gable_idx j)
{
  return &a->val[(int64_t)j * a->n + i];
}

/* All entries stored, by columns. */
static test_system full(gable_idx n)
{
  const size_t size = (size_t)n * (size_t)n;
  test_system a = {n, malloc(((size_t)n + 1) * sizeof *a.ptr), malloc((size + 1) * sizeof *a.idx),
                   malloc((size + 1) * sizeof *a.val)};
  CHECK(a.ptr && a.idx && a.val, "memory");
  for (gable_idx j = 0; j <= n; j++) a.ptr[j] = (int64_t)j * n;
  for (size_t k = 0; k < size; k++) a.idx[k] = (gable_idx)(k % (size_t)n);
  return a;
}

static void mirror_lower(const test_system *a)
{
  for (gable_idx j = 0; j < a->n; j++)
    for (gable_idx i = 0; i < j; i++) *entry(a, i, j) = *entry(a, j, i);
}

static void repeat(const test_system *a, gi_random *r, int symmetric)
{
  if (a->n < 2) return;
  const gable_idx from = (gable_idx)gi_random_below(r, a->n - 1), to = a->n - 1;
  for (gable_idx j = 0; j < a->n; j++) *entry(a, to, j) = 0.7 * *entry(a, from, j);
  for (gable_idx i = 0; i < a->n && symmetric; i++) *entry(a, i, to) = 0.7 * *entry(a, i, from);
}

static test_system draw_matrix(matrix_kind kind, gi_random *r)
{
  const gable_idx n = gi_random_below(r, 60) ? 1 + (gable_idx)gi_random_below(r, gi_random_below(r, 2) ? 4 : 24) : 0;
  const uint64_t seed = gi_random_u64(r) % 1000;
  const int zeros = gi_random_below(r, 2) != 0;
  if (kind == DOMINANT) return test_system_make(TEST_DOMINANT, n, seed);
  if (kind == POSITIVE) return test_system_make(TEST_SPD, n, seed);
  if (kind == SADDLE) return test_system_make(TEST_SADDLE, n, seed);
  if (kind == GROWTH) return test_system_make(TEST_GROWTH, n + 6, seed);
  test_system a = full(n);
  for (int64_t k = 0; k < a.ptr[n]; k++)
    a.val[k] = kind == SMALL_INTEGERS                          ? (double)gi_random_below(r, 5) - 2
               : zeros && gi_random_below(r, 3) && k % (n + 1) ? 0
                                                               : centred(r);
  if (kind == SYMMETRIC || kind == REPEATED_PAIR) mirror_lower(&a);
  if (kind == REPEATED_ROW || kind == REPEATED_PAIR) repeat(&a, r, kind == REPEATED_PAIR);
  if (kind == ZERO) memset(a.val, 0, (size_t)a.ptr[n] * sizeof *a.val);
  if (kind == EMPTY_ROW && n)
    for (gable_idx j = 0, i = (gable_idx)gi_random_below(r, n); j < n; j++) *entry(&a, i, j) = 0;
  if (kind == SCALED)
    for (gable_idx i = 0; i < n; i++) {
      const double row = pow(10, 12 * centred(r)), column = pow(10, 12 * centred(r));
      for (gable_idx j = 0; j < n; j++) *entry(&a, i, j) *= row;
      for (gable_idx j = 0; j < n; j++) *entry(&a, j, i) *= column;
    }
  return a;
}

static void draw_options(gi_random *r, gable_solver_options *o)
{
  static const double tolerances[] = {0, 0, 0, 1e-10, 1e-4};
  static const int steps[] = {-1, -1, -1, 0, 0, 1, 3};
  *o = (gable_solver_options)GABLE_SOLVER_OPTIONS_INIT;
  o->tolerance = tolerances[gi_random_below(r, 5)];
  o->refine_steps = steps[gi_random_below(r, 7)];
  o->unchecked = !o->refine_steps && gi_random_below(r, 3) == 0;
  o->strict = gi_random_below(r, 8) == 0;
  o->factor_type = gi_random_below(r, 4) ? GABLE_TYPE_D : GABLE_TYPE_S;
  o->match = gi_random_below(r, 2) ? GABLE_CHOICE_AUTO : GABLE_CHOICE_NEVER;
  o->method = gi_random_below(r, 3) ? GABLE_METHOD_AUTO : GABLE_METHOD_LU;
}

static problem draw(uint64_t seed)
{
  static const gable_idx counts[] = {1, 4, 16, 20};
  gi_random r = gi_random_seed(seed);
  problem p = {.seed = seed, .kind = (matrix_kind)gi_random_below(&r, KINDS), .alone = -1, .bad = -1};
  p.a = draw_matrix(p.kind, &r);
  draw_options(&r, &p.options);
  p.op = gi_random_below(&r, 2) ? GABLE_OP_N : GABLE_OP_T;
  p.type = gi_random_below(&r, 4) || p.kind == SCALED ? GABLE_TYPE_D : GABLE_TYPE_S;
  p.major = gi_random_below(&r, 2) ? GABLE_MAJOR_COL : GABLE_MAJOR_ROW;
  p.count = counts[gi_random_below(&r, 4)];
  p.max_rhs = gi_random_below(&r, 3) ? MOST : 3;
  if (gi_random_below(&r, 2)) p.alone = (int)gi_random_below(&r, p.count);
  p.b = calloc((size_t)p.a.n * (size_t)p.count + 1, sizeof *p.b);
  CHECK(p.b, "memory");
  for (gable_idx j = 0; j < p.count; j++)
    for (gable_idx i = 0; i < p.a.n && (p.alone < 0 || p.alone == j); i++)
      p.b[(size_t)j * (size_t)p.a.n + (size_t)i] = (double)gi_random_below(&r, 9) - 4;
  if (p.a.n && !gi_random_below(&r, 12)) p.bad = (int)gi_random_below(&r, (int64_t)p.a.n * p.count);
  if (p.bad >= 0) p.b[p.bad] = gi_random_below(&r, 2) ? (double)NAN : -(double)INFINITY;
  return p;
}

/* ---- what a place says of it ---- */

typedef struct verdict {
  gable_status factor, solve; /* solve: of an unchecked one with device vectors what the call says */
  int64_t replaced, singular;
  gable_solve_report report;
  double rcond, forward;
  char text[300];
  void *x; /* of column 0 and all others, in the type and layout of the problem */
} verdict;

static gable_vectors_view view_of(const problem *p, void *data)
{
  gable_vectors_view v = GABLE_VECTORS_VIEW_INIT;
  v.type = p->type;
  v.major = p->major;
  v.n = p->a.n;
  v.count = p->count;
  v.ld = p->major == GABLE_MAJOR_COL ? p->a.n : p->count;
  v.data = data;
  return v;
}

static size_t bytes_of(const problem *p)
{
  return (size_t)p->a.n * (size_t)p->count * (p->type == GABLE_TYPE_S ? sizeof(float) : sizeof(double));
}

static size_t place_in(const problem *p, gable_idx i, gable_idx j)
{
  return p->major == GABLE_MAJOR_COL ? (size_t)j * (size_t)p->a.n + (size_t)i
                                     : (size_t)i * (size_t)p->count + (size_t)j;
}

static void *outside_b(const problem *p)
{
  void *data = calloc(bytes_of(p) + 1, 1);
  CHECK(data, "memory");
  for (gable_idx j = 0; j < p->count; j++)
    for (gable_idx i = 0; i < p->a.n; i++) {
      const double v = p->b[(size_t)j * (size_t)p->a.n + (size_t)i];
      if (p->type == GABLE_TYPE_S)
        ((float *)data)[place_in(p, i, j)] = (float)v;
      else
        ((double *)data)[place_in(p, i, j)] = v;
    }
  return data;
}

static void copy_text(verdict *v)
{
  snprintf(v->text, sizeof v->text, "%s", gable_last_error());
}

static void solve_host(const problem *p, const gable_solver *s, gable_solver_work *w, verdict *v)
{
  void *b = outside_b(p);
  const gable_vectors_view from = view_of(p, b);
  gable_vectors_view to = view_of(p, v->x);
  v->solve = gable_solver_solve(s, w, p->op, &from, &to);
  if (v->solve) copy_text(v);
  free(b);
}

static void solve_there(const problem *p, const gable_solver *s, gable_solver_work *w, verdict *v)
{
  const size_t bytes = bytes_of(p);
  void *b = outside_b(p), *from_data = NULL, *to_data = NULL;
  CHECK_OK(gable_device_alloc(there, bytes + 1, &from_data));
  CHECK_OK(gable_device_alloc(there, bytes + 1, &to_data));
  if (bytes) CHECK_OK(gable_device_copy_in(there, from_data, b, bytes, NULL));
  if (bytes) CHECK_OK(gable_device_copy_in(there, to_data, v->x, bytes, NULL));
  CHECK_OK(gable_device_synchronise(there, NULL));
  gable_vectors_view from = view_of(p, from_data), to = view_of(p, to_data);
  from.space = to.space = GABLE_SPACE_DEVICE;
  const gable_status said = gable_solver_solve(s, w, p->op, &from, &to);
  CHECK(said == GABLE_OK || said == GABLE_NUMERICALLY_SINGULAR, "seed %d: %s", (int)p->seed, gable_last_error());
  if (said) copy_text(v);
  v->solve = gable_solver_work_status(w);
  if (v->solve) copy_text(v);
  if (p->options.unchecked) v->solve = said;
  if (bytes) CHECK_OK(gable_device_copy_out(there, v->x, to_data, bytes, NULL));
  CHECK_OK(gable_device_synchronise(there, NULL));
  gable_device_free(there, &from_data);
  gable_device_free(there, &to_data);
  free(b);
}

/* x: of whom the forward error is wanted, or NULL. */
static verdict ask(const problem *p, gable_context *ctx, int device_vectors, const void *x)
{
  verdict v = {.report = GABLE_SOLVE_REPORT_INIT, .rcond = NAN, .forward = NAN};
  gable_solver *s = NULL;
  gable_solver_work *w = NULL;
  const gable_matrix_view a = test_system_view(&p->a);
  v.x = calloc(bytes_of(p) + 1, 1);
  CHECK(v.x, "memory");
  CHECK_OK(gable_solver_create(ctx, &p->options, &s));
  v.factor = gable_solver_analyse(s, &a);
  if (!v.factor) v.factor = gable_solver_factor(s, NULL, GABLE_REUSE_NOTHING);
  if (v.factor) {
    copy_text(&v);
    goto done;
  }
  CHECK_OK(gable_solver_get(s, GABLE_SOLVER_PERTURBED_PIVOTS, &v.replaced, sizeof v.replaced));
  CHECK_OK(gable_solver_get(s, GABLE_SOLVER_NUMERICALLY_SINGULAR, &v.singular, sizeof v.singular));
  CHECK_OK(gable_solver_work_create(s, p->max_rhs, &w));
  (device_vectors ? solve_there : solve_host)(p, s, w, &v);
  CHECK_OK(gable_solver_work_report(w, &v.report));
  CHECK_OK(gable_solver_rcond(s, w, &v.rcond));
  if (p->bad < 0 && p->count == 1) {
    void *b = outside_b(p);
    const gable_vectors_view from = view_of(p, b);
    gable_vectors_view to = view_of(p, (void *)(uintptr_t)(x ? x : v.x));
    CHECK_OK(gable_solver_forward_error(s, w, p->op, &from, &to, &v.forward));
    free(b);
  }
done:
  gable_solver_work_destroy(&w);
  gable_solver_destroy(&s);
  return v;
}
static const char *what_of(const problem *p)
{
  static char text[300];
  snprintf(text, sizeof text,
           "seed %d, %s, n %d, op %d, %d columns by %d, type %d, factor type %d, method %d, match %d, %d steps, "
           "tolerance %g, unchecked %d, alone %d",
           (int)p->seed, kind_names[p->kind], p->a.n, (int)p->op, p->count, p->max_rhs, (int)p->type,
           (int)p->options.factor_type, (int)p->options.method, (int)p->options.match, p->options.refine_steps,
           p->options.tolerance, p->options.unchecked, p->alone);
  return text;
}

/* What rounding decides: which side of the tolerance an error near it is on; the error of an uncorrected factor of
 * floats, which may be 0; and what GMRES makes of a factor with replaced pivots. */
static int may_differ(const problem *p, const verdict *h, const verdict *m)
{
  const gable_solver_options *o = &p->options;
  const double low = fmin(h->report.backward_error, m->report.backward_error);
  const double high = fmax(h->report.backward_error, m->report.backward_error);
  const double own = o->tolerance > 0 ? o->tolerance : 1e-12, bar = p->type == GABLE_TYPE_S ? fmax(1e-6, own) : own;
  const int uncorrected = o->factor_type == GABLE_TYPE_S && !o->refine_steps && high < 1e-6;
  if (h->replaced) seen.erratic++;
  return h->replaced || uncorrected || (low > bar / 30 && high < bar * 30);
}

static int same_number(double a, double b)
{
  return a == b || (isnan(a) && isnan(b));
}

static int within(double a, double b, double factor)
{
  return same_number(a, b) || (a < factor * b && b < factor * a);
}

/* Host and device vectors on the device: as if they were one, but for the words about NaN in b. */
static void compare_vectors(const problem *p, const verdict *m, const verdict *d)
{
  const char *what = what_of(p);
  const gable_solve_report *a = &m->report, *b = &d->report;
  CHECK(same_number(m->rcond, d->rcond), "%s: rcond %g, with device vectors %g", what, m->rcond, d->rcond);
  CHECK(same_number(m->forward, d->forward), "%s: forward error %g, of device vectors %g", what, m->forward,
        d->forward);
  if (p->bad >= 0 && p->options.unchecked) return; /* nobody looks at b then */
  CHECK(m->solve == d->solve, "%s: %s: %s; device vectors: %s: %s", what, gable_status_text(m->solve), m->text,
        gable_status_text(d->solve), d->text);
  if (p->bad >= 0) {
    const char *row = strstr(m->text, "in row"), *other = strstr(d->text, "in row");
    CHECK(row && other && !strcmp(row, other), "%s: %s; device vectors: %s", what, m->text, d->text);
    return;
  }
  CHECK(!strcmp(m->text, d->text), "%s: %s; device vectors: %s", what, m->text, d->text);
  CHECK(!memcmp(m->x, d->x, bytes_of(p)), "%s: other bits with device vectors", what);
  CHECK(
      same_number(a->backward_error, b->backward_error) && same_number(a->first_error, b->first_error) &&
          a->worst == b->worst && a->refine_steps == b->refine_steps && a->gmres_iterations == b->gmres_iterations &&
          !strcmp(a->reason, b->reason),
      "%s: error %g, first %g, column %d, %d steps, %d iterations, \"%s\"; device vectors: %g, %g, %d, %d, %d, \"%s\"",
      what, a->backward_error, a->first_error, a->worst, a->refine_steps, a->gmres_iterations, a->reason,
      b->backward_error, b->first_error, b->worst, b->refine_steps, b->gmres_iterations, b->reason);
}

/* The CPU beside the device, both with host vectors. */
static void compare_places(const problem *p, const verdict *h, const verdict *m)
{
  const char *what = what_of(p);
  const gable_solve_report *a = &h->report, *b = &m->report;
  if (h->solve != m->solve) {
    CHECK(may_differ(p, h, m), "%s: %s: %s; on the CPU %s: %s", what, gable_status_text(m->solve), m->text,
          gable_status_text(h->solve), h->text);
    return;
  }
  if (h->solve != GABLE_ERR_TOLERANCE)
    CHECK(!strcmp(h->text, m->text), "%s: %s; on the CPU %s", what, m->text, h->text);
  CHECK(!strcmp(a->reason, b->reason), "%s: %s; on the CPU %s", what, b->reason, a->reason);
  CHECK(p->bad >= 0 || p->alone < 0 || a->worst == b->worst || !(a->backward_error > 0) || !(b->backward_error > 0),
        "%s: the worst column is %d, error %g; on the CPU %d, error %g", what, b->worst, b->backward_error, a->worst,
        a->backward_error);
  CHECK(isnan(a->backward_error) == isnan(b->backward_error) && isnan(a->first_error) == isnan(b->first_error),
        "%s: error %g, first %g; on the CPU %g, %g", what, b->backward_error, b->first_error, a->backward_error,
        a->first_error);
}

/* rcond and forward error within a factor; below 1e-13 rounding decides both, and they are small on both places. */
static void compare_estimates(const problem *p, const verdict *h, const verdict *m)
{
  const char *what = what_of(p);
  const double low = fmin(h->rcond, m->rcond), high = fmax(h->rcond, m->rcond);
  if (low < 1e-13) {
    const int differ = high > 1e-12;
    CHECK(!differ || h->replaced, "%s: rcond %g; on the CPU %g", what, m->rcond, h->rcond);
    seen.erratic += differ;
    return;
  }
  CHECK(within(m->rcond, h->rcond, 5), "%s: rcond %g; on the CPU %g", what, m->rcond, h->rcond);
  CHECK(within(m->forward, h->forward, 5), "%s: forward error %g; on the CPU %g", what, m->forward, h->forward);
}

static void count(const verdict *h)
{
  seen.replaced += h->replaced > 0;
  seen.met += h->solve == GABLE_OK;
  seen.missed += h->solve == GABLE_ERR_TOLERANCE;
  seen.singular += h->solve == GABLE_NUMERICALLY_SINGULAR;
  seen.not_finite += h->solve == GABLE_ERR_NOT_FINITE;
}

static void compare(uint64_t seed)
{
  problem p = draw(seed);
  verdict h = ask(&p, cpu, 0, NULL), m = ask(&p, there, 0, h.x), d = ask(&p, there, 1, h.x);
  CHECK(h.factor == m.factor && h.factor == d.factor && h.replaced == m.replaced && h.singular == m.singular &&
            (!h.factor || !strcmp(h.text, m.text)),
        "%s: factorization: %s: %s; on the CPU %s: %s", what_of(&p), gable_status_text(m.factor), m.text,
        gable_status_text(h.factor), h.text);
  if (h.factor) {
    seen.refused++;
  } else {
    compare_vectors(&p, &m, &d);
    compare_places(&p, &h, &m);
    compare_estimates(&p, &h, &m);
    count(&h);
  }
  free(h.x);
  free(m.x);
  free(d.x);
  test_system_free(&p.a);
  free(p.b);
}

int main(int argc, char **argv)
{
  there = test_place(argc, argv, NULL);
  if (gable_context_space(there) != GABLE_SPACE_DEVICE) SKIP("the CPU has no device memory: give mirror or cuda:0");
  const int usual = test_place_is_gpu(there) ? CASES_GPU : CASES;
  const int cases = argc > 2 ? atoi(argv[2]) : usual, first = argc > 3 ? atoi(argv[3]) : 1;
  CHECK_OK(gable_context_create("cpu", NULL, &cpu));
  for (int seed = first; seed < first + cases; seed++) compare((uint64_t)seed);
  printf("%d met, %d missed, %d singular, %d not finite, %d refused; %d with replaced pivots, %d of them erratic\n",
         seen.met, seen.missed, seen.singular, seen.not_finite, seen.refused, seen.replaced, seen.erratic);
  CHECK(cases < CASES || (seen.met && seen.missed && seen.singular && seen.not_finite && seen.refused),
        "one kind is missing");
  CHECK(100 * seen.erratic <= 3 * cases, "%d systems with replaced pivots are judged differently", seen.erratic);
  gable_context_destroy(&there);
  gable_context_destroy(&cpu);
  return 0;
}
