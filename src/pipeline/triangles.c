/* triangles.c: L and U of a caller, solved with element by element. */
#include "pipeline/triangles.h"

#include <string.h>

#include "supernodal/cpu/solve_vectors.h"
#include "trisolve/trisolve.h"

struct gi_triangles_work {
  gable_context *ctx;
  gi_triangle_works works;
  gable_idx columns;
  double *y; /* [n * columns] by rows, in the numbering of the factors */
};

static void round_to_float(gi_csc *a)
{
  for (gable_off q = 0; q < a->ptr[a->n_cols]; q++) a->val[q] = (double)(float)a->val[q];
}

/* *l (unit lower triangular) with its ones stored. */
static gable_status add_ones(gable_context *ctx, gi_csc *l)
{
  gable_status status = GABLE_OK;
  const gable_idx n = l->n_cols;
  gi_csc full = {0};
  gable_off count = 0;
  GI_TRY(gi_csc_init(ctx, n, n, l->ptr[n] + n, 1, &full));
  for (gable_idx j = 0; j < n; j++) {
    full.idx[count] = j;
    full.val[count++] = 1;
    for (gable_off q = l->ptr[j]; q < l->ptr[j + 1]; q++) {
      if (l->idx[q] == j) continue;
      full.idx[count] = l->idx[q];
      full.val[count++] = l->val[q];
    }
    full.ptr[j + 1] = count;
  }
  gi_csc_release(ctx, l);
  *l = full;
done:
  return status;
}

gable_status gi_triangles_create(gable_context *ctx, gi_csc *l, gi_csc *u, gable_type type, gi_triangles **out)
{
  gable_status status = GABLE_OK;
  gi_triangles *t = NULL;
  const gable_idx n = l->n_cols;
  *out = NULL;
  GI_ALLOC_ZERO(ctx, t, 1);
  t->ctx = ctx;
  t->n = n;
  t->kind = u ? GI_LU : GI_CHOLESKY;
  t->type = type;
  t->l = *l;
  memset(l, 0, sizeof *l);
  if (u) {
    t->u = *u;
    memset(u, 0, sizeof *u);
    GI_TRY(add_ones(ctx, &t->l));
  }
  if (type == GABLE_TYPE_S) round_to_float(&t->l);
  if (type == GABLE_TYPE_S && u) round_to_float(&t->u);
  GI_ALLOC(ctx, t->diagonal, n);
  for (gable_idx j = 0; j < n; j++) t->diagonal[j] = u ? t->u.val[t->u.ptr[j + 1] - 1] : t->l.val[t->l.ptr[j]];
  GI_TRY(gi_triangle_plans_create(ctx, &t->l, u ? &t->u : NULL, type, 1, &t->plans));
  *out = t;
  t = NULL;
done:
  gi_triangles_destroy(&t);
  return status;
}

void gi_triangles_destroy(gi_triangles **triangles)
{
  if (!triangles || !*triangles) return;
  gi_triangles *t = *triangles;
  *triangles = NULL;
  gi_triangle_plans_release(&t->plans);
  gi_csc_release(t->ctx, &t->l);
  gi_csc_release(t->ctx, &t->u);
  GI_FREE(t->ctx, t->diagonal, t);
}

static gable_off columns_bytes(const gi_csc *a)
{
  return a->ptr ? (a->n_cols + 1) * (gable_off)sizeof *a->ptr +
                      a->ptr[a->n_cols] * (gable_off)(sizeof *a->idx + sizeof *a->val)
                : 0;
}

gable_off gi_triangles_bytes(const gi_triangles *t)
{
  return (gable_off)sizeof *t + columns_bytes(&t->l) + columns_bytes(&t->u) + t->n * (gable_off)sizeof *t->diagonal +
         gi_triangle_plans_host_bytes(t->plans);
}

gable_status gi_triangles_work_create(const gi_triangles *t, gable_idx max_rhs, gi_triangles_work **out)
{
  gable_status status = GABLE_OK;
  gi_triangles_work *w = NULL;
  GI_ALLOC_ZERO(t->ctx, w, 1);
  w->ctx = t->ctx;
  w->columns = max_rhs;
  GI_ALLOC(t->ctx, w->y, (gable_off)t->n * max_rhs);
  GI_TRY(gi_triangle_works_init(t->plans, max_rhs, &w->works));
  *out = w;
  w = NULL;
done:
  gi_triangles_work_destroy(&w);
  return status;
}

void gi_triangles_work_destroy(gi_triangles_work **work)
{
  if (!work || !*work) return;
  gi_triangles_work *w = *work;
  *work = NULL;
  gi_triangle_works_release(&w->works);
  GI_FREE(w->ctx, w->y, w);
}

static void multiply(const gi_triangles *t, gable_idx count, double *y)
{
  for (gable_idx i = 0; i < t->n; i++)
    for (gable_idx c = 0; c < count; c++) y[(gable_off)i * count + c] *= t->diagonal[i];
}

static void divide(const gi_triangles *t, gable_idx count, double *y)
{
  for (gable_idx i = 0; i < t->n; i++)
    for (gable_idx c = 0; c < count; c++) y[(gable_off)i * count + c] /= t->diagonal[i];
}

/* The plan of u has D U in one: D alone is divided by, and U alone is D U after
 * a product with D.  y: w's. */
static gable_status solve_upper(const gi_triangles *t, gi_triangles_work *w, gable_op op, unsigned parts,
                                gable_vectors_view *y)
{
  gable_status status = GABLE_OK;
  const int d = parts & GI_SOLVE_D, u = parts & GI_SOLVE_U;
  if (t->kind == GI_CHOLESKY) {
    if (u) GI_TRY(gi_triangle_works_solve(&w->works, 0, op == GABLE_OP_N ? GABLE_OP_T : GABLE_OP_N, y, NULL));
    goto done;
  }
  if (d && !u) divide(t, y->count, w->y);
  if (u && !d && op == GABLE_OP_N) multiply(t, y->count, w->y);
  if (u) GI_TRY(gi_triangle_works_solve(&w->works, 1, op, y, NULL));
  if (u && !d && op == GABLE_OP_T) multiply(t, y->count, w->y);
done:
  return status;
}

gable_status gi_triangles_solve(const gi_triangles *t, gi_triangles_work *w, gable_op op, unsigned parts,
                                const gable_vectors_view *b, const gable_vectors_view *x, const gi_solve_frame *frame)
{
  gable_status status = GABLE_OK;
  const gi_solve_frame plain = {0}, *f = frame ? frame : &plain;
  for (gable_idx first = 0; first < b->count; first += w->columns) {
    gable_vectors_view y = GABLE_VECTORS_VIEW_INIT;
    y.n = t->n;
    y.ld = y.count = b->count - first < w->columns ? b->count - first : w->columns;
    y.major = GABLE_MAJOR_ROW;
    y.data = w->y;
    const gi_solve_window in = {b, first, y.count, y.count, 0}, out = {x, first, y.count, y.count, 0};
    gi_solve_take(&in, f, 0, t->n, w->y);
    if (op == GABLE_OP_T) GI_TRY(solve_upper(t, w, op, parts, &y));
    if (parts & GI_SOLVE_L) GI_TRY(gi_triangle_works_solve(&w->works, 0, op, &y, NULL));
    if (op == GABLE_OP_N) GI_TRY(solve_upper(t, w, op, parts, &y));
    gi_solve_give(&out, f, 0, t->n, w->y);
  }
done:
  return status;
}

gable_status gi_triangles_export(const gi_triangles *t, gi_factor_columns *out)
{
  gable_status status = GABLE_OK;
  GI_ALLOC(t->ctx, out->row_of, t->n);
  for (gable_idx k = 0; k < t->n; k++) out->row_of[k] = k;
  GI_TRY(gi_csc_copy(t->ctx, &t->l, &out->l));
  if (t->kind == GI_LU) GI_TRY(gi_csc_copy(t->ctx, &t->u, &out->u));
done:
  return status;
}
