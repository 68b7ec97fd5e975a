/* export.c: the panels of a factor as compressed columns. */
#include "factor/export.h"

#include <math.h>

static gable_status create(gable_context *ctx, gable_idx n, gable_off most, gi_csc *a)
{
  gable_status status = GABLE_OK;
  a->n_rows = a->n_cols = n;
  GI_ALLOC(ctx, a->ptr, n + 1);
  GI_ALLOC(ctx, a->idx, most);
  GI_ALLOC(ctx, a->val, most);
done:
  return status;
}

static void add(gi_csc *a, gable_off *count, gable_idx row, double value, int always)
{
  if (value == 0 && !always) return;
  a->idx[*count] = row;
  a->val[(*count)++] = value;
}

void gi_factor_resolve_interchanges(const gi_factor *f, gable_idx *row_of, gable_idx *position)
{
  const gable_idx n = f->layout->n;
  for (gable_idx k = 0; k < n; k++) row_of[k] = k;
  for (gable_idx k = 0; f->pivot && k < n; k++) {
    const gable_idx held = row_of[k];
    row_of[k] = row_of[f->pivot[k]];
    row_of[f->pivot[k]] = held;
  }
  for (gable_idx k = 0; k < n; k++) position[row_of[k]] = k;
}

/* L by columns, rows not yet in order. */
static void list_l(const gi_factor *f, const gable_idx *position, gi_csc *l)
{
  const gi_layout *y = f->layout;
  gable_off count = 0;
  for (gable_idx s = 0; s < y->n_super; s++) {
    const gable_idx w = gi_layout_width(y, s), nl = gi_layout_nl(y, s), first = y->super[s];
    for (gable_idx k = 0; k < w; k++) {
      const gable_off at = y->lval[s] + (gable_off)k * ((gable_off)w + nl);
      l->ptr[first + k] = count;
      add(l, &count, first + k, f->kind == GI_LU ? 1 : gi_factor_value(f, f->l, at + k), 1);
      for (gable_idx i = k + 1; i < w; i++) add(l, &count, first + i, gi_factor_value(f, f->l, at + i), 0);
      for (gable_idx i = 0; i < nl; i++)
        add(l, &count, position[y->lrow[y->lptr[s] + i]], gi_factor_value(f, f->l, at + w + i), 0);
    }
  }
  l->ptr[y->n] = count;
}

/* U by rows. */
static void list_u(const gi_factor *f, gi_csc *u)
{
  const gi_layout *y = f->layout;
  gable_off count = 0;
  for (gable_idx s = 0; s < y->n_super; s++) {
    const gable_idx w = gi_layout_width(y, s), nl = gi_layout_nl(y, s), nu = gi_layout_nu(y, s), first = y->super[s];
    for (gable_idx k = 0; k < w; k++) {
      u->ptr[first + k] = count;
      for (gable_idx j = k; j < w; j++) {
        const gable_off at = y->lval[s] + (gable_off)j * ((gable_off)w + nl) + k;
        add(u, &count, first + j, gi_factor_value(f, f->l, at), j == k);
      }
      for (gable_idx j = 0; j < nu; j++)
        add(u, &count, y->ucol[y->uptr[s] + j], gi_factor_value(f, f->u, y->uval[s] + (gable_off)k * nu + j), 0);
    }
  }
  u->ptr[y->n] = count;
}

/* Two transpositions put the rows of each column in order. */
static gable_status sort(gable_context *ctx, gi_csc *a)
{
  gable_status status = GABLE_OK;
  gi_csc transposed = {0};
  GI_TRY(gi_csc_transpose(ctx, a, &transposed));
  gi_csc_release(ctx, a);
  *a = (gi_csc){0};
  GI_TRY(gi_csc_transpose(ctx, &transposed, a));
done:
  gi_csc_release(ctx, &transposed);
  return status;
}

/* A pivot of two columns as L2 U2 with its rows interchanged or not: (1 0; t 1) (p q; 0 r). */
typedef struct pair {
  int swapped;
  double t, p, q, r;
} pair;

static pair split(double a, double b, double c)
{
  if (fabs(a) >= fabs(b)) return (pair){0, b / a, a, b, c - b / a * b};
  return (pair){1, a / b, b, c, b - a / b * c};
}

static int begins_pair(const gi_factor *f, gable_idx j)
{
  return gi_factor_value(f, f->coupling, j) != 0;
}

/* The pivot of columns j, j+1, the k-th of supernode s. */
static pair pair_at(const gi_factor *f, gable_idx s, gable_idx k)
{
  const gi_layout *y = f->layout;
  const gable_off ld = (gable_off)gi_layout_width(y, s) + gi_layout_nl(y, s), at = y->lval[s] + k * (ld + 1);
  return split(gi_factor_value(f, f->l, at), gi_factor_value(f, f->l, at + ld), gi_factor_value(f, f->l, at + ld + 1));
}

/* after [n]: place of row k of L D L^T once the rows of pairs are interchanged. */
static void interchange_pairs(const gi_factor *f, gable_idx *after)
{
  const gi_layout *y = f->layout;
  for (gable_idx k = 0; k < y->n; k++) after[k] = k;
  for (gable_idx k = 0; k < y->n; k++) {
    if (!begins_pair(f, k) || !pair_at(f, y->of[k], k - y->super[y->of[k]]).swapped) continue;
    after[k] = k + 1;
    after[k + 1] = k;
  }
}

/* One column of L: x l_k + z l_k+1 below the pivots up to the m-th of supernode s; k or k + 1 is j's, the other of its
 * pair, and z is 0 where it has none. */
typedef struct mixed {
  gable_idx s, k, m;
  double x, z;
} mixed;

static void list_mixed(const gi_factor *f, const mixed *c, const gable_idx *diagonal, const gable_idx *below,
                       gi_csc *to, gable_off *count)
{
  const gi_layout *y = f->layout;
  const gable_idx w = gi_layout_width(y, c->s), rows = w + gi_layout_nl(y, c->s);
  const gable_off at = y->lval[c->s] + (gable_off)c->k * rows;
  for (gable_idx i = c->m; i < rows; i++) {
    double value = c->x != 0 ? c->x * gi_factor_value(f, f->l, at + i) : 0;
    if (c->z != 0) value += c->z * gi_factor_value(f, f->l, at + rows + i);
    const gable_idx row = i < w ? y->super[c->s] + i : y->lrow[y->lptr[c->s] + i - w];
    add(to, count, i < w ? (diagonal ? diagonal[row] : row) : below[row], value, 0);
  }
}

/* L of an LU by columns and its U by rows, from L D L^T.  position [n]: of each row of A' in L D L^T; after [n]: its
 * place then. */
static gable_status list_ldlt(gable_context *ctx, const gi_factor *f, const gable_idx *position, const gable_idx *after,
                              gi_csc *l, gi_csc *u)
{
  gable_status status = GABLE_OK;
  const gi_layout *y = f->layout;
  gable_off n_l = 0, n_u = 0;
  gable_idx *placed = NULL;
  GI_ALLOC(ctx, placed, y->n);
  for (gable_idx i = 0; i < y->n; i++) placed[i] = after[position[i]];
  for (gable_idx j = 0; j < y->n; j++) {
    const gable_idx s = y->of[j], k = j - y->super[s];
    const int two = begins_pair(f, j);
    const pair d = two ? pair_at(f, s, k) : (pair){.p = gi_factor_pivot(f, j)};
    const mixed first_l = {s, k, k + 1 + two, d.swapped ? d.t : 1, !two ? 0 : d.swapped ? 1 : d.t};
    const mixed first_u = {s, k, k + 1 + two, d.p, two ? d.q : 0};
    l->ptr[j] = n_l;
    u->ptr[j] = n_u;
    add(l, &n_l, j, 1, 1);
    if (two) add(l, &n_l, j + 1, d.t, 0);
    list_mixed(f, &first_l, after, placed, l, &n_l);
    add(u, &n_u, j, d.p, 1);
    if (two) add(u, &n_u, j + 1, d.q, 0);
    list_mixed(f, &first_u, NULL, position, u, &n_u);
    if (!two) continue;
    const mixed second_l = {s, k, k + 2, d.swapped, !d.swapped}, second_u = {s, k, k + 2, 0, d.r};
    l->ptr[++j] = n_l;
    u->ptr[j] = n_u;
    add(l, &n_l, j, 1, 1);
    list_mixed(f, &second_l, after, placed, l, &n_l);
    add(u, &n_u, j, d.r, 1);
    list_mixed(f, &second_u, NULL, position, u, &n_u);
  }
  l->ptr[y->n] = n_l;
  u->ptr[y->n] = n_u;
done:
  gi_free(ctx, placed);
  return status;
}

static gable_status export_ldlt(gable_context *ctx, const gi_factor *f, const gable_idx *position,
                                gi_factor_columns *out)
{
  gable_status status = GABLE_OK;
  const gi_layout *y = f->layout;
  const gable_off most = y->lval[y->n_super];
  gi_csc rows = {0};
  gable_idx *after = NULL;
  GI_ALLOC(ctx, after, y->n);
  GI_ALLOC(ctx, out->col_of, y->n);
  interchange_pairs(f, after);
  GI_TRY(create(ctx, y->n, most, &out->l));
  GI_TRY(create(ctx, y->n, most, &rows));
  GI_TRY(list_ldlt(ctx, f, position, after, &out->l, &rows));
  GI_TRY(sort(ctx, &out->l));
  GI_TRY(gi_csc_transpose(ctx, &rows, &out->u));
  for (gable_idx k = 0; k < y->n; k++) out->col_of[k] = out->row_of[k];
  for (gable_idx k = 0; k < y->n; k++) out->row_of[after[k]] = out->col_of[k];
done:
  gi_csc_release(ctx, &rows);
  gi_free(ctx, after);
  return status;
}

static void list_f(const gi_factor *f, const gable_idx *position, gi_csc *to)
{
  const gi_layout *y = f->layout;
  gable_off count = 0;
  for (gable_idx j = 0; j < y->n; j++) {
    to->ptr[j] = count;
    for (gable_off q = y->off_ptr[j]; q < y->off_ptr[j + 1]; q++)
      add(to, &count, position[y->off_row[q]], gi_factor_value(f, f->off, q), 0);
  }
  to->ptr[y->n] = count;
}

gable_status gi_factor_export(gable_context *ctx, const gi_factor *factor, gi_factor_columns *out)
{
  gable_status status = GABLE_OK;
  const gi_layout *y = factor->layout;
  const int lu = factor->kind == GI_LU;
  gi_csc rows = {0};
  gable_idx *position = NULL;
  GI_ALLOC(ctx, position, y->n);
  GI_ALLOC(ctx, out->row_of, y->n);
  gi_factor_resolve_interchanges(factor, out->row_of, position);
  if (factor->kind == GI_LDLT) {
    GI_TRY(export_ldlt(ctx, factor, position, out));
    goto done;
  }
  GI_TRY(create(ctx, y->n, y->lval[y->n_super], &out->l));
  list_l(factor, position, &out->l);
  GI_TRY(sort(ctx, &out->l));
  if (lu) {
    GI_TRY(create(ctx, y->n, y->lval[y->n_super] + y->uval[y->n_super], &rows));
    list_u(factor, &rows);
    GI_TRY(gi_csc_transpose(ctx, &rows, &out->u));
  }
  if (lu && factor->off) {
    GI_TRY(create(ctx, y->n, y->off_ptr[y->n], &out->f));
    list_f(factor, position, &out->f);
    GI_TRY(sort(ctx, &out->f));
  }
done:
  gi_csc_release(ctx, &rows);
  gi_free(ctx, position);
  return status;
}

void gi_factor_columns_release(gable_context *ctx, gi_factor_columns *c)
{
  gi_csc_release(ctx, &c->l);
  gi_csc_release(ctx, &c->u);
  gi_csc_release(ctx, &c->f);
  GI_FREE(ctx, c->row_of, c->col_of);
  c->row_of = c->col_of = NULL;
}
