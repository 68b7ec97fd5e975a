/* solve_sweep.c: a team of threads over the items of parts, folds and tops; blocks of the block triangular form one by
 * one. */
#include "supernodal/cpu/solve_sweep.h"

#include <string.h>

#include "supernodal/cpu/solve_blocks.h"

enum { PIVOT_BYTES = 1 << 19 }; /* of y that D^-1 is applied to ahead of a sweep: they stay in a second level cache */

/* One direction over one factor: which kernels, and which panel (rows below and beside the diagonal blocks). */
typedef struct direction {
  gik_panels panels;
  gik_panel_sweep *sweep;
  gik_panel_block *block;
  int upper;                  /* 1: the U panels */
  int pivots;                 /* 1: a backward sweep of L D L^T, which comes with y_J := D_J^-1 y_J */
  const gi_thin_stream *thin; /* or NULL */
  gik_panel_thin_sweep *thin_sweep;
  gik_thin_records records;
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

/* y_J := D_J^-1 y_J for the supernodes s0 .. s1-1; no block of D reaches out of its supernode. */
static void pivots(const gi_solve_team *t, gable_idx s0, gable_idx s1)
{
  const gable_idx *super = t->plan->layout->super;
  gi_solve_blocks(t->factor, t->kernels->rhs, t->kernels->vector == sizeof(float), super[s0], super[s1], t->y);
}

static void pivots_by_one(gi_solve_team *t, gable_idx s0, gable_idx s1)
{
  if (gi_solve_begin_one(t)) pivots(t, s0, s1);
  gi_solve_end(t);
}

/* Some supernodes at a time, so that D^-1 leaves their rows in a near cache for the sweep. */
static void sweep_with_pivots(const gi_solve_team *t, const direction *d, gable_idx s0, gable_idx s1)
{
  const gable_idx *super = t->plan->layout->super;
  const gable_idx most = PIVOT_BYTES / (t->kernels->rhs * (gable_idx)t->kernels->vector);
  for (gable_idx end = s1; end > s0;) {
    gable_idx begin = end - 1;
    while (begin > s0 && super[end] - super[begin - 1] <= most) begin--;
    pivots(t, begin, end);
    d->sweep(&d->panels, begin, end, t->y, t->z);
    end = begin;
  }
}

/* The supernodes of a piece (solve_thin.h), which are s0 .. s1-1. */
static void sweep(const gi_solve_team *t, const direction *d, gable_idx piece, gable_idx s0, gable_idx s1, int upwards)
{
  const gi_thin_stream *thin = d->thin;
  if (!thin) {
    if (d->pivots) {
      sweep_with_pivots(t, d, s0, s1);
    } else {
      d->sweep(&d->panels, s0, s1, t->y, t->z);
    }
    return;
  }
  if (d->pivots) pivots(t, s0, s1);
  const gik_thin_group *group = thin->group + thin->group_ptr[piece];
  const gable_idx groups = thin->group_ptr[piece + 1] - thin->group_ptr[piece];
  const gable_idx r0 = thin->rest_ptr[piece], r1 = thin->rest_ptr[piece + 1];
  if (upwards) {
    if (groups) d->thin_sweep(&d->records, group, groups, t->y);
    for (gable_idx r = r0; r < r1; r++) d->sweep(&d->panels, thin->rest[r].s0, thin->rest[r].s1, t->y, t->z);
  } else {
    for (gable_idx r = r1 - 1; r >= r0; r--) d->sweep(&d->panels, thin->rest[r].s0, thin->rest[r].s1, t->y, t->z);
    if (groups) d->thin_sweep(&d->records, group, groups, t->y);
  }
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

/* Swept by all threads together: one alone takes its rows with its block. */
static int shared(const gi_solve_team *t, gable_idx top)
{
  return t->plan->top[top].wide && t->threads > 1;
}

static void forward_parts(gi_solve_team *t, const gi_solve_segment *g, const direction *d)
{
  const gi_solve_plan *p = t->plan;
  gable_idx i;
  gi_solve_begin(t, g->part1 - g->part0);
  while ((i = gi_solve_claim(t, t->work->owner + g->part0)) >= 0) {
    const gi_solve_piece *part = &p->part[g->part0 + i];
    memset(row_of(t, p->layout->n + part->slot0), 0,
           (size_t)part->slots * (size_t)t->kernels->rhs * t->kernels->vector);
    sweep(t, d, g->part0 + i, part->s0, part->s1, 1);
  }
  gi_solve_end(t);
  gable_idx f0, f1;
  gi_solve_begin(t, t->threads);
  while (gi_solve_claim_share(t, g->fold1 - g->fold0, &f0, &f1)) fold(t, g->fold0 + f0, g->fold0 + f1);
  gi_solve_end(t);
}

/* Rows below the block of a wide top. */
static void scatter(gi_solve_team *t, const direction *d, gable_idx s)
{
  const wide_panel a = panel_of(t, d, s);
  gable_idx r0, r1;
  gi_solve_begin(t, t->threads);
  while (gi_solve_claim_share(t, a.m, &r0, &r1))
    t->kernels->scatter(a.values + (size_t)r0 * t->kernels->value, a.ld, a.lead + r0, r1 - r0, a.w, a.row + r0,
                        row_of(t, a.first), t->y, t->z);
  gi_solve_end(t);
}

/* Columns of a wide top, but for the block. */
static void gather(gi_solve_team *t, const direction *d, gable_idx s)
{
  const wide_panel a = panel_of(t, d, s);
  gable_idx c0, c1;
  gi_solve_begin(t, t->threads);
  while (gi_solve_claim_share(t, a.w, &c0, &c1)) {
    if (c1 == c0) continue;
    t->kernels->gather(a.values + (size_t)(c0 * a.ld) * t->kernels->value, a.ld, a.lead + c0 * a.ld, a.m, c1 - c0,
                       a.row, row_of(t, a.first + c0), t->y, t->z);
  }
  gi_solve_end(t);
}

static void forward(gi_solve_team *t, const gi_solve_segment *g, const direction *d)
{
  const gi_solve_plan *p = t->plan;
  if (g->part1 > g->part0) forward_parts(t, g, d);
  for (gable_idx k = g->top0, end; k < g->top1; k = end + 1) {
    for (end = k; end < g->top1 && !shared(t, end);) end++;
    if (gi_solve_begin_one(t)) {
      for (; k < end; k++) sweep(t, d, p->n_parts + k, p->top[k].s0, p->top[k].s1, 1);
      if (end < g->top1) d->block(&d->panels, p->top[end].s0, row_of(t, p->layout->super[p->top[end].s0]));
    }
    gi_solve_end(t);
    if (end < g->top1) scatter(t, d, p->top[end].s0);
  }
}

static void backward(gi_solve_team *t, const gi_solve_segment *g, const direction *d)
{
  const gi_solve_plan *p = t->plan;
  for (gable_idx k = g->top1 - 1, end; k >= g->top0; k = end) {
    const int first = shared(t, k);
    if (first && d->pivots) pivots_by_one(t, p->top[k].s0, p->top[k].s1);
    if (first) gather(t, d, p->top[k].s0);
    for (end = k - first; end >= g->top0 && !shared(t, end);) end--;
    if (gi_solve_begin_one(t)) {
      if (first) d->block(&d->panels, p->top[k].s0, row_of(t, p->layout->super[p->top[k].s0]));
      for (k -= first; k > end; k--) sweep(t, d, p->n_parts + k, p->top[k].s0, p->top[k].s1, 0);
    }
    gi_solve_end(t);
  }
  gable_idx i;
  gi_solve_begin(t, g->part1 - g->part0);
  while ((i = gi_solve_claim(t, t->work->owner + g->part0)) >= 0)
    sweep(t, d, g->part0 + i, p->part[g->part0 + i].s0, p->part[g->part0 + i].s1, 0);
  gi_solve_end(t);
}

/* y_j *= d_j (inverse 1) or y_j /= d_j, D the diagonal of U. */
static void diagonal(const gi_solve_team *t, gable_idx j0, gable_idx j1, int times_inverse)
{
  const gable_idx rhs = t->kernels->rhs;
  for (gable_idx j = j0; j < j1; j++) {
    const double inverse = t->factor->type == GABLE_TYPE_D ? ((const double *)t->factor->dinv)[j]
                                                           : (double)((const float *)t->factor->dinv)[j];
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

static void diagonal_together(gi_solve_team *t, int times_inverse)
{
  gable_idx j0, j1;
  gi_solve_begin(t, t->threads);
  while (gi_solve_claim_share(t, t->plan->layout->n, &j0, &j1)) diagonal(t, j0, j1, times_inverse);
  gi_solve_end(t);
}

/* Columns j0..j1-1 of F: y[rows] -= F y (N) or y_j -= F^T y[rows] (T); with what is diagonal, or without it (NULL). */
static void off_blocks(const gi_solve_team *t, gable_idx j0, gable_idx j1, const void *dinv)
{
  const gi_layout *l = t->plan->layout;
  if (!l->off_ptr || !t->factor->off || (!dinv && l->off_ptr[j0] == l->off_ptr[j1])) return;
  gik_panel_off *off = t->op == GABLE_OP_N ? t->kernels->off : t->kernels->off_t;
  off(l->off_ptr, l->off_row, t->factor->off, dinv, j0, j1, t->y);
}

static void small_block(gi_solve_team *t, gable_idx block, const direction *first, const direction *second)
{
  const gi_solve_plan *p = t->plan;
  const gable_idx s0 = p->super_of_block[block], s1 = p->super_of_block[block + 1];
  const gable_idx j0 = p->layout->super[s0], j1 = p->layout->super[s1];
  const gable_idx piece = p->n_parts + p->n_tops + block;
  const int all = t->parts == GI_SOLVE_ALL;
  if (all && t->op == GABLE_OP_T) off_blocks(t, j0, j1, NULL);
  if (first) sweep(t, first, piece, s0, s1, 1);
  if (second) sweep(t, second, piece, s0, s1, 0);
  if (all && t->op == GABLE_OP_N) off_blocks(t, j0, j1, NULL);
}

/* How many blocks of one column begin with this one, in the way of the solve; no more than most. */
static gable_idx singles(const gi_solve_team *t, gable_idx block, gable_idx most)
{
  const gable_idx *begin = t->plan->layout->block;
  const gable_idx way = t->op == GABLE_OP_N ? -1 : 1;
  gable_idx count = 0;
  while (count < most && begin[block + 1] - begin[block] == 1) {
    count++;
    block += way;
  }
  return count;
}

/* Blocks of one column, which matrices of processes and circuits have by the hundred, are taken together. */
static void small_blocks(gi_solve_team *t, const gi_solve_segment *g, const direction *first, const direction *second)
{
  const gi_layout *y = t->plan->layout;
  const gable_idx count = g->block1 - g->block0;
  const int together = t->parts == GI_SOLVE_ALL && y->off_ptr && t->factor->off && t->factor->kind == GI_LU;
  for (gable_idx q = 0; q < count;) {
    const gable_idx block = t->op == GABLE_OP_N ? g->block1 - 1 - q : g->block0 + q;
    const gable_idx alone = together ? singles(t, block, count - q) : 0;
    if (alone) {
      const gable_idx j0 = t->op == GABLE_OP_N ? y->block[block + 1] - alone : y->block[block];
      off_blocks(t, j0, j0 + alone, t->factor->dinv);
      q += alone;
    } else {
      small_block(t, block, first, second);
      q++;
    }
  }
}

static void off_blocks_by_one(gi_solve_team *t, gable_idx j0, gable_idx j1)
{
  if (gi_solve_begin_one(t)) off_blocks(t, j0, j1, NULL);
  gi_solve_end(t);
}

static void one_block(gi_solve_team *t, const gi_solve_segment *g, const direction *first, const direction *second)
{
  const gi_layout *l = t->plan->layout;
  const gable_idx j0 = l->super[g->s0], j1 = l->super[g->s1];
  const int all = t->parts == GI_SOLVE_ALL && l->n_blocks > 1;
  if (all && t->op == GABLE_OP_T) off_blocks_by_one(t, j0, j1);
  if (first) forward(t, g, first);
  if (second) backward(t, g, second);
  if (all && t->op == GABLE_OP_N) off_blocks_by_one(t, j0, j1);
}

static void use_thin(const gi_solve_team *t, direction d[2])
{
  const gi_thin_panels *thin = t->thin;
  const gi_factor *f = t->factor;
  const int lu = f->kind == GI_LU, unit = f->kind != GI_CHOLESKY;
  d[0].thin = &thin->l;
  d[0].thin_sweep = t->kernels->thin_forward_l;
  d[0].records = (gik_thin_records){thin->l.index, thin->l.values, f->pivot, unit};
  d[1].thin = lu ? &thin->u : &thin->l;
  d[1].thin_sweep = lu ? t->kernels->thin_backward_u : t->kernels->thin_backward_lt;
  d[1].records = lu ? (gik_thin_records){thin->u.index, thin->u.values, f->pivot, unit}
                    : (gik_thin_records){thin->back_index, thin->l.values, f->pivot, unit};
}

/* The two sweeps of this operation, or NULL where parts leave one out. */
static void directions(const gi_solve_team *t, direction d[2], const direction *use[2])
{
  const gi_layout *y = t->plan->layout;
  const gi_factor *f = t->factor;
  const gik_panel_kernels *k = t->kernels;
  const gik_panels forth = {y->super,      y->lptr, y->uptr, y->lval, y->uval,  t->plan->lrow,
                            t->plan->ucol, f->l,    f->u,    f->dinv, f->pivot, f->kind != GI_CHOLESKY};
  gik_panels back = forth;
  back.lrow = y->lrow;
  back.ucol = y->ucol;
  const int lower_first = t->op == GABLE_OP_N || f->kind != GI_LU;
  const int lu = f->kind == GI_LU;
  d[0] = (direction){.panels = forth, .sweep = k->forward_l, .block = k->block_l};
  if (!lower_first) d[0] = (direction){.panels = forth, .sweep = k->forward_ut, .block = k->block_ut, .upper = 1};
  d[1] = (direction){.panels = back, .sweep = k->backward_lt, .block = k->block_lt};
  if (t->op == GABLE_OP_N && lu)
    d[1] = (direction){.panels = back, .sweep = k->backward_u, .block = k->block_u, .upper = 1};
  d[1].pivots = f->kind == GI_LDLT && (t->parts & GI_SOLVE_D);
  if (t->thin) use_thin(t, d);
  const int has_l = (t->parts & GI_SOLVE_L) != 0, has_u = (t->parts & GI_SOLVE_U) != 0;
  use[0] = (t->op == GABLE_OP_N ? has_l : has_u) ? &d[0] : NULL;
  use[1] = (t->op == GABLE_OP_N ? has_u : has_l) ? &d[1] : NULL;
}

static void segments(gi_solve_team *t, const direction *first, const direction *second)
{
  const gi_solve_plan *p = t->plan;
  for (gable_idx q = 0; q < p->n_segments; q++) {
    const gi_solve_segment *g = &p->segment[t->op == GABLE_OP_N ? p->n_segments - 1 - q : q];
    if (g->cut) {
      one_block(t, g, first, second);
    } else {
      if (gi_solve_begin_one(t)) small_blocks(t, g, first, second);
      gi_solve_end(t);
    }
  }
}

/* The panels of LU hold D U together, so the product with one of them left out has a scaling between its sweeps:
 * U^-1 = (D U)^-1 D and U^-T = D (D U)^-T.  Those of L D L^T hold L alone; D comes with the backward sweep, or by
 * itself where there is none. */
void gi_solve_sweep(gi_solve_team *t)
{
  const int has_d = (t->parts & GI_SOLVE_D) != 0, has_u = (t->parts & GI_SOLVE_U) != 0;
  direction d[2];
  const direction *use[2];
  const gi_factor_kind kind = t->factor->kind;
  directions(t, d, use);
  const int scaled = kind == GI_LU ? has_d != has_u : kind == GI_LDLT && has_d && !use[1];
  if (!scaled) {
    segments(t, use[0], use[1]);
    return;
  }
  if (use[0]) segments(t, use[0], NULL);
  if (kind == GI_LU)
    diagonal_together(t, has_d);
  else
    pivots_by_one(t, 0, t->plan->layout->n_super);
  if (use[1]) segments(t, NULL, use[1]);
}
