/* The layouts of real matrices, both forms, exact and relaxed, against their certificates. */
#include "support/test.h"

#include <dirent.h>

#include "graph/btf.h"
#include "graph/order/order.h"
#include "graph/order/order_parts.h"
#include "graph/symbolic/symbolic.h"
#include "sparse/csc.h"
#include "support/certificate.h"
#include "support/symmetrise.h"

/* There is no time for the others. */
enum { LARGEST = GI_SANITIZED ? 2000 : 6000, MOST_BYTES = 500000 };

/* a: rows of A' as they are; perm: the final order. */
static void check_certificate(const char *name, const gi_layout *y, const gi_csc *a, const gable_idx *perm, int exact)
{
  gable_off *ptr = malloc(((size_t)a->n_cols + 1) * sizeof *ptr);
  gable_idx *idx = malloc(((size_t)a->ptr[a->n_cols] + 1) * sizeof *idx);
  const char *problem;
  CHECK(ptr && idx);
  permute_pattern(a->n_cols, a->ptr, a->idx, perm, ptr, idx);
  check_layout(y, 0);
  CHECK(certificate_holds(y, ptr, idx, exact, &problem), "%s: %s", name, problem);
  free(ptr);
  free(idx);
}

/* A + A^T with its diagonal: what the symmetric form is exact for. */
static void both_triangles(gable_context *ctx, const gi_csc *a, gi_csc *out)
{
  gi_csc g = {0};
  CHECK_OK(test_symmetrise(ctx, a, &g));
  CHECK_OK(gi_csc_init(ctx, g.n_rows, g.n_cols, g.ptr[g.n_cols] + g.n_cols, 0, out));
  gable_off end = 0;
  for (gable_idx j = 0; j < g.n_cols; j++) {
    gable_off p = g.ptr[j];
    for (; p < g.ptr[j + 1] && g.idx[p] < j; p++) out->idx[end++] = g.idx[p];
    out->idx[end++] = j;
    for (; p < g.ptr[j + 1]; p++) out->idx[end++] = g.idx[p];
    out->ptr[j + 1] = end;
  }
  gi_csc_release(ctx, &g);
}

static void check_form(gable_context *ctx, const char *name, const gi_csc *a, gi_symbolic_form form, int exact)
{
  gable_idx *perm = malloc(((size_t)a->n_cols + 1) * sizeof *perm);
  gable_idx *block = malloc(((size_t)a->n_cols + 1) * sizeof *block), n_blocks;
  gi_layout *y = NULL;
  const gi_order_method method = gi_order_has_amd() ? GI_ORDER_AMD : GI_ORDER_AUTO;
  CHECK(perm && block);
  CHECK_OK(gi_btf(ctx, a->n_cols, a->ptr, a->idx, NULL, perm, block, &n_blocks));
  const gi_order_options order = {.method = method, .n_blocks = n_blocks, .block = block};
  CHECK_OK(gi_order(ctx, a->n_cols, a->ptr, a->idx, &order, perm, NULL));
  const gi_symbolic_options options = {.form = form, .n_blocks = n_blocks, .block = block, .exact = exact};
  CHECK_OK(gi_symbolic(ctx, a->n_cols, a->ptr, a->idx, perm, &options, &y));
  check_certificate(name, y, a, perm, exact);
  gi_layout_destroy(ctx, &y);
  free(perm);
  free(block);
}

/* 0 when the matrix is too large or not square. */
static int check_matrix(gable_context *ctx, const char *folder, const char *name)
{
  char path[1024];
  gable_read_options reading = GABLE_READ_OPTIONS_INIT;
  gable_matrix_view view = GABLE_MATRIX_VIEW_INIT;
  gable_matrix *file = NULL, *whole = NULL;
  gi_csc a = {0}, sum = {0};
  snprintf(path, sizeof path, "%s/%s", folder, name);
  reading.accept_complex = 1;
  gable_status status = gable_matrix_read(ctx, path, &reading, &file);
  if (status == GABLE_ERR_UNAVAILABLE) SKIP("its matrices are compressed, and this build has no zlib");
  CHECK_OK(status);
  CHECK_OK(gable_matrix_expand(file, &whole));
  CHECK_OK(gable_matrix_get_view(whole, &view));
  const int fits = view.n_rows == view.n_cols && view.n_rows <= LARGEST;
  if (fits) {
    view.val = NULL;
    view.value_type = GABLE_TYPE_D;
    CHECK_OK(gi_csc_from_view(ctx, &view, &a));
    both_triangles(ctx, &a, &sum);
    for (int exact = 0; exact < 2; exact++) {
      check_form(ctx, name, &a, GI_SYMBOLIC_UNSYMMETRIC, exact);
      check_form(ctx, name, &sum, GI_SYMBOLIC_SYMMETRIC, exact);
      check_form(ctx, name, &sum, GI_SYMBOLIC_UNSYMMETRIC, exact);
    }
  }
  gi_csc_release(ctx, &a);
  gi_csc_release(ctx, &sum);
  gable_matrix_destroy(&whole);
  gable_matrix_destroy(&file);
  return fits;
}

static long file_size(const char *folder, const char *name)
{
  char path[1024];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *in = fopen(path, "rb");
  CHECK(in, "%s", path);
  const long size = fseek(in, 0, SEEK_END) ? 0 : ftell(in);
  fclose(in);
  return size;
}

/* Returns how many matrices of the folder were checked; -1: there is no such folder. */
static int check_folder(gable_context *ctx, const char *folder)
{
  DIR *dir = opendir(folder);
  int checked = 0;
  if (!dir) return -1;
  for (const struct dirent *e; (e = readdir(dir));) {
    const char *end = strstr(e->d_name, ".mtx");
    if (end && file_size(folder, e->d_name) < MOST_BYTES) checked += check_matrix(ctx, folder, e->d_name);
  }
  closedir(dir);
  return checked;
}

int main(void)
{
  const char *folder = getenv("GABLE_MATRICES");
  gable_context *ctx = NULL;
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  const int own = check_folder(ctx, "tests/data"), more = check_folder(ctx, folder ? folder : "../shared/matrices");
  CHECK(own > 0, "no matrix in tests/data");
  if (more < 0) printf("only those of tests/data: neither $GABLE_MATRICES nor ../shared/matrices is a folder; ");
  printf("%d matrices\n", own + (more > 0 ? more : 0));
  gable_context_destroy(&ctx);
  return 0;
}
