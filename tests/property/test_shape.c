/* Structural rank against exhaustive search, level sets and symmetry by definition. */
#include "graph/match/matching_cardinality.h"
#include "graph/shape.h"
#include "support/small_matrix.h"
#include "support/test.h"

enum { SMALL = 7 };

/* Size of a largest matching of columns j.. to the rows that used leaves free. */
static gable_idx try_all(const gi_csc *a, gable_idx j, unsigned used)
{
  if (j == a->n_cols) return 0;
  gable_idx best = try_all(a, j + 1, used);
  for (gable_off p = a->ptr[j]; p < a->ptr[j + 1]; p++) {
    if (used >> a->idx[p] & 1) continue;
    gable_idx size = 1 + try_all(a, j + 1, used | 1u << a->idx[p]);
    if (size > best) best = size;
  }
  return best;
}

static void check_matching(gable_context *ctx, const gi_csc *a, gable_idx expected)
{
  gable_idx *row_of = malloc(((size_t)a->n_cols + 1) * sizeof *row_of), size = -1, pairs = 0;
  char *taken = calloc((size_t)a->n_rows + 1, 1);
  CHECK(row_of && taken);
  CHECK_OK(gi_matching_cardinality(ctx, a->n_rows, a->n_cols, a->ptr, a->idx, row_of, &size));
  for (gable_idx j = 0; j < a->n_cols; j++) {
    int stored = 0;
    if (row_of[j] < 0) continue;
    for (gable_off p = a->ptr[j]; p < a->ptr[j + 1]; p++) stored |= a->idx[p] == row_of[j];
    CHECK(stored && !taken[row_of[j]], "column %d has row %d", j, row_of[j]);
    taken[row_of[j]] = 1;
    pairs++;
  }
  CHECK(pairs == size && size == expected, "%d pairs, size %d, expected %d", pairs, size, expected);
  free(row_of);
  free(taken);
}

static int is_entry(const gi_csc *a, gable_idx i, gable_idx j)
{
  for (gable_off p = a->ptr[j]; p < a->ptr[j + 1]; p++)
    if (a->idx[p] == i) return 1;
  return 0;
}

/* The longest path of dependencies that ends in row i. */
static gable_idx level_of(const gi_csc *a, gable_part triangle, gable_idx i)
{
  gable_idx level = 0;
  for (gable_idx j = 0; j < a->n_cols; j++) {
    if (!is_entry(a, i, j) || (triangle == GABLE_PART_LOWER ? j >= i : j <= i)) continue;
    gable_idx below = level_of(a, triangle, j) + 1;
    if (below > level) level = below;
  }
  return level;
}

static void check_levels(const gi_csc *a, gable_part triangle)
{
  gable_idx level[3 * SMALL] = {0}, largest = -1;
  gable_idx count = gi_triangle_levels(a, triangle, level);
  for (gable_idx i = 0; i < a->n_cols; i++) {
    gable_idx expected = level_of(a, triangle, i);
    CHECK(level[i] == expected, "row %d is in level %d, expected %d", i, level[i], expected);
    if (expected > largest) largest = expected;
  }
  CHECK(count == largest + 1, "%d levels, expected %d", count, largest + 1);
}

static void check_shape(gable_context *ctx, const gable_matrix *m)
{
  gable_matrix_shape s = GABLE_MATRIX_SHAPE_INIT;
  const gi_csc *a = &m->csc;
  gable_idx lower = 0, upper = 0, off = 0, mirrored = 0;
  (void)ctx;
  CHECK_OK(gable_matrix_describe(m, &s));
  for (gable_idx j = 0; j < a->n_cols; j++)
    for (gable_off p = a->ptr[j]; p < a->ptr[j + 1]; p++) {
      gable_idx i = a->idx[p];
      if (i - j > lower) lower = i - j;
      if (j - i > upper) upper = j - i;
      if (a->n_rows == a->n_cols && i != j) off++, mirrored += is_entry(a, j, i);
    }
  CHECK(s.lower_bandwidth == lower && s.upper_bandwidth == upper, "%d %d", s.lower_bandwidth, s.upper_bandwidth);
  if (a->n_rows == a->n_cols)
    CHECK(s.pattern_symmetry == (off ? (double)mirrored / off : 1), "%g, %d of %d", s.pattern_symmetry, mirrored, off);
}

/* A chain in which each column but the last could take its first row, so that every pair moves: one augmenting path of
 * length n. */
static void long_path(gable_context *ctx, gable_idx n)
{
  gi_csc a = {0};
  gable_off q = 0;
  CHECK_OK(gi_csc_init(ctx, n, n, 2 * (gable_off)n - 1, 0, &a));
  for (gable_idx j = 0; j < n; j++) {
    a.idx[q++] = j + 1 < n ? j : 0;
    if (j + 1 < n) a.idx[q++] = j + 1;
    a.ptr[j + 1] = q;
  }
  check_matching(ctx, &a, n);
  gi_csc_release(ctx, &a);
}

int main(void)
{
  gable_context *ctx = NULL;
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  for (uint64_t seed = 1; seed <= 3000; seed++) {
    gi_random r = gi_random_seed(seed);
    gable_idx m = (gable_idx)gi_random_below(&r, SMALL + 1), n = (gable_idx)gi_random_below(&r, SMALL + 1);
    if (seed % 100 == 0) fprintf(stderr, "seed %d\n", (int)seed);
    gable_matrix *a =
        small_matrix(ctx, &r, m, n, gi_random_unit(&r), GABLE_FIELD_PATTERN, GABLE_STRUCTURE_GENERAL, GABLE_PART_FULL);
    check_matching(ctx, &a->csc, try_all(&a->csc, 0, 0));
    check_shape(ctx, a);
    gable_matrix_destroy(&a);
    n = (gable_idx)gi_random_below(&r, 2 * SMALL);
    a = small_matrix(ctx, &r, n, n, 0.3 * gi_random_unit(&r), GABLE_FIELD_PATTERN, GABLE_STRUCTURE_GENERAL,
                     GABLE_PART_FULL);
    check_levels(&a->csc, GABLE_PART_LOWER);
    check_levels(&a->csc, GABLE_PART_UPPER);
    gable_matrix_destroy(&a);
  }
  long_path(ctx, 1);
  long_path(ctx, 200000);
  gable_context_destroy(&ctx);
  return 0;
}
