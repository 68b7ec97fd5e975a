/* superlu.h: factors of SuperLU (sequential, double) for gable_solver_import.  Include <slu_ddefs.h> before it. */
#ifndef GABLE_ADAPTERS_SUPERLU_H
#define GABLE_ADAPTERS_SUPERLU_H

#include <gable/adapters/columns.h>

/* The columns of L's supernodes, whose diagonal blocks hold U's triangle as well, and of U beside these. */
static inline void gable_superlu_split(const SuperMatrix *l, const SuperMatrix *u, gable_columns *lower,
                                       gable_columns *upper)
{
  const SCformat *panels = (const SCformat *)l->Store;
  const NCformat *above = (const NCformat *)u->Store;
  const double *value = (const double *)above->nzval;
  int64_t nl = 0, nu = 0;
  for (int j = 0; j < l->ncol; j++) {
    const int first = panels->sup_to_col[panels->col_to_sup[j]];
    const double *column = (const double *)panels->nzval + panels->nzval_colptr[j];
    lower->ptr[j] = nl;
    upper->ptr[j] = nu;
    for (int_t k = above->colptr[j]; k < above->colptr[j + 1]; k++, nu++) {
      upper->idx[nu] = (gable_idx)above->rowind[k];
      upper->val[nu] = value[k];
    }
    for (int_t k = panels->rowind_colptr[first]; k < panels->rowind_colptr[first + 1]; k++, column++) {
      const gable_idx i = (gable_idx)panels->rowind[k];
      if (i <= j) {
        upper->idx[nu] = i;
        upper->val[nu++] = *column;
      } else {
        lower->idx[nl] = i;
        lower->val[nl++] = *column;
      }
    }
  }
  lower->ptr[l->ncol] = nl;
  upper->ptr[l->ncol] = nu;
}

/* Local.  Makes L U = P_r (R A C) P_c^T of dgstrf, dgssv or dgssvx the factor of s (gable_solver_import): l is
 * supernodal (SLU_SC), u by columns (SLU_NC), perm_r and perm_c [n] as SuperLU returns them.  equed, row_scale (R) and
 * col_scale (C), [n] each: of dgssvx, 'N' and NULL where nothing was scaled.  Of an A stored by rows (SLU_NR) dgssv and
 * dgssvx factor A^T, which nothing here shows: s solves with A^T then, its op T with A, and a is A^T.  a: the matrix as
 * it was before any scaling, with values, or NULL.  The supernodes of L are used as they are.  Arrays are copied;
 * SuperLU's objects are not changed.  O(entries) in time and memory. GABLE_ERR_ARGUMENT: matrices of another storage,
 * type or size; GABLE_ERR_MEMORY; those of gable_solver_import. */
static inline gable_status gable_import_superlu(gable_solver *s, const SuperMatrix *l, const SuperMatrix *u,
                                                const int *perm_r, const int *perm_c, char equed,
                                                const double *row_scale, const double *col_scale,
                                                const gable_matrix_view *a)
{
  gable_status status = GABLE_OK;
  gable_factors_view f = GABLE_FACTORS_VIEW_INIT;
  gable_columns lower = {0, NULL, NULL, NULL}, upper = {0, NULL, NULL, NULL};
  gable_matrix_view view[2];
  gable_idx *rows = NULL, *columns = NULL;
  const int by_rows = equed == 'R' || equed == 'B', by_columns = equed == 'C' || equed == 'B';
  if (!s || !l || !u || !perm_r || !perm_c)
    return gable_set_error(GABLE_ERR_ARGUMENT, "SuperLU: the solver, L, U or a permutation is NULL");
  if (l->Stype != SLU_SC || u->Stype != SLU_NC || l->Dtype != SLU_D || u->Dtype != SLU_D || l->nrow != l->ncol ||
      u->nrow != u->ncol || l->ncol != u->ncol || !l->Store || !u->Store)
    return gable_set_error(GABLE_ERR_ARGUMENT, "SuperLU: give L (SLU_SC) and U (SLU_NC) of one square double matrix");
  if ((by_rows && !row_scale) || (by_columns && !col_scale))
    return gable_set_error(GABLE_ERR_ARGUMENT, "SuperLU: equed asks for a scaling that is NULL");
  const SCformat *panels = (const SCformat *)l->Store;
  const int64_t most = (int64_t)panels->nnz + (int64_t)((NCformat *)u->Store)->nnz + l->ncol;
  status = gable_columns_take(&lower, l->ncol, most);
  if (!status) status = gable_columns_take(&upper, l->ncol, most);
  if (!status) gable_superlu_split(l, u, &lower, &upper);
  if (!status) status = gable_columns_sort(&lower);
  if (!status) status = gable_columns_sort(&upper);
  if (!status) status = gable_columns_invert(l->ncol, perm_r, &rows);
  if (!status) status = gable_columns_invert(l->ncol, perm_c, &columns);
  if (!status) {
    f.n = l->ncol;
    view[0] = gable_columns_view(&lower);
    view[1] = gable_columns_view(&upper);
    f.l = &view[0];
    f.u = &view[1];
    f.row_order = rows;
    f.col_order = columns;
    f.row_scale = by_rows ? row_scale : NULL;
    f.col_scale = by_columns ? col_scale : NULL;
    f.n_supernodes = l->ncol ? (gable_idx)panels->nsuper + 1 : 0; /* nsuper is the last one */
    f.supernodes = panels->sup_to_col;
    status = gable_solver_import(s, &f, a);
  }
  free(rows);
  free(columns);
  gable_columns_release(&lower);
  gable_columns_release(&upper);
  return status;
}

#endif
