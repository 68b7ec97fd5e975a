/* matrix_check.c: what a matrix just read must not contradict: its field, its structure, and what sums of duplicates
 * made of its values.  What passes is what the writers and the solvers take. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include "sparse/file/binary.h"
#include "sparse/matrix.h"
#include "sparse/symmetry.h"

/* The value of a diagonal entry. */
static gable_status check_diagonal(const char *name, const gable_matrix *a, gable_idx j, const double *value)
{
  gable_status status = GABLE_OK;
  const int words = gi_csc_words(&a->csc);
  GI_REQUIRE(a->structure != GABLE_STRUCTURE_SKEW || (value[0] == 0 && (words == 1 || value[1] == 0)), GABLE_ERR_FORMAT,
             "%s: a skew-symmetric matrix has no diagonal, this one an entry in row %d (counted from 0)", name, j);
  GI_REQUIRE(a->structure != GABLE_STRUCTURE_HERMITIAN || words == 1 || value[1] == 0, GABLE_ERR_FORMAT,
             "%s: the diagonal of a hermitian matrix is real, this one has %g i in row %d (counted from 0)", name,
             words == 2 ? value[1] : 0.0, j);
done:
  return status;
}

static gable_status check_value(const char *name, const gable_read_options *options, const gable_matrix *a, gable_idx i,
                                gable_idx j, double value)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(options->accept_nonfinite || isfinite(value), GABLE_ERR_NOT_FINITE,
             "%s: entries given twice sum to %g in row %d, column %d (counted from 0)", name, value, i, j);
  GI_REQUIRE(a->field != GABLE_FIELD_INTEGER || !isfinite(value) || value == trunc(value), GABLE_ERR_FORMAT,
             "%s: an integer matrix holds %.17g in row %d, column %d (counted from 0)", name, value, i, j);
done:
  return status;
}

gable_status gi_matrix_check(const gi_source *source, const gable_read_options *options, const gable_matrix *a)
{
  gable_status status = GABLE_OK;
  const gi_csc *c = &a->csc;
  const char *name = gi_source_name(source);
  const int words = gi_csc_words(c);
  char header[40] =
      ":3"; /* the type of a Rutherford-Boeing file; what Matrix Market's first line says was checked there */
  if (!gi_source_line_number(source))
    snprintf(header, sizeof header, ": byte %d", (int)offsetof(gi_binary_header, structure));
  GI_REQUIRE(a->structure != GABLE_STRUCTURE_HERMITIAN || a->field == GABLE_FIELD_COMPLEX, GABLE_ERR_FORMAT,
             "%s%s: a hermitian matrix that is not complex", name, header);
  GI_REQUIRE(a->structure != GABLE_STRUCTURE_SPD || a->field != GABLE_FIELD_COMPLEX, GABLE_ERR_FORMAT,
             "%s%s: a symmetric positive definite matrix that is complex", name, header);
  GI_REQUIRE(a->structure != GABLE_STRUCTURE_SKEW || a->field != GABLE_FIELD_PATTERN, GABLE_ERR_FORMAT,
             "%s%s: a skew-symmetric pattern", name, header);
  for (gable_idx j = 0; j < c->n_cols && words; j++)
    for (gable_off p = c->ptr[j]; p < c->ptr[j + 1]; p++) {
      const double *value = c->val + words * p;
      for (int w = 0; w < words; w++) GI_TRY(check_value(name, options, a, c->idx[p], j, value[w]));
      if (c->idx[p] == j) GI_TRY(check_diagonal(name, a, j, value));
    }
  if (a->field == GABLE_FIELD_COMPLEX || !gi_declares_symmetry(a->structure, a->part)) goto done;
  status = gi_symmetry_check(a->ctx, c, 0, a->structure, NULL, GABLE_TYPE_D, c->val);
  GI_REQUIRE(status != GABLE_ERR_ARGUMENT, GABLE_ERR_FORMAT,
             "%s%s: both triangles are stored, and contradict the symmetry that the header declares", name, header);
done:
  return status;
}
