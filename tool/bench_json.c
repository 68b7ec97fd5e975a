/* bench_json.c: a result as one JSON object a line, written without any library, so that every build can. */
#include <math.h>
#include <string.h>
#include <time.h>

#include "bench.h"
#include "utf8.h"

static void text(FILE *f, const char *key, const char *value)
{
  fprintf(f, "\"%s\":\"", key);
  for (const char *piece; *value;) {
    const size_t bytes = utf8_next(&value, &piece);
    if (*piece == '"' || *piece == '\\')
      fprintf(f, "\\%c", *piece);
    else if ((unsigned char)*piece < 0x20)
      fputc(' ', f);
    else
      fwrite(piece, 1, bytes, f);
  }
  fputs("\",", f);
}

static void number(FILE *f, const char *key, double value)
{
  if (isfinite(value))
    fprintf(f, "\"%s\":%.6g,", key, value);
  else
    fprintf(f, "\"%s\":null,", key);
}

static void integer(FILE *f, const char *key, long long value)
{
  fprintf(f, "\"%s\":%lld,", key, value);
}

static void times(FILE *f, const bench_result *r)
{
  number(f, "analyse_s", r->entry.analyse_s);
  number(f, "update_s", r->entry.update_s);
  number(f, "first_solve_s", r->first_s);
  number(f, "solve_s", r->solve.median);
  number(f, "solve_q1_s", r->solve.q1);
  number(f, "solve_q3_s", r->solve.q3);
  if (r->batch_s > 0) {
    number(f, "batch_solve_s", r->batch_s);
    integer(f, "batch", r->batch);
    fprintf(f, "\"batch_graph\":%s,", r->batch_graph ? "true" : "false");
  }
  number(f, "gflops", bench_gflops(r));
  number(f, "gbytes_s", r->solve.median > 0 ? 1e-9 * r->bytes / r->solve.median : 0);
  number(f, "floor_s", r->floor.s);
  number(f, "floor_bytes_s", r->floor.bytes_s);
  number(f, "floor_hops_s", r->floor.hops_s);
  number(f, "share_of_floor", r->solve.median > 0 ? r->floor.s / r->solve.median : 0);
  number(f, r->part == GABLE_PART_FULL ? "max_difference" : "max_error_bound_ratio", r->error);
}

/* The end of every line: who measured what of ours, and when. */
static void close_line(FILE *f, const bench_request *q)
{
  char date[32];
  const time_t clock = time(NULL);
  struct tm day;
  strftime(date, sizeof date, "%Y-%m-%d", gmtime_r(&clock, &day));
  text(f, "machine", q->machine);
  text(f, "commit", q->commit);
  fprintf(f, "\"date\":\"%s\"}\n", date);
  fflush(f);
}

void bench_json_failure(FILE *f, const bench_request *q, const char *matrix, gable_status status, const char *reason)
{
  fputc('{', f);
  text(f, "matrix", matrix);
  text(f, "status", gable_status_text(status));
  text(f, "reason", reason);
  close_line(f, q);
}

void bench_json_supernodal(FILE *f, const bench_request *q, const supernodal_result *r)
{
  fputc('{', f);
  text(f, "matrix", r->matrix);
  text(f, "kind", r->kind);
  integer(f, "n", r->n);
  integer(f, "nnz_l", r->nnz_l);
  integer(f, "nnz_u", r->nnz_u);
  text(f, "method", r->method);
  fprintf(f, "\"merge_blocks\":%s,", q->merge_blocks ? "true" : "false");
  integer(f, "levels", r->levels);
  integer(f, "rhs", r->rhs);
  text(f, "where", r->where);
  number(f, "prepare_s", r->prepare_s);
  number(f, "upload_s", r->upload_s);
  integer(f, "device_bytes", r->device_bytes);
  fprintf(f, "\"graph\":%s,", r->graph ? "true" : "false");
  number(f, "solve_s", r->solve.median);
  number(f, "q1_s", r->solve.q1);
  number(f, "q3_s", r->solve.q3);
  number(f, "floor_s", r->floor_s);
  text(f, "floor_of", r->floor_of);
  number(f, "share", r->solve.median > 0 ? r->floor_s / r->solve.median : 0);
  number(f, "backward_error", r->backward_error);
  number(f, "first_backward_error", r->first_error);
  close_line(f, q);
}

void bench_json(FILE *f, const bench_request *q, const char *where, const bench_result *r)
{
  fputc('{', f);
  text(f, "matrix", r->matrix);
  text(f, "uplo", r->part == GABLE_PART_FULL ? "both" : r->part == GABLE_PART_LOWER ? "lower" : "upper");
  if (r->part == GABLE_PART_FULL) text(f, "sweep", "symmetric");
  text(f, "op", q->op);
  text(f, "type", q->type);
  integer(f, "rhs", r->rhs);
  text(f, "layout", q->layout);
  fprintf(f, "\"both_ops\":%s,", q->both_ops ? "true" : "false");
  text(f, "method", r->method);
  text(f, "method_used", r->entry.used);
  text(f, "where", where);
  integer(f, "n", r->n);
  integer(f, "nnz", r->nnz);
  integer(f, "levels", r->levels);
  fprintf(f, "\"scaled_to_dominance\":%s,", r->scaled ? "true" : "false");
  if (r->failed)
    text(f, "error", r->entry.why);
  else
    times(f, r);
  text(f, "why", r->failed ? "" : r->entry.why);
  close_line(f, q);
}
