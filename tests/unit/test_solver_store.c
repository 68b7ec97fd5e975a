/* A saved factor comes back as it was; a factor of another matrix, another
 * version, or one with a single changed byte is refused; a failed save leaves
 * the old file. */
#include <unistd.h>

#include "support/test.h"

#include "support/systems.h"

static gable_context *ctx;
static char path[] = "/tmp/gable_store_XXXXXX";

static void solve(const gable_solver *s, gable_idx n, gable_op op, const double *b, double *x)
{
  gable_solver_work *w = NULL;
  gable_vectors_view vb = test_vectors(n, 1, (double *)(uintptr_t)b), vx = test_vectors(n, 1, x);
  CHECK_OK(gable_solver_work_create(s, 1, &w));
  CHECK_OK(gable_solver_solve(s, w, op, &vb, &vx));
  gable_solver_work_destroy(&w);
}

static gable_solver *factored(const test_system *a, const gable_solver_options *options)
{
  const gable_matrix_view v = test_system_view(a);
  return test_factored(ctx, &v, options);
}

static void round_trip(test_kind kind, gable_idx n, gable_type type)
{
  test_system a = test_system_make(kind, n, 5);
  gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
  options.factor_type = type;
  gable_solver *s = factored(&a, &options), *loaded = NULL;
  gable_matrix_view v = test_system_view(&a);
  double *b = calloc((size_t)n + 1, sizeof *b), *x = calloc((size_t)n + 1, sizeof *x),
         *y = calloc((size_t)n + 1, sizeof *y);
  for (gable_idx i = 0; i < n; i++) b[i] = 1 + i % 3;
  CHECK_OK(gable_solver_save(s, path));
  CHECK_OK(gable_solver_create(ctx, NULL, &loaded));
  CHECK_OK(gable_solver_load(loaded, &v, path));
  for (int op = 0; op < 2; op++) {
    solve(s, n, (gable_op)op, b, x);
    solve(loaded, n, (gable_op)op, b, y);
    CHECK(!memcmp(x, y, (size_t)n * sizeof *x), "%s n %d: other bits after loading", test_kind_name(kind), n);
  }
  for (int key = 0; key < GABLE_SOLVER_KEYS; key++) {
    double mine = 0, theirs = 0;
    if (key == GABLE_SOLVER_MEMORY || key == GABLE_SOLVER_ANALYSES || key == GABLE_SOLVER_ORDER_S ||
        key == GABLE_SOLVER_MATCH_S || key == GABLE_SOLVER_REJECTED || key == GABLE_SOLVER_REJECTED_S ||
        key == GABLE_SOLVER_JUDGE_S || key == GABLE_SOLVER_SYMBOLIC_S || key == GABLE_SOLVER_STRUCTURE_S ||
        key == GABLE_SOLVER_FACTOR_S)
      continue;
    if (gable_solver_get(s, (gable_solver_key)key, &mine, sizeof mine)) continue; /* an array */
    CHECK_OK(gable_solver_get(loaded, (gable_solver_key)key, &theirs, sizeof theirs));
    CHECK(!memcmp(&mine, &theirs, sizeof mine), "%s n %d: key %d differs", test_kind_name(kind), n, key);
  }
  /* New values under the loaded analysis. */
  CHECK_OK(gable_solver_factor(loaded, a.val, GABLE_REUSE_ALL));
  solve(loaded, n, GABLE_OP_N, b, y);
  gable_solver_destroy(&s);
  gable_solver_destroy(&loaded);
  test_system_free(&a);
  free(b);
  free(x);
  free(y);
}

static int64_t is_of_other_values(const gable_solver *s)
{
  int64_t other = -1;
  CHECK_OK(gable_solver_get(s, GABLE_SOLVER_OTHER_VALUES, &other, sizeof other));
  return other;
}

/* What is told of the matrix with a factor of others of its pattern is not
 * known; its solves are right. */
static void other_values(void)
{
  enum { N = 200 };
  test_system a = test_system_make(TEST_UNSYMMETRIC, N, 5);
  gable_matrix_view v = test_system_view(&a);
  gable_solver *s = factored(&a, NULL), *loaded = NULL;
  gable_solver_work *w = NULL;
  double b[N], x[N], rcond = 0, log_abs = 0;
  const gable_off nnz = a.ptr[N];
  for (gable_idx i = 0; i < N; i++) b[i] = 1 + i % 3;
  CHECK_OK(gable_solver_save(s, path));
  CHECK_OK(gable_solver_create(ctx, NULL, &loaded));
  CHECK_OK(gable_solver_load(loaded, &v, path));
  CHECK(!is_of_other_values(loaded));
  for (gable_off k = 0; k < nnz; k++) a.val[k] *= 1.5;
  CHECK_OK(gable_solver_load(loaded, &v, path));
  CHECK(is_of_other_values(loaded) == 1);
  solve(loaded, N, GABLE_OP_N, b, x);
  CHECK_OK(gable_solver_work_create(loaded, 1, &w));
  CHECK_OK(gable_solver_rcond(loaded, w, &rcond));
  CHECK_OK(gable_solver_get(loaded, GABLE_SOLVER_LOG_ABS_DETERMINANT, &log_abs, sizeof log_abs));
  CHECK(isnan(rcond) && isnan(log_abs), "rcond %g, log |det| %g of another matrix", rcond, log_abs);
  gable_solver_work_destroy(&w);
  CHECK_OK(gable_solver_save(loaded, path)); /* still the factor of the first ones */
  CHECK_OK(gable_solver_load(loaded, &v, path));
  CHECK(is_of_other_values(loaded) == 1);
  CHECK_OK(gable_solver_factor(loaded, NULL, GABLE_REUSE_ALL));
  CHECK(!is_of_other_values(loaded));
  CHECK_OK(gable_solver_work_create(loaded, 1, &w));
  CHECK_OK(gable_solver_rcond(loaded, w, &rcond));
  CHECK(rcond > 0 && rcond <= 1);
  gable_solver_work_destroy(&w);
  gable_solver_destroy(&s);
  gable_solver_destroy(&loaded);
  test_system_free(&a);
}

/* A loaded solver factors again at every level of reuse, with the order that
 * its own options ask for. */
static void factor_after_loading(void)
{
  enum { N = 60 };
  test_system a = test_system_make(TEST_DOMINANT, N, 7), spd = test_system_make(TEST_SPD, N, 7);
  gable_idx order[N], used[N];
  gable_solver *s = factored(&a, NULL), *loaded = NULL;
  gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
  gable_matrix_view v = test_system_view(&a), symmetric = test_system_view(&spd);
  double b[N], x[N];
  for (gable_idx i = 0; i < N; i++) {
    order[i] = N - 1 - i;
    b[i] = 1 + i % 3;
  }
  CHECK_OK(gable_solver_save(s, path));
  options.order = GABLE_ORDER_USER;
  options.user_order = order;
  options.blocks = GABLE_CHOICE_NEVER;
  CHECK_OK(gable_solver_create(ctx, &options, &loaded));
  for (int reuse = GABLE_REUSE_NOTHING; reuse <= GABLE_REUSE_ALL; reuse++) {
    CHECK_OK(gable_solver_load(loaded, &v, path));
    CHECK_OK(gable_solver_factor(loaded, a.val, (gable_reuse)reuse));
    solve(loaded, N, GABLE_OP_N, b, x);
    int64_t how = 0;
    CHECK_OK(gable_solver_get(loaded, GABLE_SOLVER_ORDER, &how, sizeof how));
    CHECK((how == GABLE_ORDER_USER) == (reuse <= GABLE_REUSE_PATTERN), "reuse %d: order %d", reuse, (int)how);
  }
  CHECK_OK(gable_solver_load(loaded, &v, path));
  memset(order, 0xff, sizeof order); /* what was read at loading counts */
  CHECK_OK(gable_solver_factor(loaded, NULL, GABLE_REUSE_ALL));
  CHECK_OK(gable_solver_factor(loaded, a.val, GABLE_REUSE_NOTHING));
  CHECK_OK(gable_solver_get(loaded, GABLE_SOLVER_COLUMN_ORDER, used, sizeof used));
  CHECK(gable_solver_load(loaded, &v, path) == GABLE_ERR_ARGUMENT, "an order that is no permutation");
  gable_solver_destroy(&loaded);

  options = (gable_solver_options)GABLE_SOLVER_OPTIONS_INIT;
  options.order = GABLE_ORDER_USER;
  CHECK_OK(gable_solver_create(ctx, &options, &loaded));
  CHECK(gable_solver_load(loaded, &v, path) == GABLE_ERR_ARGUMENT, "no order given");
  gable_solver_destroy(&loaded);
  options = (gable_solver_options)GABLE_SOLVER_OPTIONS_INIT;
  options.method = GABLE_METHOD_CHOLESKY;
  CHECK_OK(gable_solver_create(ctx, &options, &loaded));
  CHECK(gable_solver_load(loaded, &v, path) == GABLE_ERR_ARGUMENT, "Cholesky for an unsymmetric pattern");
  gable_solver_destroy(&s);
  s = factored(&spd, &options);
  CHECK_OK(gable_solver_save(s, path));
  CHECK_OK(gable_solver_load(loaded, &symmetric, path));
  CHECK_OK(gable_solver_factor(loaded, spd.val, GABLE_REUSE_NOTHING));
  gable_solver_destroy(&s);
  gable_solver_destroy(&loaded);
  test_system_free(&a);
  test_system_free(&spd);
}

/* Drift is a fact about the factor, and goes with it. */
static void drift_is_kept(void)
{
  test_system a = test_system_make(TEST_DOMINANT, 60, 3);
  gable_solver *s = factored(&a, NULL), *loaded = NULL;
  gable_matrix_view v = test_system_view(&a);
  int64_t drift = -1;
  for (gable_idx j = 0; j < a.n; j++)
    for (int64_t k = a.ptr[j]; k < a.ptr[j + 1]; k++)
      if (a.idx[k] == j) a.val[k] = 0;
  CHECK_OK(gable_solver_factor(s, a.val, GABLE_REUSE_ALL));
  CHECK_OK(gable_solver_get(s, GABLE_SOLVER_DRIFT, &drift, sizeof drift));
  CHECK(drift == 1, "a diagonal that went to zero is no drift");
  CHECK_OK(gable_solver_save(s, path));
  CHECK_OK(gable_solver_create(ctx, NULL, &loaded));
  CHECK_OK(gable_solver_load(loaded, &v, path));
  CHECK_OK(gable_solver_get(loaded, GABLE_SOLVER_DRIFT, &drift, sizeof drift));
  CHECK(drift == 1, "drift was lost on the way");
  gable_solver_destroy(&s);
  gable_solver_destroy(&loaded);
  test_system_free(&a);
}

/* What is wrong before anything is dropped leaves the solver as it was. */
static void nothing_lost(void)
{
  enum { N = 40 };
  test_system a = test_system_make(TEST_DOMINANT, N, 3), other = test_system_make(TEST_DOMINANT, N, 4);
  gable_solver *s = factored(&a, NULL), *donor = factored(&other, NULL);
  gable_matrix_view v = test_system_view(&a), wrong = v;
  double b[N], x[N], y[N];
  for (gable_idx i = 0; i < N; i++) b[i] = 1 + i % 3;
  solve(s, N, GABLE_OP_N, b, x);
  CHECK_OK(gable_solver_save(donor, path));
  CHECK(gable_solver_load(s, &v, path) == GABLE_ERR_MISMATCH);
  CHECK(gable_solver_load(s, &v, "/nowhere/at/all") == GABLE_ERR_IO);
  wrong.val = NULL;
  CHECK(gable_solver_load(s, &wrong, path) == GABLE_ERR_ARGUMENT);
  wrong = v;
  wrong.n_rows = N - 1;
  CHECK(gable_solver_analyse(s, &wrong) == GABLE_ERR_ARGUMENT);
  const double before = a.val[0];
  a.val[0] = NAN;
  CHECK(gable_solver_analyse(s, &v) == GABLE_ERR_NOT_FINITE);
  a.val[0] = before;
  solve(s, N, GABLE_OP_N, b, y);
  CHECK(!memcmp(x, y, sizeof x), "the factor is another one after a refusal");
  gable_solver_destroy(&s);
  gable_solver_destroy(&donor);
  test_system_free(&a);
  test_system_free(&other);
}

static char *read_file(size_t *size)
{
  FILE *f = fopen(path, "rb");
  fseek(f, 0, SEEK_END);
  *size = (size_t)ftell(f);
  rewind(f);
  char *bytes = malloc(*size);
  CHECK(fread(bytes, 1, *size, f) == *size);
  fclose(f);
  return bytes;
}

static void write_file(const char *bytes, size_t size)
{
  FILE *f = fopen(path, "wb");
  CHECK(f && fwrite(bytes, 1, size, f) == size);
  fclose(f);
}

/* A factor of another pattern with as many rows and entries is refused,
 * whichever entry it is that moved. */
static void other_pattern(void)
{
  enum { N = 30 };
  test_system a = test_system_make(TEST_DOMINANT, N, 9);
  const gable_matrix_view v = test_system_view(&a);
  gable_solver *s = factored(&a, NULL), *loaded = NULL;
  int moved = 0;
  CHECK_OK(gable_solver_save(s, path));
  CHECK_OK(gable_solver_create(ctx, NULL, &loaded));
  for (gable_idx j = 0; j < N; j++)
    for (int64_t k = a.ptr[j]; k < a.ptr[j + 1]; k++) {
      const gable_idx held = a.idx[k], limit = k + 1 < a.ptr[j + 1] ? a.idx[k + 1] : N;
      if (held == j || held + 1 >= limit || held + 1 == j) continue;
      a.idx[k] = held + 1;
      CHECK(gable_solver_load(loaded, &v, path) == GABLE_ERR_MISMATCH, "entry %d moved", (int)k);
      a.idx[k] = held;
      moved++;
    }
  CHECK(moved > N);
  CHECK_OK(gable_solver_load(loaded, &v, path));
  gable_solver_destroy(&s);
  gable_solver_destroy(&loaded);
  test_system_free(&a);
}

static void refusals(void)
{
  test_system a = test_system_make(TEST_REDUCIBLE, 30, 5), other = test_system_make(TEST_REDUCIBLE, 30, 6);
  gable_solver *s = factored(&a, NULL), *loaded = NULL;
  gable_matrix_view v = test_system_view(&a), w = test_system_view(&other);
  CHECK_OK(gable_solver_save(s, path));
  CHECK_OK(gable_solver_create(ctx, NULL, &loaded));
  CHECK(gable_solver_load(loaded, &w, path) == GABLE_ERR_MISMATCH);
  CHECK(strstr(gable_last_error(), "another matrix"));
  CHECK(gable_solver_load(loaded, &v, "/nowhere/at/all") == GABLE_ERR_IO);
  CHECK(gable_solver_save(s, "/nowhere/at/all") == GABLE_ERR_IO);
  gable_matrix_view pattern = v;
  pattern.val = NULL;
  CHECK(gable_solver_load(loaded, &pattern, path) == GABLE_ERR_ARGUMENT);

  size_t size;
  char *bytes = read_file(&size);
  for (size_t k = 0; k < size; k += 1 + size / 3000) {
    bytes[k] ^= 0x10;
    write_file(bytes, size);
    gable_status status = gable_solver_load(loaded, &v, path);
    CHECK(status == GABLE_ERR_FORMAT || status == GABLE_ERR_MISMATCH, "byte %zu of %zu changed: status %d", k, size,
          (int)status);
    bytes[k] ^= 0x10;
  }
  for (size_t k = 0; k < size; k += 1 + size / 300) {
    write_file(bytes, k);
    CHECK(gable_solver_load(loaded, &v, path) == GABLE_ERR_FORMAT, "%zu of %zu bytes were enough", k, size);
  }
  CHECK(gable_solver_save(loaded, path) == GABLE_ERR_STATE);
  size_t untouched;
  free(read_file(&untouched));
  CHECK(untouched < size);
  write_file(bytes, size);
  CHECK_OK(gable_solver_load(loaded, &v, path));
  free(bytes);
  gable_solver_destroy(&s);
  gable_solver_destroy(&loaded);
  test_system_free(&a);
  test_system_free(&other);
}

/* Memory holds the bytes of the file, no more and no fewer; a shorter buffer is refused and says what is needed. */
static void in_memory(test_kind kind)
{
  enum { N = 60 };
  test_system a = test_system_make(kind, N, 5);
  gable_solver *s = factored(&a, NULL), *loaded = NULL;
  const gable_matrix_view v = test_system_view(&a);
  size_t bytes = 0, again, in_file;
  double b[N], x[N], y[N];
  for (gable_idx i = 0; i < N; i++) b[i] = 1 + i % 3;
  CHECK_OK(gable_solver_save(s, path));
  char *file = read_file(&in_file);
  CHECK_OK(gable_solver_save_memory(s, NULL, &bytes));
  CHECK(bytes == in_file, "%zu bytes, %zu in the file", bytes, in_file);
  char *buffer = malloc(bytes + 1);
  buffer[bytes] = 77;
  again = bytes - 1;
  CHECK(gable_solver_save_memory(s, buffer, &again) == GABLE_ERR_ARGUMENT && again == bytes);
  again = bytes + 1;
  CHECK_OK(gable_solver_save_memory(s, buffer, &again));
  CHECK(again == bytes && buffer[bytes] == 77 && !memcmp(buffer, file, bytes), "other bytes than the file's");
  CHECK_OK(gable_solver_create(ctx, NULL, &loaded));
  CHECK(gable_solver_save_memory(loaded, NULL, &again) == GABLE_ERR_STATE);
  CHECK_OK(gable_solver_load_memory(loaded, &v, buffer, bytes));
  solve(s, N, GABLE_OP_N, b, x);
  solve(loaded, N, GABLE_OP_N, b, y);
  CHECK(!memcmp(x, y, sizeof x), "other bits after loading from memory");
  for (size_t k = 0; k < bytes; k += 1 + bytes / 50)
    CHECK(gable_solver_load_memory(loaded, &v, buffer, k) == GABLE_ERR_FORMAT, "%zu of %zu bytes were enough", k,
          bytes);
  CHECK(gable_solver_load_memory(loaded, &v, NULL, 0) == GABLE_ERR_ARGUMENT);
  gable_solver_destroy(&s);
  gable_solver_destroy(&loaded);
  test_system_free(&a);
  free(buffer);
  free(file);
}

int main(void)
{
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  int fd = mkstemp(path);
  CHECK(fd >= 0);
  close(fd);
  for (int kind = 0; kind < TEST_KINDS; kind++) {
    round_trip((test_kind)kind, 60, GABLE_TYPE_D);
    round_trip((test_kind)kind, 1, GABLE_TYPE_D);
  }
  round_trip(TEST_DOMINANT, 0, GABLE_TYPE_D);
  round_trip(TEST_DOMINANT, 80, GABLE_TYPE_S);
  round_trip(TEST_SPD, 80, GABLE_TYPE_S);
  for (int kind = 0; kind < TEST_KINDS; kind++) in_memory((test_kind)kind);
  factor_after_loading();
  drift_is_kept();
  other_values();
  nothing_lost();
  other_pattern();
  refusals();
  unlink(path);
  gable_context_destroy(&ctx);
  return 0;
}
