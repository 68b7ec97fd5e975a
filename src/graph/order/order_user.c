#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "graph/order/order.h"

gable_status gi_order_check(gable_context *ctx, gable_idx n, const gable_idx *perm)
{
  gable_status status = GABLE_OK;
  unsigned char *seen = NULL;
  GI_ALLOC_ZERO(ctx, seen, n);
  for (gable_idx k = 0; k < n; k++) {
    GI_REQUIRE(perm[k] >= 0 && perm[k] < n, GABLE_ERR_ARGUMENT,
               "entry %d (counted from 0) of the order is %d, outside 0..%d", k, perm[k], n - 1);
    GI_REQUIRE(!seen[perm[k]], GABLE_ERR_ARGUMENT, "the order holds %d twice, again at entry %d (counted from 0)",
               perm[k], k);
    seen[perm[k]] = 1;
  }
done:
  gi_free(ctx, seen);
  return status;
}

/* The next character that is no white space and in no comment, which stays unread; EOF at the end. */
static int skip_blanks(FILE *in, long *line)
{
  for (;;) {
    int c = getc(in);
    if (c == '%' || c == '#') {
      while (c != '\n' && c != EOF) c = getc(in);
    }
    if (c == '\n') ++*line;
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n') continue;
    if (c != EOF) ungetc(c, in);
    return c;
  }
}

/* Reads digits; -1 where there are none, or more than an index can have. */
static int64_t read_number(FILE *in)
{
  int64_t value = 0;
  int digits = 0, c;
  while ((c = getc(in)) >= '0' && c <= '9' && digits < 10) {
    value = 10 * value + (c - '0');
    digits++;
  }
  const int clean = c == EOF || c == ' ' || c == '\t' || c == '\r' || c == '\n';
  if (c != EOF) ungetc(c, in);
  return digits && clean ? value : -1;
}

/* perm [n], as the file counts; lines [n]: where each number stands; *base: the least number, 1 at most. */
static gable_status read_entries(FILE *in, const char *path, gable_idx n, gable_idx *perm, long *lines, gable_idx *base)
{
  gable_status status = GABLE_OK;
  long line = 1;
  *base = 1;
  for (gable_idx k = 0; k < n; k++) {
    const int next = skip_blanks(in, &line);
    GI_REQUIRE(!ferror(in), GABLE_ERR_IO, "%s: %s", path, strerror(errno));
    GI_REQUIRE(next != EOF, GABLE_ERR_FORMAT, "%s:%ld: the file ends after %d of %d numbers of the order", path, line,
               k, n);
    const int64_t value = read_number(in);
    GI_REQUIRE(value >= 0 && value <= n, GABLE_ERR_FORMAT, "%s:%ld: no row number of a matrix of order %d", path, line,
               n);
    perm[k] = (gable_idx)value;
    lines[k] = line;
    if (perm[k] < *base) *base = perm[k];
  }
  GI_REQUIRE(skip_blanks(in, &line) == EOF, GABLE_ERR_FORMAT, "%s:%ld: more than %d numbers in the order", path, line,
             n);
done:
  return status;
}

/* Numbers from 0; GABLE_ERR_FORMAT with the line of a number that is too large or comes a second time. */
static gable_status number_entries(gable_context *ctx, const char *path, gable_idx n, gable_idx base, const long *lines,
                                   gable_idx *perm)
{
  gable_status status = GABLE_OK;
  unsigned char *seen = NULL;
  GI_ALLOC_ZERO(ctx, seen, n);
  for (gable_idx k = 0; k < n; k++) {
    const gable_idx row = perm[k] - base;
    GI_REQUIRE(row < n, GABLE_ERR_FORMAT, "%s:%ld: %d in an order that counts from 0 to %d", path, lines[k], perm[k],
               n - 1);
    GI_REQUIRE(!seen[row], GABLE_ERR_FORMAT, "%s:%ld: %d comes a second time in the order", path, lines[k], perm[k]);
    seen[row] = 1;
    perm[k] = row;
  }
done:
  gi_free(ctx, seen);
  return status;
}

gable_status gi_order_read(gable_context *ctx, const char *path, gable_idx n, gable_idx *perm)
{
  gable_status status = GABLE_OK;
  long *lines = NULL;
  gable_idx base = 1;
  FILE *in = fopen(path, "r");
  GI_REQUIRE(in, GABLE_ERR_IO, "%s: %s", path, strerror(errno));
  GI_ALLOC(ctx, lines, n);
  GI_TRY(read_entries(in, path, n, perm, lines, &base));
  GI_REQUIRE(!ferror(in), GABLE_ERR_IO, "%s: %s", path, strerror(errno));
  GI_TRY(number_entries(ctx, path, n, base, lines, perm));
done:
  gi_free(ctx, lines);
  if (in) fclose(in);
  return status;
}
