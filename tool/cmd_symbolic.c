/* cmd_symbolic.c: what the factors of a matrix will be like, order by order, before any number is computed. */
#include <stdlib.h>
#include <string.h>

#include <gable/gable.h>

#include "failure.h"
#include "json.h"
#include "options.h"
#include "order_name.h"
#include "report.h"
#include "session.h"
#include "stop.h"
#include "verbs.h"

typedef struct request {
  const char *path, *order, *form, *json_path;
  int exact, strict, values, order_is_file;
  int has_values; /* real ones */
  long max_width, threads, solves;
  gable_idx *user_order; /* of --order FILE, or NULL */
} request;

/* In the order of gable_form. */
static const char *const forms[] = {"auto", "symmetric", "unsymmetric", "cholesky", "ldlt"};
static gable_form form_of(const char *name)
{
  int f = GABLE_FORM_LDLT;
  while (f > GABLE_FORM_AUTO && strcmp(forms[f], name)) f--;
  return (gable_form)f;
}

static gable_status analyse(session *s, const gable_matrix_view *a, const request *q, const char *order,
                            gable_symbolic_info *info)
{
  gable_symbolic_options options = GABLE_SYMBOLIC_OPTIONS_INIT;
  gable_symbolic *symbolic = NULL;
  options.order = q->user_order ? "user" : order;
  options.user_order = q->user_order;
  options.form = form_of(q->form);
  options.exact = q->exact;
  options.solves = q->solves;
  options.values = q->values;
  options.max_width = (gable_idx)q->max_width;
  gable_status status = gable_symbolic_create(s->ctx, a, &options, &symbolic);
  if (!status) status = gable_symbolic_get_info(symbolic, info);
  gable_symbolic_destroy(&symbolic);
  return status;
}

static int has_no_u(const gable_symbolic_info *f)
{
  return f->form == GABLE_FORM_CHOLESKY || f->form == GABLE_FORM_LDLT;
}

static double fill_of(const gable_symbolic_info *f)
{
  return (double)(has_no_u(f) ? f->nnz_l : f->nnz_l + f->nnz_u - f->n);
}

/* What the values of the matrix have to do with it. */
static void print_values(FILE *out, const request *q, const gable_symbolic_info *f)
{
  if (q->values)
    report_line(out, "values", "factored: the structure that is kept%s",
                f->analyses > 1 ? ", after the first one was rejected" : "");
  else if (q->has_values)
    report_line(out, "values", "not factored: they may reject this structure, which --values tells");
}

static void print_matrix(FILE *out, const request *q, const gable_symbolic_info *f)
{
  fprintf(out, "%s\n", session_name(q->path));
  report_line(out, "n, entries", "%s, %s", human_count(f->n).s, human_count((double)f->nnz).s);
  if (f->structural_rank < f->n)
    report_line(out, "structural rank", "%s: singular; taken as if the diagonal were there",
                human_count(f->structural_rank).s);
  else if (f->matched)
    report_line(out, "rows", "matched with columns%s in %s", f->matched == 2 ? ", then by partial pivoting," : "",
                human_seconds(f->match_s).s);
  print_values(out, q, f);
  if (f->blocks > 1)
    report_line(out, "diagonal blocks", "%s, the largest of %s rows", human_count(f->blocks).s,
                human_count(f->largest_block).s);
}

static void print_one(FILE *out, const gable_symbolic_info *f)
{
  report_line(out, "order", "%s in %s%s", f->order, human_seconds(f->order_s).s,
              f->long_rows ? ", very long rows last" : "");
  report_line(out, "structure", "%s in %s", forms[f->form], human_seconds(f->symbolic_s).s);
  report_line(out, has_no_u(f) ? "entries of L" : "entries of L + U", "%s (%.2f times A)", human_count(fill_of(f)).s,
              fill_of(f) / (double)(f->nnz ? f->nnz : 1));
  report_line(out, "stored", "%s numbers, %s indices", human_count((double)f->stored).s,
              human_count((double)f->indices).s);
  report_line(out, "supernodes", "%s, the widest of %s columns", human_count(f->supernodes).s,
              human_count(f->widest).s);
  report_line(out, "tree height", "%s columns", human_count(f->height).s);
  report_line(out, "factorization", "%.3g flop", f->flops);
  report_line(out, "memory", "%s", human_bytes((double)f->memory_bytes).s);
}

static void print_row(FILE *out, const gable_symbolic_info *f)
{
  if (!f) {
    fprintf(out, "  %-8s %-11s %15s %11s %8s %10s %9s %9s %9s\n", "order", "structure", "entries of L+U", "supernodes",
            "height", "flop", "memory", "order", "symbolic");
    return;
  }
  fprintf(out, "  %-8s %-11s %15s %11s %8s %10.3g %9s %9s %9s\n", f->order, forms[f->form], human_count(fill_of(f)).s,
          human_count(f->supernodes).s, human_count(f->height).s, f->flops, human_bytes((double)f->memory_bytes).s,
          human_seconds(f->order_s).s, human_seconds(f->symbolic_s).s);
}

static void fill_json(json *j, const gable_symbolic_info *f)
{
  json_text(j, "order", f->order);
  json_text(j, "form", forms[f->form]);
  json_bool(j, "matched", f->matched != 0);
  json_integer(j, "analyses", f->analyses);
  json_integer(j, "structural_rank", f->structural_rank);
  json_integer(j, "blocks", f->blocks);
  json_integer(j, "largest_block", f->largest_block);
  json_integer(j, "long_rows", f->long_rows);
  json_integer(j, "nnz_l", f->nnz_l);
  json_integer(j, "nnz_u", f->nnz_u);
  json_integer(j, "stored", f->stored);
  json_integer(j, "indices", f->indices);
  json_integer(j, "supernodes", f->supernodes);
  json_integer(j, "widest", f->widest);
  json_integer(j, "height", f->height);
  json_number(j, "flops", f->flops);
  json_integer(j, "memory_bytes", f->memory_bytes);
  json_number(j, "match_s", f->match_s);
  json_number(j, "order_s", f->order_s);
  json_number(j, "symbolic_s", f->symbolic_s);
}

static gable_status one_order(session *s, const gable_matrix_view *a, const request *q, FILE *out, json *j)
{
  gable_symbolic_info info = GABLE_SYMBOLIC_INFO_INIT;
  gable_status status = analyse(s, a, q, q->order, &info);
  if (status) return status;
  progress_erase(&s->bar);
  print_matrix(out, q, &info);
  print_one(out, &info);
  json_integer(j, "n", info.n);
  json_integer(j, "nnz", info.nnz);
  fill_json(j, &info);
  return status;
}

/* Orders whose library is not in this build are left out, and said to be. */
static gable_status every_order(session *s, const gable_matrix_view *a, const request *q, FILE *out, json *j)
{
  json *list = json_array(j, "orders");
  int printed = 0;
  for (int k = 1; order_known(k); k++) {
    gable_symbolic_info info = GABLE_SYMBOLIC_INFO_INIT;
    const gable_status status = analyse(s, a, q, order_known(k), &info);
    progress_erase(&s->bar);
    if (status == GABLE_ERR_UNAVAILABLE) {
      fprintf(out, "  %-8s not in this build\n", order_known(k));
      continue;
    }
    if (status) return status;
    if (!printed++) {
      print_matrix(out, q, &info);
      print_row(out, NULL);
      json_integer(j, "n", info.n);
      json_integer(j, "nnz", info.nnz);
    }
    print_row(out, &info);
    fill_json(json_object(list, NULL), &info);
  }
  return GABLE_OK;
}

/* --order NAME or FILE. */
static gable_status read_order(session *s, request *q, gable_idx n)
{
  if (!q->order_is_file) return GABLE_OK;
  q->user_order = malloc(((size_t)n + 1) * sizeof *q->user_order);
  return q->user_order ? gable_order_read(s->ctx, q->order, n, q->user_order) : GABLE_ERR_MEMORY;
}

static gable_status run(session *s, request *q, FILE *out, json *j)
{
  gable_read_options reading = GABLE_READ_OPTIONS_INIT;
  gable_matrix_view view = GABLE_MATRIX_VIEW_INIT;
  gable_matrix *a = NULL;
  gable_off duplicates = 0;
  reading.strict = q->strict;
  reading.accept_complex = 1;
  gable_status status = session_read(s, q->path, &reading, &a, &duplicates);
  if (!status) status = gable_matrix_get_view(a, &view);
  if (!status) status = read_order(s, q, view.n_cols);
  q->has_values = view.val && view.value_type == GABLE_TYPE_D;
  json_bool(j, "values", q->values);
  json_integer(j, "duplicates", duplicates);
  if (!status) status = (strcmp(q->order, "all") ? one_order : every_order)(s, &view, q, out, j);
  gable_matrix_destroy(&a);
  free(q->user_order);
  return status;
}

int cmd_symbolic(int argc, char **argv)
{
  request q = {.order = "auto", .form = "auto", .solves = 10};
  gable_order order = GABLE_ORDER_AUTO;
  int rc;
  const option options[] = {
      option_text(0, "order", "NAME", ORDER_WORDS "|all|FILE",
                  "auto, metis, amd, colamd, natural, a file with a permutation, or all: a table", &q.order),
      option_choice(0, "form", "auto|symmetric|unsymmetric|cholesky|ldlt",
                    "structure of the factors (default auto: as solve chooses)", &q.form),
      option_integer(0, "max-width", "W", "widest supernode (0: the default)", &q.max_width, 0, 1000000),
      option_integer(0, "expected-solves", "N", "solves with the factor, which an order has to pay for (default 10)",
                     &q.solves, 1, 1000000000),
      option_flag(0, "exact", "no explicit zeros for the sake of wider supernodes", &q.exact),
      option_flag(0, "values", "factor the values, and tell the structure that `gable solve` keeps", &q.values),
      option_threads(&q.threads),
      option_strict(&q.strict),
      option_json(&q.json_path),
      OPTION_END,
  };
  const command usage = {
      "symbolic",
      "A.mtx",
      "Predicts the factors of a matrix as `gable solve` arranges them: fill, supernodes, elimination tree,\n"
      "operations and memory.  Pivots may reject that structure: --values factors the numbers as well, and\n"
      "reports the structure that is kept.  Without it, files without values and complex files are accepted.",
      options,
      "gable symbolic A.mtx\n"
      "gable symbolic A.mtx --order all\n"
      "gable symbolic A.mtx --values\n"
      "gable symbolic A.mtx --form cholesky --json -\n",
      1,
      1,
      "FILE"};
  session s;
  if (options_parse(&usage, argc, argv, &q.path, &rc)) return rc;
  if (!json_available(q.json_path)) return EXIT_FAILED;
  if (strcmp(q.order, "all") && order_named("symbolic", q.order, &order)) return EXIT_FAILED;
  q.order_is_file = order == GABLE_ORDER_USER;
  json *j = json_create();
  json_text(j, "matrix", q.path);
  stop_prepare("symbolic", j, q.json_path);
  gable_status status = session_open(&s, "cpu", (int)q.threads);
  if (!status) status = run(&s, &q, report_stream(q.json_path), j);
  rc = status ? failure_report(&s, "symbolic", status, NULL, &j, q.json_path) : json_write(&j, q.json_path);
  session_close(&s);
  return rc;
}
