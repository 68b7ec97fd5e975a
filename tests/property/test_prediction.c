/* gable_symbolic finds what gable_solver_analyse builds, and with values what gable_solver_factor keeps: method,
 * matching, blocks, order and structure, for systems of every kind, the real matrices of $GABLE_MATRICES (else
 * ../shared/matrices), and every option that both have. */
#include <dirent.h>

#include "support/test.h"

#include "base/portable.h"
#include "base/random.h"
#include "support/systems.h"

enum { MOST_FACTORED = GI_SANITIZED ? 0 : 4000 };

static gable_context *ctx;
static int rejected; /* structures that values rejected */

static const gable_method method_of[] = {GABLE_METHOD_AUTO, GABLE_METHOD_LU, GABLE_METHOD_LU, GABLE_METHOD_CHOLESKY,
                                         GABLE_METHOD_LDLT};

static int64_t number(const gable_solver *s, gable_solver_key key)
{
  int64_t value;
  CHECK_OK(gable_solver_get(s, key, &value, sizeof value));
  return value;
}

static void same_order(const gable_solver *s, gable_solver_key key, const gable_idx *order, gable_idx n,
                       const char *name)
{
  gable_idx *built = malloc(((size_t)n + 1) * sizeof *built);
  CHECK(built && gable_solver_get(s, key, built, (size_t)n * sizeof *built) == GABLE_OK, "%s", gable_last_error());
  CHECK(!memcmp(built, order, (size_t)n * sizeof *built), "%s: permutations differ", name);
  free(built);
}

static void compare(const char *name, const gable_matrix_view *a, const gable_symbolic_options *ask,
                    const gable_solver_options *how)
{
  gable_symbolic *p = NULL;
  gable_solver *s = NULL;
  gable_symbolic_info f = GABLE_SYMBOLIC_INFO_INIT;
  gable_symbolic_view v = GABLE_SYMBOLIC_VIEW_INIT;
  CHECK_OK(gable_solver_create(ctx, how, &s));
  CHECK(gable_solver_analyse(s, a) == GABLE_OK, "%s: %s", name, gable_last_error());
  if (ask && ask->values)
    CHECK(gable_solver_factor(s, NULL, GABLE_REUSE_NOTHING) == GABLE_OK, "%s: %s", name, gable_last_error());
  CHECK_OK(gable_symbolic_create(ctx, a, ask, &p));
  CHECK_OK(gable_symbolic_get_info(p, &f));
  CHECK_OK(gable_symbolic_get_view(p, &v));
  CHECK(f.analyses == number(s, GABLE_SOLVER_ANALYSES), "%s: %d analyses, not %d", name, f.analyses,
        (int)number(s, GABLE_SOLVER_ANALYSES));
  rejected += f.analyses > 1;
  CHECK(method_of[f.form] == (gable_method)number(s, GABLE_SOLVER_METHOD), "%s: form %d, method %d", name, f.form,
        (int)number(s, GABLE_SOLVER_METHOD));
  CHECK(f.matched == number(s, GABLE_SOLVER_MATCHED) && f.blocks == number(s, GABLE_SOLVER_BLOCKS), "%s", name);
  CHECK(f.nnz_l == number(s, GABLE_SOLVER_NNZ_L) && f.nnz_u == number(s, GABLE_SOLVER_NNZ_U),
        "%s: %lld and %lld predicted, %lld and %lld built", name, (long long)f.nnz_l, (long long)f.nnz_u,
        (long long)number(s, GABLE_SOLVER_NNZ_L), (long long)number(s, GABLE_SOLVER_NNZ_U));
  CHECK(f.supernodes == number(s, GABLE_SOLVER_SUPERNODES) && f.height == number(s, GABLE_SOLVER_TREE_HEIGHT), "%s",
        name);
  same_order(s, GABLE_SOLVER_ROW_ORDER, v.rows, f.n, name);
  same_order(s, GABLE_SOLVER_COLUMN_ORDER, v.cols, f.n, name);
  gable_symbolic_destroy(&p);
  gable_solver_destroy(&s);
}

/* As `gable symbolic --values` asks. */
static void compare_kept(const char *name, const gable_matrix_view *a)
{
  gable_symbolic_options ask = GABLE_SYMBOLIC_OPTIONS_INIT;
  ask.values = 1;
  compare(name, a, &ask, NULL);
}

static void every_option(const char *name, const gable_matrix_view *a)
{
  gable_symbolic_options ask = GABLE_SYMBOLIC_OPTIONS_INIT;
  gable_solver_options how = GABLE_SOLVER_OPTIONS_INIT;
  compare(name, a, NULL, NULL);
  ask.keep_rows = 1;
  how.match = GABLE_CHOICE_NEVER;
  compare(name, a, &ask, &how);
  ask.keep_whole = 1;
  how.blocks = GABLE_CHOICE_NEVER;
  ask.order = "natural";
  how.order = GABLE_ORDER_NATURAL;
  compare(name, a, &ask, &how);
}

static void random_systems(void)
{
  for (int kind = 0; kind < TEST_KINDS; kind++)
    for (gable_idx n = 1; n < 200; n = 3 * n + 1) {
      test_system a = test_system_make((test_kind)kind, n, (uint64_t)n);
      gable_matrix_view v = test_system_view(&a);
      every_option(test_kind_name((test_kind)kind), &v);
      compare_kept(test_kind_name((test_kind)kind), &v);
      v.val = NULL;
      const int symmetric = kind == TEST_SPD || kind == TEST_NEGATIVE || kind == TEST_INDEFINITE || kind == TEST_SADDLE;
      if (!symmetric) compare(test_kind_name((test_kind)kind), &v, NULL, NULL); /* there a pattern is a graph */
      test_system_free(&a);
    }
}

/* Growth that static pivots do not survive, in a random order, which no library makes: the numbers reject the
 * structure, and both go on with the next one. */
static void rejections(void)
{
  enum { N = 190, SEEDS = 24 };
  gable_idx order[N];
  const int before = rejected;
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    gable_symbolic_options ask = GABLE_SYMBOLIC_OPTIONS_INIT;
    gable_solver_options how = GABLE_SOLVER_OPTIONS_INIT;
    test_system a = test_system_make(TEST_GROWTH, N, seed);
    gable_matrix_view v = test_system_view(&a);
    gi_random r = gi_random_seed(seed);
    for (gable_idx k = 0; k < N; k++) {
      const gable_idx other = (gable_idx)gi_random_below(&r, (uint64_t)k + 1);
      order[k] = order[other];
      order[other] = k;
    }
    ask.values = 1;
    ask.order = "user";
    ask.user_order = order;
    how.order = GABLE_ORDER_USER;
    how.user_order = order;
    compare("growth in a random order", &v, &ask, &how);
    test_system_free(&a);
  }
  CHECK(rejected - before >= 7, "values rejected %d structures of %d", rejected - before, SEEDS);
}

/* What asks for more than a factorization has, or has no values. */
static void refusals(void)
{
  test_system a = test_system_make(TEST_DOMINANT, 20, 1);
  gable_matrix_view v = test_system_view(&a);
  gable_symbolic *p = NULL;
  const gable_symbolic_options plain = GABLE_SYMBOLIC_OPTIONS_INIT;
  for (int k = 0; k < 5; k++) {
    gable_symbolic_options ask = plain;
    ask.values = k == 4 ? 2 : 1;
    if (k == 0) ask.form = GABLE_FORM_UNSYMMETRIC;
    if (k == 1) ask.max_width = 3;
    if (k == 2) ask.exact = 1;
    v.val = k == 3 ? NULL : a.val;
    CHECK(gable_symbolic_create(ctx, &v, &ask, &p) == GABLE_ERR_ARGUMENT && !p, "request %d", k);
  }
  test_system_free(&a);
}

static void real_matrices(void)
{
  const char *folder = getenv("GABLE_MATRICES");
  DIR *directory = opendir(folder ? folder : "../shared/matrices");
  int compared = 0;
  if (!directory) return;
  for (struct dirent *e; (e = readdir(directory));) {
    char path[1024];
    gable_read_options reading = GABLE_READ_OPTIONS_INIT;
    gable_matrix_info info = GABLE_MATRIX_INFO_INIT;
    gable_matrix_view view = GABLE_MATRIX_VIEW_INIT;
    gable_matrix *file = NULL;
    if (!strstr(e->d_name, ".mtx")) continue;
    snprintf(path, sizeof path, "%s/%s", folder ? folder : "../shared/matrices", e->d_name);
    const gable_status status = gable_matrix_read(ctx, path, &reading, &file);
    if (status == GABLE_ERR_UNAVAILABLE) { /* compressed, and no zlib in this build */
      compared++;
      break;
    }
    CHECK(!status, "%s: %s", e->d_name, gable_last_error());
    CHECK_OK(gable_matrix_get_info(file, &info));
    CHECK_OK(gable_matrix_get_view(file, &view));
    if (info.field == GABLE_FIELD_REAL && info.n_rows == info.n_cols && info.n_rows < (GI_SANITIZED ? 2000 : 10000)) {
      compare(e->d_name, &view, NULL, NULL);
      compared++;
      if (info.n_rows < MOST_FACTORED) compare_kept(e->d_name, &view);
    }
    gable_matrix_destroy(&file);
  }
  closedir(directory);
  CHECK(compared > 0, "no real matrix in %s", folder ? folder : "../shared/matrices");
}

int main(void)
{
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  random_systems();
  rejections();
  refusals();
  real_matrices();
  gable_context_destroy(&ctx);
  return 0;
}
