/* shape.c: checks of the caller's views. */
#include "sparse/view.h"
#include "trisolve/plan.h"

gable_status gi_shape_from(const gable_matrix_view *a, gable_part uplo, gi_shape *s)
{
  gable_status status = GABLE_OK;
  GI_TRY(gi_view_check(a));
  GI_REQUIRE(a->n_rows == a->n_cols, GABLE_ERR_ARGUMENT, "the matrix is %d x %d, not square", a->n_rows, a->n_cols);
  GI_REQUIRE(a->value_type == GABLE_TYPE_D || a->value_type == GABLE_TYPE_S, GABLE_ERR_UNAVAILABLE,
             "value_type is %d: triangular solves know S and D", (int)a->value_type);
  *s = (gi_shape){.n = a->n_rows,
                  .format = a->format,
                  .base = a->base,
                  .offset_type = a->offset_type,
                  .value_type = a->value_type,
                  .uplo = uplo,
                  .space = a->space};
  if (a->space == GABLE_SPACE_HOST) {
    const gable_off begin = gi_offset_at(a, 0), end = gi_offset_at(a, s->n);
    s->nnz = end - s->base;
    GI_REQUIRE(begin == s->base, GABLE_ERR_ARGUMENT, "ptr[0] is %lld, the base is %d", (long long)begin, s->base);
    GI_REQUIRE(s->nnz >= 0, GABLE_ERR_ARGUMENT, "the last offset is %lld", (long long)end);
    GI_REQUIRE(s->nnz <= (gable_off)s->n * s->n, GABLE_ERR_ARGUMENT,
               "by the last offset, %lld, the matrix of %d rows has more entries than places", (long long)end, s->n);
    GI_REQUIRE(a->idx || !s->nnz, GABLE_ERR_ARGUMENT, "idx is NULL");
  }
done:
  return status;
}
