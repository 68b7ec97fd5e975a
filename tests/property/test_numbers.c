/* Text to numbers and back: correctly rounded (strtod of the C locale is the oracle), in every locale. */
#include <locale.h>

#include "base/random.h"
#include "sparse/file/number.h"
#include "support/test.h"

static uint64_t bits_of(double x)
{
  uint64_t b;
  memcpy(&b, &x, sizeof b);
  return b;
}

static void reads_as(const char *text, double expected, size_t length)
{
  double x = 0;
  const char *end = gi_parse_double(text, &x);
  CHECK(end && end == text + length, "'%s' was read up to %d", text, end ? (int)(end - text) : -1);
  CHECK(bits_of(x) == bits_of(expected), "'%s' is %.17g, expected %.17g", text, x, expected);
}

/* Text of many kinds: short and long, near halfway, tiny and huge. */
static void random_text(gi_random *r, char *text, size_t n)
{
  uint64_t b = gi_random_u64(r), digits = gi_random_u64(r) >> gi_random_below(r, 60);
  double d;
  switch (gi_random_below(r, 6)) {
  case 0:
    memcpy(&d, &b, sizeof d);
    snprintf(text, n, "%.*g", (int)gi_random_below(r, 25) + 1, isfinite(d) ? d : 1.0);
    break;
  case 1: snprintf(text, n, "%llue%d", (unsigned long long)digits, (int)gi_random_below(r, 700) - 350); break;
  case 2:
    snprintf(text, n, "%d.%lluE%+d", (int)gi_random_below(r, 1000), (unsigned long long)digits,
             (int)gi_random_below(r, 140) - 70);
    break;
  case 3: /* half way between two doubles, and a little beside it */
    snprintf(text, n, "%llu%s", (unsigned long long)((digits | (uint64_t)1 << 62) & ~(uint64_t)0x1ff) + 0x100,
             b & 1   ? ""
             : b & 2 ? ".0000000000000000000000000001"
                     : "e-3");
    break;
  case 4: snprintf(text, n, "%.*f", (int)gi_random_below(r, 40), gi_random_unit(r) * 1e6); break;
  default: snprintf(text, n, "-0.000%llu", (unsigned long long)digits); break;
  }
}

static void agrees_with_strtod(gi_random *r, long count)
{
  char text[512];
  for (long k = 0; k < count; k++) {
    random_text(r, text, sizeof text - 1);
    double expected = strtod(text, NULL);
    size_t n = strlen(text);
    text[n] = ' ', text[n + 1] = 0;
    reads_as(text, expected, n);
  }
}

static void known_cases(void)
{
  char text[1300] = "1.";
  reads_as("0", 0, 1);
  reads_as("-0.0 ", -0.0, 4);
  reads_as("+1.5\n", 1.5, 4);
  reads_as(".5", 0.5, 2);
  reads_as("5.", 5, 2);
  reads_as("1D3 ", 1000, 3);
  reads_as("1.5d-3", 0.0015, 6);
  reads_as("1.25-3 ", 0.00125, 6); /* as Fortran writes three digits of exponent */
  reads_as("4.9406564584124654e-324", 4.9406564584124654e-324, 23);
  reads_as("2.4703282292062327208e-324", 0, 26);
  reads_as("2.4703282292062327209e-324", 4.9406564584124654e-324, 26);
  reads_as("1.7976931348623157e308", 1.7976931348623157e308, 22);
  reads_as("1.7976931348623159e308", HUGE_VAL, 22);
  reads_as("1e99999999999999999999", HUGE_VAL, 22);
  reads_as("1e-99999999999999999999", 0, 23);
  reads_as("0e999999", 0, 8);
  reads_as("-Infinity", -HUGE_VAL, 9);
  reads_as("inf", HUGE_VAL, 3);
  reads_as("9007199254740993", 9007199254740992, 16);
  reads_as("9007199254740993.0000000000000000000000000000000001", 9007199254740994, 51);
  for (int k = 2; k < 1200; k++) text[k] = '0';
  memcpy(text + 1200, "1e3 ", 5);
  reads_as(text, 1000, 1203);
  text[0] = '0', text[1] = '.';
  reads_as(text, strtod(text, NULL), 1203);
  double x;
  static const char *const wrong[] = {"", "-", "+", ".", "e5", "1e", "1e+", "x", "--1", ".e1", "in"};
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) CHECK(!gi_parse_double(wrong[k], &x), "'%s'", wrong[k]);
  CHECK(gi_parse_double("nan", &x) && isnan(x));
}

static void integers(void)
{
  int64_t k = 0;
  char text[GI_NUMBER_CHARS];
  const char *end = gi_parse_int("-123x", &k);
  CHECK(end && *end == 'x' && k == -123);
  CHECK(gi_parse_int("9000000000000000000", &k) && k == 9000000000000000000);
  CHECK(!gi_parse_int("9300000000000000000", &k) && !gi_parse_int("", &k) && !gi_parse_int("-", &k));
  gi_format_int(text, INT64_MIN);
  CHECK(!strcmp(text, "-9223372036854775808"), "%s", text);
  gi_format_int(text, 0);
  CHECK(!strcmp(text, "0"), "%s", text);
}

static void writes(double x, const char *expected)
{
  char text[GI_NUMBER_CHARS];
  char *end = gi_format_double(text, x);
  CHECK(!strcmp(text, expected) && end == text + strlen(text), "%.17g became '%s', expected '%s'", x, text, expected);
}

static void round_trips(gi_random *r, long count)
{
  for (long k = 0; k < count; k++) {
    uint64_t b = gi_random_u64(r);
    double x, back = 0;
    char text[GI_NUMBER_CHARS];
    memcpy(&x, &b, sizeof x);
    if (k % 2) x = (double)(int64_t)(b >> 20) / 1000;
    if (k % 8 == 7) x = -ldexp(x, -(int)(k / 8 % 120));
    if (isnan(x)) continue;
    gi_format_double(text, x);
    CHECK(gi_parse_double(text, &back) && bits_of(back) == bits_of(x), "%.17g -> '%s' -> %.17g", x, text, back);
    CHECK(strlen(text) <= GI_DOUBLE_CHARS, "'%s'", text);
  }
}

static void everything(gi_random *r)
{
  writes(0.1, "0.1");
  writes(-1234.5, "-1234.5");
  writes(1e300, "1e300");
  writes(1.5e-9, "1.5e-9");
  writes(3, "3");
  writes(1e15, "1000000000000000");
  writes(1.0 / 3, "0.3333333333333333");
  writes(-HUGE_VAL, "-inf");
  round_trips(r, 200000);
}

int main(void)
{
  static const char *const commas[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "nl_NL.UTF-8"};
  gi_random r = gi_random_seed(11);
  known_cases();
  integers();
  agrees_with_strtod(&r, 1000000);
  everything(&r);
  for (size_t k = 0; k < sizeof commas / sizeof *commas; k++) {
    if (!setlocale(LC_ALL, commas[k])) continue;
    known_cases();
    everything(&r);
    return 0;
  }
  printf("no locale with a decimal comma is installed: not tried in one\n");
  return 0;
}
