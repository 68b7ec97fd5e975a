/* import_export.c: the factors of a solver for others to read, and the factors of others for a solver. */
#include <math.h>
#include <string.h>

#include "graph/order/order.h"
#include "pipeline/pipeline.h"

gable_status gi_pipeline_export(const gable_solver *s, gable_factors **out)
{
  gable_status status = GABLE_OK;
  const gi_arrangement *a = &s->arrangement;
  const size_t n = (size_t)s->problem.n;
  gable_factors *f = NULL;
  GI_REQUIRE(s->phase == GI_PHASE_FACTORED, GABLE_ERR_STATE,
             "there is no factor to export: call gable_solver_factor first");
  GI_ALLOC_ZERO(s->ctx, f, 1);
  f->ctx = s->ctx;
  GI_TRY(s->triangles ? gi_triangles_export(s->triangles, &f->columns)
                      : gi_factor_export(s->ctx, s->factor, &f->columns));
  GI_ALLOC(s->ctx, f->col_order, n);
  GI_ALLOC(s->ctx, f->row_scale, n);
  GI_ALLOC(s->ctx, f->col_scale, n);
  for (size_t k = 0; k < n; k++) f->columns.row_of[k] = a->row_perm[f->columns.row_of[k]];
  for (size_t k = 0; k < n; k++) f->col_order[k] = a->col_perm[f->columns.col_of ? f->columns.col_of[k] : (gable_idx)k];
  if (!s->triangles && n) {
    f->n_super = a->layout->n_super;
    GI_ALLOC(s->ctx, f->super, (size_t)f->n_super + 1);
    memcpy(f->super, a->layout->super, ((size_t)f->n_super + 1) * sizeof *f->super);
  }
  memcpy(f->row_scale, a->r, n * sizeof *f->row_scale);
  memcpy(f->col_scale, a->c, n * sizeof *f->col_scale);
  *out = f;
  f = NULL;
done:
  gi_factors_destroy(&f);
  return status;
}

void gi_factors_destroy(gable_factors **factors)
{
  if (!factors || !*factors) return;
  gable_factors *f = *factors;
  *factors = NULL;
  gi_factor_columns_release(f->ctx, &f->columns);
  GI_FREE(f->ctx, f->col_order, f->super, f->row_scale, f->col_scale, f);
}

/* The triangles of a caller as our own. */
typedef struct triangles {
  gi_csc l, u, f;
} triangles;

static gable_status copy_view(gable_context *ctx, const gable_matrix_view *v, gable_idx n, const char *name,
                              gi_csc *out)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(v->n_rows == n && v->n_cols == n, GABLE_ERR_ARGUMENT, "%s is %d by %d, the factors have n = %d", name,
             v->n_rows, v->n_cols, n);
  GI_REQUIRE(v->value_type == GABLE_TYPE_D || v->value_type == GABLE_TYPE_S, GABLE_ERR_UNAVAILABLE,
             "%s: values are float or double", name);
  GI_TRY(gi_csc_from_view(ctx, v, out));
  GI_REQUIRE(out->val || out->ptr[n] == 0, GABLE_ERR_ARGUMENT, "%s has no values", name);
done:
  return status;
}

/* out [n] = where(perm[k]), checked to be a permutation. */
static gable_status compose(gable_context *ctx, const gable_idx *order, const gable_idx *perm, gable_idx n,
                            const char *name, gable_idx *out)
{
  gable_status status = GABLE_OK;
  if (order) status = gi_order_check(ctx, n, order);
  GI_REQUIRE(status != GABLE_ERR_ARGUMENT, GABLE_ERR_ARGUMENT, "%s is no permutation", name);
  GI_TRY(status);
  for (gable_idx k = 0; k < n; k++) out[k] = order ? order[perm[k]] : perm[k];
done:
  return status;
}

static gable_status copy_scale(const double *scale, gable_idx n, const char *name, double *out)
{
  gable_status status = GABLE_OK;
  for (gable_idx i = 0; i < n; i++) {
    out[i] = scale ? scale[i] : 1;
    GI_REQUIRE(isfinite(out[i]), GABLE_ERR_NOT_FINITE, "%s[%d] is not finite", name, i);
    GI_REQUIRE(out[i] != 0, GABLE_ERR_ARGUMENT, "%s[%d] is zero", name, i);
  }
done:
  return status;
}

/* *begins [n]: 1 where a supernode of f begins; NULL where f gives none. */
static gable_status mark_supernodes(gable_context *ctx, const gable_factors_view *f, unsigned char **begins)
{
  gable_status status = GABLE_OK;
  const gable_idx *super = f->supernodes, count = f->n_supernodes;
  GI_REQUIRE(count >= 0 && (!count || super), GABLE_ERR_ARGUMENT, "%d supernodes without their columns", count);
  if (!count) goto done;
  GI_ALLOC_ZERO(ctx, *begins, f->n);
  GI_REQUIRE(super[0] == 0 && super[count] == f->n, GABLE_ERR_ARGUMENT,
             "the supernodes have columns %d to %d, the factors 0 to %d", super[0], super[count], f->n);
  for (gable_idx k = 0; k < count; k++) {
    GI_REQUIRE(super[k] < super[k + 1] && super[k + 1] <= f->n, GABLE_ERR_ARGUMENT,
               "supernode %d (counted from 0) has columns %d to %d of %d", k, super[k], super[k + 1], f->n);
    (*begins)[super[k]] = 1;
  }
done:
  return status;
}

/* s->factor with its layout and plan, or s->triangles, of the triangles, which may be taken.  perm [n]: entry (i,j) of
 * A' is entry (perm[i], perm[j]) of L U + F. */
static gable_status place_numbers(gable_solver *s, const gable_factors_view *f, triangles *t, gable_idx *perm)
{
  gable_status status = GABLE_OK;
  gi_arrangement *a = &s->arrangement;
  const gable_type type = s->options.factor_type;
  gi_csc *u = f->u ? &t->u : NULL;
  const gi_csc *off = f->f ? &t->f : NULL;
  unsigned char *begins = NULL;
  int grows = 0;
  GI_TRY(mark_supernodes(s->ctx, f, &begins));
  GI_TRY(gi_factor_check_columns(&t->l, u, off, type));
  if (!off || !off->ptr[f->n]) GI_TRY(gi_factor_grows(s->ctx, &t->l, u, &grows));
  if (grows) {
    for (gable_idx k = 0; k < f->n; k++) perm[k] = k;
    GI_TRY(gi_triangles_create(s->ctx, &t->l, u, type, &s->triangles));
    goto done;
  }
  GI_TRY(gi_factor_import(s->ctx, &t->l, u, off, type, begins, perm, &a->layout, &s->factor));
  GI_TRY(gi_solve_plan_create(s->ctx, a->layout, NULL, &a->plan));
  GI_TRY(gi_thin_update(s->ctx, a->plan, s->factor));
done:
  gi_free(s->ctx, begins);
  return status;
}

/* s->arrangement and the numbers of the triangles; s->problem.n is set. */
static gable_status arrange(gable_solver *s, const gable_factors_view *f, triangles *t)
{
  gable_status status = GABLE_OK;
  const gable_idx n = f->n;
  gi_arrangement *a = &s->arrangement;
  gable_idx *perm = NULL;
  GI_ALLOC(s->ctx, perm, n);
  GI_TRY(gi_arrangement_init(s->ctx, n, a));
  GI_TRY(copy_scale(f->row_scale, n, "row_scale", a->r));
  GI_TRY(copy_scale(f->col_scale, n, "col_scale", a->c));
  GI_TRY(place_numbers(s, f, t, perm));
  GI_TRY(compose(s->ctx, f->row_order, perm, n, "row_order", a->row_perm));
  GI_TRY(compose(s->ctx, f->col_order, perm, n, "col_order", a->col_perm));
  a->method = f->u ? GABLE_METHOD_LU : GABLE_METHOD_CHOLESKY;
  a->order = GABLE_ORDER_USER;
  a->matched = GI_ROWS_IMPORTED;
  a->rank = n;
done:
  gi_free(s->ctx, perm);
  return status;
}

gable_status gi_pipeline_import(gable_solver *s, const gable_factors_view *f, const gable_matrix_view *a)
{
  gable_status status = GABLE_OK;
  triangles t = {0};
  gi_pipeline_clear(s);
  GI_REQUIRE(f->n >= 0, GABLE_ERR_ARGUMENT, "factors of %d rows", f->n);
  if (a) {
    GI_REQUIRE(a->n_rows == f->n && a->n_cols == f->n, GABLE_ERR_ARGUMENT,
               "the matrix is %d by %d, the factors have n = %d", a->n_rows, a->n_cols, f->n);
    GI_REQUIRE(a->val, GABLE_ERR_ARGUMENT, "the matrix comes with values, to be refined against: the view has none");
    GI_TRY(gi_problem_init(s->ctx, a, &s->problem));
    gi_csc_release(s->ctx, &s->problem.columns);
    gi_problem_measure(&s->problem);
  }
  s->problem.n = f->n;
  GI_TRY(copy_view(s->ctx, f->l, f->n, "L", &t.l));
  if (f->u) GI_TRY(copy_view(s->ctx, f->u, f->n, "U", &t.u));
  if (f->f) GI_TRY(copy_view(s->ctx, f->f, f->n, "F", &t.f));
  GI_TRY(arrange(s, f, &t));
  s->phase = GI_PHASE_FACTORED;
done:
  gi_csc_release(s->ctx, &t.l);
  gi_csc_release(s->ctx, &t.u);
  gi_csc_release(s->ctx, &t.f);
  if (status) gi_pipeline_clear(s);
  return status;
}
