/* cluster_panels.c: operators of clusters by substitution with the unit matrix, and F in solve order. */
#include "supernodal/cluster_panels.h"

#include <string.h>

#include "supernodal/cluster_operator.h"

/* F(i,j) by rows (side 0) or columns (side 1), entries in the order of the factor's off. */
static gable_status make_off(gable_context *ctx, const gi_clusters *c, const gable_idx *place, int side,
                             gi_cluster_panels *p)
{
  gable_status status = GABLE_OK;
  const gi_layout *y = c->layout;
  const gable_off nnz = y->off_ptr[y->n];
  const size_t bytes = p->type == GABLE_TYPE_S ? sizeof(float) : sizeof(double);
  gable_off *ptr = NULL;
  GI_ALLOC_ZERO(ctx, p->off_ptr[side], y->n + 2);
  GI_ALLOC(ctx, p->off_col[side], nnz);
  GI_ALLOC(ctx, p->off_from[side], nnz);
  p->off[side] = gi_alloc(ctx, nnz, bytes);
  GI_REQUIRE(p->off[side], GABLE_ERR_MEMORY, "out of memory: %.1f MB for entries right of the diagonal blocks",
             (double)nnz * (double)bytes / 1e6);
  ptr = p->off_ptr[side];
  for (gable_idx j = 0; j < y->n; j++)
    for (gable_off k = y->off_ptr[j]; k < y->off_ptr[j + 1]; k++) ptr[place[side ? j : y->off_row[k]] + 2]++;
  for (gable_idx i = 0; i < y->n; i++) ptr[i + 2] += ptr[i + 1];
  for (gable_idx j = 0; j < y->n; j++)
    for (gable_off k = y->off_ptr[j]; k < y->off_ptr[j + 1]; k++) {
      const gable_idx row = place[side ? j : y->off_row[k]], col = place[side ? y->off_row[k] : j];
      const gable_off at = ptr[row + 1]++;
      p->off_col[side][at] = col;
      p->off_from[side][at] = k;
    }
done:
  return status;
}

static gable_status make_both_off(gable_context *ctx, const gi_clusters *c, gi_cluster_panels *p)
{
  gable_status status = GABLE_OK;
  gable_idx *place = NULL;
  if (!c->layout->off_ptr || p->kind != GI_LU) goto done;
  GI_ALLOC(ctx, place, c->n);
  for (gable_idx k = 0; k < c->n; k++) place[c->order[k]] = k;
  GI_TRY(make_off(ctx, c, place, 0, p));
  GI_TRY(make_off(ctx, c, place, 1, p));
done:
  gi_free(ctx, place);
  return status;
}

static gable_status make_offsets(gable_context *ctx, const gi_clusters *c, const gi_cluster_side *side, gable_off **out)
{
  gable_status status = GABLE_OK;
  gable_off *at;
  GI_ALLOC(ctx, *out, c->count + 1);
  at = *out;
  at[0] = 0;
  for (gable_idx j = 0; j < c->count; j++) {
    const gable_off w = gi_cluster_width(c, j);
    at[j + 1] = at[j] + w * (w + side->ptr[j + 1] - side->ptr[j]);
  }
done:
  return status;
}

static gable_status make_values(gable_context *ctx, gable_off count, gable_type type, void **out)
{
  gable_status status = GABLE_OK;
  const size_t bytes = type == GABLE_TYPE_S ? sizeof(float) : sizeof(double);
  *out = gi_alloc(ctx, count, bytes);
  GI_REQUIRE(*out, GABLE_ERR_MEMORY, "out of memory: %.1f MB for the operators of clusters",
             (double)count * (double)bytes / 1e6);
done:
  return status;
}

gable_status gi_cluster_panels_create(gable_context *ctx, const gi_clusters *clusters, gi_factor_kind kind,
                                      gable_type type, gi_cluster_panels **out)
{
  gable_status status = GABLE_OK;
  gi_cluster_panels *p = NULL;
  GI_ALLOC_ZERO(ctx, p, 1);
  p->clusters = clusters;
  p->kind = kind;
  p->type = type;
  GI_TRY(make_offsets(ctx, clusters, &clusters->l, &p->lower_at));
  GI_TRY(make_values(ctx, p->lower_at[clusters->count], type, &p->lower));
  if (kind == GI_LU) {
    GI_TRY(make_offsets(ctx, clusters, &clusters->u, &p->upper_at));
    GI_TRY(make_values(ctx, p->upper_at[clusters->count], type, &p->upper));
  }
  GI_ALLOC(ctx, p->dinv, clusters->n);
  if (kind == GI_LDLT) GI_ALLOC(ctx, p->coupling, clusters->n);
  GI_TRY(make_both_off(ctx, clusters, p));
  *out = p;
  p = NULL;
done:
  gi_cluster_panels_destroy(ctx, &p);
  return status;
}

void gi_cluster_panels_destroy(gable_context *ctx, gi_cluster_panels **panels)
{
  gi_cluster_panels *p = panels ? *panels : NULL;
  if (!p) return;
  *panels = NULL;
  gi_free(ctx, p->lower_at);
  gi_free(ctx, p->upper_at);
  gi_free(ctx, p->lower);
  gi_free(ctx, p->upper);
  gi_free(ctx, p->dinv);
  gi_free(ctx, p->coupling);
  for (int side = 0; side < 2; side++) {
    gi_free(ctx, p->off_ptr[side]);
    gi_free(ctx, p->off_col[side]);
    gi_free(ctx, p->off_from[side]);
    gi_free(ctx, p->off[side]);
  }
  gi_free(ctx, p);
}

gable_off gi_cluster_panels_bytes(const gi_cluster_panels *p)
{
  const gi_clusters *c = p->clusters;
  const gable_off value = p->type == GABLE_TYPE_S ? 4 : 8, off = p->off[0] ? p->off_ptr[0][c->n] : 0;
  const gable_off values = p->lower_at[c->count] + (p->upper ? p->upper_at[c->count] : 0);
  return values * value + 16 * c->count + (p->coupling ? 16 : 8) * c->n + 2 * off * (12 + value);
}

static void put(const gi_cluster_panels *p, void *values, gable_off at, const double *from, gable_off count)
{
  if (p->type == GABLE_TYPE_S)
    for (gable_off k = 0; k < count; k++) ((float *)values)[at + k] = (float)from[k];
  else
    memcpy((double *)values + at, from, (size_t)count * sizeof *from);
}

static void update_vectors(const gi_factor *f, gi_cluster_panels *p)
{
  const gi_clusters *c = p->clusters;
  const size_t bytes = p->type == GABLE_TYPE_S ? sizeof(float) : sizeof(double);
  for (gable_idx k = 0; k < c->n; k++) p->dinv[k] = gi_factor_value(f, f->dinv, c->order[k]);
  for (gable_idx k = 0; p->coupling && k < c->n; k++) p->coupling[k] = gi_factor_value(f, f->coupling, c->order[k]);
  for (int side = 0; side < 2 && p->off[0]; side++)
    for (gable_off k = 0; k < p->off_ptr[side][c->n]; k++)
      memcpy((char *)p->off[side] + (size_t)k * bytes, (const char *)f->off + (size_t)p->off_from[side][k] * bytes,
             bytes);
}

gable_status gi_cluster_panels_update(gable_context *ctx, const gi_factor *f, gi_cluster_panels *p)
{
  gable_status status = GABLE_OK;
  const gi_clusters *c = p->clusters;
  const int threads = ctx->threads;
  gable_off most = 0;
  double *dense = NULL;
  gable_idx *local = NULL;
  for (gable_idx j = 0; j < c->count; j++) {
    const gable_off size = p->lower_at[j + 1] - p->lower_at[j],
                    other = p->upper ? p->upper_at[j + 1] - p->upper_at[j] : 0;
    if (size > most) most = size;
    if (other > most) most = other;
  }
  GI_ALLOC(ctx, dense, threads * most);
  GI_ALLOC(ctx, local, (gable_off)threads * c->n);
  update_vectors(f, p);
  GI_OMP(parallel for num_threads(threads) schedule(dynamic))
  for (gable_idx j = 0; j < c->count; j++) {
    const int me = omp_get_thread_num();
    const gi_operator_room room = {dense + me * most, local + (gable_off)me * c->n};
    gi_lower_operator(c, f, j, &room);
    put(p, p->lower, p->lower_at[j], room.dense, p->lower_at[j + 1] - p->lower_at[j]);
    if (!p->upper) continue;
    gi_upper_operator(c, f, j, &room);
    put(p, p->upper, p->upper_at[j], room.dense, p->upper_at[j + 1] - p->upper_at[j]);
  }
done:
  gi_free(ctx, dense);
  gi_free(ctx, local);
  return status;
}
