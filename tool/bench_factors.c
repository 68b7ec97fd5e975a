/* bench_factors.c: the triangles of a factor by rows, each as a problem of cuSPARSE's. */
#include "bench_factors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_solver.h"

typedef struct factor_pair {
  gable_factors *factors;
  bench_rows rows[2];
  bench_problem problem[2];
  bench_solver solver[2];
  void *own_b[2]; /* the second problem's right-hand sides, in whose place it reads the first one's solution */
  void *own_x;    /* its solution, which the bench's x takes the place of */
  void *own_stream[2];
} factor_pair;

/* Offsets of 32 bits, as cuSPARSE reads them here. */
static int rows_take(bench_rows *to, const gable_matrix_view *columns, gable_part part)
{
  const int64_t *ptr = columns->ptr;
  const gable_off nnz = ptr[columns->n_cols];
  if (nnz >= INT32_MAX) return 0;
  *to = (bench_rows){.n = columns->n_cols, .nnz = nnz, .part = part};
  to->ptr = calloc((size_t)to->n + 2, sizeof *to->ptr);
  to->idx = malloc(((size_t)nnz + 1) * sizeof *to->idx);
  to->val = malloc(((size_t)nnz + 1) * sizeof *to->val);
  return to->ptr && to->idx && to->val;
}

/* The rows of a matrix that is given by columns. */
static int rows_of_columns(const gable_matrix_view *columns, gable_part part, bench_rows *to)
{
  const int64_t *ptr = columns->ptr;
  const double *val = columns->val;
  if (!rows_take(to, columns, part)) return 0;
  for (gable_off k = 0; k < to->nnz; k++) to->ptr[columns->idx[k] + 2]++;
  for (gable_idx i = 0; i < to->n; i++) to->ptr[i + 2] += to->ptr[i + 1];
  for (gable_idx j = 0; j < to->n; j++)
    for (int64_t k = ptr[j]; k < ptr[j + 1]; k++) {
      const int32_t at = to->ptr[columns->idx[k] + 1]++;
      to->idx[at] = j;
      to->val[at] = val[k];
    }
  return 1;
}

/* The rows of its transpose: the columns themselves. */
static int rows_of_transpose(const gable_matrix_view *columns, gable_part part, bench_rows *to)
{
  const int64_t *ptr = columns->ptr;
  if (!rows_take(to, columns, part)) return 0;
  for (gable_idx j = 0; j <= to->n; j++) to->ptr[j] = (int32_t)ptr[j];
  memcpy(to->idx, columns->idx, (size_t)to->nnz * sizeof *to->idx);
  memcpy(to->val, columns->val, (size_t)to->nnz * sizeof *to->val);
  return 1;
}

static void pair_close(bench_sweep *s)
{
  factor_pair *p = s->state;
  if (!p) return;
  for (int k = 1; k >= 0; k--) {
    bench_solver_free(&p->solver[k]);
    if (p->own_b[k]) p->problem[k].bench.there_b[0].data = p->own_b[k];
    if (k && p->own_x) p->problem[k].bench.there_x.data = p->own_x;
    if (p->own_stream[k]) p->problem[k].bench.stream = p->own_stream[k];
    bench_problem_close(&p->problem[k]);
    bench_rows_free(&p->rows[k]);
  }
  gable_factors_destroy(&p->factors);
  free(p);
  s->state = NULL;
}

static int pair_solve(bench_sweep *s, int turn)
{
  factor_pair *p = s->state;
  bench_solver *l = &p->solver[0], *u = &p->solver[1];
  return l->solve(l, &p->problem[0], turn) || u->solve(u, &p->problem[1], 0);
}

/* max |b - L U x|_i / (|L||U||x| + |b|)_i. */
static double pair_error(bench_sweep *s, const double *b, const double *x)
{
  const factor_pair *p = s->state;
  const bench_rows *l = &p->rows[0], *u = &p->rows[1];
  double *y = calloc((size_t)u->n + 1, sizeof *y), *weight = calloc((size_t)u->n + 1, sizeof *weight), worst = 0;
  if (!y || !weight) worst = NAN;
  for (gable_idx i = 0; i < u->n && worst == 0; i++)
    for (int32_t k = u->ptr[i]; k < u->ptr[i + 1]; k++) {
      y[i] += u->val[k] * x[u->idx[k]];
      weight[i] += fabs(u->val[k] * x[u->idx[k]]);
    }
  for (gable_idx i = 0; i < l->n && isfinite(worst); i++) {
    double rest = b[i], size = fabs(b[i]);
    for (int32_t k = l->ptr[i]; k < l->ptr[i + 1]; k++) {
      rest -= l->val[k] * y[l->idx[k]];
      size += fabs(l->val[k]) * weight[l->idx[k]];
    }
    const double error = rest == 0 ? 0 : fabs(rest) / size;
    if (!(error <= worst)) worst = error;
  }
  free(y);
  free(weight);
  return worst;
}

/* Both problems on the bench's stream, the second one's solution where the bench wants x. */
static gable_status open_problems(factor_pair *p, const gable_solver *s, workbench *bench)
{
  gable_factors_view v = GABLE_FACTORS_VIEW_INIT;
  gable_status status = gable_solver_export(s, &p->factors);
  if (!status) status = gable_factors_get_view(p->factors, &v);
  if (status) return status;
  if (!rows_of_columns(v.l, GABLE_PART_LOWER, &p->rows[0])) return GABLE_ERR_MEMORY;
  if (v.u ? !rows_of_columns(v.u, GABLE_PART_UPPER, &p->rows[1])
          : !rows_of_transpose(v.l, GABLE_PART_UPPER, &p->rows[1]))
    return GABLE_ERR_MEMORY;
  for (int k = 0; k < 2 && !status; k++) {
    const bench_shape shape = {.rhs = bench->x.count, .values = GABLE_TYPE_D, .vectors = GABLE_TYPE_D};
    status = bench_problem_open(bench->ctx, &p->rows[k], &p->rows[k], &shape, &p->problem[k]);
    if (status) break;
    p->own_stream[k] = p->problem[k].bench.stream;
    p->problem[k].bench.stream = bench->stream;
  }
  if (status) return status;
  p->own_b[1] = p->problem[1].bench.there_b[0].data;
  p->problem[1].bench.there_b[0].data = p->problem[0].bench.there_x.data;
  p->own_x = p->problem[1].bench.there_x.data;
  p->problem[1].bench.there_x.data = bench->there_x.data;
  return status;
}

int bench_factors_cusparse(const gable_solver *s, workbench *bench, bench_sweep *out, char *why, size_t why_bytes)
{
  factor_pair *p = calloc(1, sizeof *p);
  *out = (bench_sweep){.solve = pair_solve, .error = pair_error, .close = pair_close, .state = p};
  snprintf(why, why_bytes, "out of memory");
  if (!p) return 0;
  for (int k = 0; k < 2; k++)
    if (!bench_solver_cusparse(&p->solver[k], why, why_bytes)) goto failed;
  const gable_status status = open_problems(p, s, bench);
  if (status) {
    snprintf(why, why_bytes, "%s", gable_status_text(status));
    goto failed;
  }
  for (int k = 0; k < 2; k++) {
    contest_entry e;
    memset(&e, 0, sizeof e);
    if (p->solver[k].prepare(&p->solver[k], &p->problem[k], &e)) {
      snprintf(why, why_bytes, "%s", e.why);
      goto failed;
    }
    out->prepare_s += e.analyse_s;
    out->bytes += workbench_bytes(&bench->x, (double)p->rows[k].nnz, GABLE_TYPE_D);
  }
  return 1;
failed:
  pair_close(out);
  return 0;
}
