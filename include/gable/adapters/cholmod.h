/* cholmod.h: factors of CHOLMOD (real, double) for gable_solver_import.  Include <cholmod.h> before it. */
#ifndef GABLE_ADAPTERS_CHOLMOD_H
#define GABLE_ADAPTERS_CHOLMOD_H

#include <math.h>

#include <gable/adapters/columns.h>

/* Entry k of an array of the factor's integers, which are int or long. */
static inline int64_t gable_cholmod_integer(const cholmod_factor *l, const void *array, int64_t k)
{
  return l->itype == CHOLMOD_INT ? (int64_t)((const int *)array)[k] : (int64_t)((const SuiteSparse_long *)array)[k];
}

/* Calls put for each entry of the lower triangle, by columns. */
static inline int64_t gable_cholmod_entries(const cholmod_factor *l, gable_columns *out)
{
  const gable_idx n = (gable_idx)l->n;
  const double *x = (const double *)l->x;
  int64_t used = 0;
  if (!l->is_super) {
    for (gable_idx j = 0; j < n; j++) {
      const int64_t begin = gable_cholmod_integer(l, l->p, j), count = gable_cholmod_integer(l, l->nz, j);
      if (out) out->ptr[j] = used;
      for (int64_t k = begin; k < begin + count; k++, used++) {
        if (!out) continue;
        out->idx[used] = (gable_idx)gable_cholmod_integer(l, l->i, k);
        out->val[used] = x[k];
      }
    }
  } else {
    for (int64_t s = 0; s < (int64_t)l->nsuper; s++) {
      const int64_t first = gable_cholmod_integer(l, l->super, s), last = gable_cholmod_integer(l, l->super, s + 1);
      const int64_t row = gable_cholmod_integer(l, l->pi, s), rows = gable_cholmod_integer(l, l->pi, s + 1) - row;
      const int64_t at = gable_cholmod_integer(l, l->px, s);
      for (int64_t j = first; j < last; j++) {
        if (out) out->ptr[j] = used;
        for (int64_t k = j - first; k < rows; k++, used++) {
          if (!out) continue;
          out->idx[used] = (gable_idx)gable_cholmod_integer(l, l->s, row + k);
          out->val[used] = x[at + (j - first) * rows + k];
        }
      }
    }
  }
  if (out) out->ptr[n] = used;
  return used;
}

/* L D L^T with a positive D becomes (L D^1/2)(L D^1/2)^T in place: 1.  Any other D: l becomes unit lower triangular and
 * u D L^T, 0. */
static inline int gable_cholmod_diagonal(gable_columns *l, gable_columns *u)
{
  const gable_idx n = l->n;
  int positive = 1;
  for (gable_idx j = 0; j < n; j++) positive &= l->val[l->ptr[j]] > 0;
  for (gable_idx j = 0; j < n && positive; j++) {
    const double root = sqrt(l->val[l->ptr[j]]);
    l->val[l->ptr[j]] = root;
    for (int64_t k = l->ptr[j] + 1; k < l->ptr[j + 1]; k++) l->val[k] *= root;
  }
  if (positive) return 1;
  gable_columns_transpose(l, u); /* column j of u: row j of l, its diagonal D last */
  for (gable_idx j = 0; j < n; j++)
    for (int64_t k = u->ptr[j]; k < u->ptr[j + 1] - 1; k++) u->val[k] *= l->val[l->ptr[u->idx[k]]];
  for (gable_idx j = 0; j < n; j++) l->val[l->ptr[j]] = 1;
  return 0;
}

/* Local.  Makes the factor l of P A P^T the factor of s (gable_solver_import): supernodal or simplicial, L L^T or
 * L D L^T.  The supernodes of a supernodal factor are used as they are.  An L D L^T whose D is not positive is imported
 * as L U with U = D L^T.  a: the matrix, with values, or NULL. Arrays are copied; l is not changed.  O(entries) in time
 * and memory.  GABLE_ERR_ARGUMENT: l is NULL or complex; GABLE_ERR_STATE: it has no numbers; GABLE_ERR_SINGULAR:
 * CHOLMOD stopped at a column; GABLE_ERR_MEMORY; those of gable_solver_import. */
static inline gable_status gable_import_cholmod(gable_solver *s, const cholmod_factor *l, const gable_matrix_view *a)
{
  gable_status status = GABLE_OK;
  gable_factors_view f = GABLE_FACTORS_VIEW_INIT;
  gable_columns lower = {0, NULL, NULL, NULL}, upper = {0, NULL, NULL, NULL};
  gable_matrix_view view[2];
  gable_idx *order = NULL, *supernodes = NULL;
  if (!s || !l) return gable_set_error(GABLE_ERR_ARGUMENT, "CHOLMOD: the solver or the factor is NULL");
  if (l->xtype == CHOLMOD_PATTERN || !l->x)
    return gable_set_error(GABLE_ERR_STATE, "CHOLMOD: the factor has no numbers: call cholmod_factorize first");
  if (l->xtype != CHOLMOD_REAL || l->dtype != CHOLMOD_DOUBLE || l->n > INT32_MAX)
    return gable_set_error(GABLE_ERR_ARGUMENT, "CHOLMOD: give a real factor of doubles");
  if (l->minor < l->n)
    return gable_set_error(GABLE_ERR_SINGULAR,
                           "CHOLMOD: the factorization stopped: the matrix is not positive definite");
  const int64_t entries = gable_cholmod_entries(l, NULL);
  status = gable_columns_take(&lower, (gable_idx)l->n, entries);
  if (!status) {
    gable_cholmod_entries(l, &lower);
    status = gable_columns_sort(&lower);
  }
  if (!status && !l->is_ll) {
    status = gable_columns_take(&upper, (gable_idx)l->n, entries);
    if (!status && gable_cholmod_diagonal(&lower, &upper)) gable_columns_release(&upper);
  }
  order = (gable_idx *)malloc(l->n * sizeof *order + 1);
  if (!status && !order) status = gable_set_error(GABLE_ERR_MEMORY, "out of memory for a permutation of CHOLMOD");
  if (!status) {
    for (gable_idx k = 0; k < (gable_idx)l->n; k++) order[k] = (gable_idx)gable_cholmod_integer(l, l->Perm, k);
    f.n = (gable_idx)l->n;
    view[0] = gable_columns_view(&lower);
    view[1] = gable_columns_view(&upper);
    f.l = &view[0];
    if (upper.ptr) f.u = &view[1];
    f.row_order = f.col_order = order;
  }
  if (!status && l->is_super && l->n) {
    supernodes = (gable_idx *)malloc((l->nsuper + 1) * sizeof *supernodes);
    if (!supernodes) status = gable_set_error(GABLE_ERR_MEMORY, "out of memory for the supernodes of CHOLMOD");
    for (size_t k = 0; supernodes && k <= l->nsuper; k++)
      supernodes[k] = (gable_idx)gable_cholmod_integer(l, l->super, (int64_t)k);
    f.n_supernodes = (gable_idx)l->nsuper;
    f.supernodes = supernodes;
  }
  if (!status) status = gable_solver_import(s, &f, a);
  free(supernodes);
  free(order);
  gable_columns_release(&lower);
  gable_columns_release(&upper);
  return status;
}

#endif
