/* matrix.c: gable_matrix, and the reader for the format that a file's first bytes show. */
#include "sparse/matrix.h"

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

gable_status gi_check_field(const gi_source *source, const gable_read_options *options, gable_field field)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(field != GABLE_COMPLEX || options->accept_complex, GABLE_ERR_FORMAT,
             "%s: a complex matrix, where real values are needed", gi_source_name(source));
  GI_REQUIRE(field != GABLE_PATTERN || options->accept_pattern, GABLE_ERR_FORMAT,
             "%s: a pattern without values, where values are needed", gi_source_name(source));
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
  GI_REQUIRE(begins_with(bytes, n, "%%MatrixMarket"), GABLE_ERR_FORMAT,
             "%s:1: neither Matrix Market, nor Rutherford-Boeing, nor a Gable file", gi_source_name(source));
  GI_TRY(gi_mm_read(source, options, a));
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
