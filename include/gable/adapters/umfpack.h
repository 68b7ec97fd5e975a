/* umfpack.h: factors of UMFPACK (umfpack_di) for gable_solver_import.  Include <umfpack.h> before it. */
#ifndef GABLE_ADAPTERS_UMFPACK_H
#define GABLE_ADAPTERS_UMFPACK_H

#include <gable/adapters/columns.h>

/* Arrays that umfpack_di_get_numeric fills. */
typedef struct gable_umfpack_arrays {
  int *lp, *li, *up, *ui, *p, *q;
  double *lx, *ux, *r;
} gable_umfpack_arrays;

static inline void gable_umfpack_release(gable_umfpack_arrays *w)
{
  free(w->lp);
  free(w->li);
  free(w->up);
  free(w->ui);
  free(w->p);
  free(w->q);
  free(w->lx);
  free(w->ux);
  free(w->r);
}

/* Local.  Makes L U = P (R A) Q of umfpack_di_numeric the factor of s (gable_solver_import).  a: the matrix, with
 * values, or NULL.  Arrays are copied; numeric is not changed.  O(entries) in time and memory.  GABLE_ERR_ARGUMENT:
 * numeric is no valid object, or the matrix is not square; GABLE_ERR_SINGULAR: a zero on the diagonal of U;
 * GABLE_ERR_MEMORY; those of gable_solver_import. */
static inline gable_status gable_import_umfpack(gable_solver *s, void *numeric, const gable_matrix_view *a)
{
  gable_status status = GABLE_OK;
  gable_factors_view f = GABLE_FACTORS_VIEW_INIT;
  gable_matrix_view l = GABLE_MATRIX_VIEW_INIT, u = GABLE_MATRIX_VIEW_INIT;
  gable_umfpack_arrays w = {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL};
  int lnz, unz, rows, columns, diagonal, reciprocal = 1;
  if (!s || !numeric) return gable_set_error(GABLE_ERR_ARGUMENT, "UMFPACK: the solver or the numeric object is NULL");
  if (umfpack_di_get_lunz(&lnz, &unz, &rows, &columns, &diagonal, numeric) != UMFPACK_OK)
    return gable_set_error(GABLE_ERR_ARGUMENT, "UMFPACK: this is no numeric object of umfpack_di");
  if (rows != columns) return gable_set_error(GABLE_ERR_ARGUMENT, "UMFPACK: the matrix is not square");
  if (diagonal < rows) return gable_set_error(GABLE_ERR_SINGULAR, "UMFPACK: U has a zero on its diagonal");
  const size_t n = (size_t)rows;
  w.lp = (int *)malloc((n + 1) * sizeof(int));
  w.up = (int *)malloc((n + 1) * sizeof(int));
  w.p = (int *)malloc(n * sizeof(int) + 1);
  w.q = (int *)malloc(n * sizeof(int) + 1);
  w.li = (int *)malloc((size_t)lnz * sizeof(int) + 1);
  w.ui = (int *)malloc((size_t)unz * sizeof(int) + 1);
  w.lx = (double *)malloc((size_t)lnz * sizeof(double) + 1);
  w.ux = (double *)malloc((size_t)unz * sizeof(double) + 1);
  w.r = (double *)malloc(n * sizeof(double) + 1);
  if (!w.lp || !w.up || !w.p || !w.q || !w.li || !w.ui || !w.lx || !w.ux || !w.r) {
    status = gable_set_error(GABLE_ERR_MEMORY, "out of memory for the factors of UMFPACK");
  } else if (umfpack_di_get_numeric(w.lp, w.li, w.lx, w.up, w.ui, w.ux, w.p, w.q, NULL, &reciprocal, w.r, numeric) !=
             UMFPACK_OK) {
    status = gable_set_error(GABLE_ERR_ARGUMENT, "UMFPACK: the numeric object gives no factors");
  } else {
    for (size_t i = 0; i < n && !reciprocal; i++) w.r[i] = 1 / w.r[i];
    f.n = rows;
    l.n_rows = l.n_cols = u.n_rows = u.n_cols = rows;
    l.offset_type = u.offset_type = GABLE_TYPE_I32;
    l.format = GABLE_FORMAT_CSR; /* UMFPACK gives L by rows, U by columns, both sorted */
    l.ptr = w.lp;
    l.idx = w.li;
    l.val = w.lx;
    u.format = GABLE_FORMAT_CSC;
    u.ptr = w.up;
    u.idx = w.ui;
    u.val = w.ux;
    f.l = &l;
    f.u = &u;
    f.row_order = w.p;
    f.col_order = w.q;
    f.row_scale = w.r;
    status = gable_solver_import(s, &f, a);
  }
  gable_umfpack_release(&w);
  return status;
}

#endif
