/* rb_write.c: Rutherford-Boeing files; values with as many digits as they need, in fields of 25 characters. */
#include <stdio.h>
#include <string.h>

#include "sparse/file/number.h"
#include "sparse/matrix.h"

/* A blank before each value: not every reader counts columns. */
enum { LINE = 80, VALUE_WIDTH = GI_DOUBLE_CHARS + 1 };

static int digits_of(int64_t k)
{
  int n = 1;
  while (k /= 10) n++;
  return n;
}

/* Fields of one width, as many a line as fit into 80 columns. */
typedef struct fields {
  gi_sink *sink;
  int width, per_line, taken;
} fields;

static int64_t lines_of(const fields *f, int64_t count)
{
  return (count + f->per_line - 1) / f->per_line;
}

static fields fields_of(gi_sink *sink, int width)
{
  return (fields){sink, width, LINE / width, 0};
}

static gable_status put_field(fields *f, const char *text, size_t n)
{
  gable_status status = GABLE_OK;
  char *at = NULL;
  GI_REQUIRE(n <= (size_t)f->width, GABLE_ERR_LIMIT, "%.*s is wider than a field of %d characters", (int)n, text,
             f->width);
  GI_TRY(gi_sink_reserve(f->sink, LINE, &at));
  memset(at, ' ', (size_t)f->width - n);
  memcpy(at + f->width - n, text, n);
  at += f->width;
  if (++f->taken == f->per_line) {
    *at++ = '\n';
    f->taken = 0;
  }
  gi_sink_advance(f->sink, at);
done:
  return status;
}

static gable_status put_integer(fields *f, int64_t k)
{
  char text[GI_NUMBER_CHARS];
  return put_field(f, text, (size_t)(gi_format_int(text, k) - text));
}

/* Fortran wants a point in every real number. */
static gable_status put_real(fields *f, double x)
{
  char text[GI_NUMBER_CHARS + 1];
  size_t n = (size_t)(gi_format_double(text, x) - text), mantissa = strcspn(text, "en");
  if (!memchr(text, '.', n) && text[mantissa] != 'n') {
    memmove(text + mantissa + 1, text + mantissa, n - mantissa);
    text[mantissa] = '.';
    n++;
  }
  return put_field(f, text, n);
}

static gable_status end_fields(fields *f)
{
  return f->taken ? gi_sink_write(f->sink, "\n", 1) : GABLE_OK;
}

static const char *type_of(const gable_matrix *a, gable_field field, char *type)
{
  static const char kinds[] = "pric", shapes[] = "ushzs";
  type[0] = kinds[field];
  type[1] = gi_matrix_file_structure(a) == GABLE_STRUCTURE_GENERAL && a->csc.n_rows != a->csc.n_cols
                ? 'r'
                : shapes[gi_matrix_file_structure(a)];
  type[2] = 'a';
  type[3] = 0;
  return type;
}

static int widest_integer(const gi_csc *c)
{
  int width = 1;
  for (gable_off p = 0; p < c->ptr[c->n_cols]; p++) {
    int n = digits_of((int64_t)c->val[p]) + (c->val[p] < 0);
    if (n > width) width = n;
  }
  return width + 1;
}

static gable_status write_header(const gable_matrix *a, gable_field field, const gi_csc *c, const fields *ptr,
                                 const fields *idx, const fields *val)
{
  gable_status status = GABLE_OK;
  gable_off nnz = c->ptr[c->n_cols];
  int64_t lines[3] = {lines_of(ptr, (int64_t)c->n_cols + 1), lines_of(idx, nnz), lines_of(val, nnz * gi_csc_words(c))};
  char type[4], format[3][24];
  gi_sink *sink = ptr->sink;
  snprintf(format[0], sizeof format[0], "(%dI%d)", ptr->per_line, ptr->width);
  snprintf(format[1], sizeof format[1], "(%dI%d)", idx->per_line, idx->width);
  snprintf(format[2], sizeof format[2], field == GABLE_FIELD_INTEGER ? "(%dI%d)" : "(%dE%d.16)", val->per_line,
           val->width);
  GI_TRY(gi_sink_text(sink, "%-72s%-8s\n", "a matrix written by Gable", "gable"));
  GI_TRY(gi_sink_text(sink, "%14lld %13lld %13lld %13lld\n", (long long)(lines[0] + lines[1] + lines[2]),
                      (long long)lines[0], (long long)lines[1], (long long)lines[2]));
  GI_TRY(gi_sink_text(sink, "%s%11s%14d %13d %13lld %13d\n", type_of(a, field, type), "", c->n_rows, c->n_cols,
                      (long long)nnz, 0));
  GI_TRY(gi_sink_text(sink, "%-16s%-16s%-20s\n", format[0], format[1], c->val ? format[2] : ""));
done:
  return status;
}

gable_status gi_rb_write(gi_sink *sink, const gable_matrix *a)
{
  gable_status status = GABLE_OK;
  gi_csc c = {0};
  int own = 0;
  GI_TRY(gi_matrix_file_part(a, &c, &own));
  gable_off nnz = c.ptr[c.n_cols];
  const gable_field field = gi_matrix_file_field(a);
  const int integers = field == GABLE_FIELD_INTEGER;
  fields ptr = fields_of(sink, digits_of(nnz + 1) + 1), idx = fields_of(sink, digits_of(c.n_rows) + 1);
  fields val = fields_of(sink, integers ? widest_integer(&c) : VALUE_WIDTH);
  GI_TRY(write_header(a, field, &c, &ptr, &idx, &val));
  for (gable_idx j = 0; j <= c.n_cols; j++) GI_TRY(put_integer(&ptr, c.ptr[j] + 1));
  GI_TRY(end_fields(&ptr));
  GI_TRY(gi_sink_progress(sink, 0.1));
  for (gable_off p = 0; p < nnz; p++) GI_TRY(put_integer(&idx, (int64_t)c.idx[p] + 1));
  GI_TRY(end_fields(&idx));
  GI_TRY(gi_sink_progress(sink, 0.3));
  for (gable_off p = 0; p < nnz * gi_csc_words(&c); p++)
    GI_TRY(integers ? put_integer(&val, (int64_t)c.val[p]) : put_real(&val, c.val[p]));
  GI_TRY(end_fields(&val));
done:
  if (own) gi_csc_release(a->ctx, &c);
  return status;
}
