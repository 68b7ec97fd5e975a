/* solve_method.c: permutations, D and F around the block triangles of a named method. */
#include "supernodal/cpu/solve_method.h"

#include "kernels/panel/panel_sweep.h"
#include "supernodal/cpu/solve_blocks.h"
#include "supernodal/cpu/solve_vectors.h"

struct gi_solve_method {
  const gi_factor *f;
  gi_block_triangle *l, *u; /* u: NULL where U is L^T */
  gable_idx *row_of;        /* [n] row of A' that is k-th after the interchanges */
  double *inverse;          /* [n] of the diagonal of D; LU: of U's */
};

struct gi_solve_method_work {
  gable_idx rhs;
  double *y, *room; /* [n rhs] each */
};

gable_status gi_solve_method_create(gable_context *ctx, const gi_factor *f, gable_solve_method method, int merge,
                                    gi_solve_method **out)
{
  gable_status status = GABLE_OK;
  const gable_idx n = f->layout->n;
  gi_solve_method *m = NULL;
  GI_ALLOC_ZERO(ctx, m, 1);
  m->f = f;
  GI_TRY(gi_block_triangle_create(ctx, f, 0, method, merge, &m->l));
  if (f->kind == GI_LU) GI_TRY(gi_block_triangle_create(ctx, f, 1, method, merge, &m->u));
  GI_ALLOC(ctx, m->row_of, n);
  GI_ALLOC(ctx, m->inverse, n);
  for (gable_idx k = 0; k < n; k++) {
    m->row_of[k] = k;
    m->inverse[k] = gi_factor_value(f, f->dinv, k);
  }
  for (gable_idx k = 0; f->pivot && k < n; k++) {
    const gable_idx held = m->row_of[k];
    m->row_of[k] = m->row_of[f->pivot[k]];
    m->row_of[f->pivot[k]] = held;
  }
  *out = m;
  m = NULL;
done:
  gi_solve_method_destroy(ctx, &m);
  return status;
}

void gi_solve_method_destroy(gable_context *ctx, gi_solve_method **method)
{
  gi_solve_method *m = method ? *method : NULL;
  if (!m) return;
  *method = NULL;
  gi_block_triangle_destroy(ctx, &m->l);
  gi_block_triangle_destroy(ctx, &m->u);
  GI_FREE(ctx, m->row_of, m->inverse, m);
}

gable_off gi_solve_method_bytes(const gi_solve_method *m)
{
  return m->l->bytes + (m->u ? m->u->bytes : 0) + 12 * (gable_off)m->f->layout->n;
}

gable_idx gi_solve_method_levels(const gi_solve_method *m)
{
  return m->l->n_levels + (m->u ? m->u : m->l)->n_levels;
}

double gi_solve_method_floor_bytes(const gi_solve_method *m)
{
  const gi_layout *y = m->f->layout;
  const double off = m->f->off ? 12.0 * (double)y->off_ptr[y->n] : 0;
  return (double)m->l->bytes + (double)(m->u ? m->u : m->l)->bytes + off + 16.0 * y->n;
}

gable_status gi_solve_method_work_create(gable_context *ctx, gable_idx n, gable_idx max_rhs, gi_solve_method_work **out)
{
  gable_status status = GABLE_OK;
  gi_solve_method_work *w = NULL;
  GI_ALLOC_ZERO(ctx, w, 1);
  w->rhs = max_rhs <= 1 ? 1 : gik_panel_kernels_for(GABLE_TYPE_D, GABLE_TYPE_D, max_rhs)->rhs;
  GI_ALLOC(ctx, w->y, (gable_off)n * w->rhs);
  GI_ALLOC(ctx, w->room, (gable_off)n * w->rhs);
  *out = w;
  w = NULL;
done:
  gi_solve_method_work_destroy(ctx, &w);
  return status;
}

void gi_solve_method_work_destroy(gable_context *ctx, gi_solve_method_work **work)
{
  gi_solve_method_work *w = work ? *work : NULL;
  if (!w) return;
  *work = NULL;
  GI_FREE(ctx, w->y, w->room, w);
}

/* One solve of rhs columns that stand side by side in y. */
typedef struct sweep {
  const gi_solve_method *m;
  gable_op op;
  unsigned parts;
  gable_idx rhs;
  double *y, *room;
} sweep;

/* Rows j0 .. j1-1: to the order after the interchanges, or back. */
static void interchange(const sweep *s, gable_idx j0, gable_idx j1, int back)
{
  const gable_idx rhs = s->rhs, *row_of = s->m->row_of;
  if (!s->m->f->pivot) return;
  for (gable_idx k = j0; k < j1; k++) {
    const gable_off after = (gable_off)k * rhs, before = (gable_off)row_of[k] * rhs;
    for (gable_idx c = 0; c < rhs; c++) s->room[(back ? before : after) + c] = s->y[(back ? after : before) + c];
  }
  for (gable_off k = (gable_off)j0 * rhs; k < (gable_off)j1 * rhs; k++) s->y[k] = s->room[k];
}

/* Columns j0 .. j1-1 of F: y_rows -= F y_j (op N) or y_j -= F^T y_rows. */
static void off_blocks(const sweep *s, gable_idx j0, gable_idx j1)
{
  const gi_layout *y = s->m->f->layout;
  const gable_idx rhs = s->rhs;
  if (!y->off_ptr || !s->m->f->off || s->parts != GI_SOLVE_ALL) return;
  for (gable_idx j = j0; j < j1; j++)
    for (gable_off q = y->off_ptr[j]; q < y->off_ptr[j + 1]; q++) {
      const double v = gi_factor_value(s->m->f, s->m->f->off, q);
      double *row = s->y + (gable_off)y->off_row[q] * rhs, *column = s->y + (gable_off)j * rhs;
      double *to = s->op == GABLE_OP_N ? row : column;
      const double *from = s->op == GABLE_OP_N ? column : row;
      for (gable_idx c = 0; c < rhs; c++) to[c] -= v * from[c];
    }
}

/* What stands between the two triangles.  U of LU comes with D: U^-1 = (D U)^-1 D. */
static void diagonal(const sweep *s, gable_idx j0, gable_idx j1)
{
  const gi_factor_kind kind = s->m->f->kind;
  const int has_d = (s->parts & GI_SOLVE_D) != 0, has_u = (s->parts & GI_SOLVE_U) != 0;
  if (kind == GI_LDLT && has_d) gi_solve_blocks(s->m->f, s->rhs, 0, j0, j1, s->y);
  if (kind != GI_LU || has_d == has_u) return;
  for (gable_idx j = j0; j < j1; j++)
    for (gable_idx c = 0; c < s->rhs; c++) {
      double *at = s->y + (gable_off)j * s->rhs + c;
      *at = has_d ? *at * s->m->inverse[j] : *at / s->m->inverse[j];
    }
}

/* One diagonal block of the block triangular form. */
static void solve_stage(const sweep *s, gable_idx stage)
{
  const gi_solve_method *m = s->m;
  const gable_idx j0 = gi_stage_begin(m->f->layout, stage), j1 = gi_stage_begin(m->f->layout, stage + 1);
  const int lu = m->f->kind == GI_LU, plain = s->op == GABLE_OP_N;
  const int has_l = (s->parts & GI_SOLVE_L) != 0, has_u = (s->parts & GI_SOLVE_U) != 0;
  const int first = plain ? has_l : has_u, second = plain ? has_u : has_l;
  if (!plain) off_blocks(s, j0, j1);
  if (first && (plain || !lu)) interchange(s, j0, j1, 0);
  if (first) gi_block_triangle_solve(plain || !lu ? m->l : m->u, stage, GABLE_OP_N, s->rhs, s->y, s->room);
  diagonal(s, j0, j1);
  if (second) gi_block_triangle_solve(plain && lu ? m->u : m->l, stage, GABLE_OP_T, s->rhs, s->y, s->room);
  if (second && (!plain || !lu)) interchange(s, j0, j1, 1);
  if (plain) off_blocks(s, j0, j1);
}

gable_status gi_solve_method_solve(const gi_solve_method *m, gi_solve_method_work *work, gable_op op, unsigned parts,
                                   const gable_vectors_view *b, const gable_vectors_view *x,
                                   const gi_solve_frame *frame)
{
  const gi_solve_frame none = {0};
  const gable_idx n = m->f->layout->n, stages = n ? m->f->layout->n_blocks : 0;
  if (!frame) frame = &none;
  for (gable_idx c = 0, count; c < b->count; c += count) {
    const gable_idx left = b->count - c, most = left < work->rhs ? left : work->rhs;
    const gable_idx width = gik_panel_kernels_for(GABLE_TYPE_D, GABLE_TYPE_D, most)->rhs;
    count = left < width ? left : width;
    const gi_solve_window in = {b, c, count, width, 0}, out = {x, c, count, width, 0};
    const sweep s = {m, op, parts, width, work->y, work->room};
    gi_solve_take(&in, frame, 0, n, s.y);
    for (gable_idx g = 0; g < stages; g++) solve_stage(&s, op == GABLE_OP_N ? stages - 1 - g : g);
    gi_solve_give(&out, frame, 0, n, s.y);
  }
  return GABLE_OK;
}
