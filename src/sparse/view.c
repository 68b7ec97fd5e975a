#include "sparse/view.h"

gable_status gi_view_check(const gable_matrix_view *v)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(v, GABLE_ERR_ARGUMENT, "the matrix is NULL");
  GI_REQUIRE(v->n_rows >= 0 && v->n_cols >= 0, GABLE_ERR_ARGUMENT, "a view of %d by %d", v->n_rows, v->n_cols);
  GI_REQUIRE(v->format == GABLE_FORMAT_CSR || v->format == GABLE_FORMAT_CSC, GABLE_ERR_ARGUMENT,
             "format of the view is %d: CSR or CSC", (int)v->format);
  GI_REQUIRE(v->base == 0 || v->base == 1, GABLE_ERR_ARGUMENT, "base of the view is %d: 0 or 1", v->base);
  GI_REQUIRE(v->offset_type == GABLE_TYPE_I32 || v->offset_type == GABLE_TYPE_I64, GABLE_ERR_ARGUMENT,
             "offset_type of the view is %d: GABLE_TYPE_I32 or GABLE_TYPE_I64", (int)v->offset_type);
  GI_REQUIRE(v->value_type >= GABLE_TYPE_S && v->value_type <= GABLE_TYPE_Z, GABLE_ERR_ARGUMENT,
             "value_type of the view is %d: GABLE_TYPE_S, _D, _C or _Z", (int)v->value_type);
  GI_REQUIRE((int)v->structure >= 0 && v->structure <= GABLE_STRUCTURE_SPD, GABLE_ERR_ARGUMENT,
             "structure of the view is %d: GABLE_STRUCTURE_..", (int)v->structure);
  GI_REQUIRE((int)v->part >= 0 && v->part <= GABLE_PART_UPPER, GABLE_ERR_ARGUMENT,
             "part of the view is %d: GABLE_PART_FULL, _LOWER or _UPPER", (int)v->part);
  GI_REQUIRE(v->space == GABLE_SPACE_HOST || v->space == GABLE_SPACE_DEVICE, GABLE_ERR_ARGUMENT,
             "space of the view is %d: GABLE_SPACE_HOST or GABLE_SPACE_DEVICE", (int)v->space);
  GI_REQUIRE(v->ptr, GABLE_ERR_ARGUMENT, "the view has no ptr");
  GI_REQUIRE(v->n_rows == v->n_cols || (v->structure == GABLE_STRUCTURE_GENERAL && v->part == GABLE_PART_FULL),
             GABLE_ERR_ARGUMENT, "a symmetric or triangular view must be square; this one is %d by %d", v->n_rows,
             v->n_cols);
done:
  return status;
}

gable_status gi_bound_check(gable_idx n, gable_off nnz, gable_type value_type)
{
  const gable_off most = (gable_off)1 << 52;
  gable_status status = GABLE_OK;
  GI_REQUIRE(n >= 0 && nnz >= 0 && nnz <= most, GABLE_ERR_ARGUMENT, "%d rows with %lld entries", n, (long long)nnz);
  GI_REQUIRE(value_type == GABLE_TYPE_S || value_type == GABLE_TYPE_D, GABLE_ERR_ARGUMENT,
             "value_type is %d: GABLE_TYPE_S or GABLE_TYPE_D", (int)value_type);
done:
  return status;
}
