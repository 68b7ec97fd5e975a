/* matrices.h: what the drivers of a GPU share: both triangles of a grid or a file, and the end of a line of JSON. */
#ifndef BENCH_MATRICES_H
#define BENCH_MATRICES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif
#include "../../tool/bench_matrix.h"
#include "../../tool/stopwatch.h"
#ifdef __cplusplus
}
#endif

/* source: a file, or a recipe of gable_matrix_generate; "5-point 2048x2048" is the name of laplacian5:2048x2048, as in
 * `gable bench`. */
static inline int open_matrix(gable_context *host, const char *source, bench_matrix *m)
{
  static const bench_reading plain = {0, 0, 0};
  char name[80], sizes[40], why[240] = "";
  int points = 0;
  const char *base = strrchr(source, '/');
  base = base ? base + 1 : source;
  if (sscanf(source, "laplacian%d:%39s", &points, sizes) == 2)
    snprintf(name, sizeof name, "%d-point %s", points, sizes);
  else
    snprintf(name, sizeof name, "%.*s", (int)strcspn(base, "."), base);
  const gable_status status = bench_matrix_open(host, name, source, &plain, m, why, sizeof why);
  if (status) fprintf(stderr, "%s: left out: %s\n", source, *why ? why : gable_status_text(status));
  return status == GABLE_OK;
}

static inline void end_line(FILE *out)
{
  char date[32];
  const time_t t = time(NULL);
  struct tm utc;
  const char *machine = getenv("GABLE_BENCH_MACHINE"), *commit = getenv("GABLE_BENCH_COMMIT");
  strftime(date, sizeof date, "%Y-%m-%d", gmtime_r(&t, &utc));
  fprintf(out, ",\"machine\":\"%s\",\"commit\":\"%s\",\"date\":\"%s\"}\n", machine ? machine : "unnamed",
          commit ? commit : "unknown", date);
  fflush(out);
}

#endif
