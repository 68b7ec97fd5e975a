/* CHOLMOD: supernodal L L^T (0), simplicial L L^T (1), simplicial L D L^T (2), the last of -A (3) and with long (4). */
#include <stdlib.h>
#include <string.h>
#include <suitesparse/cholmod.h>

#include "from.h"
#define malloc from_malloc
#define calloc from_calloc
#include <gable/adapters/cholmod.h>
#undef malloc
#undef calloc

const char *const from_name = "CHOLMOD";
const int from_definite = 1;
int from_sign = 1;

static cholmod_common c;
static cholmod_factor *l;
static int started, wide;

int from_factor(const from_matrix *a, int k)
{
  const size_t n = (size_t)a->n, nnz = (size_t)a->ptr[n];
  if (l) (wide ? cholmod_l_free_factor : cholmod_free_factor)(&l, &c);
  if (started) (wide ? cholmod_l_finish : cholmod_finish)(&c);
  started = 0;
  if (k > 4) return -1;
  wide = k == 4;
  from_sign = k == 3 ? -1 : 1;
  (wide ? cholmod_l_start : cholmod_start)(&c);
  started = 1;
  c.supernodal = k == 0 ? CHOLMOD_SUPERNODAL : CHOLMOD_SIMPLICIAL;
  c.final_ll = k == 1;
  cholmod_sparse *both =
      (wide ? cholmod_l_allocate_sparse : cholmod_allocate_sparse)(n, n, nnz, 1, 1, -1, CHOLMOD_REAL, &c);
  if (!both) return 1;
  for (size_t j = 0; j <= n; j++) {
    if (wide)
      ((SuiteSparse_long *)both->p)[j] = a->ptr[j];
    else
      ((int *)both->p)[j] = a->ptr[j];
  }
  for (size_t q = 0; q < nnz; q++) {
    if (wide)
      ((SuiteSparse_long *)both->i)[q] = a->idx[q];
    else
      ((int *)both->i)[q] = a->idx[q];
    ((double *)both->x)[q] = from_sign * a->val[q];
  }
  l = (wide ? cholmod_l_analyze : cholmod_analyze)(both, &c);
  const int done = l && (wide ? cholmod_l_factorize : cholmod_factorize)(both, l, &c) && l->minor == n;
  (wide ? cholmod_l_free_sparse : cholmod_free_sparse)(&both, &c);
  return !done;
}

/* The matrix of a factor of -A is not at hand. */
gable_status from_import(gable_solver *s, const gable_matrix_view *v)
{
  return gable_import_cholmod(s, l, from_sign > 0 ? v : NULL);
}

int from_solve(const double *b, double *x)
{
  cholmod_dense right = {
      .nrow = l->n, .ncol = 1, .nzmax = l->n, .d = l->n, .x = x, .xtype = CHOLMOD_REAL, .dtype = CHOLMOD_DOUBLE};
  memcpy(x, b, l->n * sizeof *x);
  cholmod_dense *y = (wide ? cholmod_l_solve : cholmod_solve)(CHOLMOD_A, l, &right, &c);
  if (!y) return 1;
  for (size_t i = 0; i < l->n; i++) x[i] = from_sign * ((double *)y->x)[i];
  (wide ? cholmod_l_free_dense : cholmod_free_dense)(&y, &c);
  return 0;
}

int from_supernodes(const int **first, const int **column)
{
  *first = *column = NULL;
  if (!l->is_super) return 0;
  *first = l->super;
  *column = l->Perm;
  return (int)l->nsuper;
}

const char *from_refuses(gable_solver *s)
{
  cholmod_factor other = *l;
  if (gable_import_cholmod(s, NULL, NULL) != GABLE_ERR_ARGUMENT) return "no factor";
  other.xtype = CHOLMOD_COMPLEX;
  if (gable_import_cholmod(s, &other, NULL) != GABLE_ERR_ARGUMENT) return "a complex factor";
  other = *l;
  other.xtype = CHOLMOD_PATTERN;
  if (gable_import_cholmod(s, &other, NULL) != GABLE_ERR_STATE) return "a factor without numbers";
  other = *l;
  other.minor = l->n - 1;
  return gable_import_cholmod(s, &other, NULL) == GABLE_ERR_SINGULAR ? NULL : "a factorization that stopped";
}
