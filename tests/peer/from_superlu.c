/* SuperLU: L U = P A Q; L by supernodes, whose diagonal blocks hold U's triangle as well, U by columns without those.
 */
#include <stdlib.h>
#include <superlu/slu_ddefs.h>

#include "from.h"

const char *const from_name = "SuperLU";
const int from_definite = 0;

/* The columns of the supernodal l, and of u with what l holds of it. */
static void split(const SuperMatrix *l, const SuperMatrix *u, from_columns *lower, from_columns *upper)
{
  const SCformat *panels = l->Store;
  const NCformat *above = u->Store;
  const double *panel = panels->nzval, *value = above->nzval;
  int nl = 0, nu = 0;
  for (int j = 0; j < l->ncol; j++) {
    const int first = panels->sup_to_col[panels->col_to_sup[j]];
    lower->ptr[j] = nl;
    upper->ptr[j] = nu;
    for (int_t k = above->colptr[j]; k < above->colptr[j + 1]; k++, nu++) {
      upper->idx[nu] = above->rowind[k];
      upper->val[nu] = value[k];
    }
    const double *column = panel + panels->nzval_colptr[j];
    for (int_t k = panels->rowind_colptr[first]; k < panels->rowind_colptr[first + 1]; k++, column++) {
      const int i = panels->rowind[k];
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

/* perm[k] becomes the place of k. */
static void invert(int n, int *perm, int *scratch)
{
  for (int k = 0; k < n; k++) scratch[perm[k]] = k;
  for (int k = 0; k < n; k++) perm[k] = scratch[k];
}

int from_factor(const from_matrix *a, gable_factors_view *f)
{
  const int n = a->n;
  const size_t bytes = (size_t)n * sizeof(int);
  int *columns = malloc(bytes), *rows = malloc(bytes), *tree = malloc(bytes), info = 0;
  superlu_options_t options;
  SuperMatrix given, permuted, l, u;
  GlobalLU_t glu;
  SuperLUStat_t stat;
  set_default_options(&options);
  StatInit(&stat);
  dCreate_CompCol_Matrix(&given, n, n, a->ptr[n], a->val, a->idx, a->ptr, SLU_NC, SLU_D, SLU_GE);
  get_perm_c((int)COLAMD, &given, columns);
  sp_preorder(&options, &given, columns, tree, &permuted);
  dgstrf(&options, &permuted, sp_ienv(2), sp_ienv(1), tree, NULL, 0, columns, rows, &l, &u, &glu, &stat, &info);
  if (info) return 1;
  const int most = (int)(((SCformat *)l.Store)->nnz + ((NCformat *)u.Store)->nnz) + n;
  from_columns lower = from_room(n, most), upper = from_room(n, most);
  split(&l, &u, &lower, &upper);
  from_sort(n, &lower);
  from_sort(n, &upper);
  invert(n, rows, tree);
  invert(n, columns, tree);
  Destroy_SuperNode_Matrix(&l);
  Destroy_CompCol_Matrix(&u);
  Destroy_CompCol_Permuted(&permuted);
  Destroy_SuperMatrix_Store(&given);
  StatFree(&stat);
  free(tree);
  f->n = n;
  f->l = from_view(n, &lower);
  f->u = from_view(n, &upper);
  f->row_order = rows;
  f->col_order = columns;
  return 0;
}
