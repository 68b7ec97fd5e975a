/* block_sweep.c: the methods of Yamazaki, Rajamanickam and Ellingwood over the levels of a block triangle, as plain
 * loops.  Each statement over c computes every column apart, so that none changes another's bits. */
#include "supernodal/cpu/block_triangle.h"

/* One block column, and the vectors: row i is y[i*rhs] .. */
typedef struct panel {
  gable_idx first, w, rows, rhs;
  gable_off ld;
  const gable_idx *row;
  const double *value;
  double *y, *at; /* at: y of the columns */
} panel;

static panel panel_of(const gi_block_triangle *t, gable_idx b, gable_idx rhs, double *y)
{
  const gable_idx first = t->first[b], w = t->first[b + 1] - first, rows = (gable_idx)(t->row_at[b + 1] - t->row_at[b]);
  return (panel){first,
                 w,
                 rows,
                 rhs,
                 (gable_off)w + rows,
                 t->row + t->row_at[b],
                 t->value + t->value_at[b],
                 y,
                 y + (gable_off)first * rhs};
}

static void clear(double *to, gable_off count)
{
  for (gable_off k = 0; k < count; k++) to[k] = 0;
}

/* to += a from, and from is left alone. */
static void add(gable_idx rhs, double a, const double *from, double *to)
{
  for (gable_idx c = 0; c < rhs; c++) to[c] += a * from[c];
}

/* TRSM: y_J := D^-1 y_J. */
static void substitute(const panel *p)
{
  for (gable_idx k = 0; k < p->w; k++) {
    double *x = p->at + (gable_off)k * p->rhs;
    const double *d = p->value + k * p->ld;
    for (gable_idx c = 0; c < p->rhs; c++) x[c] /= d[k];
    for (gable_idx i = k + 1; i < p->w; i++) add(p->rhs, -d[i], x, p->at + (gable_off)i * p->rhs);
  }
}

/* y_J := D^-T y_J. */
static void substitute_transposed(const panel *p)
{
  for (gable_idx k = p->w - 1; k >= 0; k--) {
    double *x = p->at + (gable_off)k * p->rhs;
    const double *d = p->value + k * p->ld;
    for (gable_idx i = k + 1; i < p->w; i++) add(p->rhs, -d[i], p->at + (gable_off)i * p->rhs, x);
    for (gable_idx c = 0; c < p->rhs; c++) x[c] /= d[k];
  }
}

/* GEMV with the inverse that stands in the block: y_J := D^-1 y_J. */
static void multiply(const panel *p, double *room)
{
  clear(room, (gable_off)p->w * p->rhs);
  for (gable_idx k = 0; k < p->w; k++)
    for (gable_idx i = k; i < p->w; i++)
      add(p->rhs, p->value[i + k * p->ld], p->at + (gable_off)k * p->rhs, room + (gable_off)i * p->rhs);
  for (gable_off k = 0; k < (gable_off)p->w * p->rhs; k++) p->at[k] = room[k];
}

/* y_J := D^-T y_J. */
static void multiply_transposed(const panel *p, double *room)
{
  clear(room, (gable_off)p->w * p->rhs);
  for (gable_idx k = 0; k < p->w; k++)
    for (gable_idx i = k; i < p->w; i++)
      add(p->rhs, p->value[i + k * p->ld], p->at + (gable_off)i * p->rhs, room + (gable_off)k * p->rhs);
  for (gable_off k = 0; k < (gable_off)p->w * p->rhs; k++) p->at[k] = room[k];
}

/* GEMV and scatter: y_rows -= B x, x [w] the columns' numbers. */
static void update_rows(const panel *p, const double *x)
{
  for (gable_idx k = 0; k < p->w; k++)
    for (gable_idx i = 0; i < p->rows; i++)
      add(p->rhs, -p->value[p->w + i + k * p->ld], x + (gable_off)k * p->rhs, p->y + (gable_off)p->row[i] * p->rhs);
}

/* Gather and GEMV: y_J -= B^T y_rows. */
static void update_columns(const panel *p)
{
  for (gable_idx k = 0; k < p->w; k++)
    for (gable_idx i = 0; i < p->rows; i++)
      add(p->rhs, -p->value[p->w + i + k * p->ld], p->y + (gable_off)p->row[i] * p->rhs, p->at + (gable_off)k * p->rhs);
}

/* One GEMV with the merged panel: y_rows -= (B D^-1) y_J, y_J := D^-1 y_J; it reads y_J before it is written. */
static void multiply_panel(const panel *p, double *room)
{
  update_rows(p, p->at);
  multiply(p, room);
}

/* y_J := D^-T y_J - (B D^-1)^T y_rows. */
static void multiply_panel_transposed(const panel *p, double *room)
{
  multiply_transposed(p, room);
  update_columns(p);
}

/* SpMV: y := Q_l y (op N) or Q_l^T y in the rows that Q_l changes. */
static void multiply_level(const gi_block_triangle *t, gable_idx l, gable_op op, gable_idx rhs, double *y, double *room)
{
  const gi_level_inverse *q = &t->inverse;
  for (gable_idx r = q->row_at[l]; r < q->row_at[l + 1]; r++) clear(room + (gable_off)q->row[r] * rhs, rhs);
  for (gable_idx r = q->row_at[l]; r < q->row_at[l + 1]; r++)
    for (gable_off k = q->ptr[r]; k < q->ptr[r + 1]; k++) {
      const gable_off i = (gable_off)q->row[r] * rhs, j = (gable_off)q->col[k] * rhs;
      if (op == GABLE_OP_N)
        add(rhs, q->value[k], y + j, room + i);
      else
        add(rhs, q->value[k], y + i, room + j);
    }
  for (gable_idx r = q->row_at[l]; r < q->row_at[l + 1]; r++)
    for (gable_idx c = 0; c < rhs; c++) y[(gable_off)q->row[r] * rhs + c] = room[(gable_off)q->row[r] * rhs + c];
}

/* levels: one call after another for each block of the level. */
static void level_by_blocks(const gi_block_triangle *t, gable_idx l, gable_op op, gable_idx rhs, double *y)
{
  for (gable_idx o = t->level[l]; o < t->level[l + 1]; o++) {
    const panel p = panel_of(t, t->order[o], rhs, y);
    if (op == GABLE_OP_N) {
      substitute(&p);
      update_rows(&p, p.at);
    } else {
      update_columns(&p);
      substitute_transposed(&p);
    }
  }
}

static void diagonal_batch(const gi_block_triangle *t, gable_idx l, gable_op op, gable_idx rhs, double *y, double *room)
{
  for (gable_idx o = t->level[l]; o < t->level[l + 1]; o++) {
    const panel p = panel_of(t, t->order[o], rhs, y);
    if (t->method == GABLE_SOLVE_INVERTED && op == GABLE_OP_N)
      multiply(&p, room);
    else if (t->method == GABLE_SOLVE_INVERTED)
      multiply_transposed(&p, room);
    else if (op == GABLE_OP_N)
      substitute(&p);
    else
      substitute_transposed(&p);
  }
}

static void off_diagonal_batch(const gi_block_triangle *t, gable_idx l, gable_op op, gable_idx rhs, double *y)
{
  for (gable_idx o = t->level[l]; o < t->level[l + 1]; o++) {
    const panel p = panel_of(t, t->order[o], rhs, y);
    if (op == GABLE_OP_N)
      update_rows(&p, p.at);
    else
      update_columns(&p);
  }
}

/* batched, inverted: a batch of all diagonal blocks of the level, a batch of all blocks below. */
static void level_by_batches(const gi_block_triangle *t, gable_idx l, gable_op op, gable_idx rhs, double *y,
                             double *room)
{
  if (op == GABLE_OP_T) off_diagonal_batch(t, l, op, rhs, y);
  diagonal_batch(t, l, op, rhs, y, room);
  if (op == GABLE_OP_N) off_diagonal_batch(t, l, op, rhs, y);
}

/* merged: one batch of whole panels. */
static void level_by_panels(const gi_block_triangle *t, gable_idx l, gable_op op, gable_idx rhs, double *y,
                            double *room)
{
  for (gable_idx o = t->level[l]; o < t->level[l + 1]; o++) {
    const panel p = panel_of(t, t->order[o], rhs, y);
    if (op == GABLE_OP_N)
      multiply_panel(&p, room);
    else
      multiply_panel_transposed(&p, room);
  }
}

void gi_block_triangle_solve(const gi_block_triangle *t, gable_idx stage, gable_op op, gable_idx rhs, double *y,
                             double *room)
{
  const gable_idx begin = t->stage[stage], end = t->stage[stage + 1];
  for (gable_idx k = begin; k < end; k++) {
    const gable_idx l = op == GABLE_OP_N ? k : begin + end - 1 - k;
    switch (t->method) {
    case GABLE_SOLVE_LEVELS: level_by_blocks(t, l, op, rhs, y); break;
    case GABLE_SOLVE_MERGED: level_by_panels(t, l, op, rhs, y, room); break;
    case GABLE_SOLVE_PARTITIONED: multiply_level(t, l, op, rhs, y, room); break;
    default: level_by_batches(t, l, op, rhs, y, room);
    }
  }
}
