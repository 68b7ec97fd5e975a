#include "report.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

/* x with three significant digits and a prefix from the list, each worth 1000 of the one before. */
static text with_prefix(double x, const char *const *prefixes, int n_prefixes, const char *unit)
{
  text t;
  int k = 0;
  for (; k + 1 < n_prefixes && fabs(x) >= 999.5; k++) x /= 1000;
  int decimals = fabs(x) >= 99.95 || (k == 0 && x == floor(x)) ? 0 : fabs(x) >= 9.995 ? 1 : 2;
  snprintf(t.s, sizeof t.s, "%.*f %s%s", decimals, x, prefixes[k], unit);
  return t;
}

text human_bytes(double bytes)
{
  static const char *const prefixes[] = {"", "k", "M", "G", "T", "P"};
  return with_prefix(bytes, prefixes, 6, "B");
}

text human_seconds(double s)
{
  static const char *const prefixes[] = {"n", "u", "m", ""};
  return with_prefix(s * 1e9, prefixes, 4, "s");
}

text human_rate(double per_s, const char *unit)
{
  static const char *const prefixes[] = {"", "k", "M", "G", "T", "P"};
  char per_second[24];
  snprintf(per_second, sizeof per_second, "%s/s", unit);
  return with_prefix(per_s, prefixes, 6, per_second);
}

text human_count(double n)
{
  text t;
  char digits[24];
  if (!(fabs(n) < 1e15)) {
    snprintf(t.s, sizeof t.s, "%.3g", n);
    return t;
  }
  snprintf(digits, sizeof digits, "%.0f", n);
  size_t length = strlen(digits), used = 0;
  for (size_t k = 0; k < length; k++) {
    t.s[used++] = digits[k];
    size_t left = length - 1 - k;
    if (left && left % 3 == 0 && digits[k] != '-') t.s[used++] = ',';
  }
  t.s[used] = 0;
  return t;
}

text human_percent(double share)
{
  text t;
  snprintf(t.s, sizeof t.s, "%.*f%%", share != 1 && share != 0 ? 1 : 0, 100 * share);
  return t;
}

void report_line(FILE *out, const char *label, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  fprintf(out, "  %-22s ", label);
  vfprintf(out, format, args);
  fputc('\n', out);
  va_end(args);
}

FILE *report_stream(const char *json_path)
{
  return json_path && !strcmp(json_path, "-") ? stderr : stdout;
}

void report_plan_bytes(FILE *out, double bytes, double bound)
{
  if (isnan(bound))
    report_line(out, "plan", "%s", human_bytes(bytes).s);
  else
    report_line(out, "plan", "%s (bound before the analysis: %s)", human_bytes(bytes).s, human_bytes(bound).s);
}
