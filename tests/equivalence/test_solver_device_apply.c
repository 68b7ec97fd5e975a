/* gable_solver_apply with vectors in device memory against the same solver on the CPU: L, D and U apart and together,
 * both ops, every kind of system, factors and vectors in float and double, both layouts, 1 to 1024 columns; the same
 * bits a hundred times, by several works in turn, by every solve method too; new values.  test_solver_device_apply
 * PLACE */
#include "support/test.h"

#include "base/random.h"
#include "device/device.h"
#include "support/place.h"
#include "support/systems.h"

enum { N = 120, MOST = 1024, RUNS = GI_SANITIZED ? 20 : 100, WORKS = 4 };

static gable_context *ctx, *cpu;

typedef struct pair {
  test_system a;
  gable_solver *here, *there; /* on the CPU, on the device */
  gable_solver_work *host, *device;
} pair;

static pair pair_make(test_kind kind, gable_type factor_type, gable_solve_method method)
{
  pair p = {.a = test_system_make(kind, N, 7)};
  const gable_matrix_view v = test_system_view(&p.a);
  gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
  options.factor_type = factor_type;
  /* Applies are not refined: without a matching the factor of a saddle point loses digits, here and there others. */
  if (kind == TEST_SADDLE) options.match = GABLE_CHOICE_ALWAYS;
  p.here = test_factored(cpu, &v, &options);
  options.solve_method = method;
  p.there = test_factored(ctx, &v, &options);
  CHECK_OK(gable_solver_work_create(p.here, 16, &p.host));
  CHECK_OK(gable_solver_work_create(p.there, 16, &p.device));
  return p;
}

static void pair_drop(pair *p)
{
  gable_solver_work_destroy(&p->host);
  gable_solver_work_destroy(&p->device);
  gable_solver_destroy(&p->here);
  gable_solver_destroy(&p->there);
  test_system_free(&p->a);
}

static size_t bytes_of(gable_type type)
{
  return type == GABLE_TYPE_S ? sizeof(float) : sizeof(double);
}

static gable_vectors_view view_of(gable_idx count, gable_type type, gable_major major, void *data)
{
  gable_vectors_view v = GABLE_VECTORS_VIEW_INIT;
  v.type = type;
  v.major = major;
  v.n = N;
  v.count = count;
  v.ld = major == GABLE_MAJOR_COL ? N : count;
  v.data = data;
  return v;
}

static double entry(const gable_vectors_view *v, size_t k)
{
  return v->type == GABLE_TYPE_S ? (double)((const float *)v->data)[k] : ((const double *)v->data)[k];
}

static void fill(const gable_vectors_view *v, gi_random *r)
{
  for (size_t k = 0; k < (size_t)N * (size_t)v->count; k++) {
    const double value = gi_random_unit(r) - 0.5;
    if (v->type == GABLE_TYPE_S)
      ((float *)v->data)[k] = (float)value;
    else
      ((double *)v->data)[k] = value;
  }
}

/* The largest difference, over the largest entry. */
static double distance(const gable_vectors_view *x, const gable_vectors_view *wanted)
{
  double most = 0, size = 0;
  for (size_t k = 0; k < (size_t)N * (size_t)x->count; k++) {
    const double off = fabs(entry(x, k) - entry(wanted, k));
    most = off <= most ? most : off; /* NaN comes through */
    size = fmax(size, fabs(entry(wanted, k)));
  }
  return size > 0 ? most / size : most;
}

static void check_shape(const pair *p, gi_random *r, gable_idx count, gable_type type, gable_major major, double bound)
{
  const size_t bytes = (size_t)N * (size_t)count * bytes_of(type);
  void *data[3] = {malloc(bytes), malloc(bytes), malloc(bytes)}, *db = NULL, *dx = NULL;
  CHECK(data[0] && data[1] && data[2], "memory");
  CHECK_OK(gable_device_alloc(ctx, bytes, &db));
  CHECK_OK(gable_device_alloc(ctx, bytes, &dx));
  gable_vectors_view b = view_of(count, type, major, data[0]), x = view_of(count, type, major, data[1]);
  gable_vectors_view wanted = view_of(count, type, major, data[2]), from = b, to = x;
  from.space = to.space = GABLE_SPACE_DEVICE;
  from.data = db;
  to.data = dx;
  fill(&b, r);
  CHECK_OK(gable_device_copy_in(ctx, db, b.data, bytes, NULL));
  for (int parts = 1; parts <= GABLE_FACTOR_ALL; parts++)
    for (int op = 0; op < 2; op++) {
      CHECK_OK(gable_solver_apply(p->here, p->host, (gable_op)op, parts, &b, &wanted));
      CHECK_OK(gable_solver_apply(p->there, p->device, (gable_op)op, parts, &from, &to));
      CHECK_OK(gable_device_copy_out(ctx, x.data, dx, bytes, NULL));
      CHECK_OK(gable_device_synchronise(ctx, NULL));
      const double off = distance(&x, &wanted);
      CHECK(off <= bound, "parts %d, op %d, %d columns, type %d, major %d: %g from the CPU's", parts, op, count,
            (int)type, (int)major, off);
    }
  gable_device_free(ctx, &db);
  gable_device_free(ctx, &dx);
  for (int k = 0; k < 3; k++) free(data[k]);
}

/* RUNS runs, by several works in turn, each into its own vectors. */
static void check_repeats(const pair *p)
{
  const size_t bytes = (size_t)N * 3 * sizeof(double);
  gi_random r = gi_random_seed(3);
  gable_solver_work *w[WORKS];
  double *b = malloc(bytes), *first = malloc(bytes), *x = malloc(bytes);
  void *db = NULL, *dx[WORKS] = {NULL};
  gable_vectors_view from = view_of(3, GABLE_TYPE_D, GABLE_MAJOR_COL, b), to = from;
  CHECK(b && first && x, "memory");
  fill(&from, &r);
  CHECK_OK(gable_device_alloc(ctx, bytes, &db));
  CHECK_OK(gable_device_copy_in(ctx, db, b, bytes, NULL));
  from.space = to.space = GABLE_SPACE_DEVICE;
  from.data = db;
  for (int k = 0; k < WORKS; k++) {
    CHECK_OK(gable_solver_work_create(p->there, 3, &w[k]));
    CHECK_OK(gable_device_alloc(ctx, bytes, &dx[k]));
  }
  for (int run = 0; run < RUNS; run++) {
    const int k = run % WORKS;
    to.data = dx[k];
    CHECK_OK(gable_solver_apply(p->there, w[k], GABLE_OP_N, GABLE_FACTOR_ALL, &from, &to));
    if (k < WORKS - 1) continue;
    for (int each = 0; each < WORKS; each++) {
      CHECK_OK(gable_device_copy_out(ctx, run == WORKS - 1 && !each ? first : x, dx[each], bytes, NULL));
      CHECK_OK(gable_device_synchronise(ctx, NULL));
      CHECK((run == WORKS - 1 && !each) || !memcmp(x, first, bytes), "run %d, work %d: other bits", run, each);
    }
  }
  for (int k = 0; k < WORKS; k++) {
    gable_solver_work_destroy(&w[k]);
    gable_device_free(ctx, &dx[k]);
  }
  gable_device_free(ctx, &db);
  free(b);
  free(first);
  free(x);
}

static void check_kind(test_kind kind, gable_type factor_type)
{
  static const gable_idx counts[] = {1, 3, 17, MOST};
  gi_random r = gi_random_seed(11);
  pair p = pair_make(kind, factor_type, GABLE_SOLVE_AUTO);
  const double bound = factor_type == GABLE_TYPE_S ? 1e-3 : 1e-10;
  printf("%s, factor type %d\n", test_kind_name(kind), (int)factor_type);
  const size_t widths = kind == TEST_REDUCIBLE ? 4 : 3;
  for (size_t k = 0; k < widths; k++)
    for (int shape = 0; shape < (counts[k] == MOST ? 1 : 4); shape++) {
      const gable_type type = shape / 2 ? GABLE_TYPE_S : GABLE_TYPE_D;
      check_shape(&p, &r, counts[k], type, (gable_major)(shape % 2), type == GABLE_TYPE_S ? fmax(bound, 1e-4) : bound);
    }
  check_repeats(&p);
  for (int64_t k = 0; k < p.a.ptr[N]; k++) p.a.val[k] *= 1.5; /* keeps whatever symmetry there is */
  CHECK_OK(gable_solver_factor(p.here, p.a.val, GABLE_REUSE_ALL));
  CHECK_OK(gable_solver_factor(p.there, p.a.val, GABLE_REUSE_ALL));
  check_shape(&p, &r, 4, GABLE_TYPE_D, GABLE_MAJOR_ROW, bound);
  pair_drop(&p);
}

/* The same runs by every named method. */
static void check_methods(void)
{
  for (int m = GABLE_SOLVE_LEVELS; m <= GABLE_SOLVE_PARTITIONED_CUSPARSE; m++)
    for (int symmetric = 0; symmetric < 2; symmetric++) {
      pair p = pair_make(symmetric ? TEST_INDEFINITE : TEST_REDUCIBLE, GABLE_TYPE_D, (gable_solve_method)m);
      printf("%s\n", gable_solve_method_text((gable_solve_method)m));
      check_repeats(&p);
      pair_drop(&p);
    }
}

int main(int argc, char **argv)
{
  static const test_kind kinds[] = {TEST_DOMINANT, TEST_UNSYMMETRIC, TEST_REDUCIBLE, TEST_SPD,
                                    TEST_NEGATIVE, TEST_INDEFINITE,  TEST_SADDLE,    TEST_PERMUTATION};
  ctx = test_place(argc, argv, NULL);
  if (gable_context_space(ctx) != GABLE_SPACE_DEVICE) SKIP("the CPU has no device memory: give mirror or cuda:0");
  CHECK_OK(gable_context_create("cpu", NULL, &cpu));
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    check_kind(kinds[k], GABLE_TYPE_D);
    check_kind(kinds[k], GABLE_TYPE_S);
  }
  check_methods();
  gable_context_destroy(&ctx);
  gable_context_destroy(&cpu);
  return 0;
}
