/* Verdicts on solves with vectors in device memory that need their size: an x so large that the matrix is numerically
 * singular, which one solve shows and the factor does not; a factor that is known to be singular; two tolerances
 * between two questions for the status. */
#include "support/test.h"

#include <float.h>

#include "device/device.h"
#include "kernels/refine/refine_steps.h"
#include "support/place.h"
#include "support/systems.h"

static gable_context *ctx;

static void *take(const void *host, size_t bytes)
{
  void *p = NULL;
  CHECK_OK(gable_device_alloc(ctx, bytes + 1, &p));
  if (host && bytes) CHECK_OK(gable_device_copy_in(ctx, p, host, bytes, NULL));
  CHECK_OK(gable_device_synchronise(ctx, NULL));
  return p;
}

/* finish finds the column whose norm is above the bar by a thousandth, and none that is below; norm: ||A||. */
static void check_norms(gable_idx n, double norm)
{
  enum { COUNT = 3, HUGE_COLUMN = 1 };
  const size_t entries = (size_t)n * COUNT, bytes = entries * sizeof(double);
  double *b = malloc(bytes + 1), *x = malloc(bytes + 1);
  const gik_refine_pivots pivots = {norm, 1, 0};
  const gik_refine_column fresh[GIK_REFINE_COLUMNS] = {{0}};
  const gik_refine_control control = {.count = COUNT};
  gik_refine_summary found = {0};
  CHECK(b && x, "memory");
  for (size_t e = 0; e < entries; e++) {
    b[e] = e % 2 ? -1 : 1;
    x[e] = (e % 3 ? -1 : 1) / DBL_EPSILON * (e / (size_t)n == HUGE_COLUMN ? 1.001 : 0.999);
    if (norm > 0) x[e] /= norm;
  }
  void *own[] = {take(&pivots, sizeof pivots),
                 take(b, bytes),
                 take(x, bytes),
                 take(NULL, bytes),
                 take(NULL, bytes),
                 take(fresh, sizeof fresh),
                 take(&found, sizeof found),
                 take(&control, sizeof control),
                 take(NULL, bytes)};
  const gik_refine f = {.a = {.n = n, .pivots = own[0]},
                        .count = COUNT,
                        .b = own[1],
                        .x = own[2],
                        .r = own[3],
                        .weight = own[4],
                        .column = own[5],
                        .summary = own[6],
                        .control = own[7]};
  const gik_refine_outside out = {GABLE_TYPE_D, own[8], 1, n};
  for (int run = 0; run < 3; run++) { /* each leaves the next what it needs */
    int before = GI_NOT_ENTERED;
    CHECK_OK(gable_device_copy_in(ctx, own[6], &(gik_refine_summary){0}, sizeof found, NULL));
    CHECK_OK(ctx->device->enter(ctx, &before));
    gi_kernels_begin(ctx);
    CHECK_OK(ctx->device->kernels->refine_steps->finish(&f, &out, 0, gi_stream_of(ctx, NULL)));
    gi_kernels_end(ctx);
    ctx->device->leave(ctx, before);
    CHECK_OK(gable_device_copy_out(ctx, &found, own[6], sizeof found, NULL));
    gik_refine_column column[GIK_REFINE_COLUMNS];
    CHECK_OK(gable_device_copy_out(ctx, column, own[5], sizeof column, NULL));
    CHECK_OK(gable_device_copy_out(ctx, b, own[8], bytes, NULL));
    CHECK_OK(gable_device_synchronise(ctx, NULL));
    CHECK(!memcmp(b, x, bytes), "%d rows: x is not that of finish", n);
    for (int j = 0; j < COUNT; j++)
      CHECK(column[j].huge == (norm > 0 && j == HUGE_COLUMN), "%d rows, norm %g, run %d: column %d: huge %d", n, norm,
            run, j, column[j].huge);
    CHECK(found.singular == (norm > 0 ? GIK_HUGE_X : GIK_REGULAR), "%d rows, norm %g: verdict %d", n, norm,
          found.singular);
  }
  for (size_t k = 0; k < sizeof own / sizeof *own; k++) gable_device_free(ctx, &own[k]);
  free(b);
  free(x);
}

/* One solve of n rows in device memory and what the work then says; the call itself says GABLE_OK. */
static void solved(const gable_solver *s, gable_solver_work *w, gable_idx n, gable_idx count, gable_type type,
                   const double *b)
{
  const size_t bytes = (size_t)n * (size_t)count * (type == GABLE_TYPE_S ? sizeof(float) : sizeof(double));
  float rounded[64];
  CHECK((size_t)n * (size_t)count <= 64, "rounded is too short");
  for (gable_idx e = 0; e < n * count; e++) rounded[e] = (float)b[e];
  void *from_data = take(type == GABLE_TYPE_S ? (const void *)rounded : b, bytes), *to_data = take(NULL, bytes);
  gable_vectors_view from = test_vectors(n, count, from_data), to = test_vectors(n, count, to_data);
  from.space = to.space = GABLE_SPACE_DEVICE;
  from.type = to.type = type;
  CHECK_OK(gable_solver_solve(s, w, GABLE_OP_N, &from, &to));
  CHECK_OK(gable_device_synchronise(ctx, NULL));
  gable_device_free(ctx, &from_data);
  gable_device_free(ctx, &to_data);
}

enum { ROWS = 3 };
static int64_t full_ptr[] = {0, 3, 6, 9};
static gable_idx full_idx[] = {0, 1, 2, 0, 1, 2, 0, 1, 2};
static double regular[] = {4, 1, 1, 1, 4, 1, 1, 1, 4};
static double rank_one[] = {-1, 1, 1, -1, 1, 1, -1, 1, 1}; /* whose rcond is overestimated: test_solver_verdict */

static gable_solver *three_rows(double *val)
{
  const test_system a = {ROWS, full_ptr, full_idx, val};
  const gable_matrix_view v = test_system_view(&a);
  gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
  options.match = GABLE_CHOICE_NEVER;
  options.method = GABLE_METHOD_LU;
  return test_factored(ctx, &v, &options);
}

static void expect_huge(gable_solver_work *w)
{
  const gable_status status = gable_solver_work_status(w);
  CHECK(status == GABLE_NUMERICALLY_SINGULAR && strstr(gable_last_error(), "so large"), "%s: %s",
        gable_status_text(status), gable_last_error());
  CHECK_OK(gable_solver_work_status(w)); /* once */
}

/* A right-hand side without a solution has a huge x, one with a solution has none.  The huge one stands between others,
 * and a solve without one comes after it. */
static void huge_once(void)
{
  enum { COLUMNS = 5 };
  double b[ROWS * COLUMNS] = {-1, 1, 1, -1, 1, 1, 2, 1, -1, -1, 1, 1, -1, 1, 1};
  gable_solver_work *w = NULL;
  gable_solver *s = three_rows(rank_one);
  for (gable_idx max_rhs = 1; max_rhs <= COLUMNS; max_rhs += 4) {
    CHECK_OK(gable_solver_work_create(s, max_rhs, &w));
    solved(s, w, ROWS, 2, GABLE_TYPE_D, b);
    CHECK_OK(gable_solver_work_status(w));
    solved(s, w, ROWS, COLUMNS, GABLE_TYPE_D, b);
    solved(s, w, ROWS, 1, GABLE_TYPE_D, b);
    expect_huge(w);
    gable_solver_work_destroy(&w);
  }
  gable_solver_destroy(&s);
}

/* The verdict is on the values of the time: a work made for regular ones serves singular ones, and regular ones again.
 */
static void huge_of_new_values(void)
{
  double b[ROWS] = {2, 1, -1};
  gable_solver_work *w = NULL;
  gable_solver *s = three_rows(regular);
  CHECK_OK(gable_solver_work_create(s, 1, &w));
  for (int round = 0; round < 4; round++) {
    CHECK_OK(gable_solver_factor(s, round % 2 ? rank_one : regular, GABLE_REUSE_ALL));
    solved(s, w, ROWS, 1, GABLE_TYPE_D, b);
    if (round % 2)
      expect_huge(w);
    else
      CHECK_OK(gable_solver_work_status(w));
  }
  gable_solver_work_destroy(&w);
  gable_solver_destroy(&s);
}

/* A factor that is known to be singular: the call says so, and again the status, with the same words. */
static void singular_factor(void)
{
  double val[] = {1, 2, 3, 2, 4, 6, 1, 1, 2}, b[ROWS] = {1, 2, 3};
  void *data = take(b, sizeof b);
  gable_vectors_view x = test_vectors(ROWS, 1, data);
  gable_solver_work *w = NULL;
  gable_solver *s = three_rows(val);
  x.space = GABLE_SPACE_DEVICE;
  CHECK_OK(gable_solver_work_create(s, 1, &w));
  const gable_status call = gable_solver_solve(s, w, GABLE_OP_N, &x, &x);
  char words[200];
  snprintf(words, sizeof words, "%s", gable_last_error());
  const gable_status status = gable_solver_work_status(w);
  CHECK(call == GABLE_NUMERICALLY_SINGULAR && strstr(words, "1 pivots were replaced"), "the call: %s: %s",
        gable_status_text(call), words);
  CHECK(status == GABLE_NUMERICALLY_SINGULAR && !strcmp(words, gable_last_error()), "the status: %s: %s",
        gable_status_text(status), gable_last_error());
  CHECK_OK(gable_solver_work_status(w));
  gable_solver_work_destroy(&w);
  gable_solver_destroy(&s);
  gable_device_free(ctx, &data);
}

/* Each solve is held to the tolerance of its own type, whatever comes after it: a factor of floats without a correction
 * leaves 1e-8, which floats may have and doubles may not. */
static void two_tolerances(void)
{
  enum { LARGER = 20 };
  test_system a = test_system_make(TEST_DOMINANT, LARGER, 9);
  const gable_matrix_view v = test_system_view(&a);
  gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
  gable_solver_work *w = NULL;
  double b[LARGER];
  options.factor_type = GABLE_TYPE_S;
  options.refine_steps = 0;
  gable_solver *s = test_factored(ctx, &v, &options);
  for (int i = 0; i < LARGER; i++) b[i] = 1 + i % 3;
  CHECK_OK(gable_solver_work_create(s, 1, &w));
  for (int order = 0; order < 2; order++) {
    solved(s, w, LARGER, 1, order ? GABLE_TYPE_D : GABLE_TYPE_S, b);
    solved(s, w, LARGER, 1, order ? GABLE_TYPE_S : GABLE_TYPE_D, b);
    CHECK(gable_solver_work_status(w) == GABLE_ERR_TOLERANCE && strstr(gable_last_error(), "the tolerance 1.0e-12"),
          "order %d: %s", order, gable_last_error());
  }
  gable_solver_work_destroy(&w);
  gable_solver_destroy(&s);
  options.refine_steps = -1;
  s = test_factored(ctx, &v, &options);
  CHECK_OK(gable_solver_work_create(s, 1, &w));
  for (int order = 0; order < 2; order++) {
    solved(s, w, LARGER, 1, order ? GABLE_TYPE_D : GABLE_TYPE_S, b);
    solved(s, w, LARGER, 1, order ? GABLE_TYPE_S : GABLE_TYPE_D, b);
    CHECK_OK(gable_solver_work_status(w));
  }
  gable_solver_work_destroy(&w);
  gable_solver_destroy(&s);
  test_system_free(&a);
}

int main(int argc, char **argv)
{
  static const gable_idx rows[] = {1, 255, 257, 100000, 600000};
  ctx = test_place(argc, argv, NULL);
  if (gable_context_space(ctx) != GABLE_SPACE_DEVICE) SKIP("the CPU has no device memory: give mirror or cuda:0");
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
    for (int replaced = 0; replaced < 2; replaced++) check_norms(rows[k], replaced ? 3 : 0);
  huge_once();
  huge_of_new_values();
  singular_factor();
  two_tolerances();
  gable_context_destroy(&ctx);
  return 0;
}
