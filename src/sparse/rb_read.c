/* rb_read.c: Rutherford-Boeing files (I. S. Duff, R. G. Grimes, J. G. Lewis, The Rutherford-Boeing Sparse Matrix
 * Collection, 1997) and the older Harwell-Boeing ones, whose right-hand sides are passed over.  Assembled matrices
 * only.
 *
 * Numbers stand in fields of fixed width, as a Fortran format such as (13I6) or (1P,4E20.12) says. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "sparse/entries.h"
#include "sparse/matrix.h"
#include "sparse/number.h"

enum { MOST_WIDTH = 60, FIRST_COUNT = 1 << 16, FIELDS_PER_PROGRESS = 1 << 14 };

#define AT "%s:%lld: "
#define HERE(source) gi_source_name(source), (long long)gi_source_line_number(source)

typedef struct format {
  int per_line, width;
} format;

typedef struct header {
  gable_field field;
  gable_structure structure;
  int64_t n_rows, n_cols, count;
  int64_t value_lines, rhs_lines;
  format ptr, idx, val;
} header;

/* Fields of one format, line after line. */
typedef struct fields {
  gi_source *source;
  format format;
  const char *line;
  size_t length;
  int taken; /* of this line */
} fields;

/* The type word of line 3, such as RUA; 0 when it is none. */
static int parse_type(const char *word, header *h)
{
  static const char letters[] = "prci";
  static const gable_field kinds[] = {GABLE_PATTERN, GABLE_REAL, GABLE_COMPLEX, GABLE_INTEGER};
  static const char shapes[] = "ushzr";
  static const gable_structure structures[] = {GABLE_GENERAL, GABLE_SYMMETRIC, GABLE_HERMITIAN, GABLE_SKEW,
                                               GABLE_GENERAL};
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
  header h;
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

/* The format that begins at *at, such as (1P,4E20.12), and *at behind it. */
static gable_status parse_format(gi_source *s, const char **at, const char *letters, format *f)
{
  gable_status status = GABLE_OK;
  const char *p = gi_skip_blanks(*at), *begin = p;
  int64_t k = 1, width = 0, scale;
  int right = *p++ == '(';
  p = gi_skip_blanks(p);
  const char *after = gi_parse_int(p, &scale);
  if (right && after && (*after == 'P' || *after == 'p')) p = gi_skip_blanks(after + 1 + (after[1] == ','));
  if (right && *p >= '0' && *p <= '9') p = gi_parse_int(p, &k);
  right = right && p && *p > ' ' && strchr(letters, tolower((unsigned char)*p));
  p = right ? gi_parse_int(p + 1, &width) : NULL;
  if (p && *p == '.') p = gi_parse_int(p + 1, &scale);
  if (p && (*p == 'E' || *p == 'e')) p = gi_parse_int(p + 1, &scale);
  right = p && *gi_skip_blanks(p) == ')' && k >= 1 && k <= 1000 && width >= 1 && width <= MOST_WIDTH;
  GI_REQUIRE(right, GABLE_ERR_FORMAT, AT "the format '%.*s' is not understood; expected is one such as %s", HERE(s),
             (int)strcspn(begin, " \t\r\n"), begin, *letters == 'i' ? "(13I6)" : "(1P,4E20.12)");
  *f = (format){(int)k, (int)width};
  *at = gi_skip_blanks(p) + 1;
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

static gable_status read_header(gi_source *s, header *h)
{
  gable_status status = GABLE_OK;
  const char *line;
  int64_t lines[5], sizes[4];
  GI_TRY(header_line(s, &line)); /* title and key */
  GI_TRY(header_line(s, &line));
  GI_TRY(read_counts(s, line, "the numbers of lines: three to five counts are expected", 3, 5, lines));
  h->value_lines = lines[3];
  h->rhs_lines = lines[4];
  GI_TRY(header_line(s, &line));
  int type = parse_type(line, h);
  GI_REQUIRE(type, GABLE_ERR_FORMAT, AT "'%.3s' is no matrix type such as rua or psa", HERE(s), line);
  GI_REQUIRE(type == 'a', GABLE_ERR_UNAVAILABLE, AT "an elemental matrix: only assembled ones are read", HERE(s));
  GI_TRY(read_counts(s, line + 3, "rows, columns and entries are expected behind the type", 3, 4, sizes));
  h->n_rows = sizes[0], h->n_cols = sizes[1], h->count = sizes[2];
  if (h->value_lines == 0) h->field = GABLE_PATTERN;
  GI_REQUIRE(h->n_rows < INT32_MAX && h->n_cols < INT32_MAX, GABLE_ERR_LIMIT,
             AT "%lld by %lld: rows and columns are limited to %d", HERE(s), (long long)h->n_rows, (long long)h->n_cols,
             INT32_MAX - 1);
  GI_REQUIRE(h->structure == GABLE_GENERAL || h->n_rows == h->n_cols, GABLE_ERR_FORMAT,
             AT "a symmetric matrix must be square, not %lld by %lld", HERE(s), (long long)h->n_rows,
             (long long)h->n_cols);
  int64_t most = gi_source_most_bytes_left(s), per_entry = 1 + (h->field == GABLE_PATTERN ? 0 : 1);
  GI_REQUIRE(h->n_cols < most && h->count <= most / per_entry, GABLE_ERR_FORMAT,
             AT "the header promises %lld columns and %lld entries, more than the rest of the file can hold", HERE(s),
             (long long)h->n_cols, (long long)h->count);
  GI_TRY(header_line(s, &line));
  GI_TRY(parse_format(s, &line, "i", &h->ptr));
  GI_TRY(parse_format(s, &line, "i", &h->idx));
  if (h->field != GABLE_PATTERN) GI_TRY(parse_format(s, &line, "edfgi", &h->val));
  if (h->rhs_lines > 0) GI_TRY(header_line(s, &line));
done:
  return status;
}

/* The next field, trimmed and closed by 0, in text [MOST_WIDTH+1]. */
static gable_status next_field(fields *f, const char *what, char *text)
{
  gable_status status = GABLE_OK;
  for (;;) {
    size_t from = (size_t)f->taken * (size_t)f->format.width, to = from + (size_t)f->format.width;
    if (f->line && f->taken < f->format.per_line && from < f->length) {
      if (to > f->length) to = f->length;
      while (from < to && f->line[from] == ' ') from++;
      while (from < to && f->line[to - 1] == ' ') to--;
      f->taken++;
      if (from < to) {
        memcpy(text, f->line + from, to - from);
        text[to - from] = 0;
        break;
      }
      continue; /* a blank field: the rest of the last line */
    }
    GI_TRY(gi_source_line(f->source, &f->line, &f->length));
    GI_REQUIRE(f->line, GABLE_ERR_FORMAT, AT "the file ends among the %s: it was cut off", HERE(f->source), what);
    f->taken = 0;
  }
done:
  return status;
}

static gable_status next_integer(fields *f, const char *what, int64_t least, int64_t most, int64_t *k)
{
  gable_status status = GABLE_OK;
  char text[MOST_WIDTH + 1];
  GI_TRY(next_field(f, what, text));
  const char *end = gi_parse_int(text, k);
  GI_REQUIRE(end && !*end, GABLE_ERR_FORMAT, AT "'%s' among the %s", HERE(f->source), text, what);
  GI_REQUIRE(*k >= least && *k <= most, GABLE_ERR_FORMAT, AT "%lld among the %s: not in %lld .. %lld", HERE(f->source),
             (long long)*k, what, (long long)least, (long long)most);
done:
  return status;
}

static gable_status next_value(fields *f, const gable_read_options *options, double *x)
{
  gable_status status = GABLE_OK;
  char text[MOST_WIDTH + 1];
  GI_TRY(next_field(f, "values", text));
  const char *end = gi_parse_double(text, x);
  GI_REQUIRE(end && !*end, GABLE_ERR_FORMAT, AT "'%s' among the values", HERE(f->source), text);
  GI_REQUIRE(options->accept_nonfinite || isfinite(*x), GABLE_ERR_NOT_FINITE, AT "the value %s is %s", HERE(f->source),
             text, isnan(*x) ? "not a number" : "infinite, or beyond the range of double");
done:
  return status;
}

/* A growing capacity of at least need, at most count. */
static gable_off grown(gi_source *s, gable_off capacity, gable_off count)
{
  gable_off stored = gi_source_stored_bytes_left(s), next = capacity ? 2 * capacity : FIRST_COUNT;
  if (!capacity && stored > next) next = stored;
  return next < count ? next : count;
}

/* Column j of entry k, from offsets that are checked as they come. */
static gable_status read_offsets(gable_context *ctx, gi_source *s, const header *h, gable_off **ptr)
{
  gable_status status = GABLE_OK;
  fields f = {.source = s, .format = h->ptr};
  gable_off capacity = 0;
  int64_t last = 1;
  for (int64_t j = 0; j <= h->n_cols; j++) {
    if (j == capacity) {
      gable_off larger = grown(s, capacity, h->n_cols + 1);
      gable_off *more = gi_grow(ctx, *ptr, j, larger, sizeof **ptr);
      GI_REQUIRE(more, GABLE_ERR_MEMORY, "out of memory: %.1f MB for offsets", 8e-6 * (double)larger);
      *ptr = more;
      capacity = larger;
    }
    int64_t least = j < h->n_cols ? last : h->count + 1, most = j == 0 ? 1 : h->count + 1;
    GI_TRY(next_integer(&f, "column offsets", least, most, &last));
    (*ptr)[j] = last - 1;
    if (j % FIELDS_PER_PROGRESS == 0) GI_TRY(gi_source_progress(s));
  }
done:
  return status;
}

static gable_status read_indices(gable_context *ctx, gi_source *s, const header *h, const gable_off *ptr, gi_entries *e)
{
  gable_status status = GABLE_OK;
  fields f = {.source = s, .format = h->idx};
  gable_idx j = 0;
  for (gable_off k = 0; k < h->count; k++) {
    int64_t row = 0;
    if (k == e->capacity) GI_TRY(gi_entries_reserve(ctx, e, grown(s, e->capacity, h->count)));
    while (k == ptr[j + 1]) j++;
    GI_TRY(next_integer(&f, "row numbers", 1, h->n_rows, &row));
    e->row[k] = (gable_idx)(row - 1);
    e->col[k] = j;
    e->count = k + 1;
    if (k % FIELDS_PER_PROGRESS == 0) GI_TRY(gi_source_progress(s));
  }
done:
  return status;
}

static gable_status read_values(gi_source *s, const header *h, const gable_read_options *options, gi_entries *e)
{
  gable_status status = GABLE_OK;
  fields f = {.source = s, .format = h->val};
  for (gable_off k = 0; k < e->words * h->count; k++) {
    GI_TRY(next_value(&f, options, e->val + k));
    if (k % FIELDS_PER_PROGRESS == 0) GI_TRY(gi_source_progress(s));
  }
done:
  return status;
}

static gable_status check_sides(gi_source *s, const header *h, const gi_entries *e, gable_part *part)
{
  gable_status status = GABLE_OK;
  for (gable_off k = 0; h->structure != GABLE_GENERAL && k < e->count; k++)
    GI_TRY(
        gi_check_side(s, h->structure, e->row[k], e->col[k], e->words ? e->val + e->words * k : NULL, e->words, part));
done:
  return status;
}

gable_status gi_rb_read(gi_source *s, const gable_read_options *options, gable_matrix *a)
{
  gable_status status = GABLE_OK;
  gable_context *ctx = a->ctx;
  header h = {0};
  gi_entries e = {0};
  gable_off *ptr = NULL;
  GI_TRY(read_header(s, &h));
  GI_TRY(gi_check_field(s, options, h.field));
  e.n_rows = (gable_idx)h.n_rows;
  e.n_cols = (gable_idx)h.n_cols;
  e.words = h.field == GABLE_PATTERN ? 0 : h.field == GABLE_COMPLEX ? 2 : 1;
  GI_TRY(read_offsets(ctx, s, &h, &ptr));
  GI_TRY(read_indices(ctx, s, &h, ptr, &e));
  if (e.words) GI_TRY(read_values(s, &h, options, &e));
  GI_TRY(check_sides(s, &h, &e, &a->part));
  a->field = h.field;
  a->structure = h.structure;
  if (h.structure != GABLE_GENERAL && a->part == GABLE_FULL) a->part = GABLE_LOWER;
  GI_TRY(gi_entries_compress(ctx, &e, &a->csc, &a->duplicates));
  if (h.rhs_lines) gi_log(ctx, GABLE_LOG_INFO, "%s: its right-hand sides are passed over", gi_source_name(s));
done:
  gi_free(ctx, ptr);
  gi_entries_release(ctx, &e);
  return status;
}
