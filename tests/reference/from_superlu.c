/* SuperLU: by dgstrf (0), by dgssvx with equilibration (1), and by dgstrf in symmetric mode: minimum degree of A^T + A,
 * pivots on the diagonal where they have a tenth of the largest entry (2). */
#include <stdlib.h>
#include <string.h>
#include <superlu/slu_ddefs.h>

#include "from.h"
#define malloc from_malloc
#define calloc from_calloc
#include <gable/adapters/superlu.h>
#undef malloc
#undef calloc

const char *const from_name = "SuperLU";
const int from_definite = 0;
int from_sign = 1;

static int n, have, *rows, *columns;
static char equed[2];
static double *row_scale, *col_scale;
static SuperMatrix l, u;

static void release(void)
{
  if (!have) return;
  have = 0;
  Destroy_SuperNode_Matrix(&l);
  Destroy_CompCol_Matrix(&u);
  free(rows);
  free(columns);
  free(row_scale);
  free(col_scale);
}

int from_factor(const from_matrix *a, int k)
{
  superlu_options_t options;
  SuperMatrix given, none_b, none_x;
  GlobalLU_t glu;
  SuperLUStat_t stat;
  mem_usage_t memory;
  int info = 0;
  release();
  if (k > 2) return -1;
  n = a->n;
  const size_t bytes = (size_t)n * sizeof(int), room = (size_t)a->ptr[n];
  int *tree = malloc(bytes), *ptr = malloc(bytes + sizeof(int)), *idx = malloc(room * sizeof *idx);
  double *val = malloc(room * sizeof *val), growth, rcond;
  rows = malloc(bytes);
  columns = malloc(bytes);
  row_scale = malloc((size_t)n * sizeof *row_scale);
  col_scale = malloc((size_t)n * sizeof *col_scale);
  memcpy(ptr, a->ptr, bytes + sizeof(int));
  memcpy(idx, a->idx, room * sizeof *idx);
  memcpy(val, a->val, room * sizeof *val);
  set_default_options(&options);
  StatInit(&stat);
  dCreate_CompCol_Matrix(&given, n, n, a->ptr[n], val, idx, ptr, SLU_NC, SLU_D, SLU_GE);
  equed[0] = 'N';
  if (k != 1) {
    SuperMatrix permuted;
    options.SymmetricMode = k == 2 ? YES : NO;
    options.DiagPivotThresh = k == 2 ? 0.1 : 1;
    get_perm_c((int)(k == 2 ? MMD_AT_PLUS_A : COLAMD), &given, columns);
    sp_preorder(&options, &given, columns, tree, &permuted);
    dgstrf(&options, &permuted, sp_ienv(2), sp_ienv(1), tree, NULL, 0, columns, rows, &l, &u, &glu, &stat, &info);
    Destroy_CompCol_Permuted(&permuted);
  } else {
    dCreate_Dense_Matrix(&none_b, n, 0, NULL, n, SLU_DN, SLU_D, SLU_GE);
    dCreate_Dense_Matrix(&none_x, n, 0, NULL, n, SLU_DN, SLU_D, SLU_GE);
    options.Equil = YES;
    dgssvx(&options, &given, columns, rows, tree, equed, row_scale, col_scale, &l, &u, NULL, 0, &none_b, &none_x,
           &growth, &rcond, NULL, NULL, &glu, &memory, &stat, &info);
    Destroy_SuperMatrix_Store(&none_b);
    Destroy_SuperMatrix_Store(&none_x);
    if (info == n + 1) info = 0; /* ill conditioned, but factored */
  }
  Destroy_CompCol_Matrix(&given);
  StatFree(&stat);
  free(tree);
  have = info == 0;
  return info ? 1 : 0;
}

gable_status from_import(gable_solver *s, const gable_matrix_view *v)
{
  return gable_import_superlu(s, &l, &u, rows, columns, equed[0], row_scale, col_scale, v);
}

int from_solve(const double *b, double *x)
{
  const int by_rows = equed[0] == 'R' || equed[0] == 'B', by_columns = equed[0] == 'C' || equed[0] == 'B';
  SuperMatrix right;
  SuperLUStat_t stat;
  int info = 0;
  for (int i = 0; i < n; i++) x[i] = by_rows ? row_scale[i] * b[i] : b[i];
  dCreate_Dense_Matrix(&right, n, 1, x, n, SLU_DN, SLU_D, SLU_GE);
  StatInit(&stat);
  dgstrs(NOTRANS, &l, &u, columns, rows, &right, &stat, &info);
  StatFree(&stat);
  Destroy_SuperMatrix_Store(&right);
  for (int i = 0; i < n && by_columns; i++) x[i] *= col_scale[i];
  return info;
}

int from_supernodes(const int **first, const int **column)
{
  const SCformat *panels = l.Store;
  static int *at = NULL;
  free(at);
  at = malloc((size_t)n * sizeof *at);
  for (int j = 0; j < n; j++) at[columns[j]] = j;
  *first = panels->sup_to_col;
  *column = at;
  return (int)panels->nsuper + 1;
}

const char *from_refuses(gable_solver *s)
{
  if (gable_import_superlu(s, &u, &l, rows, columns, 'N', NULL, NULL, NULL) != GABLE_ERR_ARGUMENT) return "L for U";
  if (gable_import_superlu(s, &l, &u, rows, columns, 'B', row_scale, NULL, NULL) != GABLE_ERR_ARGUMENT)
    return "no column scaling";
  if (gable_import_superlu(s, NULL, &u, rows, columns, 'N', NULL, NULL, NULL) != GABLE_ERR_ARGUMENT) return "no L";
  const int kept = rows[0];
  rows[0] = n;
  const gable_status status = gable_import_superlu(s, &l, &u, rows, columns, 'N', NULL, NULL, NULL);
  rows[0] = kept;
  return status == GABLE_ERR_ARGUMENT ? NULL : "a permutation out of range";
}
