/* SuperLU (sequential): supernodal left-looking LU with threshold pivoting; symbolic and numeric work are one phase. */
#include "frame.h"

#include <superlu/slu_ddefs.h>

static struct {
  superlu_options_t options;
  SuperMatrix a, ac, l, u;
  GlobalLU_t glu;
  SuperLUStat_t stat;
  int *perm_c, *perm_r, *etree;
  int factored;
} s;

static const char *order(const frame_input *in)
{
  const frame_matrix *a = in->a;
  int n = a->n;
  if (!a->ptr32) return "too many entries for 32-bit offsets";
  set_default_options(&s.options);
  s.options.SymmetricMode = in->given ? YES : NO;
  s.options.DiagPivotThresh = in->given ? 0.1 : 1.0;
  dCreate_CompCol_Matrix(&s.a, n, n, (int)a->nnz, a->val, a->idx, a->ptr32, SLU_NC, SLU_D, SLU_GE);
  s.perm_c = malloc((size_t)n * sizeof(int));
  s.perm_r = malloc((size_t)n * sizeof(int));
  s.etree = malloc((size_t)n * sizeof(int));
  StatInit(&s.stat);
  if (in->given) {
    s.options.ColPerm = MY_PERMC;
    for (int k = 0; k < n; k++) s.perm_c[in->given[k]] = k;
  } else {
    get_perm_c((int)COLAMD, &s.a, s.perm_c);
  }
  sp_preorder(&s.options, &s.a, s.perm_c, s.etree, &s.ac);
  return NULL;
}

static const char *factor(const frame_input *in)
{
  int info = 0;
  (void)in;
  if (s.factored) {
    Destroy_SuperNode_Matrix(&s.l);
    Destroy_CompCol_Matrix(&s.u);
    s.factored = 0;
  }
  dgstrf(&s.options, &s.ac, sp_ienv(2), sp_ienv(1), s.etree, NULL, 0, s.perm_c, s.perm_r, &s.l, &s.u, &s.glu, &s.stat,
         &info);
  if (info > in->a->n) return "out of memory";
  s.factored = 1;
  return info ? "exactly singular" : NULL;
}

static const char *solve(const frame_input *in, const double *b, double *x, int count)
{
  SuperMatrix right;
  int info = 0;
  (void)b;
  dCreate_Dense_Matrix(&right, in->a->n, count, x, in->a->n, SLU_DN, SLU_D, SLU_GE);
  dgstrs(NOTRANS, &s.l, &s.u, s.perm_c, s.perm_r, &right, &s.stat, &info);
  Destroy_SuperMatrix_Store(&right);
  return info ? "solve failed" : NULL;
}

static double nnz_l(const frame_input *in)
{
  (void)in;
  return (double)((SCformat *)s.l.Store)->nnz + (double)((NCformat *)s.u.Store)->nnz;
}

static void options(FILE *out, const frame_input *in)
{
  fprintf(out, "SuperLU 5.3, %s",
          in->given ? "Gable's column order, symmetric mode, pivot threshold 0.1" : "COLAMD, pivot threshold 1");
}

const frame_solver solver = {.name = "superlu",
                             .in_place = 1,
                             .order = order,
                             .factor = factor,
                             .solve = solve,
                             .nnz_l = nnz_l,
                             .options = options};
