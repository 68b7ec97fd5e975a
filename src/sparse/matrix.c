/* matrix.c: gable_matrix, and the reader for the format that a file's first bytes show. */
#include "sparse/matrix.h"

#include <math.h>
#include <string.h>

gable_status gi_matrix_create(gable_context *ctx, gable_matrix **out)
{
  gable_status status = GABLE_OK;
  gable_matrix *a = NULL;
  GI_ALLOC_ZERO(ctx, a, 1);
  a->ctx = ctx;
  *out = a;
done:
  return status;
}

gable_status gi_check_field(const gi_source *source, const gable_read_options *options, gable_field field, int64_t byte)
{
  gable_status status = GABLE_OK;
  const gi_source_position position = gi_source_position_of(source, byte);
  GI_REQUIRE(field != GABLE_FIELD_COMPLEX || options->accept_complex, GABLE_ERR_FORMAT,
             "%s%s: a complex matrix, where real values are needed", gi_source_name(source), position.text);
  GI_REQUIRE(field != GABLE_FIELD_PATTERN || options->accept_pattern, GABLE_ERR_FORMAT,
             "%s%s: a pattern without values, where values are needed", gi_source_name(source), position.text);
done:
  return status;
}

gable_status gi_check_side(const gi_source *source, gable_structure structure, gable_idx i, gable_idx j,
                           const double *value, int words, gable_part *part)
{
  gable_status status = GABLE_OK;
  const char *name = gi_source_name(source);
  long long line = (long long)gi_source_line_number(source);
  if (i == j) {
    int zero = !value || (value[0] == 0 && (words == 1 || value[1] == 0));
    GI_REQUIRE(structure != GABLE_STRUCTURE_SKEW || zero, GABLE_ERR_FORMAT,
               "%s:%lld: a skew-symmetric matrix has no diagonal", name, line);
    GI_REQUIRE(structure != GABLE_STRUCTURE_HERMITIAN || words < 2 || value[1] == 0, GABLE_ERR_FORMAT,
               "%s:%lld: the diagonal of a hermitian matrix is real", name, line);
  } else {
    gable_part side = i > j ? GABLE_PART_LOWER : GABLE_PART_UPPER;
    if (*part == GABLE_PART_FULL) *part = side;
    GI_REQUIRE(*part == side, GABLE_ERR_FORMAT,
               "%s:%lld: entry (%d, %d): a symmetric file holds one triangle, and it began with the other", name, line,
               i + 1, j + 1);
  }
done:
  return status;
}

gable_status gi_check_dimensions(const gi_source *source, int64_t n_rows, int64_t n_cols, int64_t count, int64_t byte)
{
  gable_status status = GABLE_OK;
  const int64_t larger = n_rows > n_cols ? n_rows : n_cols;
  GI_REQUIRE(larger <= GI_UNCHECKED_DIMENSION || larger / GI_MOST_EMPTY <= count, GABLE_ERR_LIMIT,
             "%s%s: %lld by %lld for %lld entries: the header cannot be right", gi_source_name(source),
             gi_source_position_of(source, byte).text, (long long)n_rows, (long long)n_cols, (long long)count);
done:
  return status;
}

gable_structure gi_matrix_structure(const gable_matrix *a)
{
  const int as_symmetric = a->structure == GABLE_STRUCTURE_HERMITIAN && a->field != GABLE_FIELD_COMPLEX;
  return as_symmetric ? GABLE_STRUCTURE_SYMMETRIC : a->structure;
}

gable_structure gi_matrix_file_structure(const gable_matrix *a)
{
  return a->part == GABLE_PART_FULL ? GABLE_STRUCTURE_GENERAL : gi_matrix_structure(a);
}

gable_field gi_matrix_file_field(const gable_matrix *a)
{
  const double beyond = 0x1p53; /* the integers below are doubles, all of them */
  if (a->field != GABLE_FIELD_INTEGER) return a->field;
  for (gable_off p = 0; p < a->csc.ptr[a->csc.n_cols]; p++)
    if (!(fabs(a->csc.val[p]) < beyond)) return GABLE_FIELD_REAL; /* NaN too */
  return GABLE_FIELD_INTEGER;
}

gable_status gi_matrix_file_part(const gable_matrix *a, gi_csc *out, int *own)
{
  gable_status status = GABLE_OK;
  *own = 0;
  *out = a->csc;
  if (gi_matrix_file_structure(a) == GABLE_STRUCTURE_GENERAL || a->part == GABLE_PART_LOWER) goto done;
  *out = (gi_csc){0};
  *own = 1;
  GI_TRY(gi_csc_transpose(a->ctx, &a->csc, out));
  gable_off n = out->ptr[out->n_cols];
  if (out->val && a->structure == GABLE_STRUCTURE_SKEW)
    for (gable_off p = 0; p < n * gi_csc_words(out); p++) out->val[p] *= -1;
  if (out->is_complex && a->structure == GABLE_STRUCTURE_HERMITIAN)
    for (gable_off p = 0; p < n; p++) out->val[2 * p + 1] *= -1;
done:
  return status;
}

static int begins_with(const char *bytes, size_t n, const char *word)
{
  size_t k = 0;
  for (; word[k]; k++)
    if (k >= n || (bytes[k] | 0x20) != (word[k] | 0x20)) return 0;
  return 1;
}

gable_status gi_matrix_read(gable_context *ctx, gi_source *source, const gable_read_options *options,
                            gable_matrix **out)
{
  gable_status status = GABLE_OK;
  gable_matrix *a = NULL;
  const char *bytes;
  size_t n;
  GI_TRY(gi_source_peek(source, &bytes, &n));
  GI_REQUIRE(n > 0, GABLE_ERR_FORMAT, "%s: the file is empty", gi_source_name(source));
  GI_TRY(gi_matrix_create(ctx, &a));
  if (gi_is_binary(bytes, n)) {
    GI_TRY(gi_binary_read(source, options, a));
  } else if (begins_with(bytes, n, "%%MatrixMarket")) {
    GI_TRY(gi_mm_read(source, options, a));
  } else {
    GI_REQUIRE(
        gi_is_rb(bytes, n), GABLE_ERR_FORMAT,
        "%s:1: neither a Matrix Market (it begins with %%%%MatrixMarket), nor a Rutherford-Boeing, nor a Gable file",
        gi_source_name(source));
    GI_TRY(gi_rb_read(source, options, a));
  }
  GI_TRY(gi_matrix_check(source, options, a));
  *out = a;
  a = NULL;
done:
  gable_matrix_destroy(&a);
  return status;
}

void gable_matrix_destroy(gable_matrix **a)
{
  if (!a || !*a) return;
  gable_context *ctx = (*a)->ctx;
  gi_csc_release(ctx, &(*a)->csc);
  gi_free(ctx, *a);
  *a = NULL;
}
