/* UMFPACK: with its scaling by row sums (0), and without any (1). */
#include <stdlib.h>
#include <suitesparse/umfpack.h>

#include "from.h"
#define malloc from_malloc
#define calloc from_calloc
#include <gable/adapters/umfpack.h>
#undef malloc
#undef calloc

const char *const from_name = "UMFPACK";
const int from_definite = 0;
int from_sign = 1;

static void *numeric;
static const from_matrix *of;

int from_factor(const from_matrix *a, int k)
{
  double control[UMFPACK_CONTROL];
  void *symbolic = NULL;
  if (numeric) umfpack_di_free_numeric(&numeric);
  if (k > 1) return -1;
  umfpack_di_defaults(control);
  if (k) control[UMFPACK_SCALE] = UMFPACK_SCALE_NONE;
  of = a;
  const int rc = umfpack_di_symbolic(a->n, a->n, a->ptr, a->idx, a->val, &symbolic, control, NULL) ||
                 umfpack_di_numeric(a->ptr, a->idx, a->val, symbolic, &numeric, control, NULL);
  umfpack_di_free_symbolic(&symbolic);
  return rc;
}

gable_status from_import(gable_solver *s, const gable_matrix_view *v)
{
  return gable_import_umfpack(s, numeric, v);
}

int from_solve(const double *b, double *x)
{
  return umfpack_di_solve(UMFPACK_A, of->ptr, of->idx, of->val, x, b, numeric, NULL, NULL);
}

int from_supernodes(const int **first, const int **column)
{
  *first = *column = NULL;
  return 0;
}

const char *from_refuses(gable_solver *s)
{
  int ptr[] = {0, 1, 2}, idx[] = {0, 0};
  double val[] = {1, 1};
  void *symbolic = NULL, *singular = NULL;
  if (gable_import_umfpack(s, NULL, NULL) != GABLE_ERR_ARGUMENT) return "no numeric object";
  umfpack_di_symbolic(2, 2, ptr, idx, val, &symbolic, NULL, NULL);
  umfpack_di_numeric(ptr, idx, val, symbolic, &singular, NULL, NULL);
  const gable_status status = gable_import_umfpack(s, singular, NULL);
  umfpack_di_free_symbolic(&symbolic);
  umfpack_di_free_numeric(&singular);
  return status == GABLE_ERR_SINGULAR ? NULL : "a singular matrix";
}
