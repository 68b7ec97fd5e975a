/* number.h: decimal text to numbers, correctly rounded, in every locale.
 *
 * The text must end in a character that is no part of a number (a newline, a blank or 0), which is looked at. */
#ifndef GI_NUMBER_H
#define GI_NUMBER_H

#include <stdint.h>

/* A sign and digits.  Returns where it stopped, or NULL: no digit, or beyond 64 bits. */
const char *gi_parse_int(const char *p, int64_t *k);

/* A decimal number with exponent e, E, d, D, or (as Fortran writes 1.5-100) a bare sign; also nan, inf and infinity.
 * Returns where it stopped, or NULL.  Beyond the range: +-infinity or +-0. */
const char *gi_parse_double(const char *p, double *x);

enum { GI_NUMBER_CHARS = 32, GI_DOUBLE_CHARS = 24 };

/* The fewest digits that read back as x exactly, with a point in every locale; nan, inf, -inf.  At most GI_DOUBLE_CHARS
 * characters: -0.000012345678901234567 and -1.2345678901234567e-300 are the longest.  Needs GI_NUMBER_CHARS at to,
 * closes with 0 and returns where the 0 is. */
char *gi_format_double(char *to, double x);
char *gi_format_int(char *to, int64_t k);

/* Skips blanks and tabs. */
static inline const char *gi_skip_blanks(const char *p)
{
  while (*p == ' ' || *p == '\t') p++;
  return p;
}

#endif
