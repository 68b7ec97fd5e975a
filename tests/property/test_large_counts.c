/* Counts above 2^31.  A matrix of so many entries does not fit every machine, so: a factor of 2.2e9 entries, predicted
 * exactly and then refused for its memory; and a matrix of 2^31 + 2^20 entries whose arrays are the same few pages
 * mapped over and over, multiplied, measured and written to nowhere. */
#define _GNU_SOURCE /* memfd_create */
#include "support/test.h"

#include <sys/mman.h>
#include <unistd.h>

#include "krylov/refine.h"
#include "sparse/matrix.h"

enum { N = 66000, LIST = 1024, LISTS_A_CHUNK = 512, CHUNKS = 4098 };

static void *limited_allocate(void *user, size_t bytes, size_t alignment)
{
  void *p = NULL;
  (void)user;
  return bytes > (size_t)1 << 31 || posix_memalign(&p, alignment, bytes) ? NULL : p;
}

static void limited_release(void *user, void *p)
{
  (void)user;
  free(p);
}

/* The point of the arrow first: everything fills. */
static void predicted(gable_context *ctx)
{
  gable_idx *order = malloc(N * sizeof *order);
  gable_matrix *stored = NULL, *a = NULL;
  gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
  gable_symbolic_options how = GABLE_SYMBOLIC_OPTIONS_INIT;
  gable_symbolic_info info = GABLE_SYMBOLIC_INFO_INIT;
  gable_symbolic *s = NULL;
  gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
  gable_solver *solver = NULL;
  const gable_off fill = (gable_off)N * (N + 1) / 2;
  int64_t found = 0;
  CHECK(order);
  for (gable_idx k = 0; k < N; k++) order[k] = N - 1 - k;
  CHECK_OK(gable_matrix_generate(ctx, "arrow:66000", 1, &stored));
  CHECK_OK(gable_matrix_expand(stored, &a));
  CHECK_OK(gable_matrix_get_view(a, &v));
  how.order = "user";
  how.user_order = order;
  for (int form = GABLE_FORM_SYMMETRIC; form <= GABLE_FORM_CHOLESKY; form += 2) {
    how.form = (gable_form)form;
    CHECK_OK(gable_symbolic_create(ctx, &v, &how, &s));
    CHECK_OK(gable_symbolic_get_info(s, &info));
    CHECK(info.nnz_l == fill && info.nnz_u == fill, "form %d: %lld and %lld entries", form, (long long)info.nnz_l,
          (long long)info.nnz_u);
    const double n = N, flops = (form == GABLE_FORM_CHOLESKY ? 1.0 / 3 : 2.0 / 3) * n * n * n;
    CHECK(fabs(info.flops / flops - 1) < 0.01, "form %d: %g operations", form, info.flops);
    gable_symbolic_destroy(&s);
  }
  options.order = GABLE_ORDER_USER;
  options.user_order = order;
  options.blocks = GABLE_CHOICE_NEVER;
  CHECK_OK(gable_solver_create(ctx, &options, &solver));
  CHECK_OK(gable_solver_analyse(solver, &v));
  CHECK_OK(gable_solver_get(solver, GABLE_SOLVER_NNZ_L, &found, sizeof found));
  CHECK(found == fill, "%lld entries", (long long)found);
  CHECK_OK(gable_solver_get(solver, GABLE_SOLVER_MEMORY_PREDICTED, &found, sizeof found));
  CHECK(found > 8 * fill && found < 24 * fill, "%lld bytes predicted", (long long)found);
  CHECK(gable_solver_factor(solver, NULL, GABLE_REUSE_ALL) == GABLE_ERR_MEMORY, "where did the memory come from?");
  CHECK(strstr(gable_last_error(), "the factor takes"), "%s", gable_last_error());
  gable_solver_destroy(&solver);
  gable_matrix_destroy(&a);
  gable_matrix_destroy(&stored);
  free(order);
}

/* A chunk of bytes, mapped CHUNKS times in a row; NULL: the system does not want to. */
static void *repeated(const void *chunk, size_t bytes)
{
  int fd = memfd_create("gable-test", 0);
  if (fd < 0) return NULL;
  CHECK(write(fd, chunk, bytes) == (ssize_t)bytes);
  char *all = mmap(NULL, bytes * CHUNKS, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  for (size_t k = 0; k < CHUNKS && all != MAP_FAILED; k++)
    if (mmap(all + k * bytes, bytes, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED) all = MAP_FAILED;
  close(fd);
  return all == MAP_FAILED ? NULL : all;
}

/* Every column (row) lists 0 .. LIST-1 with the values 1, 1/2, 1/3, 1/4, 1, 1/2, ... */
static int map_matrix(gi_csc *a)
{
  gable_idx *idx = malloc(LIST * LISTS_A_CHUNK * sizeof *idx);
  double *val = malloc(LIST * LISTS_A_CHUNK * sizeof *val);
  CHECK(idx && val);
  for (int k = 0; k < LIST * LISTS_A_CHUNK; k++) {
    idx[k] = k % LIST;
    val[k] = 1.0 / (1 + k % 4);
  }
  a->n_rows = a->n_cols = LISTS_A_CHUNK * CHUNKS;
  a->ptr = malloc(((size_t)a->n_cols + 1) * sizeof *a->ptr);
  CHECK(a->ptr);
  for (gable_off j = 0; j <= a->n_cols; j++) a->ptr[j] = j * LIST;
  a->idx = repeated(idx, LIST * LISTS_A_CHUNK * sizeof *idx);
  a->val = repeated(val, LIST * LISTS_A_CHUNK * sizeof *val);
  free(idx);
  free(val);
  return a->idx && a->val;
}

static int mapped(gable_context *ctx)
{
  gi_csc a = {0};
  if (!map_matrix(&a)) return 0;
  const gable_idx n = a.n_cols;
  CHECK(a.ptr[n] > INT32_MAX, "%lld entries", (long long)a.ptr[n]);
  double *norms = malloc(4 * (size_t)n * sizeof *norms), *x = malloc((size_t)n * sizeof *x),
         *y = malloc((size_t)n * sizeof *y);
  CHECK(norms && x && y);
  const double list_sum = LIST / 4 * (1 + 0.5 + 1.0 / 3 + 0.25);
  gi_system_norms(&a, norms, norms + n, norms + 2 * (size_t)n, norms + 3 * (size_t)n);
  for (gable_idx i = 0; i < n; i++) x[i] = 1;
  const gi_system system = {n, &a, norms, norms + n, norms + 2 * (size_t)n, norms + 3 * (size_t)n, 2};
  gi_system_apply(&system, GABLE_OP_N, x, y);
  for (gable_idx i = 0; i < n; i++)
    CHECK(fabs(norms[i] - list_sum) < 1e-9 && fabs(y[i] - list_sum) < 1e-9, "row %d: %g and %g", i, norms[i], y[i]);
  gi_system_apply(&system, GABLE_OP_T, x, y);
  for (gable_idx j = 0; j < n; j++) {
    const double want = j < LIST ? (double)n / (1 + j % 4) : 0;
    CHECK(fabs(norms[2 * (size_t)n + (size_t)j] - want) <= 1e-9 * want && fabs(y[j] - want) <= 1e-9 * want,
          "column %d: %g and %g, not %g", j, norms[2 * (size_t)n + (size_t)j], y[j], want);
  }
  gable_matrix whole = {.ctx = ctx,
                        .csc = a,
                        .field = GABLE_FIELD_PATTERN,
                        .structure = GABLE_STRUCTURE_GENERAL,
                        .part = GABLE_PART_FULL};
  whole.csc.val = NULL;
  CHECK_OK(gable_matrix_write(&whole, "/dev/null", GABLE_FILE_BINARY));
  CHECK(!munmap(a.idx, (size_t)a.ptr[n] * sizeof *a.idx) && !munmap(a.val, (size_t)a.ptr[n] * sizeof *a.val));
  free(a.ptr);
  free(norms);
  free(x);
  free(y);
  return 1;
}

int main(void)
{
  gable_context_options options = GABLE_CONTEXT_OPTIONS_INIT;
  gable_context *ctx = NULL;
  const char *sanitizer = getenv("SAN");
  options.allocate = limited_allocate;
  options.release = limited_release;
  CHECK_OK(gable_context_create("cpu", &options, &ctx));
  predicted(ctx);
  if (sanitizer && *sanitizer) SKIP("counted, but not multiplied: that takes a sanitizer too long");
  if (!mapped(ctx)) SKIP("counted, but not multiplied: the system maps no file %d times", CHUNKS);
  gable_context_destroy(&ctx);
  return 0;
}
