/* import.c: somebody else's triangles in panels of Gable's.
 *
 * The pattern of L and U together, eliminated in its own order, gives itself back where it came from an elimination and
 * a pattern that holds it where it did not (an incomplete factor); the symbolic phase finds the supernodes. */
#include <math.h>

#include "factor/export.h"
#include "graph/symbolic.h"

/* The triangle is square, in order, finite, on its side of the diagonal, and has the diagonal that it needs. */
static gable_status check_triangle(const gi_csc *a, gable_idx n, const char *name, int lower, int unit)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(a->n_rows == n && a->n_cols == n && a->ptr && a->ptr[0] == 0, GABLE_ERR_ARGUMENT,
             "%s is not a square matrix of %d rows", name, n);
  for (gable_idx j = 0; j < n; j++) {
    int diagonal = 0;
    GI_REQUIRE(a->ptr[j + 1] >= a->ptr[j], GABLE_ERR_ARGUMENT, "%s: the offsets of column %d go back", name, j);
    for (gable_off q = a->ptr[j]; q < a->ptr[j + 1]; q++) {
      const gable_idx i = a->idx[q];
      GI_REQUIRE(i >= 0 && i < n && (lower ? i >= j : i <= j), GABLE_ERR_ARGUMENT,
                 "%s: entry (%d,%d) is on the wrong side of the diagonal", name, i, j);
      GI_REQUIRE(q == a->ptr[j] || a->idx[q - 1] < i, GABLE_ERR_ARGUMENT, "%s: column %d is not in order at row %d",
                 name, j, i);
      GI_REQUIRE(isfinite(a->val[q]), GABLE_ERR_NOT_FINITE, "%s: entry (%d,%d) is not finite", name, i, j);
      if (i != j) continue;
      diagonal = 1;
      GI_REQUIRE(!unit || a->val[q] == 1, GABLE_ERR_ARGUMENT, "%s: the diagonal of column %d is %g and must be one",
                 name, j, a->val[q]);
      GI_REQUIRE(a->val[q] != 0, GABLE_ERR_SINGULAR, "%s: the diagonal of column %d is zero", name, j);
    }
    GI_REQUIRE(diagonal || unit, GABLE_ERR_SINGULAR, "%s: column %d has no diagonal", name, j);
  }
done:
  return status;
}

/* Both triangles in one pattern, the diagonal left out: the symbolic phase adds it. */
static gable_status join(gable_context *ctx, const gi_csc *l, const gi_csc *u, gi_csc *out)
{
  gable_status status = GABLE_OK;
  const gable_idx n = l->n_cols;
  out->n_rows = out->n_cols = n;
  GI_ALLOC(ctx, out->ptr, n + 1);
  GI_ALLOC(ctx, out->idx, l->ptr[n] + (u ? u->ptr[n] : 0));
  gable_off count = 0;
  for (gable_idx j = 0; j < n; j++) {
    out->ptr[j] = count;
    for (gable_off q = u ? u->ptr[j] : 0; u && q < u->ptr[j + 1]; q++)
      if (u->idx[q] != j) out->idx[count++] = u->idx[q];
    for (gable_off q = l->ptr[j]; q < l->ptr[j + 1]; q++)
      if (l->idx[q] != j) out->idx[count++] = l->idx[q];
  }
  out->ptr[n] = count;
done:
  return status;
}

static void put(gi_factor *f, void *values, gable_off k, double v)
{
  if (f->type == GABLE_S) {
    ((float *)values)[k] = (float)v;
  } else {
    ((double *)values)[k] = v;
  }
}

/* Place of i in the increasing list idx[0:count), which holds it. */
static gable_idx find(const gable_idx *idx, gable_idx count, gable_idx i)
{
  gable_idx low = 0;
  for (gable_idx high = count; high - low > 1;) {
    const gable_idx middle = low + (high - low) / 2;
    if (idx[middle] <= i) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

/* Entry (i,j) of the renumbered triangle into its panel. */
static void place(gi_factor *f, gable_idx i, gable_idx j, double v)
{
  const gi_layout *y = f->layout;
  const gable_idx s = y->of[i < j ? i : j], first = y->super[s], w = gi_layout_width(y, s), nl = gi_layout_nl(y, s);
  const gable_off ld = (gable_off)w + nl;
  if (i < first + w && j < first + w) {
    put(f, f->l, y->lval[s] + (j - first) * ld + (i - first), v);
  } else if (i > j) {
    put(f, f->l, y->lval[s] + (j - first) * ld + w + find(y->lrow + y->lptr[s], nl, i), v);
  } else {
    const gable_idx nu = gi_layout_nu(y, s);
    put(f, f->u, y->uval[s] + (gable_off)(i - first) * nu + find(y->ucol + y->uptr[s], nu, j), v);
  }
}

static void fill(gi_factor *f, const gi_csc *a, const gable_idx *place_of, int with_diagonal)
{
  const gi_layout *y = f->layout;
  for (gable_idx j = 0; j < y->n; j++) {
    for (gable_off q = a->ptr[j]; q < a->ptr[j + 1]; q++) {
      if (a->idx[q] == j && !with_diagonal) continue;
      place(f, place_of[a->idx[q]], place_of[j], a->val[q]);
      if (a->idx[q] == j) put(f, f->dinv, place_of[j], 1 / a->val[q]);
      if (with_diagonal) f->max_factor = fmax(f->max_factor, fabs(a->val[q]));
    }
  }
}

static void clear(gi_factor *f)
{
  const gi_layout *y = f->layout;
  for (gable_off k = 0; k < y->lval[y->n_super]; k++) put(f, f->l, k, 0);
  for (gable_off k = 0; f->u && k < y->uval[y->n_super]; k++) put(f, f->u, k, 0);
  for (gable_idx k = 0; f->pivot && k < y->n; k++) f->pivot[k] = k;
}

gable_status gi_factor_import(gable_context *ctx, const gi_csc *l, const gi_csc *u, gable_type type, gable_idx *perm,
                              gi_layout **layout, gi_factor **factor)
{
  gable_status status = GABLE_OK;
  const gable_idx n = l->n_cols;
  gi_csc pattern = {0};
  gable_idx *place_of = NULL;
  *layout = NULL;
  *factor = NULL;
  GI_REQUIRE(type == GABLE_D || type == GABLE_S, GABLE_ERR_ARGUMENT, "a factor is of float or double");
  GI_TRY(check_triangle(l, n, "L", 1, u != NULL));
  if (u) GI_TRY(check_triangle(u, n, "U", 0, 0));
  GI_TRY(join(ctx, l, u, &pattern));
  for (gable_idx k = 0; k < n; k++) perm[k] = k;
  const gi_symbolic_options options = {.form = u ? GI_SYMBOLIC_AUTO : GI_SYMBOLIC_SYMMETRIC, .cholesky = !u};
  GI_TRY(gi_symbolic(ctx, n, pattern.ptr, pattern.idx, perm, &options, layout));
  GI_TRY(gi_factor_create(ctx, *layout, u ? GI_LU : GI_CHOLESKY, type, factor));
  GI_ALLOC(ctx, place_of, n);
  for (gable_idx k = 0; k < n; k++) place_of[perm[k]] = k;
  clear(*factor);
  fill(*factor, l, place_of, !u);
  if (u) fill(*factor, u, place_of, 1);
done:
  if (status) {
    gi_factor_destroy(ctx, factor);
    gi_layout_destroy(ctx, layout);
  }
  gi_csc_release(ctx, &pattern);
  gi_free(ctx, place_of);
  return status;
}
