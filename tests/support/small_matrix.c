#include "support/small_matrix.h"

#include "support/test.h"

static double random_value(gi_random *r, gable_field field)
{
  double u = 2 * gi_random_unit(r) - 1;
  if (field == GABLE_FIELD_INTEGER) return (double)(int64_t)(u * (gi_random_below(r, 4) ? 100 : 1e15));
  switch (gi_random_below(r, 6)) {
  case 0: return (double)(int64_t)(1000 * u);
  case 1: return u * 1e-300;
  case 2: return u * 1e300;
  case 3: return (double)(int64_t)(1000 * u) / 1000;
  case 4: return gi_random_below(r, 3) ? 5e-324 : 0;
  default: return u;
  }
}

static void put_value(gi_random *r, gi_csc *c, gable_off q, gable_matrix *a, int diagonal)
{
  int words = gi_csc_words(c);
  for (int w = 0; w < words; w++) c->val[words * q + w] = random_value(r, a->field);
  if (!diagonal) return;
  if (a->structure == GABLE_STRUCTURE_HERMITIAN && words == 2) c->val[2 * q + 1] = 0;
}

static int is_stored(const gable_matrix *a, gable_idx i, gable_idx j)
{
  if (a->structure == GABLE_STRUCTURE_SKEW && i == j) return 0;
  return !((a->part == GABLE_PART_LOWER && i < j) || (a->part == GABLE_PART_UPPER && i > j));
}

gable_matrix *small_matrix(gable_context *ctx, gi_random *r, gable_idx n_rows, gable_idx n_cols, double density,
                           gable_field field, gable_structure structure, gable_part part)
{
  gable_matrix *a = NULL;
  gable_off q = 0;
  CHECK_OK(gi_matrix_create(ctx, &a));
  a->field = field;
  a->structure = structure;
  a->part = part;
  int words = field == GABLE_FIELD_PATTERN ? 0 : field == GABLE_FIELD_COMPLEX ? 2 : 1;
  CHECK_OK(gi_csc_init(ctx, n_rows, n_cols, (gable_off)n_rows * n_cols, words, &a->csc));
  for (gable_idx j = 0; j < n_cols; j++) {
    for (gable_idx i = 0; i < n_rows; i++) {
      if (!is_stored(a, i, j) || gi_random_unit(r) > density) continue;
      a->csc.idx[q] = i;
      put_value(r, &a->csc, q++, a, i == j);
    }
    a->csc.ptr[j + 1] = q;
  }
  return a;
}

void check_same_entries(const gi_csc *a, const gi_csc *b, const char *what)
{
  CHECK(a->n_rows == b->n_rows && a->n_cols == b->n_cols, "%s: %d x %d and %d x %d", what, a->n_rows, a->n_cols,
        b->n_rows, b->n_cols);
  int words = gi_csc_words(a);
  CHECK(words == gi_csc_words(b) || a->ptr[a->n_cols] == 0, "%s: %d and %d words a value", what, words,
        gi_csc_words(b));
  for (gable_idx j = 0; j < a->n_cols; j++) {
    CHECK(a->ptr[j + 1] == b->ptr[j + 1], "%s: column %d ends at %lld and %lld", what, j, (long long)a->ptr[j + 1],
          (long long)b->ptr[j + 1]);
    for (gable_off p = a->ptr[j]; p < a->ptr[j + 1]; p++) {
      CHECK(a->idx[p] == b->idx[p], "%s: column %d has rows %d and %d", what, j, a->idx[p], b->idx[p]);
      for (int w = 0; w < words; w++)
        CHECK(a->val[words * p + w] == b->val[words * p + w], "%s: (%d, %d) is %.17g and %.17g", what, a->idx[p], j,
              a->val[words * p + w], b->val[words * p + w]);
    }
  }
}
