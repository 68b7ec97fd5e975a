/* export.c: the panels of a factor as compressed columns. */
#include "factor/export.h"

static double value_of(const gi_factor *f, const void *values, gable_off k)
{
  return f->type == GABLE_S ? (double)((const float *)values)[k] : ((const double *)values)[k];
}

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

/* position [n]: of each row of A' in L U; row_of: the inverse. */
static void resolve_exchanges(const gi_factor *f, gable_idx *row_of, gable_idx *position)
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
      add(l, &count, first + k, f->kind == GI_LU ? 1 : value_of(f, f->l, at + k), 1);
      for (gable_idx i = k + 1; i < w; i++) add(l, &count, first + i, value_of(f, f->l, at + i), 0);
      for (gable_idx i = 0; i < nl; i++)
        add(l, &count, position[y->lrow[y->lptr[s] + i]], value_of(f, f->l, at + w + i), 0);
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
        add(u, &count, first + j, value_of(f, f->l, at), j == k);
      }
      for (gable_idx j = 0; j < nu; j++)
        add(u, &count, y->ucol[y->uptr[s] + j], value_of(f, f->u, y->uval[s] + (gable_off)k * nu + j), 0);
    }
  }
  u->ptr[y->n] = count;
}

static void list_f(const gi_factor *f, const gable_idx *position, gi_csc *to)
{
  const gi_layout *y = f->layout;
  gable_off count = 0;
  for (gable_idx j = 0; j < y->n; j++) {
    to->ptr[j] = count;
    for (gable_off q = y->off_ptr[j]; q < y->off_ptr[j + 1]; q++)
      add(to, &count, position[y->off_row[q]], value_of(f, f->off, q), 0);
  }
  to->ptr[y->n] = count;
}

/* Two transpositions put the rows of each column in order. */
static gable_status sort(gable_context *ctx, gi_csc *a)
{
  gable_status status = GABLE_OK;
  gi_csc turned = {0};
  GI_TRY(gi_csc_transpose(ctx, a, &turned));
  gi_csc_release(ctx, a);
  *a = (gi_csc){0};
  GI_TRY(gi_csc_transpose(ctx, &turned, a));
done:
  gi_csc_release(ctx, &turned);
  return status;
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
  resolve_exchanges(factor, out->row_of, position);
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
  gi_free(ctx, c->row_of);
  c->row_of = NULL;
}
