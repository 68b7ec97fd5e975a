/* number.c: the product w * 10^q of an integer of at most 19 digits is rounded by the algorithm of Eisel and Lemire
 * (D. Lemire, Number parsing at a gigabyte per second, 2021): 128 bits of 5^q decide all but a few cases.  Those,
 * longer numbers and extreme exponents go through strtod, as digits and an exponent without a decimal point, which no
 * locale changes. */
#include "sparse/file/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h" /* gi_uint128 */

enum { FAST_DIGITS = 19, LEAST_POWER = -64, MOST_POWER = 64, EXACT_DIGITS = 800 };

static const uint64_t powers_of_five[][2] = {
#include "sparse/file/powers_of_five.inc"
};

static const double powers_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                       1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

const char *gi_parse_int(const char *p, int64_t *k)
{
  int negative = *p == '-';
  uint64_t w = 0;
  if (*p == '-' || *p == '+') p++;
  if (*p < '0' || *p > '9') return NULL;
  for (; *p >= '0' && *p <= '9'; p++) {
    if (w > (INT64_MAX - 9) / 10) return NULL;
    w = 10 * w + (uint64_t)(*p - '0');
  }
  *k = negative ? -(int64_t)w : (int64_t)w;
  return p;
}

/* w * 10^q as bits of a double, 0 when it must be decided in another way.  w > 0, q in the range of the table. */
static uint64_t round_product(uint64_t w, int q)
{
  int zeros = __builtin_clzll(w);
  const uint64_t *power = powers_of_five[q - LEAST_POWER];
  w <<= zeros;
  gi_uint128 product = (gi_uint128)w * power[0];
  uint64_t high = (uint64_t)(product >> 64), low = (uint64_t)product;
  if ((high & 0x1FF) == 0x1FF) {
    uint64_t more = (uint64_t)(((gi_uint128)w * power[1]) >> 64);
    low += more;
    high += low < more;
  }
  if (low == UINT64_MAX && (q < -27 || q > 55)) return 0;
  int top = (int)(high >> 63), shift = top + 9;
  uint64_t mantissa = high >> shift;
  int exponent = ((217706 * q) >> 16) + 63 + top - zeros + 1023;
  if (exponent <= 0) return 0;
  /* Exactly half way between two doubles, which only these q allow: to even. */
  if (low <= 1 && q >= -4 && q <= 23 && (mantissa & 3) == 1 && mantissa << shift == high) mantissa &= ~(uint64_t)1;
  mantissa += mantissa & 1;
  mantissa >>= 1;
  if (mantissa >= (uint64_t)1 << 53) {
    mantissa = (uint64_t)1 << 52;
    exponent++;
  }
  if (exponent >= 2047) return 0;
  return (mantissa & (((uint64_t)1 << 52) - 1)) | ((uint64_t)exponent << 52);
}

/* digits[0..n) (with at most one point among them) times 10^exponent, by strtod.  Beyond EXACT_DIGITS digits only
 * whether there is a nonzero one matters: 768 always decide. */
static double round_slowly(const char *digits, const char *end, int64_t exponent)
{
  char text[EXACT_DIGITS + 40];
  size_t n = 0;
  int fraction = 0, rest = 0;
  for (const char *c = digits; c < end; c++) {
    if (*c == '.') {
      fraction = 1;
      continue;
    }
    exponent -= fraction;
    if (n == 0 && *c == '0') continue;
    if (n < EXACT_DIGITS) {
      text[n++] = *c;
    } else {
      rest |= *c != '0';
      exponent++;
    }
  }
  if (n == 0) return 0;
  if (rest) {
    text[n++] = '1';
    exponent--;
  }
  if (exponent > 100000) exponent = 100000;
  if (exponent < -100000) exponent = -100000;
  snprintf(text + n, sizeof text - n, "e%d", (int)exponent);
  return strtod(text, NULL);
}

static int is_word(const char *p, const char *word)
{
  for (; *word; p++, word++)
    if ((*p | 0x20) != *word) return 0;
  return 1;
}

static const char *parse_word(const char *p, double *x)
{
  if (is_word(p, "infinity") || is_word(p, "inf")) {
    *x = HUGE_VAL;
    return p + (is_word(p, "infinity") ? 8 : 3);
  }
  if (is_word(p, "nan")) {
    *x = (double)NAN;
    return p + 3;
  }
  return NULL;
}

/* The exponent at p, saturated.  Text that begins like one and is none ("1e", "2+") belongs to no number. */
static const char *parse_exponent(const char *p, int64_t *exponent)
{
  int letter = (*p | 0x20) == 'e' || (*p | 0x20) == 'd', negative;
  int64_t e = 0;
  if (!letter && *p != '+' && *p != '-') return p;
  p += letter;
  negative = *p == '-';
  if (*p == '+' || *p == '-') p++;
  if (*p < '0' || *p > '9') return NULL;
  for (; *p >= '0' && *p <= '9'; p++)
    if (e < 1000000) e = 10 * e + (*p - '0');
  *exponent = negative ? -e : e;
  return p;
}

const char *gi_parse_double(const char *p, double *x)
{
  int negative = *p == '-';
  if (*p == '-' || *p == '+') p++;
  const char *digits = p, *point = NULL;
  uint64_t w = 0;
  int64_t exponent = 0;
  for (; *p >= '0' && *p <= '9'; p++) w = 10 * w + (uint64_t)(*p - '0');
  if (*p == '.') {
    point = p++;
    for (; *p >= '0' && *p <= '9'; p++) w = 10 * w + (uint64_t)(*p - '0');
  }
  const char *end = p;
  int64_t n_digits = end - digits - (point != NULL);
  if (n_digits == 0) {
    p = parse_word(digits, x);
    if (p && negative) *x = -*x;
    return point ? NULL : p;
  }
  p = parse_exponent(p, &exponent);
  if (!p) return NULL;
  int64_t q = exponent - (point ? end - point - 1 : 0);
  double value;
  if (n_digits > FAST_DIGITS) { /* leading zeros do not count */
    for (const char *c = digits; c < end && (*c == '0' || *c == '.'); c++) n_digits -= *c == '0';
  }
  uint64_t bits = 0;
  if (n_digits > FAST_DIGITS) {
    value = round_slowly(digits, end, exponent);
  } else if (w == 0) {
    value = 0;
  } else if (w <= (uint64_t)1 << 53 && q >= -22 && q <= 22) {
    value = q < 0 ? (double)w / powers_of_ten[-q] : (double)w * powers_of_ten[q];
  } else if (q >= LEAST_POWER && q <= MOST_POWER && (bits = round_product(w, (int)q)) != 0) {
    memcpy(&value, &bits, sizeof value);
  } else {
    value = round_slowly(digits, end, exponent);
  }
  *x = negative ? -value : value;
  return p;
}
