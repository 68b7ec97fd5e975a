/* solve_report.c: the report of `gable solve`, for people and as JSON. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "order_name.h"
#include "report.h"
#include "session.h"
#include "solve_request.h"

const char *const solve_methods[4] = {"auto", "lu", "cholesky", "ldlt"};

static double real_of(const gable_solver *s, gable_solver_key key)
{
  double value = 0;
  return gable_solver_get(s, key, &value, sizeof value) ? (double)NAN : value;
}

static int64_t integer_of(const gable_solver *s, gable_solver_key key)
{
  int64_t value = 0;
  return gable_solver_get(s, key, &value, sizeof value) ? 0 : value;
}

/* Does the factor have no U of its own? */
static int is_symmetric(const gable_solver *s)
{
  return integer_of(s, GABLE_SOLVER_METHOD) != GABLE_METHOD_LU;
}

/* Entries of the factor, the diagonal counted once. */
static double factor_entries(const gable_solver *s)
{
  double l = (double)integer_of(s, GABLE_SOLVER_NNZ_L), u = (double)integer_of(s, GABLE_SOLVER_NNZ_U);
  return is_symmetric(s) ? l : l + u - (double)integer_of(s, GABLE_SOLVER_N);
}

/* One phase: its time, where it ran, its share of the whole as a bar, and what it did. */
static void phase(FILE *out, const char *name, double seconds, const char *where, double whole, const char *what)
{
  enum { WIDTH = 24 };
  static const char bar[] = "########################";
  double share = whole > 0 && seconds > 0 ? seconds / whole : 0;
  int length = (int)(share * WIDTH + 0.5);
  if (length > WIDTH) length = WIDTH;
  fprintf(out, "  %-9s %9s  %-6s  %-*.*s %s\n", name, human_seconds(seconds).s, where, WIDTH, length, bar, what);
}

static void print_matrix(FILE *out, const solve_request *q, const solve_outcome *r)
{
  const gable_solver *s = r->solver;
  int64_t n = integer_of(s, GABLE_SOLVER_N), nnz = integer_of(s, GABLE_SOLVER_NNZ);
  const char *symmetry = integer_of(s, GABLE_SOLVER_SYMMETRIC_VALUES)    ? "symmetric"
                         : integer_of(s, GABLE_SOLVER_SYMMETRIC_PATTERN) ? "symmetric in pattern only"
                                                                         : "unsymmetric";
  fprintf(out, "%s\n", session_name(q->matrix));
  report_line(out, "matrix", "%s x %s, %s entries (%.1f a row), %s", human_count((double)n).s, human_count((double)n).s,
              human_count((double)nnz).s, n ? (double)nnz / (double)n : 0.0, symmetry);
  if (r->matrix.duplicates)
    report_line(out, "duplicates", "%s entries of the file were summed into others",
                human_count((double)r->matrix.duplicates).s);
  static const char *const rows[] = {"", " after a weighted matching", " after a matching and partial pivoting",
                                     ", imported"};
  static const char *const methods[] = {"", "LU with static pivoting", "Cholesky", "L D L^T with static pivoting"};
  report_line(out, "method", "%s%s%s, on %s with %d thread%s", methods[integer_of(s, GABLE_SOLVER_METHOD) & 3],
              rows[integer_of(s, GABLE_SOLVER_MATCHED) & 3],
              integer_of(s, GABLE_SOLVER_ELEMENTWISE) ? ", element by element" : "", r->where, r->threads,
              r->threads == 1 ? "" : "s");
  if (*r->why) report_line(out, "where", "%s: %s", r->where, r->why);
  if (strcmp(gable_solver_blas(s), "own")) report_line(out, "large blocks", "%s", gable_solver_blas(s));
  if (integer_of(s, GABLE_SOLVER_BLOCKS) > 1)
    report_line(out, "block triangular", "%s diagonal blocks",
                human_count((double)integer_of(s, GABLE_SOLVER_BLOCKS)).s);
}

/* Analysis and factorization, which are the CPU's. */
static void print_factorization(FILE *out, const gable_solver *s, double whole)
{
  const double flops = real_of(s, GABLE_SOLVER_FLOPS), factor = real_of(s, GABLE_SOLVER_FACTOR_S);
  const double judge = real_of(s, GABLE_SOLVER_JUDGE_S);
  const long long analyses = integer_of(s, GABLE_SOLVER_ANALYSES), tried = integer_of(s, GABLE_SOLVER_REJECTED);
  char what[240], times[48] = "";
  phase(out, "match", real_of(s, GABLE_SOLVER_MATCH_S), "cpu", whole,
        integer_of(s, GABLE_SOLVER_MATCHED) ? "rows to columns, and scaling" : "scaling alone");
  snprintf(what, sizeof what, "%s%s", order_name(integer_of(s, GABLE_SOLVER_ORDER)),
           integer_of(s, GABLE_SOLVER_ORDER_FALLBACK) ? ", for METIS had too little memory" : "");
  phase(out, "order", real_of(s, GABLE_SOLVER_ORDER_S), "cpu", whole, what);
  if (analyses > 1) snprintf(times, sizeof times, "; analysed %lld times", analyses);
  snprintf(what, sizeof what, "%s supernodes, tree of height %s, in %s; the rest is reading%s",
           human_count((double)integer_of(s, GABLE_SOLVER_SUPERNODES)).s,
           human_count((double)integer_of(s, GABLE_SOLVER_TREE_HEIGHT)).s,
           human_seconds(real_of(s, GABLE_SOLVER_STRUCTURE_S)).s, times);
  phase(out, "symbolic", real_of(s, GABLE_SOLVER_SYMBOLIC_S), "cpu", whole, what);
  snprintf(what, sizeof what, "%s, %s", human_rate(flops, "flop").s,
           human_rate(factor > 0 ? flops / factor : 0, "flop").s);
  char *per_second = strstr(what, "/s,"); /* the first is a count, not a rate */
  if (per_second) memmove(per_second, per_second + 2, strlen(per_second + 2) + 1);
  phase(out, "factor", factor, "cpu", whole, what);
  if (tried) {
    snprintf(what, sizeof what, "%lld factorization%s tried before, not good enough", tried, tried == 1 ? "" : "s");
    phase(out, "rejected", real_of(s, GABLE_SOLVER_REJECTED_S), "cpu", whole, what);
  }
  if (judge > 0) phase(out, "judge", judge, "cpu", whole, "trial solves, that the factor is good enough");
}

/* Where the factor is brought into the form that sweeps read. */
static const char *where_prepared(const solve_outcome *r)
{
  const int by_method = integer_of(r->solver, GABLE_SOLVER_SOLVE_LEVELS) != 0; /* blocks, made on the CPU */
  return by_method && !integer_of(r->solver, GABLE_SOLVER_ELEMENTWISE) ? "cpu" : r->where;
}

/* Levels, and how many blocks have no inverse where others have one. */
static void describe_levels(const gable_solver *s, const char *method, char what[240])
{
  const int64_t blocks = integer_of(s, GABLE_SOLVER_SOLVE_BLOCKS);
  const int64_t substituted = integer_of(s, GABLE_SOLVER_SUBSTITUTED_BLOCKS);
  const int some = substituted > 0 && substituted < blocks;
  int at = snprintf(what, 240, "%s, %s levels in both sweeps", method,
                    human_count((double)integer_of(s, GABLE_SOLVER_SOLVE_LEVELS)).s);
  if (some)
    snprintf(what + at, 240 - (size_t)at, ", %s of %s blocks by substitution", human_count((double)substituted).s,
             human_count((double)blocks).s);
}

/* Why auto solves level by level, and by which method. */
static const char *why_by_level(const gable_solver *s)
{
  return integer_of(s, GABLE_SOLVER_SOLVE_METHOD) == GABLE_SOLVE_BATCHED
             ? "inverses of merged blocks lose too much, and memory does not hold partitioned: batched"
             : "inverses of merged blocks lose too much: partitioned";
}

static void print_preparation(FILE *out, const solve_request *q, const solve_outcome *r, double whole)
{
  const gable_solver *s = r->solver;
  const int named = strcmp(q->solve_method, "auto") != 0, elementwise = (int)integer_of(s, GABLE_SOLVER_ELEMENTWISE);
  char what[240], method[80];
  snprintf(method, sizeof method, "method %s%s", q->solve_method, q->merge_blocks ? ", blocks merged" : "");
  if (named)
    describe_levels(s, method, what);
  else if (!elementwise && integer_of(s, GABLE_SOLVER_SOLVE_LEVELS))
    describe_levels(s, why_by_level(s), what);
  else if (elementwise)
    snprintf(what, sizeof what, "schedules of two triangles, element by element");
  else
    snprintf(what, sizeof what, "blocks merged to %s levels, and inverted",
             human_count((double)integer_of(s, GABLE_SOLVER_DEVICE_LEVELS)).s);
  if (integer_of(s, GABLE_SOLVER_DEVICE_BYTES) || named)
    phase(out, "prepare", real_of(s, GABLE_SOLVER_PREPARE_S), where_prepared(r), whole, what);
  if (!integer_of(s, GABLE_SOLVER_DEVICE_BYTES)) return;
  snprintf(what, sizeof what, "the factor; %s held on %s",
           human_bytes((double)integer_of(s, GABLE_SOLVER_DEVICE_BYTES)).s, r->where);
  phase(out, "upload", real_of(s, GABLE_SOLVER_UPLOAD_S), r->where, whole, what);
}

static void print_solve(FILE *out, const solve_request *q, const solve_outcome *r, double whole)
{
  const gable_solve_report *w = &r->report;
  char what[240];
  snprintf(what, sizeof what, "%d right-hand side%s%s", r->columns, r->columns == 1 ? "" : "s",
           q->repeat > 1 ? ", the median of the repeats" : "");
  if (r->floor_s > 0 && r->solve_s > 0)
    snprintf(what + strlen(what), sizeof what - strlen(what), "; reading %s once takes %s (%s)",
             human_bytes(real_of(r->solver, GABLE_SOLVER_SOLVE_BYTES)).s, human_seconds(r->floor_s).s,
             human_percent(r->floor_s / r->solve_s).s);
  phase(out, "solve", r->solve_s, r->where, whole, what);
  snprintf(what, sizeof what, "%d step%s%s", w->refine_steps, w->refine_steps == 1 ? "" : "s",
           w->gmres_iterations ? ", then GMRES" : "");
  phase(out, "refine", w->refine_s, r->where, whole, what);
  phase(out, "estimate", r->estimate_s, r->where, whole, "condition and forward error");
}

static void print_phases(FILE *out, const solve_request *q, const solve_outcome *r)
{
  const gable_solver *s = r->solver;
  static const gable_solver_key parts[] = {GABLE_SOLVER_MATCH_S,   GABLE_SOLVER_ORDER_S,    GABLE_SOLVER_SYMBOLIC_S,
                                           GABLE_SOLVER_FACTOR_S,  GABLE_SOLVER_REJECTED_S, GABLE_SOLVER_JUDGE_S,
                                           GABLE_SOLVER_PREPARE_S, GABLE_SOLVER_UPLOAD_S};
  double whole = r->read_s + r->load_s + r->solve_s + r->report.refine_s + r->estimate_s;
  char what[240];
  for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) whole += real_of(s, parts[k]);
  fputc('\n', out);
  phase(out, "read", r->read_s, "cpu", whole, "");
  if (q->load_path) {
    snprintf(what, sizeof what, "the factor from %.120s", q->load_path);
    phase(out, "load", r->load_s, "cpu", whole, what);
  } else {
    print_factorization(out, s, whole);
  }
  print_preparation(out, q, r, whole);
  print_solve(out, q, r, whole);
}

/* count: of POSITIVE_, NEGATIVE_ and ZERO_EIGENVALUES; 0: the factor does not show them. */
static int inertia_of(const gable_solver *s, int64_t count[3])
{
  return !gable_solver_get(s, GABLE_SOLVER_POSITIVE_EIGENVALUES, &count[0], sizeof *count) &&
         !gable_solver_get(s, GABLE_SOLVER_NEGATIVE_EIGENVALUES, &count[1], sizeof *count) &&
         !gable_solver_get(s, GABLE_SOLVER_ZERO_EIGENVALUES, &count[2], sizeof *count);
}

static void print_factor(FILE *out, const solve_outcome *r)
{
  const gable_solver *s = r->solver;
  double entries = factor_entries(s), nnz = (double)integer_of(s, GABLE_SOLVER_NNZ);
  int64_t perturbed = integer_of(s, GABLE_SOLVER_PERTURBED_PIVOTS), inertia[3];
  if (is_symmetric(s)) nnz = (nnz + (double)integer_of(s, GABLE_SOLVER_N)) / 2;
  fputc('\n', out);
  report_line(out, "factor", "%s entries, %.2f for one of the matrix", human_count(entries).s,
              nnz > 0 ? entries / nnz : 0.0);
  report_line(out, "memory", "%s held (at most %s predicted for the factorization), the whole process %s at its peak",
              human_bytes((double)r->memory_bytes).s,
              human_bytes((double)integer_of(s, GABLE_SOLVER_MEMORY_PREDICTED)).s, human_bytes(r->peak_bytes).s);
  if (perturbed) report_line(out, "pivots", "%s tiny ones replaced", human_count((double)perturbed).s);
  if (inertia_of(s, inertia))
    report_line(out, "inertia", "%lld positive and %lld negative eigenvalues, %lld too small to tell",
                (long long)inertia[0], (long long)inertia[1], (long long)inertia[2]);
  if (integer_of(s, GABLE_SOLVER_DRIFT)) report_line(out, "quality", "poor: pivots or growth ask for another analysis");
}

static void print_answer(FILE *out, const solve_outcome *r, double tolerance)
{
  const gable_solve_report *w = &r->report;
  report_line(out, "backward error", "%.1e (tolerance %.0e), %.1e before refinement", w->backward_error, tolerance,
              w->first_error);
  if (r->rcond != r->rcond)
    report_line(out, "condition",
                "not known: the factor that was loaded is of other values, or too far off for estimates");
  else
    report_line(out, "condition", "rcond %.1e, forward error below %.1e", r->rcond, r->forward_error);
  if (r->status == GABLE_ERR_TOLERANCE)
    report_line(out, "NOT SOLVED", "after %s: %s", human_seconds(r->total_s).s, w->reason);
  else
    report_line(out, r->status ? "numerically singular" : "solved", "%sall in %s",
                r->status || r->rcond < DBL_EPSILON ? "x solves a system within rounding of this one: " : "",
                human_seconds(r->total_s).s);
}

static double tolerance_of(const solve_request *q)
{
  return q->tolerance > 0 ? q->tolerance : 1e-12;
}

void solve_report_print(FILE *out, const solve_request *q, const solve_outcome *r)
{
  print_matrix(out, q, r);
  print_phases(out, q, r);
  print_factor(out, r);
  print_answer(out, r, tolerance_of(q));
}

static void json_analysis(json *j, const gable_solver *s)
{
  double order = real_of(s, GABLE_SOLVER_ORDER_S), match = real_of(s, GABLE_SOLVER_MATCH_S);
  double symbolic = real_of(s, GABLE_SOLVER_SYMBOLIC_S);
  json_integer(j, "n", integer_of(s, GABLE_SOLVER_N));
  json_integer(j, "nnz", integer_of(s, GABLE_SOLVER_NNZ));
  json_text(j, "method", solve_methods[integer_of(s, GABLE_SOLVER_METHOD) & 3]);
  json_text(j, "order", order_name(integer_of(s, GABLE_SOLVER_ORDER)));
  json_bool(j, "order_fallback", integer_of(s, GABLE_SOLVER_ORDER_FALLBACK) != 0);
  json_bool(j, "symmetric_pattern", integer_of(s, GABLE_SOLVER_SYMMETRIC_PATTERN) != 0);
  json_bool(j, "symmetric_values", integer_of(s, GABLE_SOLVER_SYMMETRIC_VALUES) != 0);
  json_bool(j, "matched", integer_of(s, GABLE_SOLVER_MATCHED) != 0);
  json_bool(j, "partial_pivoting", integer_of(s, GABLE_SOLVER_MATCHED) == 2);
  json_integer(j, "structural_rank", integer_of(s, GABLE_SOLVER_STRUCTURAL_RANK));
  json_integer(j, "blocks", integer_of(s, GABLE_SOLVER_BLOCKS));
  json_number(j, "order_s", order);
  json_number(j, "match_s", match);
  json_number(j, "symbolic_s", symbolic);
  json_number(j, "structure_s", real_of(s, GABLE_SOLVER_STRUCTURE_S));
  json_number(j, "analyse_s", order + match + symbolic);
  json_integer(j, "analyses", integer_of(s, GABLE_SOLVER_ANALYSES));
}

static void json_factor(json *j, const solve_outcome *r)
{
  const gable_solver *s = r->solver;
  double factor = real_of(s, GABLE_SOLVER_FACTOR_S), flops = real_of(s, GABLE_SOLVER_FLOPS);
  int64_t inertia[3];
  const int shown = inertia_of(s, inertia);
  json_number(j, "factor_s", factor);
  json_integer(j, "rejected_factors", integer_of(s, GABLE_SOLVER_REJECTED));
  json_number(j, "rejected_s", real_of(s, GABLE_SOLVER_REJECTED_S));
  json_number(j, "judge_s", real_of(s, GABLE_SOLVER_JUDGE_S));
  json_text(j, "blas", gable_solver_blas(s));
  json_integer(j, "nnz_l", integer_of(s, GABLE_SOLVER_NNZ_L));
  json_integer(j, "nnz_u", integer_of(s, GABLE_SOLVER_NNZ_U));
  json_number(j, "flops", flops);
  json_number(j, "factor_flops_per_s", factor > 0 ? flops / factor : (double)NAN);
  json_integer(j, "supernodes", integer_of(s, GABLE_SOLVER_SUPERNODES));
  json_integer(j, "tree_height", integer_of(s, GABLE_SOLVER_TREE_HEIGHT));
  json_integer(j, "perturbed_pivots", integer_of(s, GABLE_SOLVER_PERTURBED_PIVOTS));
  json_number(j, "growth", real_of(s, GABLE_SOLVER_GROWTH));
  json_bool(j, "drift", integer_of(s, GABLE_SOLVER_DRIFT) != 0);
  json_bool(j, "other_values", integer_of(s, GABLE_SOLVER_OTHER_VALUES) != 0);
  json_number(j, "log_abs_determinant", real_of(s, GABLE_SOLVER_LOG_ABS_DETERMINANT));
  json_integer(j, "sign_determinant", integer_of(s, GABLE_SOLVER_SIGN_DETERMINANT));
  json_number(j, "positive_eigenvalues", shown ? (double)inertia[0] : (double)NAN);
  json_number(j, "negative_eigenvalues", shown ? (double)inertia[1] : (double)NAN);
  json_number(j, "zero_eigenvalues", shown ? (double)inertia[2] : (double)NAN);
  json_integer(j, "memory_bytes", r->memory_bytes);
  json_integer(j, "memory_predicted_bytes", integer_of(s, GABLE_SOLVER_MEMORY_PREDICTED));
  json_number(j, "peak_bytes", r->peak_bytes);
}

void solve_report_json(json *j, const solve_request *q, const solve_outcome *r)
{
  const gable_solve_report *w = &r->report;
  json_text(j, "where", r->where);
  json_text(j, "where_order", "cpu");
  json_text(j, "where_factor", "cpu");
  json_text(j, "where_prepare", where_prepared(r));
  json_text(j, "where_solve", r->where);
  json_text(j, "where_refine", r->where);
  json_text(j, "where_reason", r->why);
  json_text(j, "solve_method", q->solve_method);
  json_text(j, "solve_method_run",
            gable_solve_method_text((gable_solve_method)integer_of(r->solver, GABLE_SOLVER_SOLVE_METHOD)));
  json_bool(j, "merge_blocks", q->merge_blocks);
  json_integer(j, "solve_levels", integer_of(r->solver, GABLE_SOLVER_SOLVE_LEVELS));
  json_integer(j, "solve_launches", integer_of(r->solver, GABLE_SOLVER_SOLVE_LAUNCHES));
  json_integer(j, "solve_blocks", integer_of(r->solver, GABLE_SOLVER_SOLVE_BLOCKS));
  json_integer(j, "substituted_blocks", integer_of(r->solver, GABLE_SOLVER_SUBSTITUTED_BLOCKS));
  json_number(j, "predicted_host_s", real_of(r->solver, GABLE_SOLVER_PREDICTED_HOST_S));
  json_number(j, "predicted_device_s", real_of(r->solver, GABLE_SOLVER_PREDICTED_DEVICE_S));
  json_integer(j, "threads", r->threads);
  json_number(j, "read_s", r->read_s);
  json_analysis(j, r->solver);
  json_factor(j, r);
  json_number(j, "prepare_s", real_of(r->solver, GABLE_SOLVER_PREPARE_S));
  json_number(j, "lists_s", real_of(r->solver, GABLE_SOLVER_LISTS_S));
  json_number(j, "upload_s", real_of(r->solver, GABLE_SOLVER_UPLOAD_S));
  json_integer(j, "device_bytes", integer_of(r->solver, GABLE_SOLVER_DEVICE_BYTES));
  json_integer(j, "device_levels", integer_of(r->solver, GABLE_SOLVER_DEVICE_LEVELS));
  json_number(j, "solve_bytes", real_of(r->solver, GABLE_SOLVER_SOLVE_BYTES));
  json_number(j, "load_s", r->load_s);
  json_number(j, "save_s", r->save_s);
  json_integer(j, "rhs", r->columns);
  json_bool(j, "transpose", q->transpose);
  json_integer(j, "repeat", q->repeat);
  json_number(j, "solve_s", r->solve_s);
  json_number(j, "solve_q1_s", r->solve_q1_s);
  json_number(j, "solve_q3_s", r->solve_q3_s);
  json_number(j, "floor_s", r->floor_s > 0 ? r->floor_s : (double)NAN);
  json_number(j, "share", r->floor_s > 0 && r->solve_s > 0 ? r->floor_s / r->solve_s : (double)NAN);
  json_number(j, "refine_s", w->refine_s);
  json_integer(j, "refine_steps", w->refine_steps);
  json_integer(j, "gmres_iterations", w->gmres_iterations);
  json_number(j, "tolerance", tolerance_of(q));
  json_number(j, "backward_error", w->backward_error);
  json_number(j, "first_backward_error", w->first_error);
  json_number(j, "rcond", r->rcond);
  json_bool(j, "numerically_singular", integer_of(r->solver, GABLE_SOLVER_NUMERICALLY_SINGULAR) != 0);
  json_number(j, "forward_error", r->forward_error);
  json_number(j, "estimate_s", r->estimate_s);
  json_number(j, "total_s", r->total_s);
  json_integer(j, "duplicates", r->matrix.duplicates);
  json_bool(j, "solved", r->status != GABLE_ERR_TOLERANCE);
  json_text(j, "status", gable_status_text(r->status));
  json_text(j, "reason", w->reason);
}
