/* Gable itself, through its public interface, under the same frame as the others.  With an order given it is used as it
 * is. */
#include "frame.h"

#include <gable/gable.h>
#include <time.h>

enum { WIDEST = 16 };

static struct {
  gable_context *ctx;
  gable_solver *solver;
  gable_solver_work *work;
  gable_idx *columns, *rows;
  double create_s; /* of context and solver: the first memory is had there */
} s;

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static gable_solver_options chosen(const frame_input *in)
{
  gable_solver_options o = GABLE_SOLVER_OPTIONS_INIT;
  o.user_order = in->given;
  if (in->given) o.order = GABLE_ORDER_USER;
  if (!strcmp(in->variant, "metis")) o.order = GABLE_ORDER_METIS;
  if (!strcmp(in->variant, "amd")) o.order = GABLE_ORDER_AMD;
  if (!strcmp(in->variant, "lu")) o.method = GABLE_METHOD_LU;
  return o;
}

static double number(gable_solver_key key)
{
  double value = -1;
  return gable_solver_get(s.solver, key, &value, sizeof value) ? -1 : value;
}

static double count(gable_solver_key key)
{
  int64_t value = -1;
  return gable_solver_get(s.solver, key, &value, sizeof value) ? -1 : (double)value;
}

static const char *order(const frame_input *in)
{
  gable_context_options where = GABLE_CONTEXT_OPTIONS_INIT;
  gable_solver_options o = chosen(in);
  gable_matrix_view a = GABLE_MATRIX_VIEW_INIT;
  where.threads = in->threads;
  a.n_rows = a.n_cols = in->a->n;
  a.format = GABLE_FORMAT_CSC;
  a.structure = in->a->symmetric ? GABLE_STRUCTURE_SYMMETRIC : GABLE_STRUCTURE_GENERAL;
  a.ptr = in->a->ptr;
  a.idx = in->a->idx;
  a.val = in->a->val;
  const double begin = now();
  if (gable_context_create("cpu", &where, &s.ctx) || gable_solver_create(s.ctx, &o, &s.solver))
    return gable_last_error();
  s.create_s = now() - begin;
  return gable_solver_analyse(s.solver, &a) ? gable_last_error() : NULL;
}

static const char *factor(const frame_input *in)
{
  (void)in;
  gable_solver_work_destroy(&s.work);
  return gable_solver_factor(s.solver, NULL, GABLE_REUSE_ALL) ? gable_last_error() : NULL;
}

static const char *solve(const frame_input *in, const double *b, double *x, int columns)
{
  if (!s.work && gable_solver_work_create(s.solver, WIDEST, &s.work)) return gable_last_error();
  gable_vectors_view right = GABLE_VECTORS_VIEW_INIT;
  right.n = in->a->n;
  right.count = columns;
  right.ld = in->a->n;
  right.data = (void *)(uintptr_t)b;
  gable_vectors_view left = right;
  left.data = x;
  return gable_solver_apply(s.solver, s.work, GABLE_OP_N, GABLE_FACTOR_ALL, &right, &left) ? gable_last_error() : NULL;
}

static int is(gable_method method)
{
  return count(GABLE_SOLVER_METHOD) == (double)method;
}

static double nnz_l(const frame_input *in)
{
  return count(GABLE_SOLVER_NNZ_L) + (is(GABLE_METHOD_LU) ? count(GABLE_SOLVER_NNZ_U) - in->a->n : 0);
}

static void split(const frame_input *in, double *order_s, double *symbolic_s)
{
  (void)in;
  *order_s = number(GABLE_SOLVER_ORDER_S);
  *symbolic_s = s.create_s + number(GABLE_SOLVER_MATCH_S) + number(GABLE_SOLVER_SYMBOLIC_S);
}

/* The solve that a user gets: refined until the tolerance is met, and its error known. */
static void refined(FILE *out, const frame_input *in)
{
  size_t n = (size_t)in->a->n;
  double *b = malloc(n * sizeof *b + 1), *x = malloc(n * sizeof *x + 1);
  gable_vectors_view right = GABLE_VECTORS_VIEW_INIT;
  gable_solve_report report = GABLE_SOLVE_REPORT_INIT;
  for (size_t i = 0; b && i < n; i++) b[i] = (double)(i * 7919 % 1009) / 1009 - 0.5;
  right.n = in->a->n;
  right.ld = in->a->n;
  right.data = b;
  gable_vectors_view left = right;
  left.data = x;
  gable_status status = b && x ? gable_solver_solve(s.solver, s.work, GABLE_OP_N, &right, &left) : GABLE_ERR_MEMORY;
  const int solved = status == GABLE_OK || status == GABLE_NUMERICALLY_SINGULAR || status == GABLE_ERR_TOLERANCE;
  if (status == GABLE_NUMERICALLY_SINGULAR) fprintf(out, ",\"numerically_singular\":true");
  if (solved && !gable_solver_work_report(s.work, &report))
    fprintf(out, ",\"refined_error\":%.3g,\"refined_solve_s\":%.6g,\"refine_steps\":%d,\"gmres_iterations\":%d",
            report.backward_error, report.solve_s + report.refine_s, report.refine_steps, report.gmres_iterations);
  free(b);
  free(x);
}

static void extra(FILE *out, const frame_input *in)
{
  fprintf(out,
          ",\"match_s\":%.6g,\"structure_s\":%.6g,\"flops\":%.6g,\"supernodes\":%.0f,\"blocks\":%.0f,\"perturbed_"
          "pivots\":%.0f,\"memory_"
          "bytes\":%.0f,\"create_s\":%.6g",
          number(GABLE_SOLVER_MATCH_S), number(GABLE_SOLVER_STRUCTURE_S), number(GABLE_SOLVER_FLOPS),
          count(GABLE_SOLVER_SUPERNODES), count(GABLE_SOLVER_BLOCKS), count(GABLE_SOLVER_PERTURBED_PIVOTS),
          count(GABLE_SOLVER_MEMORY), s.create_s);
  fprintf(out, ",\"solve_bytes\":%.6g", number(GABLE_SOLVER_SOLVE_BYTES));
  refined(out, in);
}

static void options(FILE *out, const frame_input *in)
{
  static const char *const names[] = {"auto", "METIS", "AMD", "COLAMD", "natural", "given"};
  int k = (int)count(GABLE_SOLVER_ORDER);
  (void)in;
  static const char *const methods[] = {"", "lu", "cholesky", "ldlt"};
  fprintf(out, "%s, order %s, %s, large blocks by %s, defaults, no refinement",
          methods[(int)count(GABLE_SOLVER_METHOD) & 3], k >= 0 && k < 6 ? names[k] : "?",
          count(GABLE_SOLVER_MATCHED) > 0 ? "rows matched" : "rows not matched",
          strcmp(gable_solver_blas(s.solver), "own") ? gable_solver_blas(s.solver) : "own kernels");
}

static const int *permutation(const frame_input *in, int rows)
{
  size_t bytes = (size_t)in->a->n * sizeof(gable_idx);
  gable_idx **p = rows ? &s.rows : &s.columns;
  if (!*p) *p = malloc(bytes + 1);
  return gable_solver_get(s.solver, rows ? GABLE_SOLVER_ROW_ORDER : GABLE_SOLVER_COLUMN_ORDER, *p, bytes) ? NULL : *p;
}

const frame_solver solver = {.name = "gable",
                             .order = order,
                             .factor = factor,
                             .solve = solve,
                             .nnz_l = nnz_l,
                             .split = split,
                             .extra = extra,
                             .options = options,
                             .permutation = permutation};
