/* rb_read.c: Rutherford-Boeing files (I. S. Duff, R. G. Grimes, J. G. Lewis, The Rutherford-Boeing Sparse Matrix
 * Collection, 1997) and the older Harwell-Boeing ones, whose right-hand sides are passed over: the header, and the
 * assembled matrices.  Those that are sums of element matrices: rb_elements.c. */
#include <ctype.h>
#include <string.h>

#include "sparse/file/number.h"
#include "sparse/file/rb_fields.h"

/* The type word of line 3, such as RUA; 0 when it is none. */
static int parse_type(const char *word, gi_rb_header *h)
{
  static const char letters[] = "prci";
  static const gable_field kinds[] = {GABLE_FIELD_PATTERN, GABLE_FIELD_REAL, GABLE_FIELD_COMPLEX, GABLE_FIELD_INTEGER};
  static const char shapes[] = "ushzr";
  static const gable_structure structures[] = {GABLE_STRUCTURE_GENERAL, GABLE_STRUCTURE_SYMMETRIC,
                                               GABLE_STRUCTURE_HERMITIAN, GABLE_STRUCTURE_SKEW,
                                               GABLE_STRUCTURE_GENERAL};
  const char *letter = word[0] ? strchr(letters, tolower((unsigned char)word[0])) : NULL;
  const char *shape = letter && word[1] ? strchr(shapes, tolower((unsigned char)word[1])) : NULL;
  int last = shape ? tolower((unsigned char)word[2]) : 0;
  if (last != 'a' && last != 'e') return 0;
  h->field = kinds[letter - letters];
  h->structure = structures[shape - shapes];
  return last;
}

int gi_is_rb(const char *bytes, size_t n)
{
  const char *end = bytes + n, *line = bytes;
  gi_rb_header h;
  for (int k = 0; k < 2; k++) {
    line = memchr(line, '\n', (size_t)(end - line));
    if (!line || ++line >= end) return 0;
  }
  return end - line > 3 && parse_type(line, &h);
}

/* The four (or three) counts of line 2 and of line 3 behind the type. */
static gable_status read_counts(gi_source *s, const char *p, const char *what, int least, int most, int64_t *count)
{
  gable_status status = GABLE_OK;
  for (int k = 0; k < most; k++) {
    count[k] = 0;
    p = gi_skip_blanks(p);
    if (k >= least && (*p == '\n' || *p == '\r')) break;
    p = gi_parse_int(p, &count[k]);
    GI_REQUIRE(p && count[k] >= 0, GABLE_ERR_FORMAT, AT "%s", HERE(s), what);
  }
done:
  return status;
}

static gable_status header_line(gi_source *s, const char **line)
{
  gable_status status = GABLE_OK;
  size_t length;
  GI_TRY(gi_source_line(s, line, &length));
  GI_REQUIRE(*line, GABLE_ERR_FORMAT, AT "the file ends in its header", HERE(s));
done:
  return status;
}

/* What the file cannot hold is refused before memory is asked for. */
static gable_status check_sizes(gi_source *s, const gi_rb_header *h)
{
  gable_status status = GABLE_OK;
  const int64_t most = gi_source_most_bytes_left(s);
  const int64_t values = h->field == GABLE_FIELD_PATTERN ? 0 : h->elemental ? h->element_values : h->count;
  GI_REQUIRE(h->n_rows < INT32_MAX && h->n_cols < INT32_MAX, GABLE_ERR_LIMIT,
             AT "%lld by %lld: rows and columns are limited to %d", HERE(s), (long long)h->n_rows, (long long)h->n_cols,
             INT32_MAX - 1);
  GI_REQUIRE(h->structure == GABLE_STRUCTURE_GENERAL || h->elemental || h->n_rows == h->n_cols, GABLE_ERR_FORMAT,
             AT "a symmetric matrix must be square, not %lld by %lld", HERE(s), (long long)h->n_rows,
             (long long)h->n_cols);
  GI_REQUIRE(h->n_cols < most && h->count <= most && values <= most - h->count, GABLE_ERR_FORMAT,
             AT "the header promises %lld %s and %lld entries, more than the rest of the file can hold", HERE(s),
             (long long)h->n_cols, h->elemental ? "elements" : "columns",
             (long long)(h->elemental ? values : h->count));
  GI_TRY(gi_check_dimensions(s, h->n_rows, h->elemental ? 0 : h->n_cols, h->count, 0));
done:
  return status;
}

/* Line 3: the type and the sizes. */
static gable_status read_type(gi_source *s, const char *line, const gable_read_options *options, gi_rb_header *h)
{
  gable_status status = GABLE_OK;
  int64_t sizes[4];
  const int type = parse_type(line, h);
  GI_REQUIRE(type, GABLE_ERR_FORMAT, AT "'%.3s' is no matrix type such as rua or psa", HERE(s), line);
  h->elemental = type == 'e';
  GI_REQUIRE(!h->elemental || (h->structure != GABLE_STRUCTURE_SKEW && tolower((unsigned char)line[1]) != 'r'),
             GABLE_ERR_UNAVAILABLE,
             AT "'%.3s': element matrices are read when they are unsymmetric, symmetric or hermitian", HERE(s), line);
  GI_TRY(read_counts(s, line + 3, "rows, columns and entries are expected behind the type", 3, 4, sizes));
  h->n_rows = sizes[0], h->n_cols = sizes[1], h->count = sizes[2], h->element_values = sizes[3];
  if (h->value_lines == 0 && h->count > 0) h->field = GABLE_FIELD_PATTERN;
  GI_TRY(check_sizes(s, h));
  GI_TRY(gi_check_field(s, options, h->field, 0));
done:
  return status;
}

static gable_status read_header(gi_source *s, const gable_read_options *options, gi_rb_header *h)
{
  gable_status status = GABLE_OK;
  const char *line;
  int64_t lines[5] = {0};
  GI_TRY(header_line(s, &line)); /* title and key */
  GI_TRY(header_line(s, &line));
  GI_TRY(read_counts(s, line, "the numbers of lines: three to five counts are expected", 3, 5, lines));
  h->value_lines = lines[3];
  h->rhs_lines = lines[4];
  GI_TRY(header_line(s, &line));
  GI_TRY(read_type(s, line, options, h));
  GI_TRY(header_line(s, &line));
  GI_TRY(gi_rb_parse_format(s, &line, "i", &h->ptr));
  GI_TRY(gi_rb_parse_format(s, &line, "i", &h->idx));
  if (h->field != GABLE_FIELD_PATTERN && h->value_lines > 0) GI_TRY(gi_rb_parse_format(s, &line, "edfgi", &h->val));
  if (h->rhs_lines > 0) GI_TRY(header_line(s, &line));
done:
  return status;
}

/* Symmetric files: each entry's side is checked while its line is at hand, a diagonal's value with the values. */
static gable_status read_indices(gable_context *ctx, gi_source *s, const gi_rb_header *h, const gable_off *ptr,
                                 gi_entries *e, gable_part *part)
{
  gable_status status = GABLE_OK;
  gi_rb_fields f = {.source = s, .format = h->idx};
  gable_idx j = 0;
  for (gable_off k = 0; k < h->count; k++) {
    int64_t row = 0;
    if (k == e->capacity) GI_TRY(gi_entries_reserve(ctx, e, gi_source_room(s, e->capacity, 1, h->count)));
    while (k == ptr[j + 1]) j++;
    GI_TRY(gi_rb_next_integer(&f, "row numbers", 1, h->n_rows, &row));
    e->row[k] = (gable_idx)(row - 1);
    e->col[k] = j;
    e->count = k + 1;
    if (e->line) e->line[k] = gi_source_line_number(s);
    if (h->structure != GABLE_STRUCTURE_GENERAL)
      GI_TRY(gi_check_side(s, h->structure, e->row[k], e->col[k], NULL, 0, part));
    if (k % GI_RB_FIELDS_PER_PROGRESS == 0) GI_TRY(gi_source_progress(s));
  }
done:
  return status;
}

static gable_status read_values(gi_source *s, const gi_rb_header *h, const gable_read_options *options, gi_entries *e)
{
  gable_status status = GABLE_OK;
  gi_rb_fields f = {.source = s, .format = h->val};
  gable_part part = GABLE_PART_FULL;
  for (gable_off k = 0; k < h->count; k++) {
    double *value = e->val + e->words * k;
    for (int w = 0; w < e->words; w++) GI_TRY(gi_rb_next_value(&f, options, value + w));
    if (h->structure != GABLE_STRUCTURE_GENERAL && e->row[k] == e->col[k])
      GI_TRY(gi_check_side(s, h->structure, e->row[k], e->col[k], value, e->words, &part));
    if (k % GI_RB_FIELDS_PER_PROGRESS == 0) GI_TRY(gi_source_progress(s));
  }
done:
  return status;
}

/* The entries of an assembled matrix; *part: which triangle those of a symmetric one are in. */
static gable_status read_assembled(gable_context *ctx, gi_source *s, const gi_rb_header *h,
                                   const gable_read_options *options, gi_entries *e, gable_part *part)
{
  gable_status status = GABLE_OK;
  gable_off *ptr = NULL;
  GI_TRY(gi_rb_read_offsets(ctx, s, h, &ptr));
  GI_TRY(read_indices(ctx, s, h, ptr, e, part));
  if (e->with_lines) GI_TRY(gi_entries_refuse_duplicates(ctx, s, e));
  if (e->words) GI_TRY(read_values(s, h, options, e));
done:
  gi_free(ctx, ptr);
  return status;
}

gable_status gi_rb_read(gi_source *s, const gable_read_options *options, gable_matrix *a)
{
  gable_status status = GABLE_OK;
  gable_context *ctx = a->ctx;
  gi_rb_header h = {0};
  gi_entries e = {0};
  GI_TRY(read_header(s, options, &h));
  e.n_rows = (gable_idx)h.n_rows;
  e.n_cols = (gable_idx)(h.elemental ? h.n_rows : h.n_cols);
  e.words = h.field == GABLE_FIELD_PATTERN ? 0 : h.field == GABLE_FIELD_COMPLEX ? 2 : 1;
  e.with_lines = options->strict && !h.elemental;
  if (h.elemental)
    GI_TRY(gi_rb_read_elements(ctx, s, &h, options, &e));
  else
    GI_TRY(read_assembled(ctx, s, &h, options, &e, &a->part));
  a->field = h.field;
  a->structure = h.structure;
  if (h.structure != GABLE_STRUCTURE_GENERAL && a->part == GABLE_PART_FULL) a->part = GABLE_PART_LOWER;
  GI_TRY(gi_entries_compress(ctx, &e, &a->csc, &a->duplicates));
  if (h.elemental) a->duplicates = 0; /* to be summed is what elements are for */
  if (h.rhs_lines) gi_log(ctx, GABLE_LOG_INFO, "%s: its right-hand sides are passed over", gi_source_name(s));
done:
  gi_entries_release(ctx, &e);
  return status;
}
