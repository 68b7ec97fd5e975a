/* solve_sweep.c: a team of threads over parts, folds and runs; blocks of the block triangular form one by one. */
#include "factor/solve_sweep.h"

#include <string.h>

/* One direction over one factor: which kernels, and which panel (rows below and beside the diagonal blocks). */
typedef struct direction {
  gik_panels panels;
  gik_panel_sweep *sweep;
  gik_panel_block *block;
  int upper; /* 1: the U panels */
} direction;

typedef struct wide_panel {
  const char *values;
  gable_off ld, lead;
  gable_idx first, w, m;
  const gable_idx *row;
} wide_panel;

static wide_panel panel_of(const gi_solve_team *t, const direction *d, gable_idx s)
{
  const gi_layout *y = t->plan->layout;
  const gable_idx w = gi_layout_width(y, s), nl = gi_layout_nl(y, s), nu = gi_layout_nu(y, s);
  const size_t bytes = t->kernels->value;
  wide_panel p = {.first = y->super[s], .w = w};
  if (d->upper) {
    p.values = (const char *)d->panels.u + (size_t)y->uval[s] * bytes;
    p.ld = p.m = nu;
    p.lead = y->uval[s];
    p.row = d->panels.ucol + y->uptr[s];
  } else {
    p.values = (const char *)d->panels.l + (size_t)(y->lval[s] + w) * bytes;
    p.ld = (gable_off)w + nl;
    p.lead = y->lval[s] + w;
    p.m = nl;
    p.row = d->panels.lrow + y->lptr[s];
  }
  return p;
}

static void *row_of(const gi_solve_team *t, gable_idx i)
{
  return (char *)t->y + (size_t)i * (size_t)t->kernels->rhs * t->kernels->vector;
}

/* y[row] += its slots, in the order of the parts. */
static void fold(const gi_solve_team *t, gable_idx f0, gable_idx f1)
{
  const gi_solve_plan *p = t->plan;
  const gable_idx rhs = t->kernels->rhs;
  for (gable_idx f = f0; f < f1; f++) {
    for (gable_idx q = p->fold_ptr[f]; q < p->fold_ptr[f + 1]; q++) {
      if (t->kernels->vector == sizeof(double)) {
        double *to = row_of(t, p->fold_row[f]);
        const double *from = row_of(t, p->fold_slot[q]);
        for (gable_idx r = 0; r < rhs; r++) to[r] += from[r];
      } else {
        float *to = row_of(t, p->fold_row[f]);
        const float *from = row_of(t, p->fold_slot[q]);
        for (gable_idx r = 0; r < rhs; r++) to[r] += from[r];
      }
    }
  }
}

static void forward(gi_solve_team *t, const gi_solve_segment *g, const direction *d)
{
  const gi_solve_plan *p = t->plan;
  for (gable_idx k = g->part0; k < g->part1; k++) {
    const gi_solve_piece *part = &p->part[k];
    if (t->work->owner[k] % t->threads != t->thread) continue;
    memset(row_of(t, p->layout->n + part->slot0), 0,
           (size_t)part->slots * (size_t)t->kernels->rhs * t->kernels->vector);
    d->sweep(&d->panels, part->s0, part->s1, t->y, t->z);
  }
  if (g->part1 > g->part0) {
    gi_solve_barrier(t);
    const gable_idx folds = g->fold1 - g->fold0;
    fold(t, g->fold0 + gi_solve_share(folds, t->thread, t->threads),
         g->fold0 + gi_solve_share(folds, t->thread + 1, t->threads));
    gi_solve_barrier(t);
  }
  for (gable_idx k = g->run0; k < g->run1; k++) {
    const gi_solve_piece *run = &p->run[k];
    if (!run->wide || t->threads == 1) {
      if (t->thread == 0) d->sweep(&d->panels, run->s0, run->s1, t->y, t->z);
      continue;
    }
    const wide_panel a = panel_of(t, d, run->s0);
    if (t->thread == 0) d->block(&d->panels, run->s0, row_of(t, a.first));
    gi_solve_barrier(t);
    const gable_idx r0 = gi_solve_share(a.m, t->thread, t->threads),
                    r1 = gi_solve_share(a.m, t->thread + 1, t->threads);
    t->kernels->scatter(a.values + (size_t)r0 * t->kernels->value, a.ld, a.lead + r0, r1 - r0, a.w, a.row + r0,
                        row_of(t, a.first), t->y, t->z);
    gi_solve_barrier(t);
  }
}

static void backward(gi_solve_team *t, const gi_solve_segment *g, const direction *d)
{
  const gi_solve_plan *p = t->plan;
  for (gable_idx k = g->run1 - 1; k >= g->run0; k--) {
    const gi_solve_piece *run = &p->run[k];
    if (!run->wide || t->threads == 1) {
      if (t->thread == 0) d->sweep(&d->panels, run->s0, run->s1, t->y, t->z);
      continue;
    }
    gi_solve_barrier(t);
    const wide_panel a = panel_of(t, d, run->s0);
    const gable_idx c0 = gi_solve_share(a.w, t->thread, t->threads),
                    c1 = gi_solve_share(a.w, t->thread + 1, t->threads);
    if (c1 > c0) {
      t->kernels->gather(a.values + (size_t)(c0 * a.ld) * t->kernels->value, a.ld, a.lead + c0 * a.ld, a.m, c1 - c0,
                         a.row, row_of(t, a.first + c0), t->y, t->z);
    }
    gi_solve_barrier(t);
    if (t->thread == 0) d->block(&d->panels, run->s0, row_of(t, a.first));
  }
  if (g->part1 > g->part0) gi_solve_barrier(t);
  for (gable_idx k = g->part0; k < g->part1; k++) {
    if (t->work->owner[k] % t->threads != t->thread) continue;
    d->sweep(&d->panels, p->part[k].s0, p->part[k].s1, t->y, t->z);
  }
}

/* y_j *= d_j (inverse 1) or y_j /= d_j, D the diagonal of U. */
static void diagonal(const gi_solve_team *t, gable_idx j0, gable_idx j1, int times_inverse)
{
  const gable_idx rhs = t->kernels->rhs;
  for (gable_idx j = j0; j < j1; j++) {
    const double inverse =
        t->factor->type == GABLE_D ? ((const double *)t->factor->dinv)[j] : (double)((const float *)t->factor->dinv)[j];
    for (gable_idx r = 0; r < rhs; r++) {
      if (t->kernels->vector == sizeof(double)) {
        double *at = (double *)row_of(t, j) + r;
        *at = times_inverse ? *at * inverse : *at / inverse;
      } else {
        float *at = (float *)row_of(t, j) + r;
        *at = times_inverse ? *at * (float)inverse : *at / (float)inverse;
      }
    }
  }
}

/* Columns j0..j1-1 of F: y[rows] -= F y (N) or y_j -= F^T y[rows] (T). */
static void off_blocks(const gi_solve_team *t, gable_idx j0, gable_idx j1)
{
  const gi_layout *l = t->plan->layout;
  if (!l->off_ptr || !t->factor->off || l->off_ptr[j0] == l->off_ptr[j1]) return;
  t->kernels->off(l->off_ptr, l->off_row, t->factor->off, j0, j1, t->op == GABLE_T, t->y);
}

static void small_blocks(gi_solve_team *t, const gi_solve_segment *g, const direction *first, const direction *second)
{
  const gi_solve_plan *p = t->plan;
  const gable_idx count = g->block1 - g->block0;
  const int all = t->parts == GI_SOLVE_ALL;
  for (gable_idx q = 0; q < count; q++) {
    const gable_idx block = t->op == GABLE_N ? g->block1 - 1 - q : g->block0 + q;
    const gable_idx s0 = p->super_of_block[block], s1 = p->super_of_block[block + 1];
    const gable_idx j0 = p->layout->super[s0], j1 = p->layout->super[s1];
    if (all && t->op == GABLE_T) off_blocks(t, j0, j1);
    const int unit = j1 - j0 == 1 && t->factor->kind == GI_LU; /* the L of one column is one */
    if (first && (first->upper || !unit)) first->sweep(&first->panels, s0, s1, t->y, t->z);
    if (second && (second->upper || !unit)) second->sweep(&second->panels, s0, s1, t->y, t->z);
    if (all && t->op == GABLE_N) off_blocks(t, j0, j1);
  }
}

static void one_block(gi_solve_team *t, const gi_solve_segment *g, const direction *first, const direction *second)
{
  const gi_layout *l = t->plan->layout;
  const gable_idx j0 = l->super[g->s0], j1 = l->super[g->s1];
  const int all = t->parts == GI_SOLVE_ALL && l->n_blocks > 1;
  if (all && t->op == GABLE_T && t->thread == 0) off_blocks(t, j0, j1);
  if (all) gi_solve_barrier(t);
  if (first) forward(t, g, first);
  gi_solve_barrier(t);
  if (second) backward(t, g, second);
  if (all) gi_solve_barrier(t);
  if (all && t->op == GABLE_N && t->thread == 0) off_blocks(t, j0, j1);
}

/* The two sweeps of this operation, or NULL where parts leave one out. */
static void directions(const gi_solve_team *t, direction d[2], const direction *use[2])
{
  const gi_layout *y = t->plan->layout;
  const gi_factor *f = t->factor;
  const gik_panel_kernels *k = t->kernels;
  const gik_panels forth = {y->super,      y->lptr, y->uptr, y->lval, y->uval,  t->plan->lrow,
                            t->plan->ucol, f->l,    f->u,    f->dinv, f->pivot, f->kind == GI_LU};
  gik_panels back = forth;
  back.lrow = y->lrow;
  back.ucol = y->ucol;
  const int lower_first = t->op == GABLE_N || f->kind == GI_CHOLESKY;
  const int lu = f->kind == GI_LU;
  d[0] =
      lower_first ? (direction){forth, k->forward_l, k->block_l, 0} : (direction){forth, k->forward_ut, k->block_ut, 1};
  d[1] = t->op == GABLE_N && lu ? (direction){back, k->backward_u, k->block_u, 1}
                                : (direction){back, k->backward_lt, k->block_lt, 0};
  const int has_l = (t->parts & GI_SOLVE_L) != 0, has_u = (t->parts & GI_SOLVE_U) != 0;
  use[0] = (t->op == GABLE_N ? has_l : has_u) ? &d[0] : NULL;
  use[1] = (t->op == GABLE_N ? has_u : has_l) ? &d[1] : NULL;
}

static void segments(gi_solve_team *t, const direction *first, const direction *second)
{
  const gi_solve_plan *p = t->plan;
  for (gable_idx q = 0; q < p->n_segments; q++) {
    const gi_solve_segment *g = &p->segment[t->op == GABLE_N ? p->n_segments - 1 - q : q];
    if (g->cut) {
      one_block(t, g, first, second);
    } else if (t->thread == 0) {
      small_blocks(t, g, first, second);
    }
    if (p->n_segments > 1) gi_solve_barrier(t);
  }
}

/* The panels hold D U together, so the product with one of them left out has a scaling between its sweeps:
 * U^-1 = (D U)^-1 D and U^-T = D (D U)^-T. */
void gi_solve_sweep(gi_solve_team *t)
{
  const gable_idx n = t->plan->layout->n;
  const int has_d = (t->parts & GI_SOLVE_D) != 0, has_u = (t->parts & GI_SOLVE_U) != 0;
  direction d[2];
  const direction *use[2];
  directions(t, d, use);
  if (t->factor->kind == GI_CHOLESKY || has_d == has_u) {
    segments(t, use[0], use[1]);
    return;
  }
  if (use[0]) segments(t, use[0], NULL);
  gi_solve_barrier(t);
  diagonal(t, gi_solve_share(n, t->thread, t->threads), gi_solve_share(n, t->thread + 1, t->threads), has_d);
  gi_solve_barrier(t);
  if (use[1]) segments(t, NULL, use[1]);
}
