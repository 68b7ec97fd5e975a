/* Transposition, permutation, completion and views of random matrices against dense arrays. */
#include "base/random.h"
#include "sparse/csc.h"
#include "support/failing_allocator.h"
#include "support/test.h"

enum { MAX = 24 };

typedef struct dense {
  gable_idx m, n;
  char there[MAX][MAX];
  double re[MAX][MAX], im[MAX][MAX];
} dense;

static dense random_dense(gi_random *r, gable_idx m, gable_idx n, gable_part part)
{
  dense d = {.m = m, .n = n};
  double share = gi_random_unit(r);
  for (gable_idx i = 0; i < m; i++)
    for (gable_idx j = 0; j < n; j++) {
      if (gi_random_unit(r) > share || (part == GABLE_PART_LOWER && i < j) || (part == GABLE_PART_UPPER && i > j))
        continue;
      d.there[i][j] = 1;
      d.re[i][j] = gi_random_unit(r);
      d.im[i][j] = gi_random_unit(r);
    }
  return d;
}

static void from_dense(gable_context *ctx, const dense *d, int words, gi_csc *a)
{
  gable_off nnz = 0;
  for (gable_idx i = 0; i < d->m; i++)
    for (gable_idx j = 0; j < d->n; j++) nnz += d->there[i][j];
  CHECK_OK(gi_csc_init(ctx, d->m, d->n, nnz, words, a));
  nnz = 0;
  for (gable_idx j = 0; j < d->n; j++) {
    for (gable_idx i = 0; i < d->m; i++) {
      if (!d->there[i][j]) continue;
      a->idx[nnz] = i;
      if (words) a->val[words * nnz] = d->re[i][j];
      if (words == 2) a->val[2 * nnz + 1] = d->im[i][j];
      nnz++;
    }
    a->ptr[j + 1] = nnz;
  }
}

static void check_equal(const gi_csc *a, const dense *d, int words, const char *what)
{
  CHECK(a->n_rows == d->m && a->n_cols == d->n && a->ptr[0] == 0 && gi_csc_words(a) == words, "%s", what);
  for (gable_idx j = 0; j < d->n; j++) {
    gable_off p = a->ptr[j];
    for (gable_idx i = 0; i < d->m; i++) {
      if (!d->there[i][j]) continue;
      CHECK(p < a->ptr[j + 1] && a->idx[p] == i, "%s: entry (%d,%d)", what, i, j);
      if (words) CHECK(a->val[words * p] == d->re[i][j], "%s: value (%d,%d)", what, i, j);
      if (words == 2) CHECK(a->val[2 * p + 1] == d->im[i][j], "%s: value (%d,%d)", what, i, j);
      p++;
    }
    CHECK(p == a->ptr[j + 1], "%s: column %d", what, j);
  }
}

static void random_permutation(gi_random *r, gable_idx *perm, gable_idx n)
{
  for (gable_idx i = 0; i < n; i++) perm[i] = i;
  for (gable_idx i = n - 1; i > 0; i--) {
    gable_idx k = (gable_idx)gi_random_below(r, i + 1), t = perm[i];
    perm[i] = perm[k];
    perm[k] = t;
  }
}

static void transposes_and_permutes(gable_context *ctx, gi_random *r, int words)
{
  dense d = random_dense(r, (gable_idx)gi_random_below(r, MAX), (gable_idx)gi_random_below(r, MAX), GABLE_PART_FULL);
  dense t = {.m = d.n, .n = d.m}, q = {.m = d.m, .n = d.n};
  gable_idx rows[MAX], cols[MAX];
  gi_csc a = {0}, out = {0};
  random_permutation(r, rows, d.m);
  random_permutation(r, cols, d.n);
  for (gable_idx i = 0; i < d.m; i++)
    for (gable_idx j = 0; j < d.n; j++) {
      t.there[j][i] = d.there[i][j], t.re[j][i] = d.re[i][j], t.im[j][i] = d.im[i][j];
      q.there[i][j] = d.there[rows[i]][cols[j]];
      q.re[i][j] = d.re[rows[i]][cols[j]], q.im[i][j] = d.im[rows[i]][cols[j]];
    }
  from_dense(ctx, &d, words, &a);
  CHECK_OK(gi_csc_copy(ctx, &a, &out));
  check_equal(&out, &d, words, "copy");
  gi_csc_release(ctx, &out);
  CHECK_OK(gi_csc_transpose(ctx, &a, &out));
  check_equal(&out, &t, words, "transpose");
  gi_csc_release(ctx, &out);
  CHECK_OK(gi_csc_permute(ctx, &a, NULL, NULL, &out));
  check_equal(&out, &d, words, "permute by the identity");
  gi_csc_release(ctx, &out);
  CHECK_OK(gi_csc_permute(ctx, &a, rows, cols, &out));
  check_equal(&out, &q, words, "permute");
  gi_csc_release(ctx, &out);
  gi_csc_release(ctx, &out);
  gi_csc_release(ctx, &a);
}

static void expands(gable_context *ctx, gi_random *r, int words, gable_structure structure, gable_part part)
{
  gable_idx n = (gable_idx)gi_random_below(r, MAX);
  dense d = random_dense(r, n, n, part), e = d;
  double re = structure == GABLE_STRUCTURE_SKEW ? -1 : 1;
  double im = structure == GABLE_STRUCTURE_SKEW || structure == GABLE_STRUCTURE_HERMITIAN ? -1 : 1;
  gi_csc a = {0}, out = {0};
  for (gable_idx i = 0; i < n; i++)
    for (gable_idx j = 0; j < n; j++)
      if (i != j && d.there[i][j]) e.there[j][i] = 1, e.re[j][i] = re * d.re[i][j], e.im[j][i] = im * d.im[i][j];
  from_dense(ctx, &d, words, &a);
  CHECK_OK(gi_csc_expand(ctx, &a, structure, &out));
  check_equal(&out, structure == GABLE_STRUCTURE_GENERAL ? &d : &e, words, "expand");
  gi_csc_release(ctx, &out);
  gi_csc_release(ctx, &a);
}

/* Arrays of a view in the format, base and types that are asked for. */
static void views(gable_context *ctx, gi_random *r, gable_format format, int base, gable_type offsets,
                  gable_type values, gable_part part)
{
  gable_idx n = (gable_idx)gi_random_below(r, MAX);
  dense d = random_dense(r, n, n, GABLE_PART_FULL), kept = d;
  int32_t ptr32[MAX + 1];
  int64_t ptr64[MAX + 1];
  gable_idx idx[MAX * MAX];
  double val[2 * MAX * MAX];
  float low[2 * MAX * MAX];
  int words = values == GABLE_TYPE_C || values == GABLE_TYPE_Z ? 2 : 1,
      narrow = values == GABLE_TYPE_S || values == GABLE_TYPE_C;
  gable_off nnz = 0;
  ptr32[0] = base, ptr64[0] = base;
  for (gable_idx k = 0; k < n; k++) {
    for (gable_idx l = 0; l < n; l++) {
      gable_idx i = format == GABLE_FORMAT_CSR ? k : l, j = format == GABLE_FORMAT_CSR ? l : k;
      if (!d.there[i][j]) continue;
      idx[nnz] = l + base;
      val[words * nnz] = d.re[i][j], low[words * nnz] = (float)d.re[i][j];
      if (words == 2) val[2 * nnz + 1] = d.im[i][j], low[2 * nnz + 1] = (float)d.im[i][j];
      nnz++;
      if (narrow) kept.re[i][j] = (float)d.re[i][j], kept.im[i][j] = (float)d.im[i][j];
      if ((part == GABLE_PART_LOWER && i < j) || (part == GABLE_PART_UPPER && i > j)) kept.there[i][j] = 0;
    }
    ptr64[k + 1] = nnz + base;
    ptr32[k + 1] = (int32_t)(nnz + base);
  }
  gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
  v.n_rows = v.n_cols = n;
  v.format = format, v.base = base, v.offset_type = offsets, v.value_type = values, v.part = part;
  v.ptr = offsets == GABLE_TYPE_I32 ? (const void *)ptr32 : (const void *)ptr64;
  v.idx = idx, v.val = narrow ? (const void *)low : (const void *)val;
  gi_csc out = {0};
  CHECK_OK(gi_csc_from_view(ctx, &v, &out));
  check_equal(&out, &kept, words, "view");
  gi_csc_release(ctx, &out);
  v.val = NULL;
  CHECK_OK(gi_csc_from_view(ctx, &v, &out));
  check_equal(&out, &kept, 0, "pattern view");
  gi_csc_release(ctx, &out);
}

static void refuses(gable_context *ctx)
{
  int32_t ptr[4] = {0, 2, 2, 3};
  gable_idx idx[3] = {0, 2, 1};
  gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
  gi_csc out = {0};
  v.n_rows = v.n_cols = 3, v.offset_type = GABLE_TYPE_I32, v.ptr = ptr, v.idx = idx;
  CHECK_OK(gi_csc_from_view(ctx, &v, &out));
  gi_csc_release(ctx, &out);
  idx[1] = 3;
  CHECK(gi_csc_from_view(ctx, &v, &out) == GABLE_ERR_ARGUMENT && strstr(gable_last_error(), "idx[1] is 3 in row 0"),
        "%s", gable_last_error());
  idx[1] = 0;
  CHECK(gi_csc_from_view(ctx, &v, &out) == GABLE_ERR_ARGUMENT && strstr(gable_last_error(), "must increase"), "%s",
        gable_last_error());
  idx[1] = 2, ptr[1] = 4;
  CHECK(gi_csc_from_view(ctx, &v, &out) == GABLE_ERR_ARGUMENT && strstr(gable_last_error(), "decreases after row 1"),
        "%s", gable_last_error());
  ptr[1] = 2, ptr[0] = 1;
  CHECK(gi_csc_from_view(ctx, &v, &out) == GABLE_ERR_ARGUMENT && strstr(gable_last_error(), "ptr[0] is 1"), "%s",
        gable_last_error());
  gi_csc both = {.n_rows = 3, .n_cols = 3};
  both.ptr = (gable_off[]){0, 1, 2, 2}, both.idx = (gable_idx[]){1, 0};
  CHECK(gi_csc_expand(ctx, &both, GABLE_STRUCTURE_SYMMETRIC, &out) == GABLE_ERR_ARGUMENT, "two triangles");
}

static gable_status everything(gable_context *ctx, const gi_csc *a)
{
  gable_status status = GABLE_OK;
  gi_csc out[3] = {{0}};
  gable_idx perm[MAX];
  for (gable_idx i = 0; i < a->n_rows; i++) perm[i] = a->n_rows - 1 - i;
  GI_TRY(gi_csc_transpose(ctx, a, &out[0]));
  GI_TRY(gi_csc_permute(ctx, a, perm, perm, &out[1]));
  GI_TRY(gi_csc_expand(ctx, a, GABLE_STRUCTURE_SYMMETRIC, &out[2]));
done:
  for (int k = 0; k < 3; k++) gi_csc_release(ctx, &out[k]);
  return status;
}

static void survives_lack_of_memory(gi_random *r, failing_mode mode)
{
  failing_allocator memory = failing_allocator_init();
  gable_context_options options = failing_allocator_options(&memory);
  gable_context *ctx = NULL;
  gi_csc a = {0};
  CHECK_OK(gable_context_create("cpu", &options, &ctx));
  dense d = random_dense(r, MAX, MAX, GABLE_PART_LOWER);
  from_dense(ctx, &d, 1, &a);
  long before = memory.live;
  for (long k = 0;; k++) {
    failing_allocator_arm_mode(&memory, mode, k);
    gable_status status = everything(ctx, &a);
    CHECK(memory.live == before, "allocation %ld leaks", k);
    if (!memory.failures) {
      CHECK_OK(status);
      CHECK(k > 8, "only %ld allocations", k);
      break;
    }
    CHECK(status == GABLE_ERR_MEMORY, "allocation %ld gave %d", k, (int)status);
  }
  gi_csc_release(ctx, &a);
  gable_context_destroy(&ctx);
  CHECK(memory.live == 0);
}

int main(void)
{
  static const gable_type offsets[] = {GABLE_TYPE_I32, GABLE_TYPE_I64},
                          values[] = {GABLE_TYPE_S, GABLE_TYPE_D, GABLE_TYPE_C, GABLE_TYPE_Z};
  gable_context *ctx = NULL;
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  for (uint64_t seed = 1; seed <= 60; seed++) {
    gi_random r = gi_random_seed(seed);
    fprintf(stderr, "seed %d\n", (int)seed);
    for (int words = 0; words <= 2; words++) {
      transposes_and_permutes(ctx, &r, words);
      for (int s = GABLE_STRUCTURE_GENERAL; s <= GABLE_STRUCTURE_SPD; s++) {
        expands(ctx, &r, words, (gable_structure)s, GABLE_PART_LOWER);
        expands(ctx, &r, words, (gable_structure)s, GABLE_PART_UPPER);
      }
    }
    for (int k = 0; k < 96; k++)
      views(ctx, &r, k & 1 ? GABLE_FORMAT_CSR : GABLE_FORMAT_CSC, k >> 1 & 1, offsets[k >> 2 & 1], values[k >> 3 & 3],
            (gable_part)(k / 32));
  }
  refuses(ctx);
  gable_context_destroy(&ctx);
  gi_random r = gi_random_seed(7);
  survives_lack_of_memory(&r, FAIL_FROM);
  survives_lack_of_memory(&r, FAIL_ONE);
  return 0;
}
