/* cmd_info.c: what a matrix is. */
#include <gable/gable.h>
#include <math.h>
#include <stdlib.h>

#include "failure.h"
#include "json.h"
#include "options.h"
#include "outfile.h"
#include "plot_matrix.h"
#include "report.h"
#include "session.h"
#include "stop.h"
#include "stopwatch.h"
#include "verbs.h"

static const char *const fields[] = {"pattern", "real", "integer", "complex"};
static const char *const structures[] = {"general", "symmetric", "hermitian", "skew-symmetric", "positive definite"};
static const char *const parts[] = {"both triangles", "lower triangle", "upper triangle"};

typedef struct facts {
  const char *path;
  double read_s, describe_s;
  gable_matrix *a; /* both triangles stored */
  gable_matrix_info info;
  gable_matrix_shape shape;
  gable_idx *lower, *upper; /* widths of the levels, NULL for a rectangular matrix */
} facts;

static void release(facts *f)
{
  gable_matrix_destroy(&f->a);
  free(f->lower);
  free(f->upper);
}

/* The widths of both triangles' levels. */
static gable_status find_widths(facts *f)
{
  gable_status status = GABLE_OK;
  if (f->info.n_rows != f->info.n_cols) return status;
  f->lower = malloc(((size_t)f->shape.lower_levels + 1) * sizeof *f->lower);
  f->upper = malloc(((size_t)f->shape.upper_levels + 1) * sizeof *f->upper);
  if (!f->lower || !f->upper) return GABLE_ERR_MEMORY;
  status = gable_matrix_level_widths(f->a, GABLE_PART_LOWER, f->shape.lower_levels, f->lower);
  if (!status) status = gable_matrix_level_widths(f->a, GABLE_PART_UPPER, f->shape.upper_levels, f->upper);
  return status;
}

static gable_status find_facts(session *s, const char *path, int strict, int plot, facts *f)
{
  gable_read_options reading = GABLE_READ_OPTIONS_INIT;
  gable_matrix *stored = NULL;
  reading.strict = strict;
  reading.accept_complex = 1;
  *f = (facts){.path = path, .info = GABLE_MATRIX_INFO_INIT, .shape = GABLE_MATRIX_SHAPE_INIT};
  double begun = stopwatch_now();
  session_about(path);
  gable_status status = gable_matrix_read(s->ctx, path, &reading, &stored);
  f->read_s = stopwatch_now() - begun;
  begun = stopwatch_now();
  if (!status) status = gable_matrix_get_info(stored, &f->info);
  if (!status) status = gable_matrix_expand(stored, &f->a);
  gable_matrix_destroy(&stored);
  if (!status) status = gable_matrix_describe(f->a, &f->shape);
  if (!status && plot) status = find_widths(f);
  f->describe_s = stopwatch_now() - begun;
  return status;
}

static void report_levels(FILE *out, const char *label, gable_idx n, gable_idx levels, gable_idx widest)
{
  report_line(out, label, "%s, on average %.1f rows, at most %s", human_count(levels).s,
              levels ? (double)n / levels : 0.0, human_count(widest).s);
}

static void report(FILE *out, const facts *f)
{
  const gable_matrix_info *i = &f->info;
  const gable_matrix_shape *s = &f->shape;
  gable_idx smaller = i->n_rows < i->n_cols ? i->n_rows : i->n_cols;
  fprintf(out, "%s\n", session_name(f->path));
  report_line(out, "rows x columns", "%s x %s", human_count(i->n_rows).s, human_count(i->n_cols).s);
  report_line(out, "entries", "%s (%s stored: %s)", human_count((double)s->nnz).s, human_count((double)i->nnz).s,
              parts[i->part]);
  if (i->duplicates) report_line(out, "duplicates", "%s, summed", human_count((double)i->duplicates).s);
  if (i->explicit_zeros) report_line(out, "stored zeros", "%s", human_count((double)i->explicit_zeros).s);
  report_line(out, "as the file says", "%s, %s%s", fields[i->field], structures[i->structure],
              i->dense ? ", dense" : "");
  report_line(out, "structural rank", "%s%s", human_count(s->structural_rank).s,
              s->structural_rank < smaller ? ": structurally singular" : ", full");
  if (s->empty_rows || s->empty_cols)
    report_line(out, "empty rows, columns", "%s, %s", human_count(s->empty_rows).s, human_count(s->empty_cols).s);
  report_line(out, "longest row, column", "%s, %s", human_count(s->longest_row).s, human_count(s->longest_col).s);
  report_line(out, "bandwidth", "%s below, %s above the diagonal", human_count(s->lower_bandwidth).s,
              human_count(s->upper_bandwidth).s);
  if (i->n_rows == i->n_cols) {
    report_line(out, "symmetry", "%s of the pattern, %s of the values", human_percent(s->pattern_symmetry).s,
                i->field == GABLE_FIELD_PATTERN ? "-" : human_percent(s->value_symmetry).s);
    if (s->diagonal == i->n_rows)
      report_line(out, "diagonal", "free of zeros");
    else
      report_line(out, "diagonal", "%s of %s are zero or missing", human_count(i->n_rows - s->diagonal).s,
                  human_count(i->n_rows).s);
    report_levels(out, "levels, lower", i->n_rows, s->lower_levels, s->lower_widest);
    report_levels(out, "levels, upper", i->n_rows, s->upper_levels, s->upper_widest);
  }
  report_line(out, "read, described in", "%s, %s", human_seconds(f->read_s).s, human_seconds(f->describe_s).s);
}

static void fill_levels(json *j, const char *key, gable_idx n, gable_idx levels, gable_idx widest)
{
  json *set = json_object(j, key);
  json_integer(set, "levels", levels);
  json_number(set, "average_parallelism", levels ? (double)n / levels : 0);
  json_integer(set, "widest", widest);
}

static void fill_json(json *j, const facts *f)
{
  const gable_matrix_info *i = &f->info;
  const gable_matrix_shape *s = &f->shape;
  int square = i->n_rows == i->n_cols;
  json_integer(j, "rows", i->n_rows);
  json_integer(j, "columns", i->n_cols);
  json_integer(j, "nnz", s->nnz);
  json_integer(j, "nnz_stored", i->nnz);
  json_integer(j, "duplicates", i->duplicates);
  json_integer(j, "stored_zeros", i->explicit_zeros);
  json_text(j, "field", fields[i->field]);
  json_text(j, "structure", structures[i->structure]);
  json_bool(j, "dense", i->dense);
  json_integer(j, "structural_rank", s->structural_rank);
  json_integer(j, "nonzero_diagonal", s->diagonal);
  json_bool(j, "zero_free_diagonal", square && s->diagonal == i->n_rows);
  json_integer(j, "lower_bandwidth", s->lower_bandwidth);
  json_integer(j, "upper_bandwidth", s->upper_bandwidth);
  json_integer(j, "empty_rows", s->empty_rows);
  json_integer(j, "empty_columns", s->empty_cols);
  json_integer(j, "longest_row", s->longest_row);
  json_integer(j, "longest_column", s->longest_col);
  if (square) {
    json_number(j, "pattern_symmetry", s->pattern_symmetry);
    json_number(j, "value_symmetry", i->field == GABLE_FIELD_PATTERN ? NAN : s->value_symmetry);
    fill_levels(j, "lower", i->n_rows, s->lower_levels, s->lower_widest);
    fill_levels(j, "upper", i->n_rows, s->upper_levels, s->upper_widest);
  }
  json_number(j, "read_s", f->read_s);
  json_number(j, "describe_s", f->describe_s);
}

int cmd_info(int argc, char **argv)
{
  const char *path[1], *json_path = NULL, *plot_path = NULL;
  int strict = 0, rc;
  const option options[] = {
      option_output(0, "plot", "FILE.svg", "draw the entries and the level sets", &plot_path),
      option_strict(&strict),
      option_json(&json_path),
      OPTION_END,
  };
  const command usage = {
      "info",
      "A.mtx",
      "Describes a matrix (Matrix Market, Rutherford-Boeing or Gable's file; also .gz, pattern and\n"
      "complex): sizes, symmetry, zero-free diagonal, structural rank, bandwidth, and the level sets\n"
      "of both triangles with the parallelism that they leave.",
      options,
      "gable info A.mtx\n"
      "gable info A.mtx.gz --plot A.svg\n"
      "gable info A.mtx --json -\n",
      1,
      1,
      "FILE"};
  session s;
  facts f = {0};
  if (options_parse(&usage, argc, argv, path, &rc)) return rc;
  if (!json_available(json_path) || outfile_possible("gable info", plot_path)) return EXIT_FAILED;
  json *j = json_create();
  json_text(j, "matrix", path[0]);
  stop_prepare("info", j, json_path);
  gable_status status = session_open(&s, "cpu", 0);
  if (!status) status = find_facts(&s, path[0], strict, plot_path != NULL, &f);
  if (status) {
    rc = failure_report(&s, "info", status, NULL, &j, json_path);
  } else {
    progress_erase(&s.bar);
    report(report_stream(json_path), &f);
    fill_json(j, &f);
    rc = plot_path ? plot_matrix(plot_path, session_name(path[0]), f.a, &f.shape, f.lower, f.upper) : EXIT_DONE;
    const int written = json_write(&j, json_path);
    if (rc == EXIT_DONE) rc = written;
  }
  release(&f);
  session_close(&s);
  return rc;
}
