/* gable_symbolic on matrices whose factors are known: bands, arrows, blocks, singular and empty ones. */
#include "support/test.h"

enum { N = 50 };

static gable_off ptr[N + 1];
static gable_idx idx[N * N];

typedef enum shape { TRIDIAGONAL, ARROW_FIRST, ARROW_LAST, TRIANGLE, SHIFT, GAP } shape;

static int present(shape which, int i, int j)
{
  switch (which) {
  case TRIDIAGONAL: return abs(i - j) <= 1;
  case ARROW_FIRST: return i == j || i == 0 || j == 0;
  case ARROW_LAST: return i == j || i == N - 1 || j == N - 1;
  case TRIANGLE: return i <= j;
  case SHIFT: return i == (j + 1) % N;
  case GAP: return i == j && i != 7;
  }
  return 0;
}

static gable_matrix_view make(shape which)
{
  gable_off p = 0;
  for (int j = 0; j < N; j++) {
    ptr[j] = p;
    for (int i = 0; i < N; i++)
      if (present(which, i, j)) idx[p++] = i;
  }
  ptr[N] = p;
  gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
  v.n_rows = v.n_cols = N;
  v.format = GABLE_FORMAT_CSC;
  v.ptr = ptr;
  v.idx = idx;
  return v;
}

static gable_symbolic_info info_of(gable_context *ctx, const gable_matrix_view *a, const gable_symbolic_options *o)
{
  gable_symbolic *s = NULL;
  gable_symbolic_info info = GABLE_SYMBOLIC_INFO_INIT;
  CHECK_OK(gable_symbolic_create(ctx, a, o, &s));
  CHECK_OK(gable_symbolic_get_info(s, &info));
  gable_symbolic_destroy(&s);
  CHECK(!s);
  return info;
}

static void check_known(gable_context *ctx)
{
  gable_symbolic_options o = GABLE_SYMBOLIC_OPTIONS_INIT;
  o.order = "natural";
  const gable_off full = N * (N + 1) / 2;
  for (int form = GABLE_FORM_AUTO; form <= GABLE_FORM_CHOLESKY; form++) {
    o.form = (gable_form)form;
    gable_matrix_view a = make(TRIDIAGONAL);
    gable_symbolic_info f = info_of(ctx, &a, &o);
    CHECK(f.nnz_l == 2 * N - 1 && f.nnz_u == 2 * N - 1 && f.height == N && f.blocks == 1);
    a = make(ARROW_FIRST);
    f = info_of(ctx, &a, &o);
    CHECK(f.nnz_l == full && f.nnz_u == full && f.supernodes == 1 && f.stored == N * N, "%ld", (long)f.nnz_l);
    a = make(ARROW_LAST);
    f = info_of(ctx, &a, &o);
    CHECK(f.nnz_l == 2 * N - 1 && f.nnz_u == 2 * N - 1 && f.height == 2);
    CHECK(form == GABLE_FORM_AUTO || f.form == o.form);
  }
}

static void check_blocks(gable_context *ctx)
{
  gable_matrix_view a = make(TRIANGLE);
  gable_symbolic *s = NULL;
  gable_symbolic_view v = GABLE_SYMBOLIC_VIEW_INIT;
  CHECK_OK(gable_symbolic_create(ctx, &a, NULL, &s));
  CHECK_OK(gable_symbolic_get_view(s, &v));
  CHECK(v.blocks == N && v.supernodes == N && v.off_ptr[N] == N * (N - 1) / 2);
  gable_symbolic_destroy(&s);
  gable_symbolic_options o = GABLE_SYMBOLIC_OPTIONS_INIT;
  o.keep_whole = 1;
  CHECK(info_of(ctx, &a, &o).blocks == 1);
}

static void check_matching(gable_context *ctx)
{
  gable_matrix_view a = make(SHIFT);
  gable_symbolic *s = NULL;
  gable_symbolic_view v = GABLE_SYMBOLIC_VIEW_INIT;
  gable_symbolic_info f = GABLE_SYMBOLIC_INFO_INIT;
  CHECK_OK(gable_symbolic_create(ctx, &a, NULL, &s));
  CHECK_OK(gable_symbolic_get_view(s, &v));
  CHECK_OK(gable_symbolic_get_info(s, &f));
  CHECK(f.matched && f.structural_rank == N && f.nnz_l == N && f.blocks == N);
  for (int k = 0; k < N; k++) CHECK(v.rows[k] == (v.cols[k] + 1) % N);
  gable_symbolic_destroy(&s);
  gable_symbolic_options o = GABLE_SYMBOLIC_OPTIONS_INIT;
  o.keep_rows = 1;
  CHECK(!info_of(ctx, &a, &o).matched);

  static double ones[N];
  for (int k = 0; k < N; k++) ones[k] = 1;
  a = make(GAP);
  a.val = ones;
  f = info_of(ctx, &a, NULL);
  CHECK(f.structural_rank == N - 1 && !f.matched && f.nnz_l == N);
}

/* CSR, base 1, 32-bit offsets, one triangle: the same answer. */
static void check_views(gable_context *ctx)
{
  static int32_t ptr32[N + 1];
  static gable_idx idx1[3 * N];
  int p = 0;
  for (int i = 0; i < N; i++) {
    ptr32[i] = p + 1;
    idx1[p++] = i + 1;
    if (i + 5 < N) idx1[p++] = i + 6;
  }
  ptr32[N] = p + 1;
  gable_matrix_view a = GABLE_MATRIX_VIEW_INIT;
  a.n_rows = a.n_cols = N;
  a.base = 1;
  a.offset_type = GABLE_TYPE_I32;
  a.structure = GABLE_STRUCTURE_SYMMETRIC;
  a.part = GABLE_PART_UPPER;
  a.ptr = ptr32;
  a.idx = idx1;
  const gable_symbolic_info f = info_of(ctx, &a, NULL);
  CHECK(f.nnz == N + 2 * (N - 5) && f.nnz_l == N + (N - 5) && f.form == GABLE_FORM_SYMMETRIC, "%ld", (long)f.nnz_l);
}

static void check_refusals(gable_context *ctx)
{
  gable_matrix_view a = make(TRIDIAGONAL);
  gable_symbolic *s = NULL;
  gable_symbolic_options o = GABLE_SYMBOLIC_OPTIONS_INIT;
  o.order = "best";
  CHECK(gable_symbolic_create(ctx, &a, &o, &s) == GABLE_ERR_ARGUMENT && !s);
  CHECK(strstr(gable_last_error(), "best"));
  o.order = "user";
  CHECK(gable_symbolic_create(ctx, &a, &o, &s) == GABLE_ERR_ARGUMENT);
  o.size = 3;
  CHECK(gable_symbolic_create(ctx, &a, &o, &s) == GABLE_ERR_ARGUMENT);
  CHECK(gable_symbolic_create(ctx, NULL, NULL, &s) == GABLE_ERR_ARGUMENT);
  CHECK(gable_symbolic_create(NULL, &a, NULL, &s) == GABLE_ERR_ARGUMENT);
  a.n_rows = N - 1;
  CHECK(gable_symbolic_create(ctx, &a, NULL, &s) == GABLE_ERR_ARGUMENT && !s);
  CHECK(gable_symbolic_get_info(NULL, NULL) == GABLE_ERR_ARGUMENT);
  gable_symbolic_destroy(NULL);
  gable_symbolic_destroy(&s);
}

/* A matrix of pairs (0 v; v 0), whose rows L D L^T orders two at a time: the order is looked at first there too. */
static void check_order_of_pairs(gable_context *ctx)
{
  enum { M = 8 };
  const gable_idx orders[][M] = {
      {0, 1, 2, 3, 4, 5, 6, 1000000000}, {0, 1, 2, 3, 4, 5, 6, 6}, {-1, 1, 2, 3, 4, 5, 6, 7}, {7, 2, 1, 0, 4, 6, 5, 3}};
  int64_t offset[M + 1];
  gable_idx row[M];
  double value[M];
  gable_matrix_view a = GABLE_MATRIX_VIEW_INIT;
  gable_symbolic_options o = GABLE_SYMBOLIC_OPTIONS_INIT;
  gable_symbolic *s = NULL;
  for (gable_idx j = 0; j <= M; j++) offset[j] = j;
  for (gable_idx j = 0; j < M; j++) {
    row[j] = j ^ 1;
    value[j] = 1 + j / 2;
  }
  a.n_rows = a.n_cols = M;
  a.ptr = offset;
  a.idx = row;
  a.val = value;
  o.order = "user";
  o.form = GABLE_FORM_LDLT;
  CHECK(gable_symbolic_create(ctx, &a, &o, &s) == GABLE_ERR_ARGUMENT && !s, "no order");
  for (int k = 0; k < 4; k++) {
    o.user_order = orders[k];
    const gable_status status = gable_symbolic_create(ctx, &a, &o, &s);
    CHECK(status == (k < 3 ? GABLE_ERR_ARGUMENT : GABLE_OK) && !s == (k < 3), "order %d: %d", k, status);
    gable_symbolic_destroy(&s);
  }
}

static int cancel(void *user, const char *phase, double done)
{
  (void)phase, (void)done;
  return --*(int *)user < 0;
}

static void check_cancelling(void)
{
  for (int after = 0; after < 4; after++) {
    int left = after;
    gable_context *ctx = NULL;
    gable_context_options options = GABLE_CONTEXT_OPTIONS_INIT;
    options.progress = cancel;
    options.progress_user = &left;
    CHECK_OK(gable_context_create("cpu", &options, &ctx));
    gable_matrix_view a = make(TRIDIAGONAL);
    gable_symbolic *s = NULL;
    CHECK(gable_symbolic_create(ctx, &a, NULL, &s) == GABLE_ERR_CANCELLED && !s, "after %d", after);
    gable_context_destroy(&ctx);
  }
}

int main(void)
{
  gable_context *ctx = NULL;
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  check_known(ctx);
  check_blocks(ctx);
  check_matching(ctx);
  check_views(ctx);
  check_refusals(ctx);
  check_order_of_pairs(ctx);
  gable_matrix_view empty = make(TRIDIAGONAL);
  empty.n_rows = empty.n_cols = 0;
  const gable_symbolic_info f = info_of(ctx, &empty, NULL);
  CHECK(f.n == 0 && f.nnz_l == 0 && f.supernodes == 0);
  gable_context_destroy(&ctx);
  check_cancelling();
  return 0;
}
