/* klu.h: factors of KLU (real, int) for gable_solver_import.  Include <klu.h> before it. */
#ifndef GABLE_ADAPTERS_KLU_H
#define GABLE_ADAPTERS_KLU_H

#include <gable/adapters/columns.h>

/* KLU's columns as ours. */
static inline gable_status gable_klu_columns(gable_idx n, const int *ptr, const int *idx, const double *val,
                                             gable_columns *out)
{
  gable_status status = gable_columns_take(out, n, ptr[n]);
  if (status) return status;
  for (gable_idx j = 0; j <= n; j++) out->ptr[j] = ptr[j];
  memcpy(out->idx, idx, (size_t)ptr[n] * sizeof *idx);
  memcpy(out->val, val, (size_t)ptr[n] * sizeof *val);
  return gable_columns_sort(out);
}

/* What klu_extract fills. */
typedef struct gable_klu_arrays {
  int *lp, *li, *up, *ui, *fp, *fi, *p, *q, *blocks;
  double *lx, *ux, *fx, *divisor, *scale;
} gable_klu_arrays;

static inline void gable_klu_release(gable_klu_arrays *w)
{
  void *const own[] = {w->lp, w->li,     w->up, w->ui, w->fp, w->fi,      w->p,
                       w->q,  w->blocks, w->lx, w->ux, w->fx, w->divisor, w->scale};
  for (size_t k = 0; k < sizeof own / sizeof *own; k++) free(own[k]);
}

static inline int gable_klu_take(gable_klu_arrays *w, const klu_symbolic *symbolic, const klu_numeric *numeric)
{
  const size_t n = (size_t)symbolic->n, lnz = (size_t)numeric->lnz, unz = (size_t)numeric->unz,
               off = (size_t)numeric->nzoff;
  w->lp = (int *)malloc((n + 1) * sizeof(int));
  w->up = (int *)malloc((n + 1) * sizeof(int));
  w->fp = (int *)malloc((n + 1) * sizeof(int));
  w->blocks = (int *)malloc((n + 1) * sizeof(int));
  w->p = (int *)malloc(n * sizeof(int) + 1);
  w->q = (int *)malloc(n * sizeof(int) + 1);
  w->li = (int *)malloc(lnz * sizeof(int) + 1);
  w->ui = (int *)malloc(unz * sizeof(int) + 1);
  w->fi = (int *)malloc(off * sizeof(int) + 1);
  w->lx = (double *)malloc(lnz * sizeof(double) + 1);
  w->ux = (double *)malloc(unz * sizeof(double) + 1);
  w->fx = (double *)malloc(off * sizeof(double) + 1);
  w->divisor = (double *)malloc(n * sizeof(double) + 1);
  w->scale = (double *)malloc(n * sizeof(double) + 1);
  return w->lp && w->up && w->fp && w->blocks && w->p && w->q && w->li && w->ui && w->fi && w->lx && w->ux && w->fx &&
         w->divisor && w->scale;
}

/* Why these objects give no factors of ours, GABLE_OK: they do.  common->status is that of KLU's last call, which may
 * have been for another matrix. */
static inline gable_status gable_klu_check(const klu_symbolic *symbolic, const klu_numeric *numeric)
{
  const double *diagonal = (const double *)numeric->Udiag;
  if (numeric->n != symbolic->n || numeric->nblocks != symbolic->nblocks)
    return gable_set_error(GABLE_ERR_ARGUMENT, "KLU: the symbolic and the numeric object are of different matrices");
  if (numeric->n > 0 && numeric->worksize >= 64 * (size_t)numeric->n) /* 32 n bytes where entries are real */
    return gable_set_error(GABLE_ERR_ARGUMENT, "KLU: the factor is complex: give one of klu_factor");
  for (int k = 0; k < numeric->n; k++)
    if (diagonal[k] == 0) return gable_set_error(GABLE_ERR_SINGULAR, "KLU: the matrix is singular");
  return GABLE_OK;
}

/* Local.  Makes L U + F = P (R^-1 A) Q of klu_factor or klu_refactor the factor of s (gable_solver_import); F has the
 * entries right of the diagonal blocks.  a: the matrix, with values, or NULL.  Arrays are copied; KLU's objects are not
 * changed.  O(entries) in time and memory.  GABLE_ERR_ARGUMENT: an object is NULL, complex, or of another matrix;
 * GABLE_ERR_SINGULAR: KLU found the matrix singular; GABLE_ERR_MEMORY; those of gable_solver_import. */
static inline gable_status gable_import_klu(gable_solver *s, klu_symbolic *symbolic, klu_numeric *numeric,
                                            klu_common *common, const gable_matrix_view *a)
{
  gable_status status = GABLE_OK;
  gable_factors_view f = GABLE_FACTORS_VIEW_INIT;
  gable_columns l = {0, NULL, NULL, NULL}, u = {0, NULL, NULL, NULL}, off = {0, NULL, NULL, NULL};
  gable_matrix_view view[3];
  gable_klu_arrays w;
  memset(&w, 0, sizeof w);
  if (!s || !symbolic || !numeric || !common)
    return gable_set_error(GABLE_ERR_ARGUMENT, "KLU: the solver or one of KLU's objects is NULL");
  status = gable_klu_check(symbolic, numeric);
  if (status) return status;
  if (!gable_klu_take(&w, symbolic, numeric))
    status = gable_set_error(GABLE_ERR_MEMORY, "out of memory for the factors of KLU");
  else if (!klu_extract(numeric, symbolic, w.lp, w.li, w.lx, w.up, w.ui, w.ux, w.fp, w.fi, w.fx, w.p, w.q, w.divisor,
                        w.blocks, common))
    status = gable_set_error(GABLE_ERR_ARGUMENT, "KLU: klu_extract gives no factors of these objects");
  if (!status) status = gable_klu_columns(symbolic->n, w.lp, w.li, w.lx, &l);
  if (!status) status = gable_klu_columns(symbolic->n, w.up, w.ui, w.ux, &u);
  if (!status) status = gable_klu_columns(symbolic->n, w.fp, w.fi, w.fx, &off);
  if (!status) {
    for (int k = 0; k < symbolic->n; k++) w.scale[w.p[k]] = 1 / w.divisor[k]; /* KLU divides, by pivot rows */
    f.n = symbolic->n;
    view[0] = gable_columns_view(&l);
    view[1] = gable_columns_view(&u);
    view[2] = gable_columns_view(&off);
    f.l = &view[0];
    f.u = &view[1];
    f.f = &view[2];
    f.row_order = w.p;
    f.col_order = w.q;
    f.row_scale = w.scale;
    status = gable_solver_import(s, &f, a);
  }
  gable_klu_release(&w);
  gable_columns_release(&l);
  gable_columns_release(&u);
  gable_columns_release(&off);
  return status;
}

#endif
