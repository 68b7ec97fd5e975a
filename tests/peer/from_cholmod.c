/* CHOLMOD: L L^T = P A P^T, turned from supernodes to columns. */
#include <stdlib.h>
#include <string.h>
#include <suitesparse/cholmod.h>

#include "from.h"

const char *const from_name = "CHOLMOD";
const int from_definite = 1;

int from_factor(const from_matrix *a, gable_factors_view *f)
{
  const size_t n = (size_t)a->n;
  cholmod_common c;
  cholmod_sparse both = {.nrow = n,
                         .ncol = n,
                         .nzmax = (size_t)a->ptr[n],
                         .p = a->ptr,
                         .i = a->idx,
                         .x = a->val,
                         .stype = -1, /* the lower triangle is used */
                         .itype = CHOLMOD_INT,
                         .xtype = CHOLMOD_REAL,
                         .dtype = CHOLMOD_DOUBLE,
                         .sorted = 1,
                         .packed = 1};
  cholmod_start(&c);
  c.supernodal = CHOLMOD_SUPERNODAL;
  cholmod_factor *l = cholmod_analyze(&both, &c);
  if (!l || !cholmod_factorize(&both, l, &c) || l->minor < n) return 1;
  if (!cholmod_change_factor(CHOLMOD_REAL, 1, 0, 1, 1, l, &c)) return 1;
  const int nnz = ((int *)l->p)[n];
  from_columns lower = from_room(a->n, nnz);
  memcpy(lower.ptr, l->p, (n + 1) * sizeof(int));
  memcpy(lower.idx, l->i, (size_t)nnz * sizeof(int));
  memcpy(lower.val, l->x, (size_t)nnz * sizeof(double));
  int *order = malloc(n * sizeof *order);
  memcpy(order, l->Perm, n * sizeof *order);
  cholmod_free_factor(&l, &c);
  cholmod_finish(&c);
  f->n = a->n;
  f->l = from_view(a->n, &lower);
  f->row_order = f->col_order = order;
  return 0;
}
