/* refine_steps.c: the plain version, one column after the other. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/timer.h"

#define JUDGE static inline
#include "kernels/refine/judge.inc"

static double entry(const gik_refine_outside *v, gable_off i, gable_off j)
{
  const gable_off k = i * v->row + j * v->step;
  return v->type == GABLE_TYPE_S ? (double)((const float *)v->data)[k] : ((const double *)v->data)[k];
}

static int64_t clock_now(void)
{
  return (int64_t)(1e9 * gi_now());
}

static gable_status load(const gik_refine *f, const gik_refine_outside *b, void *stream)
{
  (void)stream;
  memset(f->column, 0, GIK_REFINE_COLUMNS * sizeof *f->column);
  for (int j = f->count; j < GIK_REFINE_COLUMNS; j++) f->column[j].ended = 1;
  *f->control = (gik_refine_control){.tolerance = f->tolerance,
                                     .count = f->count,
                                     .max_steps = f->max_steps,
                                     .max_gmres = f->max_gmres,
                                     .active = f->count,
                                     .column = -1,
                                     .begin = clock_now()};
  for (gable_off j = 0; j < f->count; j++)
    for (gable_idx i = 0; i < f->a.n; i++) {
      f->b[j * f->a.n + i] = entry(b, i, j);
      if (!isfinite(f->b[j * f->a.n + i]) && !f->column[j].bad_row) f->column[j].bad_row = i + 1;
    }
  return GABLE_OK;
}

static gable_status residual(const gik_refine *f, void *stream)
{
  const gik_refine_matrix *a = &f->a;
  (void)stream;
  if (!f->control->swept) f->control->swept = clock_now();
  for (gable_off j = 0; j < f->count; j++) {
    const double *b = f->b + j * a->n, *x = f->x + j * a->n;
    double *r = f->r + j * a->n, *weight = f->weight + j * a->n;
    if (f->column[j].ended) continue;
    for (gable_idx i = 0; i < a->n; i++) {
      double sum = b[i], size = 0;
      for (gable_off k = a->ptr[i]; k < a->ptr[i + 1]; k++) {
        const double term = a->val[k] * x[a->idx[k]];
        sum -= term;
        size += fabs(term);
      }
      r[i] = sum;
      weight[i] = size;
    }
  }
  return GABLE_OK;
}

/* The backward errors of column j. */
static void measure(const gik_refine *f, gable_off j, double *backward, double *strict)
{
  const gik_refine_matrix *a = &f->a;
  const double *b = f->b + j * a->n, *x = f->x + j * a->n, *r = f->r + j * a->n, *weight = f->weight + j * a->n;
  const double slack = 1000 * (double)a->n * DBL_EPSILON;
  double norm_x = 0, omega_1 = 0, omega_2 = 0;
  int finite = 1;
  *strict = 0;
  for (gable_idx i = 0; i < a->n; i++) {
    norm_x = fmax(norm_x, fabs(x[i]));
    finite &= isfinite(x[i]) && isfinite(r[i]);
  }
  for (gable_idx i = 0; i < a->n && finite; i++) {
    const double size = fabs(r[i]), w = weight[i] + fabs(b[i]);
    if (!(size > 0)) continue;
    *strict = fmax(*strict, size / w);
    if (w > slack * (a->top[i] * norm_x + fabs(b[i])))
      omega_1 = fmax(omega_1, size / w);
    else
      omega_2 = fmax(omega_2, size / (weight[i] + a->sum[i] * norm_x));
  }
  *backward = finite ? omega_1 + omega_2 : INFINITY;
  if (!finite) *strict = INFINITY;
}

static gable_status judge(const gik_refine *f, void *stream)
{
  (void)stream;
  f->control->active = 0;
  for (int j = 0; j < f->count; j++) {
    gik_refine_column *c = &f->column[j];
    double backward, strict;
    if (c->ended) continue;
    measure(f, j, &backward, &strict);
    gik_judge_look(c, f->control, backward, strict);
    f->control->active += !c->ended;
  }
  return GABLE_OK;
}

static gable_status correct(const gik_refine *f, void *stream)
{
  const gable_off n = f->a.n;
  (void)stream;
  for (gable_off j = 0; j < f->count; j++)
    for (gable_off e = j * n; e < (j + 1) * n && !f->column[j].ended; e++) {
      f->old[e] = f->x[e];
      f->x[e] += f->r[e];
    }
  return GABLE_OK;
}

static gable_status round_to_float(const gik_refine *f, void *stream)
{
  const gable_off n = f->a.n;
  (void)stream;
  for (gable_off j = 0; j < f->count; j++) {
    const double *from = (f->column[j].taken_back ? f->old : f->x) + j * n;
    for (gable_off i = 0; i < n; i++) f->x[j * n + i] = (double)(float)from[i];
    f->column[j].taken_back = f->column[j].ended = 0;
  }
  f->control->active = f->count;
  f->control->rounded = 1;
  return GABLE_OK;
}

static gable_status finish(const gik_refine *f, const gik_refine_outside *x, int first, void *stream)
{
  const gable_off n = f->a.n;
  (void)stream;
  for (gable_off j = 0; j < f->count; j++) {
    const double *from = (f->column[j].taken_back ? f->old : f->x) + j * n;
    double norm_b = 0, norm_x = 0;
    for (gable_off i = 0; i < n; i++) {
      const gable_off k = i * x->row + j * x->step;
      if (x->type == GABLE_TYPE_S)
        ((float *)x->data)[k] = (float)from[i];
      else
        ((double *)x->data)[k] = from[i];
      norm_b += fabs(f->b[j * n + i]);
      norm_x += fabs(entry(x, i, j));
    }
    f->column[j].huge = gik_is_huge(f->a.pivots->norm, norm_b, norm_x);
    gik_add_column(f->summary, f, (int)j, first + (int)j);
  }
  gik_add_times(f->summary, f->control, clock_now());
  return GABLE_OK;
}

static gable_status pick(const gik_refine *f, void *stream)
{
  gik_refine_control *s = f->control;
  (void)stream;
  gik_pick_column(f->column, s);
  s->active = s->going;
  if (!s->going) return GABLE_OK;
  const gable_off n = f->a.n, e = s->column * n;
  if (f->column[s->column].taken_back) memcpy(f->x + e, f->old + e, (size_t)n * sizeof *f->x);
  f->column[s->column].taken_back = 0;
  return GABLE_OK;
}

static gable_status weigh(const gik_refine *f, const gik_refine_gmres *g, void *stream)
{
  const gable_idx n = f->a.n;
  const gable_off e = (gable_off)f->control->column * n;
  const double *b = f->b + e, *x = f->x + e, *r = f->r + e;
  double *weight = f->weight + e, norm_x = 0, heaviest = 0;
  (void)stream;
  for (gable_idx i = 0; i < n; i++) {
    weight[i] += fabs(b[i]);
    norm_x = fmax(norm_x, fabs(x[i]));
    heaviest = fmax(heaviest, weight[i]);
  }
  for (gable_idx i = 0; i < n; i++) {
    weight[i] = gik_row_weight(weight[i], f->a.sum[i], norm_x, heaviest);
    g->q.basis[i] = r[i] / weight[i];
  }
  *g->krylov.state = (gik_krylov_state){.norm_b = 1};
  return GABLE_OK;
}

static gable_status aim(const gik_refine *f, const gik_refine_gmres *g, void *stream)
{
  (void)stream;
  gik_aim(f->control, g->krylov.state, g->q.restart);
  return GABLE_OK;
}

static gable_status direct(const gik_refine *f, const gik_refine_gmres *g, void *stream)
{
  const gable_idx n = f->a.n;
  const double *weight = f->weight + (gable_off)f->control->column * n;
  const double *basis = g->q.basis + (gable_off)g->krylov.state->column * n;
  (void)stream;
  for (gable_idx i = 0; i < n; i++) g->direction[i] = basis[i] * weight[i];
  return GABLE_OK;
}

static gable_status product(const gik_refine *f, const gik_refine_gmres *g, void *stream)
{
  const gik_refine_matrix *a = &f->a;
  const double *weight = f->weight + (gable_off)f->control->column * a->n;
  (void)stream;
  memcpy(g->z + (gable_off)g->krylov.state->column * a->n, g->direction, (size_t)a->n * sizeof *g->z);
  for (gable_idx i = 0; i < a->n; i++) {
    double sum = 0;
    for (gable_off k = a->ptr[i]; k < a->ptr[i + 1]; k++) sum += a->val[k] * g->direction[a->idx[k]];
    g->step[i] = sum / weight[i];
  }
  return GABLE_OK;
}

static gable_status accept(const gik_refine *f, const gik_refine_gmres *g, void *stream)
{
  const gable_idx n = f->a.n;
  const gik_krylov_state *state = g->krylov.state;
  double *x = f->x + (gable_off)f->control->column * n, *old = f->old + (gable_off)f->control->column * n;
  (void)stream;
  f->control->cycle = state->iteration;
  memcpy(old, x, (size_t)n * sizeof *x);
  for (gable_idx i = 0; i < n && state->column && state->again; i++) x[i] += g->step[i];
  return GABLE_OK;
}

const gik_refine_steps gik_refine_steps_cpu = {load, residual, judge, correct, round_to_float, finish,
                                               pick, weigh,    aim,   direct,  product,        accept};
