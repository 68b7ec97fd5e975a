/* Where the sweeps of a solver run: predicted times grow with what they count, and options.place with them decides on
 * the mirror, which stands for a GPU. */
#include "pipeline/device_cost.h"
#include "support/systems.h"
#include "support/test.h"

static void check_costs(void)
{
  const gik_gpu_class *gpu = gik_gpu_class_generic();
  const gi_solve_size small = {
      .rows = 3000, .supernodes = 1000, .entries = 1e5, .height = 100, .flops = 1e7, .bytes = 1e6, .threads = 1};
  gi_solve_size z[6] = {small, small, small, small, small, small};
  z[1].supernodes *= 10;
  z[2].entries *= 1000;
  z[3].bytes *= 10;
  z[4].height *= 1000;
  z[5].flops *= 1000;
  CHECK(gi_cost_host_solve_s(&z[1], 1) > gi_cost_host_solve_s(&small, 1), "supernodes");
  CHECK(gi_cost_host_solve_s(&z[3], 1) > gi_cost_host_solve_s(&small, 1), "bytes");
  CHECK(gi_cost_device_solve_s(gpu, &z[2], 1) > gi_cost_device_solve_s(gpu, &small, 1), "entries");
  CHECK(gi_cost_device_solve_s(gpu, &z[4], 1) > gi_cost_device_solve_s(gpu, &small, 1), "height");
  CHECK(gi_cost_prepare_s(gpu, &z[5]) > gi_cost_prepare_s(gpu, &small), "preparation: operations of the factorization");
  for (gable_idx rhs = 1; rhs < 40; rhs++) {
    CHECK(gi_cost_host_solve_s(&small, rhs + 1) > gi_cost_host_solve_s(&small, rhs), "%d right-hand sides", rhs);
    CHECK(gi_cost_device_solve_s(gpu, &small, rhs + 1) > gi_cost_device_solve_s(gpu, &small, rhs),
          "%d right-hand sides", rhs);
  }
  CHECK(gi_cost_host_solve_s(&small, 0) == 0 && gi_cost_device_solve_s(gpu, &small, 0) == 0, "no right-hand side");
  z[0].bytes *= 1000;
  z[0].threads = 2;
  z[1] = z[0];
  z[1].threads = 16;
  CHECK(gi_cost_host_solve_s(&z[1], 1) < gi_cost_host_solve_s(&z[0], 1), "16 threads");
}

/* mhd4800a, whose solves level by level took 31 times those of the CPU on an H200, where clusters were predicted. */
static void check_launches(void)
{
  const gi_solve_size mhd4800a = {.rows = 4800,
                                  .supernodes = 801,
                                  .entries = 198257,
                                  .height = 4328,
                                  .flops = 5040940,
                                  .bytes = 1951044,
                                  .threads = 1};
  const double launches = 1103, bytes = 3.2e6, host = gi_cost_host_solve_s(&mhd4800a, 1);
  CHECK(gi_cost_device_solve_s(gik_gpu_class_generic(), &mhd4800a, 1) < host, "clusters");
  CHECK(gi_cost_launches_s(gik_gpu_class_generic(), launches, bytes, 1) > 5 * host, "launches");
  CHECK(gi_cost_launches_s(gik_gpu_class_generic(), 2 * launches, bytes, 1) >
            1.5 * gi_cost_launches_s(gik_gpu_class_generic(), launches, bytes, 1),
        "more launches");
  for (gable_idx rhs = 1; rhs < 40; rhs++)
    CHECK(gi_cost_launches_s(gik_gpu_class_generic(), 60, 1e7, rhs + 1) >
              gi_cost_launches_s(gik_gpu_class_generic(), 60, 1e7, rhs),
          "%d right-hand sides", rhs);
}

/* Seconds for so many columns of what a host reads and writes alone. */
static double seconds_of_bytes(const gi_solve_size *size, int threads, gable_idx rhs)
{
  gi_solve_size all = *size, none;
  all.threads = threads;
  none = all;
  none.bytes = 0;
  return gi_cost_host_solve_s(&all, rhs) - gi_cost_host_solve_s(&none, rhs);
}

/* Rows cost a device time; windows of 16, on a device of 128, add up; bandwidth grows with the square root of threads.
 */
static void check_laws(void)
{
  const gi_solve_size some = {
      .rows = 3000, .supernodes = 1000, .entries = 1e5, .height = 100, .flops = 1e7, .bytes = 1e6, .threads = 4};
  const gik_gpu_class *gpu = gik_gpu_class_generic();
  gi_solve_size rows = some;
  rows.rows *= 1000;
  CHECK(gi_cost_device_solve_s(gpu, &rows, 1) > gi_cost_device_solve_s(gpu, &some, 1), "rows");
  CHECK(gi_cost_prepare_s(gpu, &rows) > gi_cost_prepare_s(gpu, &some), "preparation: rows");
  for (int k = 2; k < 5; k++) {
    const double host = gi_cost_host_solve_s(&some, 16), device = gi_cost_device_solve_s(gpu, &some, 128);
    const double sixteen = gi_cost_device_solve_s(gpu, &some, 16);
    CHECK(fabs(gi_cost_host_solve_s(&some, 16 * k) - k * host) <= 1e-12 * k * host, "%d windows", k);
    CHECK(fabs(gi_cost_device_solve_s(gpu, &some, 128 * k) - k * device) <= 1e-12 * k * device, "%d windows", k);
    CHECK(gi_cost_device_solve_s(gpu, &some, 16 * k) < 0.75 * k * sixteen, "%d times 16 together", k);
  }
  for (gable_idx rhs = 1; rhs < 40; rhs += 15) {
    const double four = seconds_of_bytes(&some, 4, rhs), sixteen = seconds_of_bytes(&some, 16, rhs);
    CHECK(four > 0 && fabs(four - 2 * sixteen) <= 1e-9 * four, "%d columns: %g s and %g s", rhs, four, sixteen);
  }
}

/* Do the sweeps run on the device?  A solve and, where they do not, vectors in device memory. */
static int on_device(gable_context *ctx, const test_system *a, gable_place place, int64_t solves, gable_idx rhs)
{
  const gable_matrix_view v = test_system_view(a);
  gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
  gable_solver_work *w = NULL;
  int64_t there = -1, bytes = -1;
  double host_s = 0, device_s = 0, *b = malloc((size_t)a->n * sizeof *b), *x = malloc((size_t)a->n * sizeof *x);
  CHECK(b && x);
  options.place = place;
  options.solves = solves;
  options.solve_rhs = rhs;
  gable_solver *s = test_factored(ctx, &v, &options);
  CHECK_OK(gable_solver_get(s, GABLE_SOLVER_ON_DEVICE, &there, sizeof there));
  CHECK_OK(gable_solver_get(s, GABLE_SOLVER_DEVICE_BYTES, &bytes, sizeof bytes));
  CHECK_OK(gable_solver_get(s, GABLE_SOLVER_PREDICTED_HOST_S, &host_s, sizeof host_s));
  CHECK_OK(gable_solver_get(s, GABLE_SOLVER_PREDICTED_DEVICE_S, &device_s, sizeof device_s));
  CHECK(there == (bytes > 0), "on device %d, %lld bytes there", (int)there, (long long)bytes);
  if (place == GABLE_PLACE_SHORTER && gable_context_space(ctx) == GABLE_SPACE_DEVICE)
    CHECK(host_s > 0 && device_s > 0 && there == (device_s < host_s), "on device %d: %g s there, %g s on the CPU",
          (int)there, device_s, host_s);
  CHECK_OK(gable_solver_work_create(s, 1, &w));
  for (gable_idx i = 0; i < a->n; i++) b[i] = 1 + i % 3;
  gable_vectors_view vb = test_vectors(a->n, 1, b), vx = test_vectors(a->n, 1, x);
  CHECK_OK(gable_solver_solve(s, w, GABLE_OP_N, &vb, &vx));
  CHECK(test_backward_error(a, GABLE_OP_N, b, x) <= 1e-12, "place %d", (int)place);
  if (!there && gable_context_space(ctx) == GABLE_SPACE_DEVICE) {
    void *memory = NULL;
    CHECK_OK(gable_device_alloc(ctx, (size_t)a->n * sizeof *b, &memory));
    vb.space = vx.space = GABLE_SPACE_DEVICE;
    vb.data = vx.data = memory;
    CHECK(gable_solver_solve(s, w, GABLE_OP_N, &vb, &vx) == GABLE_ERR_UNAVAILABLE, "device vectors, host factor");
    gable_device_free(ctx, &memory);
  }
  gable_solver_work_destroy(&w);
  gable_solver_destroy(&s);
  free(b);
  free(x);
  return (int)there;
}

static void check_places(const char *where)
{
  const int mirror = !strcmp(where, "mirror");
  gable_context *ctx = NULL;
  test_system a = test_system_make(TEST_SPD, 400, 3);
  CHECK_OK(gable_context_create(where, NULL, &ctx));
  CHECK(on_device(ctx, &a, GABLE_PLACE_CONTEXT, 1, 1) == mirror, "%s: context", where);
  CHECK(on_device(ctx, &a, GABLE_PLACE_HOST, 1000000, 16) == 0, "%s: host", where);
  CHECK(on_device(ctx, &a, GABLE_PLACE_SHORTER, 1, 1) == 0, "%s: one solve of a small matrix", where);
  on_device(ctx, &a, GABLE_PLACE_SHORTER, 1000, 16);
  gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
  gable_solver *s = NULL;
  options.place = (gable_place)3;
  CHECK(gable_solver_create(ctx, &options, &s) == GABLE_ERR_ARGUMENT, "place 3");
  options.place = GABLE_PLACE_SHORTER;
  options.solves = -1;
  CHECK(gable_solver_create(ctx, &options, &s) == GABLE_ERR_ARGUMENT, "-1 solves");
  test_system_free(&a);
  gable_context_destroy(&ctx);
}

/* A factor of 10^6 entries and more: the place is the one that is predicted to be shorter, and more solves go from the
 * CPU to the device once, between one, which cannot repay a preparation, and 1000.  What one takes depends on their
 * number, since the order and the supernodes do. */
static void check_large(void)
{
  gable_context *ctx = NULL;
  gable_matrix *matrix = NULL;
  gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
  gable_context_options one = GABLE_CONTEXT_OPTIONS_INIT;
  gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
  one.threads = 1;
  CHECK_OK(gable_context_create("mirror", &one, &ctx));
  CHECK_OK(gable_matrix_generate(ctx, "laplacian5:150x150", 1, &matrix));
  CHECK_OK(gable_matrix_get_view(matrix, &v));
  options.place = GABLE_PLACE_SHORTER;
  options.solves = 1;
  for (int64_t before = 0, there = -1; options.solves <= 1000; options.solves *= 10, before = there) {
    double host_s = 0, device_s = 0;
    gable_solver *s = test_factored(ctx, &v, &options);
    CHECK_OK(gable_solver_get(s, GABLE_SOLVER_ON_DEVICE, &there, sizeof there));
    CHECK_OK(gable_solver_get(s, GABLE_SOLVER_PREDICTED_HOST_S, &host_s, sizeof host_s));
    CHECK_OK(gable_solver_get(s, GABLE_SOLVER_PREDICTED_DEVICE_S, &device_s, sizeof device_s));
    CHECK(there == (device_s < host_s) && there >= before && (there || options.solves < 1000) &&
              (!there || options.solves > 1),
          "%d solves: on device %d, %g s there, %g s on the CPU", (int)options.solves, (int)there, device_s, host_s);
    gable_solver_destroy(&s);
  }
  gable_matrix_destroy(&matrix);
  gable_context_destroy(&ctx);
}

enum { ROWS = 3000, BAND = 40, ILL = 90 };

/* A band, diagonally dominant; or the first columns with ones on the diagonal and minus ones above it, whose inverse
 * has no digit.  Its matrix has hundreds of levels. */
static void set_band(test_system *a, int ill)
{
  int64_t count = 0;
  for (gable_idx j = 0; j < a->n; j++) {
    for (gable_idx i = j > BAND ? j - BAND : 0; i < a->n && i <= j + BAND; i++, count++) {
      a->idx[count] = i;
      a->val[count] = i == j ? 1 : i > j ? 1e-9 : ill && j < ILL ? -1 : -1e-3;
    }
    a->ptr[j + 1] = count;
  }
}

static int64_t integer_of(const gable_solver *s, gable_solver_key key)
{
  int64_t value = -1;
  CHECK_OK(gable_solver_get(s, key, &value, sizeof value));
  return value;
}

/* Clusters make a GPU worth its preparation, and launches level by level do not: the place is chosen again where their
 * inverses do not serve, and stays until the next analysis. */
static void check_chosen_again(void)
{
  const size_t room = (size_t)ROWS * (2 * BAND + 1);
  test_system a = {ROWS, calloc(ROWS + 1, sizeof(int64_t)), malloc(room * sizeof(gable_idx)),
                   malloc(room * sizeof(double))};
  gable_context_options one = GABLE_CONTEXT_OPTIONS_INIT;
  gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
  gable_context *ctx = NULL;
  CHECK(a.ptr && a.idx && a.val);
  one.threads = 1;
  CHECK_OK(gable_context_create("mirror", &one, &ctx));
  options.match = options.blocks = GABLE_CHOICE_NEVER;
  options.order = GABLE_ORDER_NATURAL;
  options.method = GABLE_METHOD_LU;
  options.solves = 100000;
  for (int place = GABLE_PLACE_CONTEXT; place <= GABLE_PLACE_SHORTER; place += 2) {
    const int shorter = place == GABLE_PLACE_SHORTER;
    options.place = (gable_place)place;
    set_band(&a, 0);
    const gable_matrix_view v = test_system_view(&a);
    gable_solver *s = test_factored(ctx, &v, &options);
    CHECK(integer_of(s, GABLE_SOLVER_ON_DEVICE) && !integer_of(s, GABLE_SOLVER_SOLVE_LEVELS), "by clusters");
    for (int ill = 1; ill >= 0; ill--) {
      double host_s = 0, device_s = 0;
      set_band(&a, ill);
      CHECK_OK(gable_solver_factor(s, a.val, GABLE_REUSE_ALL));
      CHECK(integer_of(s, GABLE_SOLVER_ON_DEVICE) == !shorter, "ill %d: on the device", ill);
      CHECK((integer_of(s, GABLE_SOLVER_SOLVE_LEVELS) > 100) == !shorter, "ill %d: level by level", ill);
      CHECK_OK(gable_solver_get(s, GABLE_SOLVER_PREDICTED_HOST_S, &host_s, sizeof host_s));
      CHECK_OK(gable_solver_get(s, GABLE_SOLVER_PREDICTED_DEVICE_S, &device_s, sizeof device_s));
      CHECK(device_s > host_s, "ill %d: %g s there, %g s on the CPU", ill, device_s, host_s);
    }
    CHECK_OK(gable_solver_analyse(s, &v));
    CHECK_OK(gable_solver_factor(s, a.val, GABLE_REUSE_ALL));
    CHECK(integer_of(s, GABLE_SOLVER_ON_DEVICE) && !integer_of(s, GABLE_SOLVER_SOLVE_LEVELS), "analysed again");
    gable_solver_destroy(&s);
  }
  gable_context_destroy(&ctx);
  test_system_free(&a);
}

/* A work that was made before there was a factor is one of the CPU: with a factor on the device it is refused. */
static void check_early_work(const char *where)
{
  enum { N = 40 };
  const int mirror = !strcmp(where, "mirror");
  test_system a = test_system_make(TEST_DOMINANT, N, 3);
  const gable_matrix_view v = test_system_view(&a);
  gable_context *ctx = NULL;
  gable_solver *s = NULL;
  gable_solver_work *w = NULL;
  double b[N] = {1}, x[N];
  gable_vectors_view vb = test_vectors(N, 1, b), vx = test_vectors(N, 1, x);
  CHECK_OK(gable_context_create(where, NULL, &ctx));
  CHECK_OK(gable_solver_create(ctx, NULL, &s));
  CHECK_OK(gable_solver_analyse(s, &v));
  CHECK_OK(gable_solver_work_create(s, 1, &w));
  CHECK_OK(gable_solver_factor(s, NULL, GABLE_REUSE_ALL));
  CHECK(integer_of(s, GABLE_SOLVER_ON_DEVICE) == mirror, "%s", where);
  CHECK(gable_solver_solve(s, w, GABLE_OP_N, &vb, &vx) == (mirror ? GABLE_ERR_STATE : GABLE_OK), "%s: %s", where,
        gable_last_error());
  gable_solver_work_destroy(&w);
  CHECK_OK(gable_solver_work_create(s, 1, &w));
  CHECK_OK(gable_solver_factor(s, a.val, GABLE_REUSE_ALL));
  CHECK_OK(gable_solver_solve(s, w, GABLE_OP_N, &vb, &vx));
  gable_solver_work_destroy(&w);
  gable_solver_destroy(&s);
  gable_context_destroy(&ctx);
  test_system_free(&a);
}

int main(void)
{
  check_costs();
  check_launches();
  check_laws();
  check_places("cpu");
  check_places("mirror");
  check_large();
  check_chosen_again();
  check_early_work("cpu");
  check_early_work("mirror");
  return 0;
}
