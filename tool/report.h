/* report.h: how the tool writes numbers for people. */
#ifndef TOOL_REPORT_H
#define TOOL_REPORT_H

#include <stdio.h>

typedef struct text {
  char s[40];
} text;

text human_bytes(double bytes);                  /* 3.2 MB (10^6) */
text human_seconds(double s);                    /* 41.3 us */
text human_count(double n);                      /* 1,234,567; from 10^15 on 1.23e+15 */
text human_rate(double per_s, const char *unit); /* 12.3 Gflop/s */
text human_percent(double share);                /* 12.3% */

/* "  label          text" with the texts aligned. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void report_line(FILE *out, const char *label, const char *format, ...);

/* A line of the bytes that a plan takes; bound: at most, as known before its analysis, NAN: not known. */
void report_plan_bytes(FILE *out, double bytes, double bound);

/* Where the report for people goes: standard output, or standard error when the JSON goes there ("-"). */
FILE *report_stream(const char *json_path);

#endif
