/* KLU: L U + F = P R^-1 A Q, all by columns; klu_sort puts L and U in order, F is put in order here. */
#include <stdlib.h>
#include <suitesparse/klu.h>

#include "from.h"

const char *const from_name = "KLU";
const int from_definite = 0;

int from_factor(const from_matrix *a, gable_factors_view *f)
{
  klu_common c;
  const int n = a->n;
  klu_defaults(&c);
  klu_symbolic *symbolic = klu_analyze(n, a->ptr, a->idx, &c);
  klu_numeric *numeric = symbolic ? klu_factor(a->ptr, a->idx, a->val, symbolic, &c) : NULL;
  if (!numeric || !klu_sort(symbolic, numeric, &c)) return 1;
  from_columns l = from_room(n, numeric->lnz), u = from_room(n, numeric->unz), off = from_room(n, numeric->nzoff);
  int *p = malloc((size_t)n * sizeof *p), *q = malloc((size_t)n * sizeof *q);
  int *blocks = malloc(((size_t)n + 1) * sizeof *blocks);
  double *pivot_scale = malloc((size_t)n * sizeof *pivot_scale), *r = malloc((size_t)n * sizeof *r);
  if (!klu_extract(numeric, symbolic, l.ptr, l.idx, l.val, u.ptr, u.idx, u.val, off.ptr, off.idx, off.val, p, q,
                   pivot_scale, blocks, &c))
    return 1;
  for (int k = 0; k < n; k++) r[p[k]] = 1 / pivot_scale[k]; /* KLU divides, and counts its pivot rows */
  from_sort(n, &off);
  klu_free_symbolic(&symbolic, &c);
  klu_free_numeric(&numeric, &c);
  free(pivot_scale);
  free(blocks);
  f->n = n;
  f->l = from_view(n, &l);
  f->u = from_view(n, &u);
  f->f = from_view(n, &off);
  f->row_order = p;
  f->col_order = q;
  f->row_scale = r;
  return 0;
}
