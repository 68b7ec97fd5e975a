/* cmd_generate.c: test matrices. */
#include <gable/gable.h>
#include <string.h>

#include "failure.h"
#include "json.h"
#include "options.h"
#include "outfile.h"
#include "report.h"
#include "session.h"
#include "stop.h"
#include "twin.h"
#include "verbs.h"

enum { KIND_BYTES = 512 };

typedef struct request {
  const char *kind, *to;
  long seed;
  int random_values, random_numbering, expand;
} request;

/* Extends *a to both triangles. */
static gable_status expand(gable_matrix **a)
{
  gable_matrix *both = NULL;
  gable_status status = gable_matrix_expand(*a, &both);
  if (status) return status;
  gable_matrix_destroy(a);
  *a = both;
  return GABLE_OK;
}

static gable_status generate(session *s, const request *r, FILE *out, json *j, char *reason)
{
  gable_matrix_info info = GABLE_MATRIX_INFO_INIT;
  gable_matrix *a = NULL;
  char kind[KIND_BYTES];
  snprintf(kind, sizeof kind, "%s%s%s", r->kind, r->random_values ? ",values=random" : "",
           r->random_numbering ? ",numbering=random" : "");
  json_text(j, "kind", kind);
  gable_status status = twin_or_generate(s->ctx, kind, (uint64_t)r->seed, &a, reason);
  if (!status && r->expand) status = expand(&a);
  if (!status) status = gable_matrix_write(a, r->to, GABLE_FILE_AUTO);
  if (!status) status = gable_matrix_get_info(a, &info);
  gable_matrix_destroy(&a);
  if (status) return status;
  progress_erase(&s->bar);
  fprintf(out, "%s -> %s\n", kind, r->to);
  report_line(out, "matrix", "%s x %s, %s entries stored%s", human_count(info.n_rows).s, human_count(info.n_cols).s,
              human_count((double)info.nnz).s, info.part == GABLE_PART_LOWER ? " (lower triangle, symmetric)" : "");
  json_integer(j, "seed", r->seed);
  json_text(j, "written", r->to);
  json_integer(j, "rows", info.n_rows);
  json_integer(j, "columns", info.n_cols);
  json_integer(j, "nnz", info.nnz);
  json_bool(j, "symmetric", info.structure == GABLE_STRUCTURE_SYMMETRIC);
  return GABLE_OK;
}

/* The kinds up to their colon, bars between: "laplacian5:|laplacian9:|...". */
static void kind_words(const char *kinds, char *words, size_t bytes)
{
  size_t used = 0;
  *words = 0;
  for (const char *line = kinds; *line;) {
    const size_t length = strcspn(line, "\n"), name = strcspn(line, ": \n") + 1;
    const int again = used >= name && !strncmp(words + used - name, line, name); /* those of one name stand together */
    if (name <= length && line[name - 1] == ':' && !again && used + name + 2 <= bytes)
      used += (size_t)snprintf(words + used, bytes - used, "%s%.*s", used ? "|" : "", (int)name, line);
    line += length + (line[length] == '\n');
  }
}

int cmd_generate(int argc, char **argv)
{
  const char *argument[1], *json_path = NULL;
  char kinds[4000], summary[4096], words[KIND_BYTES], reason[TWIN_REASON_BYTES] = "";
  request r = {.seed = 1};
  int rc;
  const option options[] = {
      option_output('o', "output", "FILE", "where to: .mtx, .rb or .gbl, with .gz compressed (needed)", &r.to),
      option_integer(0, "seed", "S", "of everything random (default 1)", &r.seed, 0, 1000000000000000),
      option_flag(0, "random-values", "random values instead of the kind's own", &r.random_values),
      option_flag(0, "random-numbering", "rows and columns numbered at random", &r.random_numbering),
      option_flag(0, "expand", "store both triangles of a symmetric matrix", &r.expand),
      option_json(&json_path),
      OPTION_END,
  };
  snprintf(kinds, sizeof kinds, "%s%s", gable_matrix_kinds(), twin_kinds);
  kind_words(kinds, words, sizeof words);
  snprintf(summary, sizeof summary, "Makes a test matrix.  KIND is one of\n\n%s", kinds);
  const command usage = {"generate",
                         "KIND -o FILE",
                         summary,
                         options,
                         "gable generate laplacian7:64x64x64 -o grid.mtx\n"
                         "gable generate laplacian5:1000x1000 --random-values --random-numbering --seed 7 -o g.gbl\n"
                         "gable generate elasticity3d:40x10x10 -o beam.mtx.gz\n",
                         1,
                         1,
                         words};
  session s;
  if (options_parse(&usage, argc, argv, argument, &rc)) return rc;
  if (!r.to) return options_wrong("generate", "where to? give -o FILE");
  if (!json_available(json_path) || outfile_takes_matrix("gable generate", r.to, GABLE_FILE_AUTO)) return EXIT_FAILED;
  r.kind = argument[0];
  json *j = json_create();
  stop_prepare("generate", j, json_path);
  stop_writes(r.to);
  gable_status status = session_open(&s, "cpu", 0);
  if (!status) status = generate(&s, &r, report_stream(json_path), j, reason);
  rc = status ? failure_report(&s, "generate", status, reason, &j, json_path) : json_write(&j, json_path);
  session_close(&s);
  return rc;
}
