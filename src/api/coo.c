/* coo.c: gable_matrix_from_coo, gable_coo_update: checks arguments, then calls src/sparse/coo. */
#include "sparse/coo.h"

#include "api/entry.h"
#include "api/structs.h"
#include "sparse/matrix.h"

static gable_status check_view(const gable_coo_view *v)
{
  GI_CHECK(v->n_rows >= 0 && v->n_cols >= 0, GABLE_ERR_ARGUMENT, "triplets of a matrix of %d by %d", v->n_rows,
           v->n_cols);
  GI_CHECK(v->count >= 0, GABLE_ERR_ARGUMENT, "count is %lld", (long long)v->count);
  GI_CHECK(v->base == 0 || v->base == 1, GABLE_ERR_ARGUMENT, "base of the triplets is %d: 0 or 1", v->base);
  GI_CHECK(v->value_type >= GABLE_TYPE_S && v->value_type <= GABLE_TYPE_Z, GABLE_ERR_ARGUMENT,
           "value_type of the triplets is %d: GABLE_TYPE_S, _D, _C or _Z", (int)v->value_type);
  GI_CHECK((int)v->structure >= 0 && v->structure <= GABLE_STRUCTURE_SPD, GABLE_ERR_ARGUMENT,
           "structure of the triplets is %d: GABLE_STRUCTURE_..", (int)v->structure);
  GI_CHECK((int)v->part >= 0 && v->part <= GABLE_PART_UPPER, GABLE_ERR_ARGUMENT,
           "part of the triplets is %d: GABLE_PART_FULL, _LOWER or _UPPER", (int)v->part);
  GI_CHECK(v->n_rows == v->n_cols || (v->structure == GABLE_STRUCTURE_GENERAL && v->part == GABLE_PART_FULL),
           GABLE_ERR_ARGUMENT, "a symmetric or triangular matrix must be square; this one is %d by %d", v->n_rows,
           v->n_cols);
  GI_CHECK((v->row && v->col) || !v->count, GABLE_ERR_ARGUMENT, "the triplets have no %s", v->row ? "col" : "row");
  return GABLE_OK;
}

/* Values for a pattern, which a stays after an error. */
static gable_status take_values(const gable_coo *map, const void *val, gable_matrix *a)
{
  gable_status status = GABLE_OK;
  a->csc.is_complex = map->value_type == GABLE_TYPE_C || map->value_type == GABLE_TYPE_Z;
  GI_ALLOC(a->ctx, a->csc.val, map->nnz * (1 + a->csc.is_complex));
  GI_TRY(gi_coo_sum(map, val, &a->csc));
  a->field = a->csc.is_complex ? GABLE_FIELD_COMPLEX : GABLE_FIELD_REAL;
done:
  if (!status) return status;
  gi_free(a->ctx, a->csc.val);
  a->csc.val = NULL;
  a->csc.is_complex = 0;
  return status;
}

gable_status gable_matrix_from_coo(gable_context *ctx, const gable_coo_view *triplets, gable_coo **map,
                                   gable_matrix **out)
{
  gable_status status = GABLE_OK;
  gable_coo_view v;
  gable_coo *made = NULL;
  gable_matrix *a = NULL;
  GI_REQUIRE(ctx && triplets && out, GABLE_ERR_ARGUMENT, "ctx, triplets or out is NULL");
  *out = NULL;
  if (map) *map = NULL;
  GI_TRY(gi_take_coo_view(triplets, &v));
  GI_TRY(check_view(&v));
  GI_TRY(gi_matrix_create(ctx, &a));
  GI_TRY(gi_coo_create(ctx, &v, &made, &a->csc));
  if (v.val) GI_TRY(take_values(made, v.val, a));
  a->structure = v.structure;
  a->part = v.part;
  a->duplicates = made->start[made->nnz] - made->nnz;
  *out = a;
  a = NULL;
  if (!map) goto done;
  *map = made;
  made = NULL;
done:
  gi_coo_destroy(&made);
  gable_matrix_destroy(&a);
  return status;
}

gable_status gable_coo_update(const gable_coo *map, const void *val, gable_matrix *a)
{
  GI_CHECK(map && a, GABLE_ERR_ARGUMENT, "%s is NULL", map ? "a" : "map");
  GI_CHECK(val || !map->count, GABLE_ERR_ARGUMENT, "val is NULL");
  const int is_complex = map->value_type == GABLE_TYPE_C || map->value_type == GABLE_TYPE_Z;
  GI_CHECK(a->csc.n_rows == map->n_rows && a->csc.n_cols == map->n_cols && a->csc.ptr[map->n_cols] == map->nnz &&
               (!a->csc.val || a->csc.is_complex == is_complex),
           GABLE_ERR_MISMATCH, "the matrix is not one that was assembled with this map");
  if (a->csc.val)
    GI_PASS(gi_coo_sum(map, val, &a->csc));
  else
    GI_PASS(take_values(map, val, a));
  return GABLE_OK;
}

void gable_coo_destroy(gable_coo **map)
{
  gi_coo_destroy(map);
}
