#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"

enum { SMALL = 500 };

static void check_matrix(const gable_matrix *a)
{
  const gi_csc *c = &a->csc;
  int words = gi_csc_words(c);
  MUST(c->n_rows >= 0 && c->n_cols >= 0 && c->ptr[0] == 0);
  MUST(words == (a->field == GABLE_FIELD_PATTERN ? 0 : a->field == GABLE_FIELD_COMPLEX ? 2 : 1));
  for (gable_idx j = 0; j < c->n_cols; j++) {
    MUST(c->ptr[j] <= c->ptr[j + 1]);
    gable_idx last = -1;
    for (gable_off p = c->ptr[j]; p < c->ptr[j + 1]; p++) {
      MUST(c->idx[p] > last && c->idx[p] < c->n_rows);
      MUST(a->part != GABLE_PART_LOWER || c->idx[p] >= j);
      MUST(a->part != GABLE_PART_UPPER || c->idx[p] <= j);
      last = c->idx[p];
      for (int w = 0; w < words; w++) MUST(!isnan(c->val[words * p + w]));
    }
  }
}

/* What a user does next. */
static void use_matrix(const gable_matrix *a)
{
  gable_matrix_shape shape = GABLE_MATRIX_SHAPE_INIT;
  gable_matrix *b = NULL;
  if (a->csc.n_rows > SMALL || a->csc.n_cols > SMALL) return;
  gable_status status = gable_matrix_expand(a, &b);
  MUST(!status || status == GABLE_ERR_MEMORY);
  if (!status) check_matrix(b);
  gable_matrix_destroy(&b);
  status = gable_matrix_describe(a, &shape);
  MUST(!status || status == GABLE_ERR_MEMORY);
}

void fuzz_read(fuzz_reader *reader, const uint8_t *bytes, size_t n)
{
  gable_context_options options = GABLE_CONTEXT_OPTIONS_INIT;
  gable_read_options reading = GABLE_READ_OPTIONS_INIT;
  gable_context *ctx = NULL;
  gi_source *source = NULL;
  gable_matrix *a = NULL;
  options.threads = 1;
  options.allocate = fuzz_allocate;
  options.release = fuzz_release;
  reading.accept_complex = 1;
  MUST(!gable_context_create("cpu", &options, &ctx));
  gable_status status = gi_source_open_memory(ctx, "the input", bytes, n, &source);
  if (!status) status = gi_matrix_create(ctx, &a);
  if (!status) status = reader(source, &reading, a);
  if (!status) {
    check_matrix(a);
    use_matrix(a);
  } else {
    MUST(status == GABLE_ERR_MEMORY || strstr(gable_last_error(), "the input"));
  }
  gable_matrix_destroy(&a);
  gi_source_close(&source);
  gable_context_destroy(&ctx);
}
