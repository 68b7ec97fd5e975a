#include "sparse/file/rb_fields.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "sparse/file/number.h"

gable_status gi_rb_parse_format(gi_source *s, const char **at, const char *letters, gi_rb_format *f)
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
  right = p && *gi_skip_blanks(p) == ')' && k >= 1 && k <= 1000 && width >= 1 && width <= GI_RB_MOST_WIDTH;
  GI_REQUIRE(right, GABLE_ERR_FORMAT, AT "the format '%.*s' is not understood; expected is one such as %s", HERE(s),
             (int)strcspn(begin, " \t\r\n"), begin, *letters == 'i' ? "(13I6)" : "(1P,4E20.12)");
  *f = (gi_rb_format){(int)k, (int)width};
  *at = gi_skip_blanks(p) + 1;
done:
  return status;
}

/* The next field, trimmed and closed by 0, in text [GI_RB_MOST_WIDTH+1]. */
static gable_status next_field(gi_rb_fields *f, const char *what, char *text)
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

gable_status gi_rb_next_integer(gi_rb_fields *f, const char *what, int64_t least, int64_t most, int64_t *k)
{
  gable_status status = GABLE_OK;
  char text[GI_RB_MOST_WIDTH + 1];
  GI_TRY(next_field(f, what, text));
  const char *end = gi_parse_int(text, k);
  GI_REQUIRE(end && !*end, GABLE_ERR_FORMAT, AT "'%s' among the %s", HERE(f->source), text, what);
  GI_REQUIRE(*k >= least && *k <= most, GABLE_ERR_FORMAT, AT "%lld among the %s: not in %lld .. %lld", HERE(f->source),
             (long long)*k, what, (long long)least, (long long)most);
done:
  return status;
}

gable_status gi_rb_next_value(gi_rb_fields *f, const gable_read_options *options, double *x)
{
  gable_status status = GABLE_OK;
  char text[GI_RB_MOST_WIDTH + 1];
  GI_TRY(next_field(f, "values", text));
  const char *end = gi_parse_double(text, x);
  GI_REQUIRE(end && !*end, GABLE_ERR_FORMAT, AT "'%s' among the values", HERE(f->source), text);
  GI_REQUIRE(options->accept_nonfinite || isfinite(*x), GABLE_ERR_NOT_FINITE, AT "the value %s is %s", HERE(f->source),
             text, isnan(*x) ? "not a number" : "infinite, or beyond the range of double");
done:
  return status;
}

gable_status gi_rb_read_offsets(gable_context *ctx, gi_source *s, const gi_rb_header *h, gable_off **ptr)
{
  gable_status status = GABLE_OK;
  gi_rb_fields f = {.source = s, .format = h->ptr};
  gable_off capacity = 0;
  int64_t last = 1;
  for (int64_t j = 0; j <= h->n_cols; j++) {
    if (j == capacity) {
      capacity = gi_source_room(s, capacity, 1, h->n_cols + 1);
      GI_GROW(ctx, *ptr, j, capacity, "offsets");
    }
    int64_t least = j < h->n_cols ? last : h->count + 1, most = j == 0 ? 1 : h->count + 1;
    GI_TRY(gi_rb_next_integer(&f, "column offsets", least, most, &last));
    (*ptr)[j] = last - 1;
    if (j % GI_RB_FIELDS_PER_PROGRESS == 0) GI_TRY(gi_source_progress(s));
  }
done:
  return status;
}
