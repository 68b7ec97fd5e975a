/* mm_read.c: Matrix Market files (R. F. Boisvert, R. Pozo, K. A. Remington, The Matrix Market Exchange Formats, NISTIR
 * 5935, 1996).  Keywords in any case, blank and comment lines anywhere after the first. */
#include <math.h>
#include <string.h>

#include "sparse/file/entries.h"
#include "sparse/file/number.h"
#include "sparse/matrix.h"

enum { LEAST_BYTES_OF_ENTRY = 4, LINES_PER_PROGRESS = 4096 };

typedef struct header {
  int dense;
  gable_field field;
  gable_structure structure;
  int64_t n_rows, n_cols, count; /* count: of the entries that the file holds */
  gable_off line;                /* of the sizes */
} header;

static int is_keyword(const char *word, size_t n, const char *keyword)
{
  if (strlen(keyword) != n) return 0;
  for (size_t k = 0; k < n; k++)
    if ((word[k] | 0x20) != keyword[k]) return 0;
  return 1;
}

/* The next word of a line; its length, 0 at the end. */
static size_t next_word(const char **at, const char *end, const char **word)
{
  const char *p = *at;
  while (p < end && (*p == ' ' || *p == '\t')) p++;
  *word = p;
  while (p < end && *p != ' ' && *p != '\t') p++;
  *at = p;
  return (size_t)(p - *word);
}

/* Index of the word among the n_keywords, or an error that lists them. */
static gable_status choose(gi_source *s, const char *word, size_t n, const char *const *keywords, int n_keywords,
                           const char *list, int *choice)
{
  gable_status status = GABLE_OK;
  for (*choice = 0; *choice < n_keywords; ++*choice)
    if (is_keyword(word, n, keywords[*choice])) break;
  GI_REQUIRE(*choice < n_keywords, GABLE_ERR_FORMAT, AT "'%.*s' in the first line, where one of %s is expected",
             HERE(s), (int)(n < 40 ? n : 40), word, list);
done:
  return status;
}

static gable_status read_banner(gi_source *s, header *h)
{
  static const char *const objects[] = {"matrix"};
  static const char *const forms[] = {"coordinate", "array"};
  static const char *const fields[] = {"pattern", "real", "integer", "complex"};
  static const char *const structures[] = {"general", "symmetric", "hermitian", "skew-symmetric"};
  gable_status status = GABLE_OK;
  const char *line, *word;
  size_t length;
  int choice;
  GI_TRY(gi_source_line(s, &line, &length));
  GI_REQUIRE(line, GABLE_ERR_FORMAT, "%s: the file is empty", gi_source_name(s));
  const char *end = line + length;
  length = next_word(&line, end, &word);
  GI_REQUIRE(is_keyword(word, length, "%%matrixmarket"), GABLE_ERR_FORMAT,
             AT "the first line must begin with %%%%MatrixMarket", HERE(s));
  length = next_word(&line, end, &word);
  GI_TRY(choose(s, word, length, objects, 1, "matrix", &choice));
  length = next_word(&line, end, &word);
  GI_TRY(choose(s, word, length, forms, 2, "coordinate, array", &h->dense));
  length = next_word(&line, end, &word);
  GI_TRY(choose(s, word, length, fields, 4, "real, integer, complex, pattern", &choice));
  h->field = (gable_field)choice;
  length = next_word(&line, end, &word);
  GI_TRY(choose(s, word, length, structures, 4, "general, symmetric, skew-symmetric, hermitian", &choice));
  h->structure = (gable_structure)choice;
  GI_REQUIRE(!next_word(&line, end, &word), GABLE_ERR_FORMAT, AT "more than five words in the first line", HERE(s));
  GI_REQUIRE(h->structure != GABLE_STRUCTURE_HERMITIAN || h->field == GABLE_FIELD_COMPLEX, GABLE_ERR_FORMAT,
             AT "a hermitian matrix that is not complex: say symmetric", HERE(s));
  GI_REQUIRE(h->field != GABLE_FIELD_PATTERN || (!h->dense && h->structure != GABLE_STRUCTURE_SKEW), GABLE_ERR_FORMAT,
             AT "a pattern can be neither array nor skew-symmetric", HERE(s));
done:
  return status;
}

/* The next line that is neither blank nor a comment; *line = NULL at the end. */
static gable_status content_line(gi_source *s, const char **line, const char **end)
{
  gable_status status = GABLE_OK;
  size_t length;
  do {
    GI_TRY(gi_source_line(s, line, &length));
    if (!*line) break;
    *end = *line + length;
    *line = gi_skip_blanks(*line);
  } while (*line >= *end || **line == '%');
done:
  return status;
}

static gable_status read_sizes(gi_source *s, header *h)
{
  gable_status status = GABLE_OK;
  const char *p, *end;
  int64_t size[3] = {0};
  int n = h->dense ? 2 : 3;
  GI_TRY(content_line(s, &p, &end));
  GI_REQUIRE(p, GABLE_ERR_FORMAT, AT "the file ends before the line of sizes", HERE(s));
  h->line = gi_source_line_number(s);
  for (int k = 0; k < n; k++) {
    p = gi_parse_int(gi_skip_blanks(p), &size[k]);
    GI_REQUIRE(p && size[k] >= 0, GABLE_ERR_FORMAT, AT "the sizes must be %s", HERE(s),
               h->dense ? "two numbers: rows columns" : "three numbers: rows columns entries");
  }
  GI_REQUIRE(gi_skip_blanks(p) >= end, GABLE_ERR_FORMAT, AT "text after the sizes", HERE(s));
  h->n_rows = size[0];
  h->n_cols = size[1];
  h->count = size[2];
  GI_REQUIRE(h->n_rows <= INT32_MAX - 1 && h->n_cols <= INT32_MAX - 1, GABLE_ERR_LIMIT,
             AT "%lld by %lld: rows and columns are limited to %d", HERE(s), (long long)h->n_rows, (long long)h->n_cols,
             INT32_MAX - 1);
  GI_REQUIRE(h->structure == GABLE_STRUCTURE_GENERAL || h->n_rows == h->n_cols, GABLE_ERR_FORMAT,
             AT "a symmetric matrix must be square, not %lld by %lld", HERE(s), (long long)h->n_rows,
             (long long)h->n_cols);
done:
  return status;
}

/* A header may promise anything: what cannot be in the file is refused before memory is asked for. */
static gable_status check_promise(gi_source *s, const header *h)
{
  gable_status status = GABLE_OK;
  int64_t most = gi_source_most_bytes_left(s), least = h->dense ? 2 : LEAST_BYTES_OF_ENTRY;
  GI_REQUIRE(h->count <= most / least + 1, GABLE_ERR_FORMAT,
             AT "the header promises %lld entries, the rest of the file can hold at most %lld", HERE(s),
             (long long)h->count, (long long)(most / least + 1));
  GI_TRY(gi_check_dimensions(s, h->n_rows, h->n_cols, h->count, 0));
done:
  return status;
}

/* One value at p: words numbers; *p behind it. */
static gable_status read_value(gi_source *s, const header *h, const gable_read_options *options, const char **p,
                               double *value)
{
  gable_status status = GABLE_OK;
  int words = h->field == GABLE_FIELD_COMPLEX ? 2 : 1;
  for (int w = 0; w < words; w++) {
    const char *from = gi_skip_blanks(*p);
    *p = gi_parse_double(from, value + w);
    GI_REQUIRE(*p, GABLE_ERR_FORMAT, AT "'%.*s' where a number is expected", HERE(s), (int)strcspn(from, " \t\r\n"),
               from);
    GI_REQUIRE(h->field != GABLE_FIELD_INTEGER || *p - from == (ptrdiff_t)strspn(from, "+-0123456789"),
               GABLE_ERR_FORMAT, AT "'%.*s' in an integer matrix", HERE(s), (int)(*p - from), from);
    GI_REQUIRE(options->accept_nonfinite || isfinite(value[w]), GABLE_ERR_NOT_FINITE, AT "the value %.*s is %s",
               HERE(s), (int)(*p - from), from,
               isnan(value[w]) ? "not a number" : "infinite, or beyond the range of double");
  }
done:
  return status;
}

/* Progress now and then; the line behind the last one that counts. */
static gable_status entry_line(gi_source *s, const header *h, gable_off k, const char **line, const char **end)
{
  gable_status status = GABLE_OK;
  if (k % LINES_PER_PROGRESS == 0) GI_TRY(gi_source_progress(s));
  GI_TRY(content_line(s, line, end));
  GI_REQUIRE(*line, GABLE_ERR_FORMAT, AT "the file ends after %lld of %lld entries: it was cut off", HERE(s),
             (long long)k, (long long)h->count);
done:
  return status;
}

/* Room for one more entry. */
static gable_status make_room(gable_context *ctx, gi_source *s, const header *h, gi_entries *e)
{
  return gi_entries_reserve(ctx, e, gi_source_room(s, e->capacity, LEAST_BYTES_OF_ENTRY, h->count));
}

static gable_status read_index(gi_source *s, const char **p, const char *what, int64_t n, gable_idx *index)
{
  gable_status status = GABLE_OK;
  const char *from = gi_skip_blanks(*p);
  int64_t k = 0;
  *p = gi_parse_int(from, &k);
  GI_REQUIRE(*p, GABLE_ERR_FORMAT, AT "'%.*s' where a %s number is expected", HERE(s), (int)strcspn(from, " \t\r\n"),
             from, what);
  GI_REQUIRE(k >= 1 && k <= n, GABLE_ERR_FORMAT, AT "%s %lld is not in 1 .. %lld", HERE(s), what, (long long)k,
             (long long)n);
  *index = (gable_idx)(k - 1);
done:
  return status;
}

static gable_status read_coordinates(gi_source *s, const header *h, const gable_read_options *options,
                                     gable_context *ctx, gi_entries *e, gable_part *part)
{
  gable_status status = GABLE_OK;
  const char *p, *end;
  while (e->count < h->count) {
    gable_off k = e->count;
    if (k == e->capacity) GI_TRY(make_room(ctx, s, h, e));
    GI_TRY(entry_line(s, h, k, &p, &end));
    GI_TRY(read_index(s, &p, "row", h->n_rows, e->row + k));
    GI_TRY(read_index(s, &p, "column", h->n_cols, e->col + k));
    if (e->words) GI_TRY(read_value(s, h, options, &p, e->val + e->words * k));
    GI_REQUIRE(gi_skip_blanks(p) >= end, GABLE_ERR_FORMAT, AT "text after the entry", HERE(s));
    if (e->line) e->line[k] = gi_source_line_number(s);
    if (h->structure != GABLE_STRUCTURE_GENERAL)
      GI_TRY(gi_check_side(s, h->structure, e->row[k], e->col[k], e->words ? e->val + e->words * k : NULL, e->words,
                           part));
    e->count++;
  }
done:
  return status;
}

/* Values by columns, any number of them a line: those of the lower triangle alone in a symmetric file. */
static gable_status read_array(gi_source *s, const header *h, const gable_read_options *options, gable_context *ctx,
                               gi_entries *e)
{
  gable_status status = GABLE_OK;
  const char *p = "\n", *end = p;
  gable_idx skip = h->structure == GABLE_STRUCTURE_GENERAL ? 0 : h->structure == GABLE_STRUCTURE_SKEW ? 2 : 1;
  for (gable_idx j = 0; j < h->n_cols; j++) {
    for (gable_idx i = skip ? j + skip - 1 : 0; i < h->n_rows; i++) {
      gable_off k = e->count;
      if (k == e->capacity) GI_TRY(make_room(ctx, s, h, e));
      p = gi_skip_blanks(p);
      if (p >= end) GI_TRY(entry_line(s, h, k, &p, &end));
      e->row[k] = i;
      e->col[k] = j;
      GI_TRY(read_value(s, h, options, &p, e->val + e->words * k));
      e->count++;
    }
  }
  GI_REQUIRE(gi_skip_blanks(p) >= end, GABLE_ERR_FORMAT, AT "text after the last value", HERE(s));
done:
  return status;
}

static gable_status check_end(gi_source *s, const header *h)
{
  gable_status status = GABLE_OK;
  const char *p, *end;
  GI_TRY(content_line(s, &p, &end));
  GI_REQUIRE(!p, GABLE_ERR_FORMAT, AT "more than the %lld entries that line %lld promises", HERE(s),
             (long long)h->count, (long long)h->line);
done:
  return status;
}

/* How many values an array file holds. */
static int64_t array_count(const header *h)
{
  if (h->structure == GABLE_STRUCTURE_GENERAL) return h->n_rows * h->n_cols;
  if (h->structure == GABLE_STRUCTURE_SKEW) return h->n_rows * (h->n_rows - 1) / 2;
  return h->n_rows * (h->n_rows + 1) / 2;
}

gable_status gi_mm_read(gi_source *s, const gable_read_options *options, gable_matrix *a)
{
  gable_status status = GABLE_OK;
  gable_context *ctx = a->ctx;
  header h = {0};
  gi_entries e = {0};
  GI_TRY(read_banner(s, &h));
  GI_TRY(gi_check_field(s, options, h.field, 0));
  GI_TRY(read_sizes(s, &h));
  if (h.dense) h.count = array_count(&h);
  GI_TRY(check_promise(s, &h));
  e.n_rows = (gable_idx)h.n_rows;
  e.n_cols = (gable_idx)h.n_cols;
  e.words = h.field == GABLE_FIELD_PATTERN ? 0 : h.field == GABLE_FIELD_COMPLEX ? 2 : 1;
  e.with_lines = options->strict && !h.dense;
  if (h.dense)
    GI_TRY(read_array(s, &h, options, ctx, &e));
  else
    GI_TRY(read_coordinates(s, &h, options, ctx, &e, &a->part));
  GI_TRY(check_end(s, &h));
  if (e.with_lines) GI_TRY(gi_entries_refuse_duplicates(ctx, s, &e));
  a->field = h.field;
  a->structure = h.structure;
  a->dense = h.dense;
  if (h.structure != GABLE_STRUCTURE_GENERAL && a->part == GABLE_PART_FULL) a->part = GABLE_PART_LOWER;
  GI_TRY(gi_entries_compress(ctx, &e, &a->csc, &a->duplicates));
done:
  gi_entries_release(ctx, &e);
  return status;
}
