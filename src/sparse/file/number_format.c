/* number_format.c: numbers to text. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sparse/file/number.h"

/* Between 10^-5 and 10^16 without an exponent, so that no number takes more than GI_DOUBLE_CHARS. */
enum { MOST_DIGITS = 17, PLAIN_ABOVE = -4, PLAIN_BELOW = 16 };

char *gi_format_int(char *to, int64_t k)
{
  char digits[24];
  int n = 0;
  uint64_t w = k < 0 ? 0 - (uint64_t)k : (uint64_t)k;
  if (k < 0) *to++ = '-';
  do digits[n++] = (char)('0' + w % 10);
  while (w /= 10);
  while (n) *to++ = digits[--n];
  *to = 0;
  return to;
}

/* digits[0..return) without trailing zeros and x = 0.d1d2d3... * 10^*exponent, x > 0: the fewest digits (15, 16 or 17)
 * that give x back.  Only digits and the exponent are taken from snprintf, so its decimal point may be any. */
static int shortest(double x, char *digits, int *exponent)
{
  int n = 0;
  for (int precision = MOST_DIGITS - 2; precision <= MOST_DIGITS; precision++) {
    char text[64], again[64];
    double back = 0;
    snprintf(text, sizeof text, "%.*e", precision - 1, x);
    const char *c = text;
    int64_t e = 0;
    for (n = 0; *c && *c != 'e'; c++)
      if (*c >= '0' && *c <= '9' && n < precision) digits[n++] = *c;
    if (*c == 'e') gi_parse_int(c + 1, &e);
    *exponent = (int)e + 1;
    memcpy(again, digits, (size_t)n);
    again[n] = 'e';
    gi_format_int(again + n + 1, *exponent - n);
    if (gi_parse_double(again, &back) && back == x) break;
  }
  while (n > 1 && digits[n - 1] == '0') n--;
  return n;
}

static char *put(char *to, const char *from, int n)
{
  memcpy(to, from, (size_t)n);
  return to + n;
}

static char *put_zeros(char *to, int n)
{
  memset(to, '0', (size_t)n);
  return to + n;
}

char *gi_format_double(char *to, double x)
{
  char digits[MOST_DIGITS + 1];
  int exponent = 0;
  if (isnan(x)) return put(to, "nan", 4) - 1;
  if (signbit(x)) *to++ = '-';
  x = fabs(x);
  if (isinf(x)) return put(to, "inf", 4) - 1;
  if (x < 0x1p53 && x == (double)(int64_t)x) return gi_format_int(to, (int64_t)x);
  int n = shortest(x, digits, &exponent);
  if (exponent > PLAIN_BELOW || exponent < PLAIN_ABOVE) {
    *to++ = digits[0];
    if (n > 1) *to++ = '.';
    to = put(to, digits + 1, n - 1);
    *to++ = 'e';
    return gi_format_int(to, exponent - 1);
  }
  if (exponent <= 0) {
    to = put_zeros(put(to, "0.", 2), -exponent);
    to = put(to, digits, n);
  } else if (exponent >= n) {
    to = put_zeros(put(to, digits, n), exponent - n);
  } else {
    to = put(to, digits, exponent);
    *to++ = '.';
    to = put(to, digits + exponent, n - exponent);
  }
  *to = 0;
  return to;
}
