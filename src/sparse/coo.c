/* coo.c: triplets become a compressed matrix: a stable counting sort by rows, then one by columns, whose outcome is
 * kept as the map from triplets to entries. */
#include "sparse/coo.h"

#include <math.h>

#include "base/type_size.h"

static int is_kept(gable_part part, gable_idx i, gable_idx j)
{
  return part == GABLE_PART_FULL || (part == GABLE_PART_LOWER ? i >= j : i <= j);
}

static gable_status check_positions(const gable_coo_view *v)
{
  gable_status status = GABLE_OK;
  const int64_t base = v->base;
  for (gable_off k = 0; k < v->count; k++) {
    const int64_t i = v->row[k], j = v->col[k];
    GI_REQUIRE(i >= base && i < base + v->n_rows, GABLE_ERR_ARGUMENT,
               "triplet %lld (counted from 0) is at row %lld, column %lld: rows go from %lld to %lld", (long long)k,
               (long long)i, (long long)j, (long long)base, (long long)(base + v->n_rows - 1));
    GI_REQUIRE(j >= base && j < base + v->n_cols, GABLE_ERR_ARGUMENT,
               "triplet %lld (counted from 0) is at row %lld, column %lld: columns go from %lld to %lld", (long long)k,
               (long long)i, (long long)j, (long long)base, (long long)(base + v->n_cols - 1));
  }
done:
  return status;
}

/* cursor [n+1]: counts at k+1 become where bucket k begins. */
static void accumulate(gable_off *cursor, gable_idx n)
{
  for (gable_idx k = 0; k < n; k++) cursor[k + 1] += cursor[k];
}

/* order [kept]: the triplets of the wanted part by columns, by rows within a column, else as they are given. */
static gable_status sort_triplets(gable_context *ctx, const gable_coo_view *v, gable_off **out, gable_off *kept)
{
  gable_status status = GABLE_OK;
  const gable_idx base = (gable_idx)v->base;
  gable_off *row_begin = NULL, *col_begin = NULL, *by_rows = NULL, *order = NULL;
  GI_ALLOC_ZERO(ctx, row_begin, (gable_off)v->n_rows + 1);
  GI_ALLOC_ZERO(ctx, col_begin, (gable_off)v->n_cols + 1);
  *kept = 0;
  for (gable_off k = 0; k < v->count; k++) {
    const gable_idx i = v->row[k] - base, j = v->col[k] - base;
    if (!is_kept(v->part, i, j)) continue;
    row_begin[i + 1]++;
    col_begin[j + 1]++;
    ++*kept;
  }
  accumulate(row_begin, v->n_rows);
  accumulate(col_begin, v->n_cols);
  GI_ALLOC(ctx, by_rows, *kept);
  GI_ALLOC(ctx, order, *kept);
  for (gable_off k = 0; k < v->count; k++)
    if (is_kept(v->part, v->row[k] - base, v->col[k] - base)) by_rows[row_begin[v->row[k] - base]++] = k;
  for (gable_off p = 0; p < *kept; p++) order[col_begin[v->col[by_rows[p]] - base]++] = by_rows[p];
  *out = order;
  order = NULL;
done:
  GI_FREE(ctx, row_begin, col_begin, by_rows, order);
  return status;
}

/* Neighbours in the sorted order at one place are one entry. */
static gable_status find_entries(const gable_coo_view *v, gable_off kept, gable_coo *map, gi_csc *pattern)
{
  gable_status status = GABLE_OK;
  const gable_off *order = map->source;
  for (gable_off p = 0; p < kept; p++)
    map->nnz += !p || v->col[order[p]] != v->col[order[p - 1]] || v->row[order[p]] != v->row[order[p - 1]];
  GI_ALLOC(map->ctx, map->start, map->nnz + 1);
  GI_TRY(gi_csc_init(map->ctx, v->n_rows, v->n_cols, map->nnz, 0, pattern));
  gable_off q = 0;
  for (gable_off p = 0; p < kept; p++) {
    const gable_idx i = v->row[order[p]] - (gable_idx)v->base, j = v->col[order[p]] - (gable_idx)v->base;
    if (p && i == v->row[order[p - 1]] - (gable_idx)v->base && j == v->col[order[p - 1]] - (gable_idx)v->base) continue;
    map->start[q] = p;
    pattern->idx[q++] = i;
    pattern->ptr[j + 1]++;
  }
  map->start[q] = kept;
  accumulate(pattern->ptr, v->n_cols);
done:
  return status;
}

gable_status gi_coo_create(gable_context *ctx, const gable_coo_view *v, gable_coo **out, gi_csc *pattern)
{
  gable_status status = GABLE_OK;
  gable_coo *map = NULL;
  gable_off kept = 0;
  *out = NULL;
  GI_TRY(check_positions(v));
  GI_ALLOC_ZERO(ctx, map, 1);
  map->ctx = ctx;
  map->n_rows = v->n_rows;
  map->n_cols = v->n_cols;
  map->value_type = v->value_type;
  map->count = v->count;
  GI_TRY(sort_triplets(ctx, v, &map->source, &kept));
  GI_TRY(find_entries(v, kept, map, pattern));
  *out = map;
  map = NULL;
done:
  gi_coo_destroy(&map);
  return status;
}

void gi_coo_destroy(gable_coo **map)
{
  if (!map || !*map) return;
  gable_coo *gone = *map;
  *map = NULL;
  GI_FREE(gone->ctx, gone->start, gone->source, gone);
}

static double sum_of(const gable_coo *map, const void *val, gable_off q, int w)
{
  gable_off p = map->start[q];
  double sum = gi_number_at(map->value_type, val, map->source[p++], w);
  for (; p < map->start[q + 1]; p++) sum += gi_number_at(map->value_type, val, map->source[p], w);
  return sum;
}

/* Why the sum of entry q of column j is no number: one of its triplets, or their sum. */
static gable_status refuse(const gable_coo *map, const void *val, gable_idx i, gable_idx j, gable_off q, int w)
{
  gable_status status = GABLE_OK;
  for (gable_off p = map->start[q]; p < map->start[q + 1]; p++) {
    const double value = gi_number_at(map->value_type, val, map->source[p], w);
    GI_REQUIRE(isfinite(value), GABLE_ERR_NOT_FINITE, "triplet %lld (row %d, column %d) (counted from 0) is %g",
               (long long)map->source[p], i, j, value);
  }
  GI_REQUIRE(0, GABLE_ERR_NOT_FINITE, "triplets sum to %g in row %d, column %d (counted from 0)",
             sum_of(map, val, q, w), i, j);
done:
  return status;
}

gable_status gi_coo_sum(const gable_coo *map, const void *val, gi_csc *a)
{
  gable_status status = GABLE_OK;
  const int words = 1 + a->is_complex;
  for (gable_idx j = 0; j < a->n_cols; j++)
    for (gable_off q = a->ptr[j]; q < a->ptr[j + 1]; q++)
      for (int w = 0; w < words; w++)
        if (!isfinite(sum_of(map, val, q, w))) GI_TRY(refuse(map, val, a->idx[q], j, q, w));
  for (gable_off q = 0; q < map->nnz; q++)
    for (int w = 0; w < words; w++) a->val[words * q + w] = sum_of(map, val, q, w);
done:
  return status;
}
