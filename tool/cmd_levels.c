/* cmd_levels.c: the level sets of both triangles of a matrix, in figures and as a picture. */
#include <stdlib.h>
#include <string.h>

#include <gable/gable.h>

#include "block_levels.h"
#include "failure.h"
#include "json.h"
#include "options.h"
#include "order_name.h"
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
  options.solves = 0; /* the picture is that of many */
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

typedef struct request {
  const char *path, *plot, *json_path, *order;
  int strict, supernodal;
  long threads;
  gable_order order_taken; /* of order */
} request;

/* --order NAME or FILE. */
static gable_status analyse_blocks(session *s, const request *q, const gable_matrix_view *view, gable_symbolic **out)
{
  gable_symbolic_options options = GABLE_SYMBOLIC_OPTIONS_INIT;
  gable_idx *order = NULL;
  gable_status status = GABLE_OK;
  options.order = q->order;
  if (q->order_taken == GABLE_ORDER_USER) {
    order = malloc(((size_t)view->n_cols + 1) * sizeof *order);
    status = order ? gable_order_read(s->ctx, q->order, view->n_cols, order) : GABLE_ERR_MEMORY;
    options.order = "user";
    options.user_order = order;
  }
  if (!status) status = gable_symbolic_create(s->ctx, view, &options, out);
  free(order);
  return status;
}

/* Blocks of the factors.  Frees *j. */
static int answer_blocks(session *s, const request *q, json **j)
{
  gable_read_options reading = GABLE_READ_OPTIONS_INIT;
  gable_symbolic_info info = GABLE_SYMBOLIC_INFO_INIT;
  gable_matrix_view view = GABLE_MATRIX_VIEW_INIT;
  gable_matrix *a = NULL;
  gable_symbolic *symbolic = NULL;
  gable_off duplicates = 0;
  block_levels before = {0, 0, NULL}, after = {0, 0, NULL};
  int rc;
  reading.strict = q->strict;
  gable_status status = session_read(s, q->path, &reading, &a, &duplicates);
  if (!status) status = gable_matrix_get_view(a, &view);
  if (!status) status = analyse_blocks(s, q, &view, &symbolic);
  if (!status) status = gable_symbolic_get_info(symbolic, &info);
  if (!status) status = block_levels_find(symbolic, 0, &before);
  if (!status) status = block_levels_find(symbolic, 1, &after);
  if (status) {
    rc = failure_report(s, "levels", status, NULL, j, q->json_path);
  } else {
    const char *slash = strrchr(q->path, '/');
    FILE *out = report_stream(q->json_path);
    progress_erase(&s->bar);
    rc = q->plot ? plot_blocks(q->plot, slash ? slash + 1 : session_name(q->path), &before, &after) : EXIT_DONE;
    fprintf(out, "%s\n", session_name(q->path));
    report_line(out, "rows, order", "%s, %s", human_count(info.n).s, info.order);
    block_levels_print(out, &before, &after);
    json_integer(*j, "n", info.n);
    json_integer(*j, "duplicates", duplicates);
    json_text(*j, "order", info.order);
    block_levels_json(*j, "supernodes", &before);
    block_levels_json(*j, "merged", &after);
    const int written = json_write(j, q->json_path);
    if (rc == EXIT_DONE) rc = written;
  }
  block_levels_release(&before);
  block_levels_release(&after);
  gable_symbolic_destroy(&symbolic);
  gable_matrix_destroy(&a);
  return rc;
}

int cmd_levels(int argc, char **argv)
{
  request q = {0};
  int rc;
  const option options[] = {
      option_output('p', "plot", "OUT.svg", "draw the width of each level, the work so far, and who does what",
                    &q.plot),
      option_flag(0, "supernodal", "the blocks of the factors of A instead, before and after merging", &q.supernodal),
      option_text(0, "order", "NAME", ORDER_WORDS "|FILE",
                  "of --supernodal: auto, metis, amd, colamd, natural, or a file with a permutation", &q.order),
      option_integer('t', "threads", "T", "for which auto decides (default: one per processor)", &q.threads, 0, 1024),
      option_strict(&q.strict),
      option_json(&q.json_path),
      OPTION_END,
  };
  const command usage = {
      "levels",
      "A.mtx",
      "Shows the level sets of both triangles of A: rows of one level can be solved at the same time.\n"
      "With --supernodal the levels of a solve with the factor L of A: blocks of columns of one level\n"
      "(supernodes, then as a solve on a GPU merges them) can be solved at the same time.",
      options,
      "gable levels A.mtx --plot levels.svg\n"
      "gable levels A.mtx --supernodal --order metis --plot blocks.svg\n",
      1,
      1,
      "FILE"};
  session s;
  if (options_parse(&usage, argc, argv, &q.path, &rc)) return rc;
  if (q.order && !q.supernodal)
    return options_wrong("levels", "--order is of --supernodal: the levels of A have no order");
  if (!q.order) q.order = "auto";
  if (!json_available(q.json_path) || outfile_possible("gable levels", q.plot)) return EXIT_FAILED;
  if (order_named("levels", q.order, &q.order_taken)) return EXIT_FAILED;
  json *j = json_create();
  json_text(j, "matrix", q.path);
  stop_prepare("levels", j, q.json_path);
  gable_status status = session_open(&s, "cpu", (int)q.threads);
  if (status)
    rc = failure_report(&s, "levels", status, NULL, &j, q.json_path);
  else if (q.supernodal)
    rc = answer_blocks(&s, &q, &j);
  else
    rc = answer(&s, q.path, q.strict, q.plot, &j, q.json_path);
  session_close(&s);
  return rc;
}
