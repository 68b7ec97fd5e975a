/* cmd_convert.c: from one file format to another. */
#include <gable/gable.h>
#include <string.h>

#include "failure.h"
#include "json.h"
#include "options.h"
#include "outfile.h"
#include "report.h"
#include "session.h"
#include "stop.h"
#include "stopwatch.h"
#include "verbs.h"

typedef struct request {
  const char *from, *to, *format;
  int strict, expand, transpose;
} request;

static gable_file_format format_of(const char *name)
{
  if (!strcmp(name, "mtx")) return GABLE_FILE_MATRIX_MARKET;
  if (!strcmp(name, "rb")) return GABLE_FILE_RUTHERFORD_BOEING;
  if (!strcmp(name, "gbl")) return GABLE_FILE_BINARY;
  return GABLE_FILE_AUTO;
}

/* *a becomes what make gives of it. */
static gable_status replace(gable_matrix **a, gable_status (*make)(const gable_matrix *, gable_matrix **))
{
  gable_matrix *b = NULL;
  gable_status status = make(*a, &b);
  if (status) return status;
  gable_matrix_destroy(a);
  *a = b;
  return GABLE_OK;
}

static gable_status convert(session *s, const request *r, FILE *out, json *j)
{
  gable_read_options reading = GABLE_READ_OPTIONS_INIT;
  gable_matrix_info info = GABLE_MATRIX_INFO_INIT;
  gable_matrix *a = NULL;
  reading.strict = r->strict;
  reading.accept_complex = 1;
  double begun = stopwatch_now();
  session_about(r->from);
  gable_status status = gable_matrix_read(s->ctx, r->from, &reading, &a);
  double read_s = stopwatch_now() - begun;
  if (!status && r->expand) status = replace(&a, gable_matrix_expand);
  if (!status && r->transpose) status = replace(&a, gable_matrix_transpose);
  begun = stopwatch_now();
  if (!status) status = gable_matrix_write(a, r->to, format_of(r->format));
  double write_s = stopwatch_now() - begun;
  if (!status) status = gable_matrix_get_info(a, &info);
  gable_matrix_destroy(&a);
  if (status) return status;
  progress_erase(&s->bar);
  fprintf(out, "%s -> %s\n", session_name(r->from), r->to);
  report_line(out, "matrix", "%s x %s, %s entries stored", human_count(info.n_rows).s, human_count(info.n_cols).s,
              human_count((double)info.nnz).s);
  if (info.duplicates) report_line(out, "duplicates", "%s summed", human_count((double)info.duplicates).s);
  report_line(out, "read, written", "%s, %s", human_seconds(read_s).s, human_seconds(write_s).s);
  json_text(j, "written", r->to);
  json_integer(j, "rows", info.n_rows);
  json_integer(j, "columns", info.n_cols);
  json_integer(j, "nnz", info.nnz);
  json_integer(j, "duplicates", info.duplicates);
  json_number(j, "read_s", read_s);
  json_number(j, "write_s", write_s);
  return GABLE_OK;
}

int cmd_convert(int argc, char **argv)
{
  const char *path[2], *json_path = NULL;
  request r = {.format = "name"};
  int rc;
  const option options[] = {
      option_choice(0, "format", "name|mtx|rb|gbl", "of the file to write; 'name' goes by its ending", &r.format),
      option_flag(0, "expand", "store both triangles of a symmetric matrix", &r.expand),
      option_flag(0, "transpose", "write the transpose", &r.transpose),
      option_strict(&r.strict),
      option_json(&json_path),
      OPTION_END,
  };
  const command usage = {"convert",
                         "FROM TO",
                         "Converts between Matrix Market (.mtx), Rutherford-Boeing (.rb, .rua, ...) and Gable's own\n"
                         "binary file (.gbl); a further .gz compresses.  The format of FROM is told from its content.",
                         options,
                         "gable convert A.mtx.gz A.gbl           binary: nothing to parse or to decompress\n"
                         "gable convert A.rua A.mtx\n"
                         "gable convert A.mtx --expand full.mtx  both triangles\n",
                         2,
                         2,
                         "FILE"};
  session s;
  if (options_parse(&usage, argc, argv, path, &rc)) return rc;
  if ((rc = options_output_named("convert", path[1])) != EXIT_DONE) return rc;
  if (json_path && !strcmp(json_path, path[1]))
    return options_wrong("convert", "the matrix and --json both write to %s: give two names", json_path);
  if (!json_available(json_path)) return EXIT_FAILED;
  r.from = path[0];
  r.to = path[1];
  if (outfile_takes_matrix("gable convert", r.to, format_of(r.format))) return EXIT_FAILED;
  json *j = json_create();
  json_text(j, "matrix", r.from);
  stop_prepare("convert", j, json_path);
  stop_writes(r.to);
  gable_status status = session_open(&s, "cpu", 0);
  if (!status) status = convert(&s, &r, outfile_is_stdout(r.to) ? stderr : report_stream(json_path), j);
  rc = status ? failure_report(&s, "convert", status, NULL, &j, json_path) : json_write(&j, json_path);
  session_close(&s);
  return rc;
}
