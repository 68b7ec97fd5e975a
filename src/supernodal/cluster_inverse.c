/* cluster_inverse.c: inverse_J by tiles: each is one product of dense blocks.
 *
 *   LU:                upper_J lower_J, of their first w columns and rows
 *   Cholesky, L D L^T: lower_J^T D^-1 lower_J, D the unit matrix of a Cholesky factor; tiles on and below the diagonal
 *
 * Column k of lower_J is zero above the supernode that k belongs to, row k of upper_J left of k. */
#include "supernodal/cluster_inverse.h"

#include <string.h>

#include "kernels/dense/dense.h"

enum { TILE = 128, DEPTH = 256 }; /* a product of TILE x DEPTH and DEPTH x TILE at a time: they stay in a cache */

/* Rows from `row` on and columns from `column` on of inverse_J. */
typedef struct tile {
  gable_idx j, row, column;
} tile;

/* Scratch of one thread. */
typedef struct room {
  double *right; /* [DEPTH][TILE] -D^-1 lower_J, columns of the tile */
  double *left;  /* [TILE][DEPTH] of upper_J or lower_J^T, rows of the tile */
  double *out;   /* [TILE][TILE] */
  double *pack;  /* of the dense kernels */
} room;

static gable_off list_tiles(const gi_cluster_panels *p, tile *to)
{
  gable_off count = 0;
  for (gable_idx j = p->clusters->count - 1; j >= 0; j--) { /* the large ones first */
    const gable_idx w = gi_cluster_width(p->clusters, j);
    for (gable_idx row = 0; row < w; row += TILE)
      for (gable_idx column = 0; column < (p->upper ? w : row + 1); column += TILE, count++)
        if (to) to[count] = (tile){j, row, column};
  }
  return count;
}

static double value(const gi_cluster_panels *p, const void *values, gable_off at)
{
  return p->type == GABLE_TYPE_S ? (double)((const float *)values)[at] : ((const double *)values)[at];
}

/* The first column of the supernode that column k of cluster j belongs to. */
static gable_idx start_of(const gi_clusters *c, gable_idx j, gable_idx k)
{
  gable_idx start = 0;
  for (gable_idx m = c->member_ptr[j];; m++) {
    const gable_idx end = start + gi_layout_width(c->layout, c->member[m]);
    if (k < end) return start;
    start = end;
  }
}

/* Entry (m, k) of -D^-1 lower_J. */
static double right_entry(const gi_cluster_panels *p, gable_idx j, gable_idx w, gable_idx m, gable_idx k)
{
  const gable_off at = p->lower_at[j] + (gable_off)m * w + k;
  const gable_idx first = p->clusters->first[j] + m;
  if (p->kind != GI_LDLT) return -value(p, p->lower, at);
  double sum = value(p, p->lower, at) * p->dinv[first];
  if (m + 1 < w) sum += value(p, p->lower, at + w) * p->coupling[first];
  if (m > 0) sum += value(p, p->lower, at - w) * p->coupling[first - 1];
  return -sum;
}

/* Columns begin .. end-1 of the tile's left block. */
static void fill_left(const gi_cluster_panels *p, const tile *t, gable_idx w, gable_idx rows, gable_idx begin,
                      gable_idx end, double *left)
{
  const gable_off all = w + p->clusters->u.ptr[t->j + 1] - p->clusters->u.ptr[t->j];
  if (p->upper) {
    for (gable_idx i = 0; i < rows; i++)
      for (gable_idx m = begin; m < end; m++)
        left[i * DEPTH + m - begin] = value(p, p->upper, p->upper_at[t->j] + (t->row + i) * all + m);
    return;
  }
  for (gable_idx m = begin; m < end; m++)
    for (gable_idx i = 0; i < rows; i++)
      left[i * DEPTH + m - begin] = value(p, p->lower, p->lower_at[t->j] + (gable_off)m * w + t->row + i);
}

static void store(const gi_cluster_panels *p, gable_off at, double v)
{
  if (p->type == GABLE_TYPE_S)
    ((float *)p->inverse)[at] = (float)v;
  else
    ((double *)p->inverse)[at] = v;
}

static void compute_tile(const gi_cluster_panels *p, const tile *t, const room *r)
{
  const gi_clusters *c = p->clusters;
  const gik_tools tools = {r->pack, NULL};
  const gable_idx w = gi_cluster_width(c, t->j);
  const gable_idx rows = w - t->row < TILE ? w - t->row : TILE, columns = w - t->column < TILE ? w - t->column : TILE;
  const gable_idx above = start_of(c, t->j, t->column), left = p->upper ? t->row : start_of(c, t->j, t->row);
  const gable_idx from = above > left ? above : left;
  for (gable_idx i = 0; i < rows; i++) memset(r->out + i * TILE, 0, (size_t)columns * sizeof *r->out);
  for (gable_idx begin = from, end; begin < w; begin = end) {
    end = w - begin < DEPTH ? w : begin + DEPTH;
    for (gable_idx m = begin; m < end; m++)
      for (gable_idx k = 0; k < columns; k++)
        r->right[(m - begin) * TILE + k] = right_entry(p, t->j, w, m, t->column + k);
    fill_left(p, t, w, rows, begin, end, r->left);
    gik_multiply_large_d(columns, rows, end - begin, r->right, TILE, r->left, DEPTH, 1, r->out, TILE, NULL, NULL, 0,
                         &tools);
  }
  for (gable_idx i = 0; i < rows; i++)
    for (gable_idx k = 0; k < columns; k++)
      store(p, p->inverse_at[t->j] + (gable_off)(t->row + i) * w + t->column + k, r->out[i * TILE + k]);
  if (p->upper || t->row == t->column) return;
  for (gable_idx k = 0; k < columns; k++)
    for (gable_idx i = 0; i < rows; i++)
      store(p, p->inverse_at[t->j] + (gable_off)(t->column + k) * w + t->row + i, r->out[i * TILE + k]);
}

static gable_status room_init(gable_context *ctx, room *r)
{
  gable_status status = GABLE_OK;
  GI_ALLOC(ctx, r->right, DEPTH * TILE);
  GI_ALLOC(ctx, r->left, TILE * DEPTH);
  GI_ALLOC(ctx, r->out, TILE * TILE);
  GI_ALLOC(ctx, r->pack, gik_pack_size(TILE, TILE, DEPTH));
done:
  return status;
}

static void room_release(gable_context *ctx, room *r)
{
  gi_free(ctx, r->right);
  gi_free(ctx, r->left);
  gi_free(ctx, r->out);
  gi_free(ctx, r->pack);
}

gable_status gi_cluster_inverses_update(gable_context *ctx, gi_cluster_panels *p)
{
  gable_status status = GABLE_OK;
  const int threads = ctx->threads;
  const gable_off tiles = list_tiles(p, NULL);
  tile *list = NULL;
  room *rooms = NULL;
  GI_ALLOC(ctx, list, tiles);
  list_tiles(p, list);
  GI_ALLOC_ZERO(ctx, rooms, threads);
  for (int t = 0; t < threads; t++) GI_TRY(room_init(ctx, &rooms[t]));
  GI_OMP(parallel for num_threads(threads) schedule(dynamic, 2))
  for (gable_off k = 0; k < tiles; k++) compute_tile(p, &list[k], &rooms[omp_get_thread_num()]);
done:
  for (int t = 0; rooms && t < threads; t++) room_release(ctx, &rooms[t]);
  gi_free(ctx, rooms);
  gi_free(ctx, list);
  return status;
}
