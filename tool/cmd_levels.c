/* cmd_levels.c: the level sets of both triangles of a matrix, in figures and as a picture. */
#include <stdlib.h>
#include <string.h>

#include <gable/gable.h>

#include "failure.h"
#include "json.h"
#include "options.h"
#include "outfile.h"
#include "plot_levels.h"
#include "report.h"
#include "session.h"
#include "stop.h"
#include "verbs.h"

/* Levels of one triangle, owned. */
typedef struct levels {
  gable_idx count;
  gable_idx *rows, *level;  /* [count], [n] */
  gable_off *entries;       /* [count] */
  gable_trisolve_info seen; /* of levr: who does a level */
  char choice[240];         /* of auto */
} levels;

static void drop(levels *l)
{
  free(l->rows);
  free(l->level);
  free(l->entries);
}

static gable_status analyse(gable_context *ctx, const gable_matrix_view *view, gable_part uplo, const char *method,
                            gable_trisolve_info *info, gable_idx *level)
{
  gable_trisolve_options options = GABLE_TRISOLVE_OPTIONS_INIT;
  gable_trisolve *plan = NULL;
  options.method = method;
  options.uplo = uplo;
  options.diag = GABLE_DIAG_UNIT;
  options.ops = GABLE_TRISOLVE_N;
  gable_status status = gable_trisolve_create(ctx, &options, &plan);
  if (!status) status = gable_trisolve_analyse(plan, view);
  if (!status) status = gable_trisolve_get_info(plan, GABLE_OP_N, info);
  if (!status && level) status = gable_trisolve_get_schedule(plan, GABLE_OP_N, NULL, level);
  gable_trisolve_destroy(&plan);
  return status;
}

static gable_status find(gable_context *ctx, const gable_matrix_view *view, gable_part uplo, levels *out)
{
  const gable_idx n = view->n_rows;
  const int64_t *ptr = view->ptr;
  gable_trisolve_info chosen = GABLE_TRISOLVE_INFO_INIT;
  out->seen = chosen;
  out->level = malloc(((size_t)n + 1) * sizeof *out->level);
  if (!out->level) return GABLE_ERR_MEMORY;
  gable_status status = analyse(ctx, view, uplo, "levr", &out->seen, out->level);
  if (!status) status = analyse(ctx, view, uplo, "auto", &chosen, NULL);
  if (status) return status;
  memcpy(out->choice, chosen.why, sizeof out->choice);
  out->count = out->seen.levels;
  out->rows = calloc((size_t)out->count + 1, sizeof *out->rows);
  out->entries = calloc((size_t)out->count + 1, sizeof *out->entries);
  if (!out->rows || !out->entries) return GABLE_ERR_MEMORY;
  for (gable_idx j = 0; j < n; j++) {
    out->rows[out->level[j]]++;
    for (int64_t p = ptr[j]; p < ptr[j + 1]; p++) { /* columns: the entry belongs to its row's level */
      const gable_idx i = view->idx[p];
      if (uplo == GABLE_PART_LOWER ? i > j : i < j) out->entries[out->level[i]]++;
    }
  }
  return GABLE_OK;
}

static int by_value(const void *p, const void *q)
{
  gable_idx a = *(const gable_idx *)p, b = *(const gable_idx *)q;
  return (a > b) - (a < b);
}

/* Sorts l->rows. */
static void report(FILE *out, json *j, const char *name, levels *l)
{
  gable_off shared = 0;
  for (gable_idx k = 0; k < l->count; k++) shared += l->rows[k] + l->entries[k] > l->seen.narrow;
  qsort(l->rows, (size_t)l->count, sizeof *l->rows, by_value);
  const gable_idx last = l->count > 0 ? l->count - 1 : 0, median = l->rows[last / 2];
  json *o = json_object(j, name);
  report_line(out, name, "%s levels, median %s rows, widest %s, %s wide enough to share", human_count(l->count).s,
              human_count(median).s, human_count(l->rows[last]).s, human_count((double)shared).s);
  report_line(out, "auto", "%s", l->choice);
  json_integer(o, "levels", l->count);
  json_integer(o, "rows_q1", l->rows[last / 4]);
  json_integer(o, "rows_median", median);
  json_integer(o, "rows_q3", l->rows[3 * (size_t)last / 4]);
  json_integer(o, "rows_widest", l->rows[last]);
  json_integer(o, "shared_levels", shared);
  json_integer(o, "nnz", l->seen.nnz);
  json_text(o, "why", l->choice);
}

/* Frees *j. */
static int answer(session *s, const char *path, int strict, const char *plot, json **j, const char *json_path)
{
  gable_read_options reading = GABLE_READ_OPTIONS_INIT;
  gable_matrix *file = NULL, *a = NULL;
  gable_off duplicates = 0;
  gable_matrix_view view = GABLE_MATRIX_VIEW_INIT;
  levels both[2];
  int rc = EXIT_FAILED;
  memset(both, 0, sizeof both);
  reading.strict = strict;
  gable_status status = session_read(s, path, &reading, &file, &duplicates);
  if (!status) status = gable_matrix_expand(file, &a);
  gable_matrix_destroy(&file);
  if (!status) status = gable_matrix_get_view(a, &view);
  view.part = GABLE_PART_FULL;
  view.value_type = GABLE_TYPE_D; /* the pattern alone is looked at */
  if (!status) status = find(s->ctx, &view, GABLE_PART_LOWER, &both[0]);
  if (!status) status = find(s->ctx, &view, GABLE_PART_UPPER, &both[1]);
  if (status) {
    rc = failure_report(s, "levels", status, NULL, j, json_path);
  } else {
    const level_sets sets[] = {
        {"lower triangle", both[0].count, both[0].rows, both[0].entries, both[0].seen.narrow, both[0].choice},
        {"upper triangle", both[1].count, both[1].rows, both[1].entries, both[1].seen.narrow, both[1].choice}};
    const char *slash = strrchr(path, '/');
    rc = plot ? plot_levels(plot, slash ? slash + 1 : session_name(path), sets, 2) : EXIT_DONE;
    FILE *out = report_stream(json_path);
    fprintf(out, "%s\n", session_name(path));
    json_integer(*j, "n", view.n_rows);
    json_integer(*j, "duplicates", duplicates);
    report(out, *j, "lower", &both[0]);
    report(out, *j, "upper", &both[1]);
    const int written = json_write(j, json_path);
    if (rc == EXIT_DONE) rc = written;
  }
  drop(&both[0]);
  drop(&both[1]);
  gable_matrix_destroy(&a);
  return rc;
}

int cmd_levels(int argc, char **argv)
{
  const char *path[1], *plot = NULL, *json_path = NULL;
  long threads = 0;
  int strict = 0, rc;
  const option options[] = {
      option_output('p', "plot", "OUT.svg", "draw the width of each level, the work so far, and who does what", &plot),
      option_integer('t', "threads", "T", "for which auto decides (default: one per processor)", &threads, 0, 1024),
      option_strict(&strict),
      option_json(&json_path),
      OPTION_END,
  };
  const command usage = {
      "levels",
      "A.mtx",
      "Shows the level sets of both triangles of A: rows of one level can be solved at the same time.",
      options,
      "gable levels A.mtx --plot levels.svg\n",
      1,
      1,
      "FILE"};
  session s;
  if (options_parse(&usage, argc, argv, path, &rc)) return rc;
  if (!json_available(json_path) || outfile_possible("gable levels", plot)) return EXIT_FAILED;
  json *j = json_create();
  json_text(j, "matrix", path[0]);
  stop_prepare("levels", j, json_path);
  gable_status status = session_open(&s, "cpu", (int)threads);
  rc = status ? failure_report(&s, "levels", status, NULL, &j, json_path)
              : answer(&s, path[0], strict, plot, &j, json_path);
  session_close(&s);
  return rc;
}
