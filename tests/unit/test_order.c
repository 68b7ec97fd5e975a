/* Orders are permutations, reduce fill, keep to their blocks, and put very long rows last; the progress is told now and
 * then. */
#include "support/symmetrise.h"
#include "support/test.h"

#include "graph/btf.h"
#include "graph/order/order.h"
#include "graph/order/order_parts.h"
#include "graph/symbolic/symbolic.h"
#include "sparse/csc.h"

enum { SIDE = 70, N = SIDE * SIDE + 1 };

static gable_off ptr[N + 1];
static gable_idx idx[7 * N + 2 * N], perm[N];

/* The lower triangle of a grid of SIDE x SIDE points; with_hub: and a last row with an entry in every column. */
static gable_idx make_grid(int with_hub)
{
  gable_off p = 0;
  const gable_idx n = SIDE * SIDE + (with_hub != 0);
  for (gable_idx v = 0; v < SIDE * SIDE; v++) {
    ptr[v] = p;
    idx[p++] = v;
    if (v % SIDE + 1 < SIDE) idx[p++] = v + 1;
    if (v / SIDE + 1 < SIDE) idx[p++] = v + SIDE;
    if (with_hub) idx[p++] = SIDE * SIDE;
  }
  ptr[SIDE * SIDE] = p;
  if (with_hub) idx[p++] = SIDE * SIDE;
  ptr[n] = p;
  return n;
}

static gable_off fill_of(gable_context *ctx, gable_idx n)
{
  gi_layout *y = NULL;
  const gi_symbolic_options options = {.form = GI_SYMBOLIC_SYMMETRIC};
  CHECK_OK(gi_symbolic(ctx, n, ptr, idx, perm, &options, &y));
  const gable_off fill = y->nnz_l;
  gi_layout_destroy(ctx, &y);
  return fill;
}

static gable_off order_fill(gable_context *ctx, gable_idx n, gi_order_method method)
{
  gi_order_options options = {.method = method};
  gi_order_report report;
  CHECK_OK(gi_order(ctx, n, ptr, idx, &options, perm, &report));
  CHECK_OK(gi_order_check(ctx, n, perm));
  CHECK(report.used != GI_ORDER_AUTO);
  return fill_of(ctx, n);
}

static void check_methods(gable_context *ctx)
{
  const gable_idx n = make_grid(0);
  const gable_off natural = order_fill(ctx, n, GI_ORDER_NATURAL), best = order_fill(ctx, n, GI_ORDER_AUTO);
  CHECK(natural > (SIDE - 3) * SIDE * SIDE && natural < (SIDE + 1) * N, "nearly a full band, not %ld", (long)natural);
  if (gi_order_has_amd()) {
    const gable_off amd = order_fill(ctx, n, GI_ORDER_AMD);
    CHECK(2 * amd < natural && best <= amd, "%ld %ld", (long)amd, (long)best);
    CHECK(order_fill(ctx, n, GI_ORDER_COLAMD) < natural);
  }
  if (gi_order_has_metis()) {
    const gable_off metis = order_fill(ctx, n, GI_ORDER_METIS);
    /* auto may do without METIS where the work is small */
    CHECK(2 * metis < natural && 10 * best <= 11 * metis, "%ld %ld", (long)metis, (long)best);
  }
}

static void check_user(gable_context *ctx)
{
  gable_idx mine[4] = {2, 0, 3, 1};
  gi_order_options options = {.method = GI_ORDER_USER, .user = mine};
  const gable_off empty[5] = {0};
  CHECK_OK(gi_order(ctx, 4, empty, idx, &options, perm, NULL));
  CHECK(!memcmp(perm, mine, sizeof mine));
  mine[1] = 3;
  CHECK(gi_order(ctx, 4, empty, idx, &options, perm, NULL) == GABLE_ERR_ARGUMENT);
  mine[1] = 4;
  CHECK(gi_order(ctx, 4, empty, idx, &options, perm, NULL) == GABLE_ERR_ARGUMENT);
  options.user = NULL;
  CHECK(gi_order(ctx, 4, empty, idx, &options, perm, NULL) == GABLE_ERR_ARGUMENT);
}

static void check_file(gable_context *ctx, const char *text, gable_status expected, const gable_idx *wanted)
{
  const char *path = "test_order.tmp";
  FILE *out = fopen(path, "w");
  CHECK(out && fputs(text, out) >= 0 && !fclose(out));
  gable_idx got[3] = {7, 7, 7};
  const gable_status status = gi_order_read(ctx, path, 3, got);
  remove(path);
  CHECK(status == expected, "'%s': %s", text, gable_last_error());
  if (status == GABLE_OK) CHECK(!memcmp(got, wanted, sizeof got));
}

static void check_files(gable_context *ctx)
{
  const gable_idx wanted[3] = {2, 0, 1};
  check_file(ctx, "2 0 1\n", GABLE_OK, wanted);
  check_file(ctx, "% from one\n3\n1\n2", GABLE_OK, wanted);
  check_file(ctx, "2 0\n", GABLE_ERR_FORMAT, wanted);
  CHECK(strstr(gable_last_error(), ":2: the file ends after 2 of 3"), "%s", gable_last_error());
  check_file(ctx, "2 0 1 1\n", GABLE_ERR_FORMAT, wanted);
  check_file(ctx, "2 0 x\n", GABLE_ERR_FORMAT, wanted);
  check_file(ctx, "2 0 99999999999999999999\n", GABLE_ERR_FORMAT, wanted);
  check_file(ctx, "2\n2 1\n", GABLE_ERR_FORMAT, wanted);
  CHECK(strstr(gable_last_error(), ":2: 2 comes a second time"), "%s", gable_last_error());
  check_file(ctx, "0\n1\n3\n", GABLE_ERR_FORMAT, wanted);
  CHECK(strstr(gable_last_error(), ":3: 3 in an order that counts from 0 to 2"), "%s", gable_last_error());
  CHECK(gi_order_read(ctx, "no/such/file", 3, perm) == GABLE_ERR_IO);
}

/* Does this build have the method, and does it need nobody's permutation? */
static int can_order(gi_order_method method)
{
  switch (method) {
  case GI_ORDER_USER: return 0;
  case GI_ORDER_METIS: return gi_order_has_metis();
  case GI_ORDER_AMD:
  case GI_ORDER_COLAMD: return gi_order_has_amd();
  default: return 1;
  }
}

static void check_long_rows(gable_context *ctx)
{
  const gable_idx n = make_grid(1);
  for (int method = GI_ORDER_AUTO; method <= GI_ORDER_AMD; method++) {
    if (!can_order((gi_order_method)method)) continue;
    gi_order_options options = {.method = (gi_order_method)method};
    gi_order_report report;
    CHECK_OK(gi_order(ctx, n, ptr, idx, &options, perm, &report));
    CHECK(report.long_rows == 1 && perm[n - 1] == n - 1, "method %d", method);
  }
}

/* Two cycles of three, the second feeding the first, and a node that feeds both. */
static void check_blocks(gable_context *ctx)
{
  const gable_off p[8] = {0, 2, 4, 6, 9, 11, 13, 16};
  const gable_idx i[16] = {0, 2, 1, 0, 2, 1, 3, 5, 0, 4, 3, 5, 4, 6, 1, 4};
  gable_idx block[8], n_blocks;
  CHECK_OK(gi_btf(ctx, 7, p, i, NULL, perm, block, &n_blocks));
  CHECK(n_blocks == 3 && block[1] == 3 && block[2] == 6 && block[3] == 7, "%d blocks", n_blocks);
  for (int k = 0; k < 7; k++) CHECK(perm[k] == k);
  for (int method = GI_ORDER_AUTO; method < GI_ORDER_METHODS; method++) {
    if (!can_order((gi_order_method)method)) continue;
    gi_order_options options = {.method = (gi_order_method)method, .n_blocks = n_blocks, .block = block};
    CHECK_OK(gi_order(ctx, 7, p, i, &options, perm, NULL));
    CHECK_OK(gi_order_check(ctx, 7, perm));
    for (int k = 0; k < 7; k++) CHECK(perm[k] / 3 == k / 3, "method %d leaves its block", method);
  }
}

/* Two threads run AMD and METIS side by side; the order is the one of a single thread. */
static void check_threads(gable_context *ctx)
{
  static gable_idx first[N];
  const gable_idx n = make_grid(1);
  CHECK_OK(gi_order(ctx, n, ptr, idx, NULL, first, NULL));
  for (int threads = 1; threads <= 3; threads++) {
    gable_context *other = NULL;
    gable_context_options options = GABLE_CONTEXT_OPTIONS_INIT;
    options.threads = threads;
    CHECK_OK(gable_context_create("cpu", &options, &other));
    CHECK_OK(gi_order(other, n, ptr, idx, NULL, perm, NULL));
    CHECK(!memcmp(perm, first, (size_t)n * sizeof *perm), "%d threads", threads);
    gable_context_destroy(&other);
  }
}

/* A symmetric pattern of which that is known is ordered as if it were not. */
/* METIS is asked where so many solves repay it. */
static void check_solves(void)
{
  gable_context *ctx = NULL;
  gable_context_options one = GABLE_CONTEXT_OPTIONS_INIT;
  gable_matrix *lower = NULL;
  gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
  one.threads = 1;
  CHECK_OK(gable_context_create("cpu", &one, &ctx));
  CHECK_OK(gable_matrix_generate(ctx, "laplacian7:20x20x20", 1, &lower));
  CHECK_OK(gable_matrix_get_view(lower, &v));
  gable_idx *order = malloc((size_t)v.n_cols * sizeof *order);
  CHECK(order);
  for (int many = 0; many < 2; many++) {
    gi_order_options options = {.solves = many ? 100000 : 10};
    gi_order_report report;
    gable_symbolic_options ask = GABLE_SYMBOLIC_OPTIONS_INIT;
    gable_symbolic_info info = GABLE_SYMBOLIC_INFO_INIT;
    gable_symbolic *s = NULL;
    CHECK_OK(gi_order(ctx, v.n_cols, v.ptr, v.idx, &options, order, &report));
    CHECK((report.fill_metis > 0) == many, "%g solves: METIS's fill is %lld", options.solves,
          (long long)report.fill_metis);
    ask.solves = (int64_t)options.solves;
    CHECK_OK(gable_symbolic_create(ctx, &v, &ask, &s));
    CHECK_OK(gable_symbolic_get_info(s, &info));
    CHECK(!strcmp(info.order, many ? "metis" : "amd"), "%g solves: %s", options.solves, info.order);
    gable_symbolic_destroy(&s);
  }
  gable_symbolic_options ask = GABLE_SYMBOLIC_OPTIONS_INIT;
  gable_symbolic *none = NULL;
  ask.solves = -1;
  CHECK(gable_symbolic_create(ctx, &v, &ask, &none) == GABLE_ERR_ARGUMENT && !none);
  free(order);
  gable_matrix_destroy(&lower);
  gable_context_destroy(&ctx);
}

static void check_mirrored(gable_context *ctx)
{
  static gable_idx first[N];
  const gable_idx n = make_grid(0);
  const gi_order_options known = {.mirrored = 1};
  const gi_csc lower = {.n_rows = n, .n_cols = n, .ptr = ptr, .idx = idx};
  gi_csc both = {0};
  CHECK_OK(test_symmetrise(ctx, &lower, &both));
  CHECK_OK(gi_order(ctx, n, both.ptr, both.idx, NULL, first, NULL));
  CHECK_OK(gi_order(ctx, n, both.ptr, both.idx, &known, perm, NULL));
  CHECK(!memcmp(perm, first, (size_t)n * sizeof *perm));
  gi_csc_release(ctx, &both);
}

typedef struct told {
  int calls;
  double done;
} told;

static int listen(void *user, const char *phase, double done)
{
  told *t = user;
  if (strcmp(phase, "order")) return 0;
  CHECK(done >= t->done && done <= 1, "%g after %g", done, t->done);
  t->done = done;
  t->calls++;
  return 0;
}

/* The progress of a matrix of this many equal diagonal blocks: however many parts there are, the caller hears of about
 * a hundred, and never less than before. */
static void check_progress(gable_idx n_blocks)
{
  told t = {0, 0};
  gable_context *ctx = NULL;
  gable_context_options heard = GABLE_CONTEXT_OPTIONS_INIT;
  gable_matrix *lower = NULL, *both = NULL;
  gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
  char kind[40];
  if (!gi_order_has_metis()) return;
  heard.progress = listen;
  heard.progress_user = &t;
  CHECK_OK(gable_context_create("cpu", &heard, &ctx));
  snprintf(kind, sizeof kind, "laplacian5:300x%d", (int)(300 / n_blocks));
  CHECK_OK(gable_matrix_generate(ctx, kind, 1, &lower));
  CHECK_OK(gable_matrix_expand(lower, &both));
  CHECK_OK(gable_matrix_get_view(both, &v));
  const gable_idx n = v.n_cols, all = n_blocks * n;
  const gable_off nnz = ((const gable_off *)v.ptr)[n];
  gable_idx *order = malloc((size_t)all * sizeof *order), block[9];
  gable_idx *row = malloc((size_t)(n_blocks * nnz) * sizeof *row);
  gable_off *begin = malloc(((size_t)all + 1) * sizeof *begin);
  CHECK(order && row && begin && n_blocks < 9);
  for (gable_idx b = 0; b < n_blocks; b++) {
    block[b] = b * n;
    for (gable_idx k = 0; k <= n; k++) begin[b * n + k] = b * nnz + ((const gable_off *)v.ptr)[k];
    for (gable_off p = 0; p < nnz; p++) row[b * nnz + p] = b * n + v.idx[p];
  }
  block[n_blocks] = all;
  for (gable_idx k = 0; k < all; k++) order[k] = k;
  const gi_order_options options = {.method = GI_ORDER_METIS, .n_blocks = n_blocks, .block = block};
  CHECK_OK(gi_order(ctx, all, begin, row, &options, order, NULL));
  CHECK_OK(gi_order_check(ctx, all, order));
  CHECK(t.calls > 10 && t.calls <= 100 && t.done == 1, "%d calls", t.calls);
  free(order);
  free(row);
  free(begin);
  gable_matrix_destroy(&lower);
  gable_matrix_destroy(&both);
  gable_context_destroy(&ctx);
}

int main(void)
{
  gable_context *ctx = NULL;
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  check_methods(ctx);
  check_user(ctx);
  check_files(ctx);
  check_long_rows(ctx);
  check_blocks(ctx);
  check_threads(ctx);
  check_mirrored(ctx);
  if (gi_order_has_metis() && gi_order_has_amd()) check_solves();
  check_progress(1);
  check_progress(6);
  CHECK_OK(gi_order(ctx, 0, ptr, idx, NULL, perm, NULL));
  gable_context_destroy(&ctx);
  return 0;
}
