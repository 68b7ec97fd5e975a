/* cmd_info.c: what a matrix is. */
#include <gable/gable.h>

#include "json.h"
#include "options.h"
#include "report.h"
#include "session.h"
#include "verbs.h"

static const char *const fields[] = {"pattern", "real", "integer", "complex"};
static const char *const structures[] = {"general", "symmetric", "hermitian", "skew-symmetric", "positive definite"};

static gable_status describe(session *s, const char *path, int strict, FILE *out, json *j)
{
  gable_read_options reading = GABLE_READ_OPTIONS_INIT;
  gable_matrix_info info = GABLE_MATRIX_INFO_INIT;
  gable_matrix *a = NULL;
  reading.strict = strict;
  reading.accept_complex = 1;
  gable_status status = gable_matrix_read(s->ctx, path, &reading, &a);
  if (!status) status = gable_matrix_get_info(a, &info);
  if (status) goto done;
  fprintf(out, "%s\n", path);
  report_line(out, "rows x columns", "%s x %s", human_count(info.n_rows).s, human_count(info.n_cols).s);
  report_line(out, "stored entries", "%s, %s, %s", human_count((double)info.nnz).s, fields[info.field],
              structures[info.structure]);
  json_text(j, "matrix", path);
  json_integer(j, "rows", info.n_rows);
  json_integer(j, "columns", info.n_cols);
  json_integer(j, "nnz", info.nnz);
done:
  gable_matrix_destroy(&a);
  return status;
}

int cmd_info(int argc, char **argv)
{
  const char *path[1], *json_path = NULL;
  int strict = 0, rc;
  const option options[] = {
      option_flag(0, "strict", "duplicate entries are an error", &strict),
      option_json(&json_path),
      OPTION_END,
  };
  const command usage = {"info", "A.mtx", "Describes a matrix.", options, "gable info A.mtx --json -\n", 1, 1};
  session s;
  if (options_parse(&usage, argc, argv, path, &rc)) return rc;
  if (!json_available(json_path)) return EXIT_FAILED;
  json *j = json_create();
  gable_status status = session_open(&s, "cpu", 0);
  if (!status) status = describe(&s, path[0], strict, report_stream(json_path), j);
  if (status) {
    json_destroy(&j);
    rc = session_fail(&s, "info", status);
  } else {
    rc = json_write(&j, json_path);
  }
  session_close(&s);
  return rc;
}
