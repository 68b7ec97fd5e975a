/* Refined solves with vectors in device memory: systems of every kind, both ops, layouts, types and numbers of columns;
 * the bits of a column alone, and of the same vectors in host memory; what gable_solver_work_status and the report
 * tell; NaN in b; new values; groups of more than 16 columns, which alone are tried by the word "wide". */
#include "support/test.h"

#include "support/place.h"
#include "support/systems.h"

#define JUDGE static inline
#include "kernels/refine/judge.inc"

enum { MOST = 20, MAX_RHS = 16 };

static gable_context *ctx;

/* Vectors of both memories: data on the host, device on the device. */
typedef struct columns {
  gable_vectors_view view; /* of the device */
  void *host;
  size_t bytes;
} columns;

static columns columns_make(gable_idx n, gable_idx count, gable_type type, gable_major major)
{
  columns c = {.view = GABLE_VECTORS_VIEW_INIT};
  const gable_idx length = major == GABLE_MAJOR_COL ? n : count, lists = major == GABLE_MAJOR_COL ? count : n;
  c.view.space = GABLE_SPACE_DEVICE;
  c.view.type = type;
  c.view.major = major;
  c.view.n = n;
  c.view.count = count;
  c.view.ld = length + 3;
  c.bytes = (size_t)(length + 3) * (size_t)lists * (type == GABLE_TYPE_S ? sizeof(float) : sizeof(double));
  c.host = calloc(c.bytes + 1, 1);
  CHECK(c.host, "memory");
  CHECK_OK(gable_device_alloc(ctx, c.bytes + 1, &c.view.data));
  return c;
}

static void columns_drop(columns *c)
{
  gable_device_free(ctx, &c->view.data);
  free(c->host);
}

static size_t place(const columns *c, gable_idx i, gable_idx j)
{
  return (size_t)(c->view.major == GABLE_MAJOR_COL ? i + j * c->view.ld : i * c->view.ld + j);
}

static double get(const columns *c, gable_idx i, gable_idx j)
{
  const size_t k = place(c, i, j);
  return c->view.type == GABLE_TYPE_S ? (double)((const float *)c->host)[k] : ((const double *)c->host)[k];
}

static void set(columns *c, gable_idx i, gable_idx j, double v)
{
  const size_t k = place(c, i, j);
  if (c->view.type == GABLE_TYPE_S)
    ((float *)c->host)[k] = (float)v;
  else
    ((double *)c->host)[k] = v;
}

/* Multiples of 1/2, so that floats hold them. */
static void fill(columns *b)
{
  for (gable_idx j = 0; j < b->view.count; j++)
    for (gable_idx i = 0; i < b->view.n; i++) set(b, i, j, (i * 7 + j * 3) % 11 - 4.5);
}

static void put(const columns *c)
{
  CHECK_OK(gable_device_copy_in(ctx, c->view.data, c->host, c->bytes, NULL));
  CHECK_OK(gable_device_synchronise(ctx, NULL));
}

static void fetch(columns *c)
{
  CHECK_OK(gable_device_copy_out(ctx, c->host, c->view.data, c->bytes, NULL));
  CHECK_OK(gable_device_synchronise(ctx, NULL));
}

static double error_of(const test_system *a, gable_op op, const columns *b, const columns *x, gable_idx j)
{
  double *one = malloc((size_t)a->n * 2 * sizeof *one), error;
  CHECK(one, "memory");
  for (gable_idx i = 0; i < a->n; i++) {
    one[i] = get(b, i, j);
    one[a->n + i] = get(x, i, j);
  }
  error = test_backward_error(a, op, one, one + a->n);
  free(one);
  return error;
}

/* The same solve with b and x in host memory: the bits of x, and its report. */
static void check_host_vectors(const gable_solver *s, gable_solver_work *w, gable_op op, const columns *b,
                               const columns *x, const gable_solve_report *wanted, const char *what)
{
  gable_vectors_view from = b->view, to = x->view;
  gable_solve_report report = GABLE_SOLVE_REPORT_INIT;
  char *near = malloc(x->bytes + 1);
  CHECK(near, "memory");
  memcpy(near, x->host, x->bytes); /* gaps between the columns stay */
  from.space = to.space = GABLE_SPACE_HOST;
  from.data = b->host;
  to.data = near;
  for (gable_idx j = 0; j < to.count; j++)
    for (gable_idx i = 0; i < to.n; i++)
      if (to.type == GABLE_TYPE_S)
        ((float *)to.data)[place(x, i, j)] = -1;
      else
        ((double *)to.data)[place(x, i, j)] = -1;
  CHECK_OK(gable_solver_solve(s, w, op, &from, &to));
  CHECK(!memcmp(near, x->host, x->bytes), "%s, op %d: other bits by way of host memory", what, op);
  CHECK_OK(gable_solver_work_report(w, &report));
  CHECK(report.backward_error == wanted->backward_error && report.first_error == wanted->first_error &&
            report.refine_steps == wanted->refine_steps && report.gmres_iterations == wanted->gmres_iterations &&
            report.worst == wanted->worst && !report.reason[0],
        "%s, op %d: error %g, first %g, %d steps, %d iterations, column %d, not %g, %g, %d, %d, %d", what, op,
        report.backward_error, report.first_error, report.refine_steps, report.gmres_iterations, report.worst,
        wanted->backward_error, wanted->first_error, wanted->refine_steps, wanted->gmres_iterations, wanted->worst);
  CHECK(report.solve_s > 0 && report.refine_s > 0 && wanted->solve_s > 0 && wanted->refine_s > 0,
        "%s: %g and %g s by way of host memory, %g and %g s", what, report.solve_s, report.refine_s, wanted->solve_s,
        wanted->refine_s);
  free(near);
}

/* company: columns among which each has the bits that it has in x: 1, alone. */
static void check_group(const test_system *a, const gable_solver *s, gable_solver_work *w, gable_op op, gable_type type,
                        gable_major major, gable_idx count, gable_idx company, const char *what)
{
  columns b = columns_make(a->n, count, type, major), x = columns_make(a->n, count, type, major);
  columns one_b = columns_make(a->n, company, type, GABLE_MAJOR_COL),
          one_x = columns_make(a->n, company, type, GABLE_MAJOR_COL);
  gable_solve_report report = GABLE_SOLVE_REPORT_INIT;
  fill(&b);
  put(&b);
  CHECK_OK(gable_solver_solve(s, w, op, &b.view, &x.view));
  CHECK_OK(gable_solver_work_status(w));
  CHECK_OK(gable_solver_work_report(w, &report));
  CHECK(report.backward_error <= (type == GABLE_TYPE_S ? 5e-7 : 1e-12) &&
            (type == GABLE_TYPE_S || report.first_error >= report.backward_error) && report.worst < count,
        "%s: error %g, first %g, %d steps, column %d", what, report.backward_error, report.first_error,
        report.refine_steps, report.worst);
  fetch(&x);
  check_host_vectors(s, w, op, &b, &x, &report, what);
  for (gable_idx j = 0; j < count; j++) {
    const double error = error_of(a, op, &b, &x, j);
    CHECK(error <= (type == GABLE_TYPE_S ? 1e-5 : 1e-9), "%s, op %d, column %d of %d: backward error %g", what, op, j,
          count, error);
  }
  for (gable_idx j = 0; j<count; j += count> 1 ? count - 1 : 1) {
    for (gable_idx k = 0; k < company; k++)
      for (gable_idx i = 0; i < a->n; i++) set(&one_b, i, k, get(&b, i, j));
    put(&one_b);
    CHECK_OK(gable_solver_solve(s, w, op, &one_b.view, &one_x.view));
    fetch(&one_x);
    for (gable_idx i = 0; i < a->n; i++)
      CHECK(get(&one_x, i, company - 1) == get(&x, i, j), "%s, op %d: other bits in column %d among %d, row %d", what,
            op, j, company, i);
  }
  CHECK_OK(gable_solver_work_status(w));
  CHECK_OK(gable_solver_solve(s, w, op, &b.view, &b.view)); /* in place */
  CHECK_OK(gable_solver_work_status(w));
  fetch(&b);
  for (gable_idx i = 0; i < a->n; i++)
    CHECK(get(&b, i, count - 1) == get(&x, i, count - 1), "%s, op %d: other bits in place, row %d", what, op, i);
  columns_drop(&b);
  columns_drop(&x);
  columns_drop(&one_b);
  columns_drop(&one_x);
}

static void check_shape(const test_system *a, const gable_solver *s, gable_solver_work *w, gable_op op, gable_type type,
                        gable_major major, gable_idx count, const char *what)
{
  check_group(a, s, w, op, type, major, count, 1, what);
}

static void check_kind(test_kind kind, gable_idx n, gable_type factor_type)
{
  test_system a = test_system_make(kind, n, 3);
  const gable_matrix_view v = test_system_view(&a);
  gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
  gable_solver_work *w = NULL;
  options.factor_type = factor_type;
  gable_solver *s = test_factored(ctx, &v, &options);
  CHECK_OK(gable_solver_work_create(s, MAX_RHS, &w));
  for (int round = 0; round < 2; round++) {
    for (int op = 0; op < 2; op++) {
      check_shape(&a, s, w, (gable_op)op, GABLE_TYPE_D, GABLE_MAJOR_COL, 1, test_kind_name(kind));
      check_shape(&a, s, w, (gable_op)op, GABLE_TYPE_D, GABLE_MAJOR_ROW, 5, test_kind_name(kind));
      if (kind != TEST_WILD) /* no float holds it */
        check_shape(&a, s, w, (gable_op)op, GABLE_TYPE_S, GABLE_MAJOR_COL, MOST, test_kind_name(kind));
      check_shape(&a, s, w, (gable_op)op, GABLE_TYPE_D, GABLE_MAJOR_COL, MOST, test_kind_name(kind));
    }
    if (kind == TEST_WILD) break;                         /* tiny rows meet the tolerance by the library's definition */
    for (int64_t k = 0; k < a.ptr[n]; k++) a.val[k] *= 2; /* keeps whatever symmetry there is */
    if (!round) CHECK_OK(gable_solver_factor(s, a.val, GABLE_REUSE_ROWS));
  }
  gable_solver_work_destroy(&w);
  gable_solver_destroy(&s);
  test_system_free(&a);
}

/* More columns than a work takes at a time, by 64. */
static void check_many(test_kind kind)
{
  enum { N = 90, MANY = 1024 };
  test_system a = test_system_make(kind, N, 6);
  const gable_matrix_view v = test_system_view(&a);
  gable_solver_work *w = NULL;
  gable_solver *s = test_factored(ctx, &v, NULL);
  CHECK_OK(gable_solver_work_create(s, MAX_RHS, &w));
  check_shape(&a, s, w, GABLE_OP_N, GABLE_TYPE_D, GABLE_MAJOR_COL, MANY, "1024 columns");
  check_shape(&a, s, w, GABLE_OP_T, GABLE_TYPE_D, GABLE_MAJOR_ROW, MANY, "1024 columns by rows");
  gable_solver_work_destroy(&w);
  gable_solver_destroy(&s);
  test_system_free(&a);
}

/* More than 16 columns at a time: groups of up to 128, of which each but a last one of at most 16 has bits of its own.
 */
static void check_wide(test_kind kind, gable_type factor_type)
{
  enum { N = 150, WIDE = 17 };
  test_system a = test_system_make(kind, N, 8);
  const gable_matrix_view v = test_system_view(&a);
  gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
  gable_solver_work *w = NULL;
  options.factor_type = factor_type;
  gable_solver *s = test_factored(ctx, &v, &options);
  CHECK_OK(gable_solver_work_create(s, 200, &w));
  for (int op = 0; op < 2; op++) {
    check_group(&a, s, w, (gable_op)op, GABLE_TYPE_D, GABLE_MAJOR_COL, 40, WIDE, "40 columns");
    check_group(&a, s, w, (gable_op)op, GABLE_TYPE_D, GABLE_MAJOR_ROW, 150, WIDE, "150 columns by rows");
    check_group(&a, s, w, (gable_op)op, GABLE_TYPE_S, GABLE_MAJOR_COL, 17, WIDE, "17 columns of floats");
    check_group(&a, s, w, (gable_op)op, GABLE_TYPE_D, GABLE_MAJOR_COL, 16, 1, "16 columns of a wide work");
  }
  gable_solver_work_destroy(&w);
  gable_solver_destroy(&s);
  test_system_free(&a);
}

/* No row: every call is fine, and rcond is 1. */
static void check_empty(void)
{
  int64_t ptr[] = {0};
  gable_idx idx[] = {0};
  double val[] = {0}, number = -1;
  const test_system a = {0, ptr, idx, val};
  const gable_matrix_view v = test_system_view(&a);
  gable_solver *s = test_factored(ctx, &v, NULL);
  gable_solver_work *w = NULL;
  columns b = columns_make(0, 3, GABLE_TYPE_D, GABLE_MAJOR_COL), x = columns_make(0, 3, GABLE_TYPE_D, GABLE_MAJOR_COL);
  gable_vectors_view host = b.view;
  host.space = GABLE_SPACE_HOST;
  host.data = b.host;
  CHECK_OK(gable_solver_work_create(s, 3, &w));
  CHECK_OK(gable_solver_solve(s, w, GABLE_OP_N, &b.view, &x.view));
  CHECK_OK(gable_solver_work_status(w));
  CHECK_OK(gable_solver_solve(s, w, GABLE_OP_T, &host, &host));
  CHECK_OK(gable_solver_rcond(s, w, &number));
  CHECK(number == 1, "rcond %g", number);
  columns_drop(&b);
  columns_drop(&x);
  gable_solver_work_destroy(&w);
  gable_solver_destroy(&s);
}

/* GMRES on the device: the tolerance is met, with about as many iterations as on the host; the same bits in every run
 * and for a column alone. */
static void check_gmres(gable_op op, gable_type type)
{
  enum { N = 300, COLUMNS = 4, RUNS = 20 };
  test_system a = test_system_make(TEST_UNSYMMETRIC, N, 13);
  gable_solver_work *w = NULL;
  gable_solve_report host = GABLE_SOLVE_REPORT_INIT, device = GABLE_SOLVE_REPORT_INIT;
  columns b = columns_make(N, COLUMNS, type, GABLE_MAJOR_COL), x = columns_make(N, COLUMNS, type, GABLE_MAJOR_ROW);
  columns one = columns_make(N, 1, type, GABLE_MAJOR_COL), first = columns_make(N, 1, type, GABLE_MAJOR_COL);
  double *near = calloc((size_t)N * COLUMNS, sizeof *near);
  gable_vectors_view from = b.view, to = test_vectors(N, COLUMNS, near);
  gable_context *cpu = NULL;
  CHECK_OK(gable_context_create("cpu", NULL, &cpu));
  fill(&b);
  put(&b);
  from.space = GABLE_SPACE_HOST;
  from.data = b.host;
  to.type = type;
  test_system same = test_system_make(TEST_UNSYMMETRIC, N, 13);
  gable_solver *s = test_misfit(cpu, &same, NULL);
  CHECK_OK(gable_solver_work_create(s, COLUMNS, &w));
  CHECK_OK(gable_solver_solve(s, w, op, &from, &to));
  CHECK_OK(gable_solver_work_report(w, &host));
  gable_solver_work_destroy(&w);
  gable_solver_destroy(&s);
  test_system_free(&same);
  gable_context_destroy(&cpu);
  s = test_misfit(ctx, &a, NULL);
  CHECK_OK(gable_solver_work_create(s, COLUMNS, &w));
  CHECK_OK(gable_solver_solve(s, w, op, &b.view, &x.view));
  CHECK_OK(gable_solver_work_status(w));
  CHECK_OK(gable_solver_work_report(w, &device));
  CHECK(host.gmres_iterations > 5 && device.gmres_iterations > 5 &&
            device.gmres_iterations <= 2 * host.gmres_iterations + 8,
        "%d iterations on the CPU, %d on the device", host.gmres_iterations, device.gmres_iterations);
  fetch(&x);
  check_host_vectors(s, w, op, &b, &x, &device, "GMRES");
  for (gable_idx j = 0; j < COLUMNS; j++) {
    const double error = error_of(&a, op, &b, &x, j);
    CHECK(error <= (type == GABLE_TYPE_S ? 1e-6 : 1e-12), "op %d, column %d: backward error %g", op, j, error);
  }
  for (int run = 0; run < RUNS; run++) {
    const gable_idx j = run % COLUMNS;
    for (gable_idx i = 0; i < N; i++) set(&one, i, 0, get(&b, i, j));
    put(&one);
    CHECK_OK(gable_solver_solve(s, w, op, &one.view, &first.view));
    fetch(&first);
    for (gable_idx i = 0; i < N; i++)
      CHECK(get(&first, i, 0) == get(&x, i, j), "op %d, run %d: other bits in column %d alone, row %d", op, run, j, i);
  }
  CHECK_OK(gable_solver_work_status(w));
  free(near);
  columns_drop(&b);
  columns_drop(&x);
  columns_drop(&one);
  columns_drop(&first);
  gable_solver_work_destroy(&w);
  gable_solver_destroy(&s);
  test_system_free(&a);
}

/* What is wrong is told once, with its place, and is gone then. */
static void check_reports(void)
{
  test_system a = test_system_make(TEST_DOMINANT, 70, 9);
  const gable_matrix_view v = test_system_view(&a);
  gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
  gable_solver_work *w = NULL;
  gable_solve_report report = GABLE_SOLVE_REPORT_INIT;
  columns b = columns_make(a.n, 3, GABLE_TYPE_D, GABLE_MAJOR_COL), x = columns_make(a.n, 3, GABLE_TYPE_D, 0);
  options.factor_type = GABLE_TYPE_S;
  options.refine_steps = 0;
  gable_solver *s = test_factored(ctx, &v, &options);
  CHECK_OK(gable_solver_work_create(s, 3, &w));
  fill(&b);
  put(&b);
  CHECK_OK(gable_solver_solve(s, w, GABLE_OP_N, &b.view, &x.view));
  CHECK(gable_solver_work_status(w) == GABLE_ERR_TOLERANCE, "a float factor without a correction");
  CHECK_OK(gable_solver_work_report(w, &report));
  CHECK(report.backward_error > 1e-12 && report.backward_error < 1e-5 && report.first_error == report.backward_error &&
            !report.refine_steps && report.reason[0],
        "error %g, first %g, %d steps", report.backward_error, report.first_error, report.refine_steps);
  CHECK_OK(gable_solver_work_status(w));
  set(&b, 40, 1, NAN);
  set(&b, 60, 1, INFINITY);
  put(&b);
  CHECK_OK(gable_solver_solve(s, w, GABLE_OP_N, &b.view, &x.view));
  CHECK(gable_solver_work_status(w) == GABLE_ERR_NOT_FINITE, "NaN in b");
  CHECK(strstr(gable_last_error(), "row 40, column 1 (counted from 0)"), "%s", gable_last_error());
  CHECK_OK(gable_solver_work_status(w));
  gable_solver_work_destroy(&w);
  gable_solver_destroy(&s);
  columns_drop(&b);
  columns_drop(&x);
  test_system_free(&a);
}

/* What refine.c does after each error, with tolerance 1e-12 and three corrections at most. */
static void check_judge(void)
{
  static const struct {
    double error[4];
    int looks, taken_back;
    double kept;
  } cases[] = {{{1e-13}, 1, 0, 1e-13},
               {{1e-8, 1e-13}, 2, 0, 1e-13},
               {{1e-8, 1e-7}, 2, 1, 1e-8},
               {{1e-8, 0.6e-8}, 2, 0, 0.6e-8},
               {{1e-4, 1e-6, 1e-8, 1e-10}, 4, 0, 1e-10},
               {{HUGE_VAL}, 1, 0, HUGE_VAL},
               {{1e-8, HUGE_VAL}, 2, 1, 1e-8}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    gik_refine_column c = {0};
    int looks = 0;
    while (!c.ended && looks < 4) {
      gik_judge_column(&c, cases[k].error[looks], cases[k].error[looks], 1e-12, 3);
      looks++;
    }
    CHECK(c.ended && looks == cases[k].looks && c.taken_back == cases[k].taken_back && c.backward == cases[k].kept &&
              c.first == cases[k].error[0],
          "case %zu: %d looks, taken back %d, error %g", k, looks, c.taken_back, c.backward);
  }
}

/* A cycle of GMRES that makes a column worse is taken back; one that gains less than a factor of two is the last. */
static void check_judge_cycle(void)
{
  static const struct {
    double error;
    int taken_back, ended;
    double kept;
  } cases[] = {{1e-7, 1, 1, 1e-8}, {1e-8, 1, 1, 1e-8},   {0.6e-8, 0, 1, 0.6e-8},
               {1e-9, 0, 0, 1e-9}, {1e-13, 0, 1, 1e-13}, {HUGE_VAL, 1, 1, 1e-8}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    gik_refine_column c[2] = {{.backward = 1e-13, .ended = 1}, {.backward = 1e-8, .ended = 1}};
    gik_refine_control s = {.tolerance = 1e-12, .count = 2, .max_gmres = 40, .column = -1};
    gik_pick_column(c, &s);
    CHECK(s.going && s.column == 1 && !c[1].ended && c[0].ended, "column %d, going %d", s.column, s.going);
    gik_judge_cycle(&c[1], &s, cases[k].error, cases[k].error, 24);
    CHECK(c[1].taken_back == cases[k].taken_back && c[1].ended == cases[k].ended && c[1].backward == cases[k].kept &&
              c[1].gmres == 24,
          "case %zu: taken back %d, ended %d, error %g", k, c[1].taken_back, c[1].ended, c[1].backward);
    gik_pick_column(c, &s);
    CHECK(s.going == !cases[k].ended, "case %zu: going %d", k, s.going);
    if (!s.going) continue;
    gik_judge_cycle(&c[1], &s, 1e-11, 1e-11, 24);
    CHECK(c[1].ended && c[1].gmres == 48, "beyond the most iterations");
  }
}

static void check_all(void)
{
  for (int kind = 0; kind < TEST_KINDS; kind++) {
    check_kind((test_kind)kind, kind == TEST_DENSE ? 40 : 130, GABLE_TYPE_D);
  }
  check_kind(TEST_DOMINANT, 45, GABLE_TYPE_S);
  check_kind(TEST_SPD, 45, GABLE_TYPE_S);
  check_kind(TEST_DOMINANT, 1, GABLE_TYPE_D);
  for (int op = 0; op < 2; op++) {
    check_gmres((gable_op)op, GABLE_TYPE_D);
    check_gmres((gable_op)op, GABLE_TYPE_S);
  }
  check_reports();
  check_many(TEST_SPD);
  check_many(TEST_UNSYMMETRIC);
  check_empty();
}

int main(int argc, char **argv)
{
  const int wide_alone = argc > 2 && !strcmp(argv[2], "wide");
  check_judge();
  check_judge_cycle();
  ctx = test_place(argc, argv, NULL);
  if (gable_context_space(ctx) != GABLE_SPACE_DEVICE) SKIP("the CPU has no device memory: give mirror or cuda:0");
  if (!wide_alone) check_all();
  check_wide(TEST_SPD, GABLE_TYPE_D);
  check_wide(TEST_SPD, GABLE_TYPE_S);
  check_wide(TEST_UNSYMMETRIC, GABLE_TYPE_D);
  check_wide(TEST_REDUCIBLE, GABLE_TYPE_D);
  check_wide(TEST_SADDLE, GABLE_TYPE_D);
  gable_context_destroy(&ctx);
  return 0;
}
