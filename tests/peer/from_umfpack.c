/* UMFPACK: L U = P R A Q, L by rows, U by columns, both sorted. */
#include <stdlib.h>
#include <suitesparse/umfpack.h>

#include "from.h"

const char *const from_name = "UMFPACK";
const int from_definite = 0;

int from_factor(const from_matrix *a, gable_factors_view *f)
{
  void *symbolic = NULL, *numeric = NULL;
  int lnz, unz, rows, columns, diagonal, reciprocal;
  const size_t n = (size_t)a->n;
  if (umfpack_di_symbolic(a->n, a->n, a->ptr, a->idx, a->val, &symbolic, NULL, NULL) ||
      umfpack_di_numeric(a->ptr, a->idx, a->val, symbolic, &numeric, NULL, NULL) ||
      umfpack_di_get_lunz(&lnz, &unz, &rows, &columns, &diagonal, numeric))
    return 1;
  int *lp = malloc((n + 1) * sizeof *lp), *up = malloc((n + 1) * sizeof *up), *p = malloc(n * sizeof *p),
      *q = malloc(n * sizeof *q), *li = malloc((size_t)lnz * sizeof *li), *ui = malloc((size_t)unz * sizeof *ui);
  double *lx = malloc((size_t)lnz * sizeof *lx), *ux = malloc((size_t)unz * sizeof *ux), *r = malloc(n * sizeof *r);
  if (umfpack_di_get_numeric(lp, li, lx, up, ui, ux, p, q, NULL, &reciprocal, r, numeric)) return 1;
  for (size_t i = 0; i < n && !reciprocal; i++) r[i] = 1 / r[i];
  umfpack_di_free_symbolic(&symbolic);
  umfpack_di_free_numeric(&numeric);
  gable_matrix_view t = GABLE_MATRIX_VIEW_INIT;
  t.n_rows = t.n_cols = f->n = a->n;
  t.offset_type = GABLE_TYPE_I32;
  f->l = f->u = t;
  f->l.format = GABLE_FORMAT_CSR;
  f->l.ptr = lp;
  f->l.idx = li;
  f->l.val = lx;
  f->u.format = GABLE_FORMAT_CSC;
  f->u.ptr = up;
  f->u.idx = ui;
  f->u.val = ux;
  f->row_order = p;
  f->col_order = q;
  f->row_scale = r;
  return 0;
}
