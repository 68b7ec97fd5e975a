/* KLU: with the block triangular form and scaling (0), without both (1). */
#include <stdlib.h>
#include <string.h>
#include <suitesparse/klu.h>

#include "from.h"
#define malloc from_malloc
#define calloc from_calloc
#include <gable/adapters/klu.h>
#undef malloc
#undef calloc

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

/* What the import of other objects says, all of a diagonal 3 x 3 matrix whose last entry is last; NULL: as it should.
 */
static const char *refuses_others(gable_solver *s, double last)
{
  int ptr[] = {0, 1, 2, 3}, idx[] = {0, 1, 2};
  double real[] = {1, 2, last}, complex_entries[] = {1, 1, 2, 0, last, 0};
  const char *wrong = NULL;
  klu_common own = c;
  own.halt_if_singular = 0;
  klu_symbolic *other = klu_analyze(3, ptr, idx, &own);
  klu_numeric *of_other = klu_factor(ptr, idx, real, other, &own);
  klu_numeric *of_complex = klu_z_factor(ptr, idx, complex_entries, other, &own);
  if (gable_import_klu(s, other, of_other, &c, NULL) != (last == 0 ? GABLE_ERR_SINGULAR : GABLE_OK))
    wrong = "a singular matrix";
  else if (gable_import_klu(s, other, of_complex, &c, NULL) != GABLE_ERR_ARGUMENT)
    wrong = "complex factors";
  else if (symbolic->n != 3 && gable_import_klu(s, other, numeric, &c, NULL) != GABLE_ERR_ARGUMENT)
    wrong = "objects of two matrices";
  klu_free_numeric(&of_other, &own);
  klu_z_free_numeric(&of_complex, &own);
  klu_free_symbolic(&other, &own);
  return wrong;
}

const char *from_refuses(gable_solver *s)
{
  klu_common after = c;
  const char *wrong = refuses_others(s, 0);
  if (gable_import_klu(s, symbolic, NULL, &c, NULL) != GABLE_ERR_ARGUMENT) return "no numeric object";
  if (!wrong) wrong = refuses_others(s, 4);
  if (wrong) return wrong;
  after.status = KLU_SINGULAR; /* of a later matrix */
  return gable_import_klu(s, symbolic, numeric, &after, NULL) ? "a status of another matrix" : NULL;
}
