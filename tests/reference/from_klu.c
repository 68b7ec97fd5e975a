/* KLU: with the block triangular form and scaling (0), without both (1). */
#include <stdlib.h>
#include <string.h>
#include <suitesparse/klu.h>

#include "from.h"
#include <gable/adapters/klu.h>

const char *const from_name = "KLU";
const int from_definite = 0;
int from_sign = 1;

static klu_common c;
static klu_symbolic *symbolic;
static klu_numeric *numeric;

int from_factor(const from_matrix *a, int k)
{
  klu_free_symbolic(&symbolic, &c);
  klu_free_numeric(&numeric, &c);
  if (k > 1) return -1;
  klu_defaults(&c);
  c.btf = k == 0;
  c.scale = k == 0 ? 2 : -1;
  symbolic = klu_analyze(a->n, a->ptr, a->idx, &c);
  numeric = symbolic ? klu_factor(a->ptr, a->idx, a->val, symbolic, &c) : NULL;
  return !numeric;
}

gable_status from_import(gable_solver *s, const gable_matrix_view *v)
{
  return gable_import_klu(s, symbolic, numeric, &c, v);
}

int from_solve(const double *b, double *x)
{
  memcpy(x, b, (size_t)symbolic->n * sizeof *x);
  return !klu_solve(symbolic, numeric, symbolic->n, 1, x, &c);
}

int from_supernodes(const int **first, const int **column)
{
  *first = *column = NULL;
  return 0;
}

const char *from_refuses(gable_solver *s)
{
  klu_common singular = c;
  if (gable_import_klu(s, symbolic, NULL, &c, NULL) != GABLE_ERR_ARGUMENT) return "no numeric object";
  singular.status = KLU_SINGULAR;
  return gable_import_klu(s, symbolic, numeric, &singular, NULL) == GABLE_ERR_SINGULAR ? NULL : "a singular matrix";
}
