/* Saved factors that are solved element by element and that Gable did not write so, all checksums right: each thing
 * that no writer of ours can say is refused.  test_stored_triangles MATRIX FILE saves such factors for MATRIX. */
#include <stddef.h>

#include "support/test.h"

#include "pipeline/store.h"
#include "sparse/file/checksum.h"
#include "support/systems.h"

enum { N = 12, PIECES = 10, MOST = 4096 };

static gable_context *ctx;

/* A full first column of L and first row of U, which elimination would fill. */
static gable_solver *imported(const gable_matrix_view *a, gable_idx n)
{
  gable_factors_view f = GABLE_FACTORS_VIEW_INIT;
  gable_matrix_view t = GABLE_MATRIX_VIEW_INIT;
  gable_solver *s = NULL;
  int64_t *ptr = calloc((size_t)n + 1, sizeof *ptr), elementwise = 0;
  gable_idx *idx = calloc(2 * (size_t)n, sizeof *idx);
  double *val = calloc(2 * (size_t)n, sizeof *val);
  CHECK(n > 4 && ptr && idx && val);
  for (gable_idx k = 0; k < n; k++) { /* column 0 whole, then the diagonal */
    idx[k] = k;
    val[k] = k ? 0.25 : 1;
    ptr[k + 1] = n + k;
    idx[n + k - (k > 0)] = k;
    val[n + k - (k > 0)] = 4 + k;
  }
  val[0] = 4;
  t.n_rows = t.n_cols = f.n = n;
  t.ptr = ptr;
  t.idx = idx;
  t.val = val;
  gable_matrix_view l = t, u = t;
  l.format = GABLE_FORMAT_CSC;
  u.format = GABLE_FORMAT_CSR;
  f.l = &l;
  f.u = &u;
  double *ones = calloc(2 * (size_t)n, sizeof *ones);
  for (gable_idx k = 0; k < 2 * n; k++) ones[k] = k < n ? val[k] : 1;
  ones[0] = 1;
  l.val = ones; /* of L a unit diagonal */
  CHECK_OK(gable_solver_create(ctx, NULL, &s));
  CHECK_OK(gable_solver_import(s, &f, a));
  CHECK_OK(gable_solver_get(s, GABLE_SOLVER_ELEMENTWISE, &elementwise, sizeof elementwise));
  CHECK(elementwise == 1);
  free(ptr);
  free(idx);
  free(val);
  free(ones);
  return s;
}

/* A file whose pieces can be changed. */
typedef struct file {
  gi_store_header h;
  char bytes[MOST];
  size_t size, at[PIECES], length[PIECES];
} file;

static file file_of(const gable_solver *s)
{
  file f = {.size = MOST};
  CHECK_OK(gable_solver_save_memory(s, f.bytes, &f.size));
  memcpy(&f.h, f.bytes, sizeof f.h);
  const size_t n = (size_t)f.h.n, l = (size_t)f.h.lrow_count, u = (size_t)f.h.ucol_count;
  const size_t length[PIECES] = {4 * n, 4 * n, 8 * n, 8 * n, 8 * (n + 1), 4 * l, 8 * l, 8 * (n + 1), 4 * u, 8 * u};
  size_t at = sizeof f.h;
  for (int k = 0; k < PIECES; k++) {
    f.at[k] = at;
    f.length[k] = length[k];
    at += length[k] + sizeof(uint64_t);
  }
  CHECK(at == f.size, "%zu bytes, %zu in the pieces", f.size, at);
  return f;
}

static void seal(file *f)
{
  f->h.sum = gi_checksum(0, &f->h, offsetof(gi_store_header, sum));
  memcpy(f->bytes, &f->h, sizeof f->h);
  for (int k = 0; k < PIECES; k++) {
    const uint64_t sum = gi_checksum(0, f->bytes + f->at[k], f->length[k]);
    memcpy(f->bytes + f->at[k] + f->length[k], &sum, sizeof sum);
  }
}

typedef enum part { ROWS, COLS, R, C, L_PTR, L_IDX, L_VAL, U_PTR, U_IDX, U_VAL } part;

static void put_index(file *f, part p, int k, gable_idx value)
{
  memcpy(f->bytes + f->at[p] + (size_t)k * sizeof value, &value, sizeof value);
}

static void put_offset(file *f, part p, int k, int64_t value)
{
  memcpy(f->bytes + f->at[p] + (size_t)k * sizeof value, &value, sizeof value);
}

static void put_real(file *f, part p, int k, double value)
{
  memcpy(f->bytes + f->at[p] + (size_t)k * sizeof value, &value, sizeof value);
}

#define FORGERIES(X)                                                                                                   \
  X(f.h.kind = GI_LDLT, "kind")                                                                                        \
  X(f.h.kind = GI_CHOLESKY; f.h.method = GABLE_METHOD_CHOLESKY, "an LU factor without U, or another with one")         \
  X(f.h.method = GABLE_METHOD_CHOLESKY, "method")                                                                      \
  X(f.h.matched = 0, "not imported")                                                                                   \
  X(f.h.matched = 2, "not imported")                                                                                   \
  X(f.h.n_super = 1, "supernodes")                                                                                     \
  X(f.h.n_blocks = 2, "supernodes")                                                                                    \
  X(f.h.off_count = 0, "supernodes")                                                                                   \
  X(f.h.height = 1, "supernodes")                                                                                      \
  X(f.h.perturbed = 1, "replaced")                                                                                     \
  X(f.h.drift = 1, "replaced")                                                                                         \
  X(f.h.nnz_l--, "length")                                                                                             \
  X(f.h.nnz_u++, "length")                                                                                             \
  X(f.h.type = 77, "type")                                                                                             \
  X(f.h.rank--, "rank")                                                                                                \
  X(f.h.lrow_count = INT64_MAX, "cannot hold")                                                                         \
  X(f.h.version = GI_STORE_VERSION, "factor again")                                                                    \
  X(put_index(&f, ROWS, 0, N), "permutation")                                                                          \
  X(put_index(&f, COLS, 1, 0), "permutation")                                                                          \
  X(put_real(&f, R, 2, 0), "scaling")                                                                                  \
  X(put_real(&f, C, 2, NAN), "scaling")                                                                                \
  X(put_offset(&f, L_PTR, 0, 1), "triangles")                                                                          \
  X(put_offset(&f, L_PTR, 1, INT64_MAX), "triangles")                                                                  \
  X(put_offset(&f, L_PTR, N, 5), "triangles")                                                                          \
  X(put_offset(&f, U_PTR, 2, -1), "triangles")                                                                         \
  X(put_index(&f, L_IDX, 1, -1), "triangles")                                                                          \
  X(put_index(&f, L_IDX, 1, N), "triangles")                                                                           \
  X(put_index(&f, L_IDX, N + 2, 0), "triangles")                                                                       \
  X(put_index(&f, U_IDX, 0, 3), "triangles")                                                                           \
  X(put_real(&f, U_VAL, 0, 0), "triangles")                                                                            \
  X(put_real(&f, L_VAL, 1, INFINITY), "triangles")

int main(int argc, char **argv)
{
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  if (argc == 3) {
    gable_matrix *a = NULL;
    gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
    CHECK_OK(gable_matrix_read(ctx, argv[1], NULL, &a));
    CHECK_OK(gable_matrix_get_view(a, &v));
    gable_solver *s = imported(&v, v.n_cols);
    CHECK_OK(gable_solver_save(s, argv[2]));
    gable_solver_destroy(&s);
    gable_matrix_destroy(&a);
    gable_context_destroy(&ctx);
    return 0;
  }
  test_system a = test_system_make(TEST_DOMINANT, N, 3);
  const gable_matrix_view v = test_system_view(&a);
  gable_solver *s = imported(&v, N), *loaded = NULL;
  CHECK_OK(gable_solver_create(ctx, NULL, &loaded));
#define TRY(forgery, message)                                                                                          \
  {                                                                                                                    \
    file f = file_of(s);                                                                                               \
    CHECK_OK(gable_solver_load_memory(loaded, &v, f.bytes, f.size));                                                   \
    forgery;                                                                                                           \
    seal(&f);                                                                                                          \
    const gable_status status = gable_solver_load_memory(loaded, &v, f.bytes, f.size);                                 \
    CHECK(status == GABLE_ERR_FORMAT && strstr(gable_last_error(), message), "%s: %d, %s", #forgery, (int)status,      \
          gable_last_error());                                                                                         \
  }
  FORGERIES(TRY)
  gable_solver_destroy(&s);
  gable_solver_destroy(&loaded);
  test_system_free(&a);
  gable_context_destroy(&ctx);
  return 0;
}
