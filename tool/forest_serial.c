/* forest_serial.c: see forest_serial.h. */
#include "forest_serial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void forest_serial_product(const gable_matrix_view *a, const double *x, double *y)
{
  const int64_t *ptr = a->ptr;
  const double *val = a->val;
  memset(y, 0, (size_t)a->n_rows * sizeof *y);
  for (gable_idx j = 0; j < a->n_cols; j++)
    for (int64_t k = ptr[j]; k < ptr[j + 1]; k++) y[a->idx[k]] += val[k] * x[j];
}

/* Which rank has each row, and the lanes of one of them (forest_arrays.h). */
typedef struct ranked {
  gable_idx n;
  const int32_t *part;
  int ranks;
  double *lane;
} ranked;

static double dot(const ranked *o, const double *u, const double *v)
{
  double all = 0;
  for (int32_t r = 0; r < o->ranks; r++) {
    double own = 0, fold[FOREST_FOLDS] = {0};
    gable_off k = 0;
    memset(o->lane, 0, FOREST_LANES * sizeof *o->lane);
    for (gable_idx i = 0; i < o->n; i++)
      if (o->part[i] == r) o->lane[k++ % FOREST_LANES] += u[i] * v[i];
    for (gable_off l = 0; l < FOREST_LANES && l < k; l++) fold[l % FOREST_FOLDS] += o->lane[l];
    for (gable_off f = 0; f < FOREST_FOLDS && f < k; f++) own += fold[f];
    all += own;
  }
  return all;
}

gable_status forest_serial_cg(const gable_matrix_view *a, const int32_t *part, int ranks, double tolerance,
                              int64_t most, const double *b, double *x, gable_status (*at_work)(void *user), void *user,
                              forest_cg_outcome *out, double *true_residual)
{
  gable_status status = GABLE_OK;
  const gable_idx n = a->n_rows;
  double *scratch = calloc(3 * (size_t)n + FOREST_LANES, sizeof *scratch);
  if (!scratch) return GABLE_ERR_MEMORY;
  double *r = scratch, *p = r + n, *q = p + n;
  const ranked o = {n, part, ranks, q + n};
  const double bb = dot(&o, b, b), enough = tolerance * tolerance * bb;
  double rr = bb;
  int nonzero = 0;
  *out = (forest_cg_outcome){0, 0, 0, 0};
  for (gable_idx i = 0; i < n; i++) {
    x[i] = 0;
    r[i] = p[i] = b[i];
    nonzero |= b[i] != 0;
  }
  while (rr > enough && out->iterations < most) {
    status = at_work(user);
    if (status) break;
    forest_serial_product(a, p, q);
    const double pq = dot(&o, p, q);
    if (!(pq > 0)) break; /* not positive definite */
    const double alpha = rr / pq, old = rr;
    for (gable_idx i = 0; i < n; i++) x[i] += alpha * p[i];
    for (gable_idx i = 0; i < n; i++) r[i] -= alpha * q[i];
    rr = dot(&o, r, r);
    const double beta = rr / old;
    for (gable_idx i = 0; i < n; i++) p[i] = r[i] + beta * p[i];
    out->iterations++;
  }
  forest_cg_judge(rr, bb, enough, nonzero, out);
  forest_serial_product(a, x, q);
  for (gable_idx i = 0; i < n; i++) r[i] = b[i] - q[i];
  *true_residual = bb > 0 ? sqrt(dot(&o, r, r) / bb) : out->residual;
  free(scratch);
  return status;
}
