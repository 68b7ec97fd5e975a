/* KLU: L U + F = P R^-1 A Q, all by columns; klu_sort puts L and U in order, F is put in order here. */
#include <stdlib.h>
#include <suitesparse/klu.h>

#include "from.h"

const char *const from_name = "KLU";

typedef struct columns {
  int *ptr, *idx;
  double *val;
} columns;

static columns room(int n, int nnz)
{
  return (columns){malloc(((size_t)n + 1) * sizeof(int)), malloc((size_t)nnz * sizeof(int) + 1),
                   malloc((size_t)nnz * sizeof(double) + 1)};
}

static void sort(int n, columns *c)
{
  for (int j = 0; j < n; j++)
    for (int k = c->ptr[j] + 1; k < c->ptr[j + 1]; k++)
      for (int m = k; m > c->ptr[j] && c->idx[m - 1] > c->idx[m]; m--) {
        const int i = c->idx[m];
        const double v = c->val[m];
        c->idx[m] = c->idx[m - 1];
        c->val[m] = c->val[m - 1];
        c->idx[m - 1] = i;
        c->val[m - 1] = v;
      }
}

static gable_matrix_view view_of(int n, const columns *c)
{
  gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
  v.n_rows = v.n_cols = n;
  v.format = GABLE_CSC;
  v.offset_type = GABLE_I32;
  v.ptr = c->ptr;
  v.idx = c->idx;
  v.val = c->val;
  return v;
}

int from_factor(const from_matrix *a, gable_factors_view *f)
{
  klu_common c;
  const int n = a->n;
  klu_defaults(&c);
  klu_symbolic *symbolic = klu_analyze(n, a->ptr, a->idx, &c);
  klu_numeric *numeric = symbolic ? klu_factor(a->ptr, a->idx, a->val, symbolic, &c) : NULL;
  if (!numeric || !klu_sort(symbolic, numeric, &c)) return 1;
  columns l = room(n, numeric->lnz), u = room(n, numeric->unz), off = room(n, numeric->nzoff);
  int *p = malloc((size_t)n * sizeof *p), *q = malloc((size_t)n * sizeof *q);
  int *blocks = malloc(((size_t)n + 1) * sizeof *blocks);
  double *pivot_scale = malloc((size_t)n * sizeof *pivot_scale), *r = malloc((size_t)n * sizeof *r);
  if (!klu_extract(numeric, symbolic, l.ptr, l.idx, l.val, u.ptr, u.idx, u.val, off.ptr, off.idx, off.val, p, q,
                   pivot_scale, blocks, &c))
    return 1;
  for (int k = 0; k < n; k++) r[p[k]] = 1 / pivot_scale[k]; /* KLU divides, and counts its pivot rows */
  sort(n, &off);
  klu_free_symbolic(&symbolic, &c);
  klu_free_numeric(&numeric, &c);
  free(pivot_scale);
  free(blocks);
  f->n = n;
  f->l = view_of(n, &l);
  f->u = view_of(n, &u);
  f->f = view_of(n, &off);
  f->row_order = p;
  f->col_order = q;
  f->row_scale = r;
  return 0;
}
