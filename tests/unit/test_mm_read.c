/* What the Matrix Market reader makes of text: every form, symmetry and field, and the liberties that files take. */
#include "sparse/matrix.h"
#include "support/test.h"

static gable_context *ctx;

static gable_matrix *parse(const char *text)
{
  gable_read_options options = GABLE_READ_OPTIONS_INIT;
  gi_source *source = NULL;
  gable_matrix *a = NULL;
  options.accept_complex = 1;
  CHECK_OK(gi_source_open_memory(ctx, "text", text, strlen(text), &source));
  CHECK_OK(gi_matrix_read(ctx, source, &options, &a));
  gi_source_close(&source);
  return a;
}

/* The expanded matrix as text "row column value;", by columns from 1. */
static const char *entries(const char *text)
{
  static char out[2000];
  gable_matrix *a = parse(text), *b = NULL;
  size_t used = 0;
  CHECK_OK(gable_matrix_expand(a, &b));
  const gi_csc *c = &b->csc;
  out[0] = 0;
  for (gable_idx j = 0; j < c->n_cols; j++)
    for (gable_off p = c->ptr[j]; p < c->ptr[j + 1]; p++) {
      used += (size_t)snprintf(out + used, sizeof out - used, "%d %d", c->idx[p] + 1, j + 1);
      for (int w = 0; w < gi_csc_words(c); w++)
        used += (size_t)snprintf(out + used, sizeof out - used, " %g", c->val[gi_csc_words(c) * p + w]);
      used += (size_t)snprintf(out + used, sizeof out - used, ";");
    }
  gable_matrix_destroy(&a);
  gable_matrix_destroy(&b);
  return out;
}

static void gives(const char *text, const char *expected)
{
  const char *got = entries(text);
  CHECK(!strcmp(got, expected), "%s\n  gave '%s', expected '%s'", text, got, expected);
}

#define COORDINATE "%%MatrixMarket matrix coordinate "
#define ARRAY "%%MatrixMarket matrix array "

static void forms(void)
{
  gives(COORDINATE "real general\n2 3 3\n1 1 1.5\n2 3 -2\n2 1 1e2\n", "1 1 1.5;2 1 100;2 3 -2;");
  gives(COORDINATE "integer general\n2 2 2\n2 1 -7\n1 2 +4\n", "2 1 -7;1 2 4;");
  gives(COORDINATE "pattern general\n2 2 2\n2 1\n1 2\n", "2 1;1 2;");
  gives(COORDINATE "real general\n4 2 3\n4 1 1\n3 1 5\n1 2 7\n", "3 1 5;4 1 1;1 2 7;"); /* nearly in order */
  gives(COORDINATE "complex general\n1 1 1\n1 1 2 -3\n", "1 1 2 -3;");
  gives(ARRAY "real general\n2 2\n1\n2\n0\n4\n", "1 1 1;2 1 2;1 2 0;2 2 4;");
  gives(ARRAY "complex general\n1 2\n1 2 3 4\n", "1 1 1 2;1 2 3 4;");
}

static void structures(void)
{
  gives(COORDINATE "real symmetric\n2 2 2\n1 1 1\n2 1 5\n", "1 1 1;2 1 5;1 2 5;");
  gives(COORDINATE "real symmetric\n2 2 2\n1 1 1\n1 2 5\n", "1 1 1;2 1 5;1 2 5;"); /* the upper triangle */
  gives(COORDINATE "real skew-symmetric\n2 2 1\n2 1 5\n", "2 1 5;1 2 -5;");
  gives(COORDINATE "complex hermitian\n2 2 2\n1 1 3 0\n2 1 5 6\n", "1 1 3 0;2 1 5 6;1 2 5 -6;");
  gives(COORDINATE "complex symmetric\n2 2 1\n2 1 5 6\n", "2 1 5 6;1 2 5 6;");
  gives(COORDINATE "complex skew-symmetric\n2 2 1\n2 1 5 6\n", "2 1 5 6;1 2 -5 -6;");
  gives(ARRAY "real symmetric\n2 2\n1\n2\n3\n", "1 1 1;2 1 2;1 2 2;2 2 3;");
  gives(ARRAY "real skew-symmetric\n2 2\n4\n", "2 1 4;1 2 -4;");
  gives(ARRAY "real skew-symmetric\n3 3\n4\n5\n6\n", "2 1 4;3 1 5;1 2 -4;3 2 6;1 3 -5;2 3 -6;");
}

static void liberties(void)
{
  gives("%%matrixmarket MATRIX Coordinate REAL General\r\n% x\r\n\r\n2 2 1\r\n\r\n1 2 3\r\n\r\n", "1 2 3;");
  gives(COORDINATE "real general\n  2\t2   1 \n\t1\t2  3.0D+0  \n% the end\n", "1 2 3;");
  gives(COORDINATE "real general\n2 2 1\n1 2 3", "1 2 3;"); /* no newline at the end */
  gives(COORDINATE "real general\n2 2 3\n1 1 1\n% between\n2 2 1\n1 1 0.5\n", "1 1 1.5;2 2 1;"); /* summed */
  gives(ARRAY "real general\n2 2\n1 2 3\n4\n", "1 1 1;2 1 2;1 2 3;2 2 4;");
  gives(COORDINATE "real general\n0 0 0\n", "");
  gives(COORDINATE "real general\n0 5 0\n", "");
  gives(COORDINATE "real general\n1 1 1\n1 1 -0\n", "1 1 -0;");
  gives(ARRAY "real general\n3 0\n", "");
}

static void says(void)
{
  gable_matrix_info info = GABLE_MATRIX_INFO_INIT;
  gable_matrix *a = parse(COORDINATE "integer symmetric\n3 3 5\n1 1 0\n2 1 3\n2 1 -1\n3 3 1\n3 3 2\n");
  CHECK_OK(gable_matrix_get_info(a, &info));
  CHECK(info.n_rows == 3 && info.nnz == 3 && info.duplicates == 2 && info.explicit_zeros == 1);
  CHECK(info.field == GABLE_FIELD_INTEGER && info.structure == GABLE_STRUCTURE_SYMMETRIC &&
        info.part == GABLE_PART_LOWER && !info.dense);
  gable_matrix_destroy(&a);
  a = parse(COORDINATE "real general\n4 4 0\n"); /* no entries, and yet no pattern */
  CHECK(a->csc.val && a->csc.idx && a->csc.ptr[4] == 0);
  gable_matrix_destroy(&a);
  a = parse(ARRAY "real general\n2 1\n1\n2\n");
  CHECK_OK(gable_matrix_get_info(a, &info));
  CHECK(info.dense && info.nnz == 2);
  gable_matrix_destroy(&a);
}

/* A promise of more than 2^31 entries is legal arithmetic; only the file is too short for it. */
static void large_counts(void)
{
  gable_read_options options = GABLE_READ_OPTIONS_INIT;
  gi_source *source = NULL;
  gable_matrix *a = NULL;
  static const char text[] = COORDINATE "real general\n2000000 2000000 5000000000\n1 1 1\n";
  CHECK_OK(gi_source_open_memory(ctx, "text", text, strlen(text), &source));
  CHECK(gi_matrix_read(ctx, source, &options, &a) == GABLE_ERR_FORMAT && !a);
  CHECK(strstr(gable_last_error(), "promises 5000000000 entries"), "%s", gable_last_error());
  gi_source_close(&source);
}

int main(void)
{
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  forms();
  structures();
  liberties();
  says();
  large_counts();
  gable_context_destroy(&ctx);
  return 0;
}
