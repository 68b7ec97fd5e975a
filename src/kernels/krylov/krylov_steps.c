/* krylov_steps.c: the steps of krylov_steps.h in host memory.
 *
 * A step is what each element does, piece by piece, and what one thread does with the sums of all pieces.  Vectors of
 * at least LONG entries are cut into PIECES, which threads share; sums of pieces are added in the order of the pieces,
 * so no bit depends on the number of threads.  Sums of squares that overflow or underflow are scaled (dot.h). */
#include <math.h>
#include <string.h>

#include "base/context.h"
#include "kernels/krylov/dot.h"
#include "kernels/krylov/krylov_steps.h"

#define SMALL static
#define SYNCHRONISE
#include "kernels/krylov/hessenberg.inc"

enum { PIECES = 64, LONG = 1 << 16 };

/* What a step reads and writes; piece functions name them. */
typedef struct operands {
  const gik_krylov_state *state;
  const double *in[6];
  double *out[4];
  gable_idx n;
  int count; /* GMRES: vectors of the basis */
} operands;

/* Entries begin to end - 1; adds to sum[0] and sum[1]. */
typedef void piece_function(const operands *o, gable_off begin, gable_off end, double sum[2]);

static void each_piece(const gik_krylov *k, const operands *o, piece_function *piece, double sum[2])
{
  double part[PIECES][2];
  const gable_off n = k->n;
  sum[0] = sum[1] = 0;
  if (n < LONG) {
    piece(o, 0, n, sum);
    return;
  }
  memset(part, 0, sizeof part);
  GI_OMP(parallel for schedule(static) num_threads(k->threads))
  for (int p = 0; p < PIECES; p++) piece(o, n * p / PIECES, n * (p + 1) / PIECES, part[p]);
  for (int p = 0; p < PIECES; p++) {
    sum[0] += part[p][0];
    sum[1] += part[p][1];
  }
}

static void dot_piece(const operands *o, gable_off begin, gable_off end, double sum[2])
{
  sum[0] += gik_dot(end - begin, o->in[0] + begin, o->in[1] + begin);
}

static double dot(const gik_krylov *k, const double *x, const double *y)
{
  double sum[2];
  each_piece(k, &(operands){.in = {x, y}}, dot_piece, sum);
  return sum[0];
}

static gable_status measure(const gik_krylov *k, const double *b)
{
  gik_krylov_state *s = k->state;
  if (s->stop) return GABLE_OK;
  s->norm = gik_norm2_of(k->n, b, dot(k, b, b));
  s->norm_b = s->norm == 0 ? 1 : s->norm;
  return GABLE_OK;
}

static void residual_piece(const operands *o, gable_off begin, gable_off end, double sum[2])
{
  const double *b = o->in[0], *q = o->in[1];
  double *r = o->out[0];
  for (gable_off i = begin; i < end; i++) r[i] = b[i] - q[i];
  sum[0] += gik_dot(end - begin, r + begin, r + begin);
}

static gable_status residual(const gik_krylov *k, const double *b, const double *q, double *r)
{
  double sum[2];
  gik_krylov_state *s = k->state;
  if (s->stop) return GABLE_OK;
  each_piece(k, &(operands){.in = {b, q}, .out = {r}}, residual_piece, sum);
  s->norm = gik_norm2_of(k->n, r, sum[0]);
  gik_note(s, s->norm);
  return GABLE_OK;
}

static gable_status cg_start(const gik_krylov *k, const double *r, const double *z, double *p)
{
  gik_krylov_state *s = k->state;
  if (s->stop) return GABLE_OK;
  memcpy(p, z, (size_t)k->n * sizeof *p);
  s->rz = dot(k, r, z);
  return GABLE_OK;
}

static gable_status cg_curvature(const gik_krylov *k, const double *p, const double *q)
{
  gik_krylov_state *s = k->state;
  if (s->stop) return GABLE_OK;
  const double pq = dot(k, p, q);
  s->alpha = s->rz / pq;
  if (!(pq > 0) || !(s->rz > 0)) s->stop = GIK_STOP_BREAKDOWN;
  return GABLE_OK;
}

static void cg_step_piece(const operands *o, gable_off begin, gable_off end, double sum[2])
{
  const double alpha = o->state->alpha, *p = o->in[0], *q = o->in[1];
  double *x = o->out[0], *r = o->out[1];
  for (gable_off i = begin; i < end; i++) {
    x[i] += alpha * p[i];
    r[i] -= alpha * q[i];
  }
  sum[0] += gik_dot(end - begin, r + begin, r + begin);
}

static gable_status cg_step(const gik_krylov *k, const double *p, const double *q, double *x, double *r)
{
  double sum[2];
  gik_krylov_state *s = k->state;
  if (s->stop) return GABLE_OK;
  each_piece(k, &(operands){.state = s, .in = {p, q}, .out = {x, r}}, cg_step_piece, sum);
  s->iteration++;
  gik_note(s, gik_norm2_of(k->n, r, sum[0]));
  return GABLE_OK;
}

static gable_status cg_beta(const gik_krylov *k, const double *r, const double *z)
{
  gik_krylov_state *s = k->state;
  if (s->stop) return GABLE_OK;
  const double rz = dot(k, r, z);
  s->beta = rz / s->rz;
  s->rz = rz;
  return GABLE_OK;
}

static void cg_direction_piece(const operands *o, gable_off begin, gable_off end, double sum[2])
{
  const double beta = o->state->beta, *z = o->in[0];
  double *p = o->out[0];
  (void)sum;
  for (gable_off i = begin; i < end; i++) p[i] = z[i] + beta * p[i];
}

static gable_status cg_direction(const gik_krylov *k, const double *z, double *p)
{
  double sum[2];
  if (!k->state->stop) each_piece(k, &(operands){.state = k->state, .in = {z}, .out = {p}}, cg_direction_piece, sum);
  return GABLE_OK;
}

static gable_status bi_start(const gik_krylov *k, const double *r, double *shadow, double *p, double *v)
{
  const size_t bytes = (size_t)k->n * sizeof *p;
  gik_krylov_state *s = k->state;
  if (s->stop) return GABLE_OK;
  memcpy(shadow, r, bytes);
  memset(p, 0, bytes);
  memset(v, 0, bytes);
  s->rho = dot(k, r, r);
  s->beta = 0; /* p and v are zero */
  s->alpha = s->omega = 1;
  return GABLE_OK;
}

static void bi_direction_piece(const operands *o, gable_off begin, gable_off end, double sum[2])
{
  const double beta = o->state->beta, omega = o->state->omega, *r = o->in[0], *v = o->in[1];
  double *p = o->out[0];
  (void)sum;
  for (gable_off i = begin; i < end; i++) p[i] = r[i] + beta * (p[i] - omega * v[i]);
}

static gable_status bi_direction(const gik_krylov *k, const double *r, const double *v, double *p)
{
  double sum[2];
  if (!k->state->stop) each_piece(k, &(operands){.state = k->state, .in = {r, v}, .out = {p}}, bi_direction_piece, sum);
  return GABLE_OK;
}

static gable_status bi_alpha(const gik_krylov *k, const double *shadow, const double *v)
{
  gik_krylov_state *s = k->state;
  if (s->stop) return GABLE_OK;
  const double sv = dot(k, shadow, v);
  s->alpha = s->rho / sv;
  if (s->rho == 0 || sv == 0) s->stop = GIK_STOP_BREAKDOWN;
  return GABLE_OK;
}

static void bi_half_piece(const operands *o, gable_off begin, gable_off end, double sum[2])
{
  const double alpha = o->state->alpha, *r = o->in[0], *v = o->in[1];
  double *s = o->out[0];
  (void)sum;
  for (gable_off i = begin; i < end; i++) s[i] = r[i] - alpha * v[i];
}

static gable_status bi_half(const gik_krylov *k, const double *r, const double *v, double *s_out)
{
  double sum[2];
  if (!k->state->stop) each_piece(k, &(operands){.state = k->state, .in = {r, v}, .out = {s_out}}, bi_half_piece, sum);
  return GABLE_OK;
}

static void bi_omega_piece(const operands *o, gable_off begin, gable_off end, double sum[2])
{
  const double *t = o->in[0] + begin, *s = o->in[1] + begin;
  sum[0] += gik_dot(end - begin, t, t);
  sum[1] += gik_dot(end - begin, t, s);
}

static gable_status bi_omega(const gik_krylov *k, const double *t, const double *s_in)
{
  double sum[2];
  if (k->state->stop) return GABLE_OK;
  each_piece(k, &(operands){.in = {t, s_in}}, bi_omega_piece, sum);
  k->state->omega = sum[0] > 0 ? sum[1] / sum[0] : 0;
  return GABLE_OK;
}

static void bi_step_piece(const operands *o, gable_off begin, gable_off end, double sum[2])
{
  const double alpha = o->state->alpha, omega = o->state->omega;
  const double *p_hat = o->in[0], *s_hat = o->in[1], *s = o->in[2], *t = o->in[3], *shadow = o->in[4];
  double *x = o->out[0], *r = o->out[1];
  for (gable_off i = begin; i < end; i++) {
    x[i] += alpha * p_hat[i] + omega * s_hat[i];
    r[i] = s[i] - omega * t[i];
  }
  sum[0] += gik_dot(end - begin, r + begin, r + begin);
  sum[1] += gik_dot(end - begin, shadow + begin, r + begin);
}

static gable_status bi_step(const gik_krylov *k, const double *p_hat, const double *s_hat, const double *s_in,
                            const double *t, const double *shadow, double *x, double *r)
{
  double sum[2];
  gik_krylov_state *s = k->state;
  if (s->stop) return GABLE_OK;
  each_piece(k, &(operands){.state = s, .in = {p_hat, s_hat, s_in, t, shadow}, .out = {x, r}}, bi_step_piece, sum);
  s->iteration++;
  gik_note(s, gik_norm2_of(k->n, r, sum[0]));
  if (!s->stop && s->omega == 0) s->stop = GIK_STOP_BREAKDOWN;
  s->beta = sum[1] / s->rho * (s->alpha / s->omega);
  s->rho = sum[1];
  return GABLE_OK;
}

/* A piece of every product, PIECES apart, and of v . v behind them. */
static void dots_piece(const operands *o, gable_off begin, gable_off end, double *parts)
{
  const double *v = o->in[1] + begin;
  for (int j = 0; j < o->count; j++)
    parts[(gable_off)j * PIECES] = gik_dot(end - begin, o->in[0] + (gable_off)j * o->n + begin, v);
  parts[(gable_off)o->count * PIECES] = gik_dot(end - begin, v, v);
}

static gable_status dots(const gik_krylov *k, const gik_gmres *q, int most, const double *v, int second)
{
  const int count = k->state->column + 1, pieces = k->n < LONG ? 1 : PIECES;
  const operands o = {.in = {q->basis, v}, .n = k->n, .count = count};
  const gable_off n = k->n;
  (void)most;
  if (!k->state->cycling || (second && !k->state->again)) return GABLE_OK;
  GI_OMP(parallel for schedule(static) num_threads(k->threads) if (pieces > 1))
  for (int p = 0; p < pieces; p++) dots_piece(&o, n * p / pieces, n * (p + 1) / pieces, q->parts + p);
  for (int j = 0; j <= count; j++) {
    q->dots[j] = 0;
    for (int p = 0; p < pieces; p++) q->dots[j] += q->parts[(gable_off)j * PIECES + p];
  }
  q->dots[count] = gik_norm2_of(n, v, q->dots[count]);
  return GABLE_OK;
}

/* y += sum_j factor c_j q_j for entries begin to end - 1, four columns at a time so that y is read a quarter as often.
 */
GI_CLONES static void add_columns(int count, gable_off n, const double *q, double factor, const double *c, double *y,
                                  gable_off begin, gable_off end)
{
  int j = 0;
  for (; j + 4 <= count; j += 4) {
    const double *q0 = q + j * n, *q1 = q0 + n, *q2 = q1 + n, *q3 = q2 + n;
    const double c0 = factor * c[j], c1 = factor * c[j + 1], c2 = factor * c[j + 2], c3 = factor * c[j + 3];
    for (gable_off i = begin; i < end; i++) y[i] += (c0 * q0[i] + c1 * q1[i]) + (c2 * q2[i] + c3 * q3[i]);
  }
  for (; j < count; j++) {
    const double *q0 = q + j * n, c0 = factor * c[j];
    for (gable_off i = begin; i < end; i++) y[i] += c0 * q0[i];
  }
}

static void project_piece(const operands *o, gable_off begin, gable_off end, double sum[2])
{
  double *v = o->out[0];
  add_columns(o->count, o->n, o->in[0], -1, o->in[1], v, begin, end);
  sum[0] += gik_dot(end - begin, v + begin, v + begin);
}

static gable_status project(const gik_krylov *k, const gik_gmres *q, double *v, int second)
{
  double sum[2];
  gik_krylov_state *s = k->state;
  double *h = q->h + (gable_off)s->column * (q->restart + 1);
  const int count = s->column + 1;
  if (!s->cycling || (second && !s->again)) return GABLE_OK;
  each_piece(k, &(operands){.in = {q->basis, q->dots}, .out = {v}, .n = k->n, .count = count}, project_piece, sum);
  for (int j = 0; j < count; j++) h[j] = second ? h[j] + q->dots[j] : q->dots[j];
  s->norm = gik_norm2_of(k->n, v, sum[0]);
  s->again = !(s->norm > 0.5 * q->dots[count]);
  return GABLE_OK;
}

static void divide_piece(const operands *o, gable_off begin, gable_off end, double sum[2])
{
  const double norm = o->state->norm > 0 ? o->state->norm : 1, *from = o->in[0];
  double *v = o->out[0];
  (void)sum;
  for (gable_off i = begin; i < end; i++) v[i] = from[i] / norm;
}

static gable_status cycle(const gik_krylov *k, const gik_gmres *q)
{
  double sum[2];
  gik_krylov_state *s = k->state;
  s->column = 0;
  s->cycling = !s->stop;
  if (s->stop) return GABLE_OK;
  each_piece(k, &(operands){.state = s, .in = {q->basis}, .out = {q->basis}}, divide_piece, sum);
  q->g[0] = s->norm;
  return GABLE_OK;
}

static gable_status enlarge(const gik_krylov *k, const gik_gmres *q, const double *v)
{
  double sum[2];
  gik_krylov_state *s = k->state;
  if (!s->cycling) return GABLE_OK;
  double *next = q->basis + (gable_off)(s->column + 1) * k->n;
  each_piece(k, &(operands){.state = s, .in = {v}, .out = {next}}, divide_piece, sum);
  gik_end_column(q, s);
  return GABLE_OK;
}

static void combine_piece(const operands *o, gable_off begin, gable_off end, double sum[2])
{
  double *step = o->out[0];
  for (gable_off i = begin; i < end; i++) step[i] = 0;
  add_columns(o->count, o->n, o->in[0], 1, o->in[1], step, begin, end);
  for (gable_off i = begin; i < end; i++) sum[0] += !isfinite(step[i]);
}

static gable_status combine(const gik_krylov *k, const gik_gmres *q, const double *z, double *step, double *x)
{
  double sum[2];
  const int count = k->state->column;
  if (k->state->stop) return GABLE_OK;
  gik_back_substitute(q, count, 0, 1);
  each_piece(k, &(operands){.in = {z, q->g}, .out = {step}, .n = k->n, .count = count}, combine_piece, sum);
  k->state->again = sum[0] == 0;
  for (gable_idx i = 0; x && k->state->again && i < k->n; i++) x[i] += step[i];
  return GABLE_OK;
}

static gable_status scale(const gik_krylov *k, const double *d, const double *r, double *z)
{
  for (gable_idx i = 0; i < k->n; i++) z[i] = r[i] / d[i];
  return GABLE_OK;
}

const gik_krylov_steps gik_krylov_steps_cpu = {
    .step_parts = 0,
    .dot_parts = PIECES,
    .measure = measure,
    .residual = residual,
    .cg_start = cg_start,
    .cg_curvature = cg_curvature,
    .cg_step = cg_step,
    .cg_beta = cg_beta,
    .cg_direction = cg_direction,
    .bi_start = bi_start,
    .bi_direction = bi_direction,
    .bi_alpha = bi_alpha,
    .bi_half = bi_half,
    .bi_omega = bi_omega,
    .bi_step = bi_step,
    .cycle = cycle,
    .dots = dots,
    .project = project,
    .enlarge = enlarge,
    .combine = combine,
    .scale = scale,
};
