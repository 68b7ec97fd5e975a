/* mm_write.c: Matrix Market files: 'array' for what was one, else 'coordinate'; numbers read back exactly. */
#include <string.h>

#include "sparse/file/number.h"
#include "sparse/matrix.h"

enum { LINE_BYTES = 128, COLUMNS_PER_PROGRESS = 4096 };

static const char *field_word(gable_field field)
{
  static const char *const words[] = {"pattern", "real", "integer", "complex"};
  return words[field];
}

static const char *structure_word(gable_structure structure)
{
  static const char *const words[] = {"general", "symmetric", "hermitian", "skew-symmetric", "symmetric"};
  return words[structure];
}

static char *put_value(char *at, const gi_csc *c, gable_off p)
{
  if (c->is_complex) {
    at = gi_format_double(at, c->val[2 * p]);
    *at++ = ' ';
    return gi_format_double(at, c->val[2 * p + 1]);
  }
  return gi_format_double(at, c->val[p]);
}

static gable_status write_column(gi_sink *sink, const gi_csc *c, gable_idx j)
{
  gable_status status = GABLE_OK;
  char *at = NULL;
  for (gable_off p = c->ptr[j]; p < c->ptr[j + 1]; p++) {
    GI_TRY(gi_sink_reserve(sink, LINE_BYTES, &at));
    at = gi_format_int(at, (int64_t)c->idx[p] + 1);
    *at++ = ' ';
    at = gi_format_int(at, (int64_t)j + 1);
    if (c->val) {
      *at++ = ' ';
      at = put_value(at, c, p);
    }
    *at++ = '\n';
    gi_sink_advance(sink, at);
  }
done:
  return status;
}

/* Rows first .. n_rows-1 of column j, those not stored as 0. */
static gable_status write_dense_column(gi_sink *sink, const gi_csc *c, gable_idx j, gable_idx first)
{
  gable_status status = GABLE_OK;
  char *at = NULL;
  gable_off p = c->ptr[j];
  for (gable_idx i = first; i < c->n_rows; i++) {
    GI_TRY(gi_sink_reserve(sink, LINE_BYTES, &at));
    while (p < c->ptr[j + 1] && c->idx[p] < i) p++;
    if (p < c->ptr[j + 1] && c->idx[p] == i) {
      at = put_value(at, c, p);
    } else {
      memcpy(at, "0 0", 3);
      at += c->is_complex ? 3 : 1;
    }
    *at++ = '\n';
    gi_sink_advance(sink, at);
  }
done:
  return status;
}

gable_status gi_mm_write(gi_sink *sink, const gable_matrix *a)
{
  gable_status status = GABLE_OK;
  gi_csc c = {0};
  gable_structure structure = gi_matrix_file_structure(a);
  int own = 0, dense = a->dense && a->csc.val;
  GI_TRY(gi_matrix_file_part(a, &c, &own));
  GI_TRY(gi_sink_text(sink, "%%%%MatrixMarket matrix %s %s %s\n", dense ? "array" : "coordinate",
                      field_word(gi_matrix_file_field(a)), structure_word(structure)));
  GI_TRY(gi_sink_text(sink, "%d %d", c.n_rows, c.n_cols));
  if (!dense) GI_TRY(gi_sink_text(sink, " %lld", (long long)c.ptr[c.n_cols]));
  GI_TRY(gi_sink_text(sink, "\n"));
  for (gable_idx j = 0; j < c.n_cols; j++) {
    gable_idx first = structure == GABLE_STRUCTURE_GENERAL ? 0 : structure == GABLE_STRUCTURE_SKEW ? j + 1 : j;
    if (j % COLUMNS_PER_PROGRESS == 0) GI_TRY(gi_sink_progress(sink, (double)j / c.n_cols));
    if (dense)
      GI_TRY(write_dense_column(sink, &c, j, first));
    else
      GI_TRY(write_column(sink, &c, j));
  }
done:
  if (own) gi_csc_release(a->ctx, &c);
  return status;
}
