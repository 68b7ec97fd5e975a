/* Saved factors.  Checksums would stop nearly every mutation at the door, so they are put right first: each input is
 * loaded as it is and as a forger would send it.  What loads must solve without touching memory that is not its own;
 * the answer may be nonsense.  The corpus is made anew, when the version of the file changes, by
 *   gable solve tests/fuzz/factor-lu.mtx --save-factor tests/fuzz/corpus/factor/blocks.factor
 *   gable solve tests/fuzz/factor-spd.mtx --save-factor tests/fuzz/corpus/factor/cholesky.factor
 *   gable solve tests/fuzz/factor-saddle.mtx --save-factor tests/fuzz/corpus/factor/ldlt.factor
 * and triangles.factor by test_stored_triangles tests/fuzz/factor-lu.mtx tests/fuzz/corpus/factor/triangles.factor */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "pipeline/pipeline.h"
#include "pipeline/store.h"
#include "sparse/file/checksum.h"

const char fuzz_corpus[] = "factor";
const char fuzz_ending[] = ".factor";

/* The checksum of count elements at *at, put behind them; moves *at behind that.  0: they are not there. */
static int sum_piece(uint8_t *bytes, size_t n, size_t *at, int64_t count, size_t size)
{
  if (count < 0 || *at > n || (uint64_t)count > (n - *at) / size) return 0;
  const size_t length = (size_t)count * size;
  if (n - *at - length < sizeof(uint64_t)) return 0;
  const uint64_t sum = gi_checksum(0, bytes + *at, length);
  memcpy(bytes + *at + length, &sum, sizeof sum);
  *at += length + sizeof sum;
  return 1;
}

/* Element k behind at minus the one before it; -1 where that makes no sense. */
static int64_t step(const uint8_t *bytes, size_t at, int64_t k, size_t size)
{
  int32_t narrow[2];
  int64_t wide[2];
  if (size == sizeof *narrow) {
    memcpy(narrow, bytes + at + (size_t)(k - 1) * size, sizeof narrow);
    wide[0] = narrow[0];
    wide[1] = narrow[1];
  } else {
    memcpy(wide, bytes + at + (size_t)(k - 1) * size, sizeof wide);
  }
  return wide[0] < 0 || wide[1] < wide[0] || wide[1] > FUZZ_MOST_BYTES ? -1 : wide[1] - wide[0];
}

/* Values in panels of supernodes with widths from super and lists from list_ptr; square: with a diagonal block. */
static int64_t panel_values(const uint8_t *bytes, size_t super, size_t list_ptr, int32_t n_super, int square)
{
  int64_t sum = 0;
  for (int32_t s = 0; s < n_super; s++) {
    const int64_t w = step(bytes, super, s + 1, 4), rows = step(bytes, list_ptr, s + 1, 8);
    if (w < 0 || rows < 0) return -1;
    sum += w * (rows + (square ? w : 0));
  }
  return sum;
}

static int forge_structure(uint8_t *bytes, size_t n, const gi_store_header *h, size_t *at, int64_t values[2])
{
  const int64_t ns = h->n_super;
  int there = sum_piece(bytes, n, at, h->n, 4) && sum_piece(bytes, n, at, h->n, 4) &&
              sum_piece(bytes, n, at, h->n, 8) && sum_piece(bytes, n, at, h->n, 8);
  const size_t super = *at;
  there = there && sum_piece(bytes, n, at, ns + 1, 4) && sum_piece(bytes, n, at, ns, 4);
  const size_t lptr = *at;
  there = there && sum_piece(bytes, n, at, ns + 1, 8);
  there = there && sum_piece(bytes, n, at, h->lrow_count, 4);
  size_t uptr = lptr;
  if (there && h->ucol_count >= 0) {
    uptr = *at;
    there = sum_piece(bytes, n, at, ns + 1, 8) && sum_piece(bytes, n, at, h->ucol_count, 4);
  }
  there = there && sum_piece(bytes, n, at, (int64_t)h->n_blocks + 1, 4);
  if (there && h->off_count >= 0)
    there = sum_piece(bytes, n, at, h->n + 1, 8) && sum_piece(bytes, n, at, h->off_count, 4);
  if (!there) return 0;
  values[0] = panel_values(bytes, super, lptr, h->n_super, 1);
  values[1] = panel_values(bytes, super, uptr, h->n_super, 0);
  return 1;
}

/* Those of factors that are solved element by element: permutations, scalings, L and U by columns. */
static void forge_triangles(uint8_t *bytes, size_t n, const gi_store_header *h)
{
  const int64_t entries[2] = {h->lrow_count, h->ucol_count};
  size_t at = sizeof *h;
  int there = sum_piece(bytes, n, &at, h->n, 4) && sum_piece(bytes, n, &at, h->n, 4) &&
              sum_piece(bytes, n, &at, h->n, 8) && sum_piece(bytes, n, &at, h->n, 8);
  for (int k = 0; k < 2 && there && entries[k] >= 0; k++)
    there = sum_piece(bytes, n, &at, h->n + 1, 8) && sum_piece(bytes, n, &at, entries[k], 4) &&
            sum_piece(bytes, n, &at, entries[k], 8);
}

static void forge(uint8_t *bytes, size_t n)
{
  gi_store_header h;
  size_t at = sizeof h;
  int64_t values[2];
  memcpy(&h, bytes, sizeof h);
  h.sum = gi_checksum(0, &h, offsetof(gi_store_header, sum));
  memcpy(bytes, &h, sizeof h);
  if (h.n < 0 || h.n > FUZZ_MOST_BYTES || h.n_super < 0 || h.n_super > FUZZ_MOST_BYTES) return;
  if (h.version == GI_STORE_VERSION_TRIANGLES) {
    forge_triangles(bytes, n, &h);
    return;
  }
  if (!forge_structure(bytes, n, &h, &at, values)) return;
  const size_t value = h.type == GABLE_TYPE_S ? sizeof(float) : sizeof(double);
  int there = sum_piece(bytes, n, &at, values[0], value) && sum_piece(bytes, n, &at, h.n, value);
  if (there && h.kind == GI_LU) there = sum_piece(bytes, n, &at, values[1], value);
  if (there && h.kind == GI_LDLT) there = sum_piece(bytes, n, &at, h.n, value);
  if (there && h.kind != GI_CHOLESKY) there = sum_piece(bytes, n, &at, h.n, sizeof(gable_idx));
  if (there && h.off_count >= 0) sum_piece(bytes, n, &at, h.off_count, value);
}

/* The matrices whose factors the corpus holds, read once. */
enum { MATRICES = 3 };

static const gable_matrix_view *matrices(void)
{
  static const char *const paths[MATRICES] = {"tests/fuzz/factor-lu.mtx", "tests/fuzz/factor-spd.mtx",
                                              "tests/fuzz/factor-saddle.mtx"};
  static gable_matrix *whole[MATRICES];
  static gable_matrix_view views[MATRICES] = {GABLE_MATRIX_VIEW_INIT, GABLE_MATRIX_VIEW_INIT, GABLE_MATRIX_VIEW_INIT};
  static gable_context *ctx;
  if (ctx) return views;
  MUST(!gable_context_create("cpu", NULL, &ctx));
  for (int k = 0; k < MATRICES; k++) {
    gable_matrix *a = NULL;
    MUST(!gable_matrix_read(ctx, paths[k], NULL, &a));
    MUST(!gable_matrix_expand(a, &whole[k]));
    MUST(!gable_matrix_get_view(whole[k], &views[k]));
    gable_matrix_destroy(&a);
  }
  return views;
}

/* What can be asked of a factor besides solves. */
static void ask(const gable_solver *s, gable_solver_work *w)
{
  gable_factors *f = NULL;
  double real;
  int64_t integer;
  MUST(!gable_solver_get(s, GABLE_SOLVER_LOG_ABS_DETERMINANT, &real, sizeof real));
  MUST(!gable_solver_get(s, GABLE_SOLVER_SIGN_DETERMINANT, &integer, sizeof integer));
  MUST(!gable_solver_get(s, GABLE_SOLVER_MEMORY_PREDICTED, &integer, sizeof integer));
  MUST(!gable_solver_rcond(s, w, &real));
  const gable_status status = gable_solver_export(s, &f);
  MUST(!status || status == GABLE_ERR_MEMORY);
  gable_factors_destroy(&f);
}

/* What a user does next. */
static void use_factor(gable_solver *s, const gable_matrix_view *a)
{
  double b[64], x[64];
  const gable_idx n = a->n_cols;
  gable_solver_work *w = NULL;
  gable_vectors_view vb = GABLE_VECTORS_VIEW_INIT, vx;
  MUST(n <= 64);
  for (int k = 0; k < 64; k++) b[k] = 1;
  vb.n = n;
  vb.ld = n;
  vb.data = b;
  vx = vb;
  vx.data = x;
  gable_status status = gable_solver_work_create(s, 1, &w);
  MUST(!status || status == GABLE_ERR_MEMORY);
  for (int op = 0; op < 2 && !status; op++) {
    for (int factors = 1; factors <= GABLE_FACTOR_ALL; factors++)
      MUST(!gable_solver_apply(s, w, (gable_op)op, factors, &vb, &vx));
    const gable_status solved = gable_solver_solve(s, w, (gable_op)op, &vb, &vx);
    MUST(!solved || solved == GABLE_ERR_TOLERANCE);
  }
  if (!status) ask(s, w);
  gable_solver_work_destroy(&w);
  for (int reuse = GABLE_REUSE_ALL; reuse >= GABLE_REUSE_ROWS; reuse--) {
    status = gable_solver_factor(s, a->val, (gable_reuse)reuse);
    MUST(!status || status == GABLE_ERR_MEMORY || status == GABLE_ERR_SINGULAR || status == GABLE_ERR_STATE ||
         status == GABLE_ERR_ARGUMENT || status == GABLE_ERR_NOT_FINITE || status == GABLE_ERR_FORMAT);
  }
}

static void load(const gable_matrix_view *a, const uint8_t *bytes, size_t n, const char *where)
{
  gable_context_options options = GABLE_CONTEXT_OPTIONS_INIT;
  gable_context *ctx = NULL;
  gable_solver *s = NULL;
  gi_source *source = NULL;
  options.threads = 1;
  options.allocate = fuzz_allocate;
  options.release = fuzz_release;
  MUST(!gable_context_create(where, &options, &ctx));
  MUST(!gable_solver_create(ctx, NULL, &s));
  gable_status status = gi_source_open_memory(ctx, "the input", bytes, n, &source);
  if (!status) status = gi_store_read(s, a, source);
  MUST(status == GABLE_OK || status == GABLE_ERR_FORMAT || status == GABLE_ERR_MISMATCH || status == GABLE_ERR_MEMORY ||
       status == GABLE_ERR_ARGUMENT);
  if (!status) {
    status = gi_pipeline_prepare(s);
    MUST(!status || status == GABLE_ERR_MEMORY);
  }
  if (!status) use_factor(s, a);
  gi_source_close(&source);
  gable_solver_destroy(&s);
  gable_context_destroy(&ctx);
}

/* Of every eighth input the forged factor is prepared and solved with under a GPU's memory rules. */
enum { MIRROR_OF = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
  const gable_matrix_view *a = matrices();
  for (int k = 0; k < MATRICES; k++) load(&a[k], bytes, n, "cpu");
  uint8_t *copy = n >= sizeof(gi_store_header) ? malloc(n) : NULL;
  if (!copy) return 0;
  memcpy(copy, bytes, n);
  forge(copy, n);
  const char *where = gi_checksum(0, bytes, n) % MIRROR_OF ? "cpu" : "mirror";
  for (int k = 0; k < MATRICES; k++) load(&a[k], copy, n, where);
  free(copy);
  return 0;
}
