/* cluster_panels.c: where operators of clusters lie, and F in solve order. */
#include "base/type_size.h"
#include "device/device.h"
#include "supernodal/clusters/cluster_preparation.h"

/* F(i,j) by rows (side 0) or columns (side 1), entries in the order of the factor's off. */
static gable_status make_off(gable_context *ctx, const gi_clusters *c, const gable_idx *place, int side,
                             gi_cluster_panels *p)
{
  gable_status status = GABLE_OK;
  const gi_layout *y = c->layout;
  const gable_off nnz = y->off_ptr[y->n];
  gable_off *ptr = NULL;
  GI_ALLOC_ZERO(ctx, p->off_ptr[side], y->n + 2);
  GI_ALLOC(ctx, p->off_col[side], nnz);
  GI_ALLOC(ctx, p->off_from[side], nnz);
  GI_TRY(gi_cluster_to_device(ctx, NULL, nnz, gi_type_size(p->type), &p->off[side], &p->device_bytes));
  ptr = p->off_ptr[side];
  for (gable_idx j = 0; j < y->n; j++)
    for (gable_off k = y->off_ptr[j]; k < y->off_ptr[j + 1]; k++) ptr[place[side ? j : y->off_row[k]] + 2]++;
  for (gable_idx i = 0; i < y->n; i++) ptr[i + 2] += ptr[i + 1];
  for (gable_idx j = 0; j < y->n; j++)
    for (gable_off k = y->off_ptr[j]; k < y->off_ptr[j + 1]; k++) {
      const gable_idx row = place[side ? j : y->off_row[k]], col = place[side ? y->off_row[k] : j];
      const gable_off at = ptr[row + 1]++;
      p->off_col[side][at] = col;
      p->off_from[side][at] = (gable_idx)k;
    }
done:
  return status;
}

static gable_status make_both_off(gable_context *ctx, const gi_clusters *c, gi_cluster_panels *p)
{
  gable_status status = GABLE_OK;
  gable_idx *place = NULL;
  if (!c->layout->off_ptr || p->kind != GI_LU) goto done;
  const gable_off nnz = c->layout->off_ptr[c->n];
  GI_REQUIRE(2 * nnz < INT32_MAX, GABLE_ERR_LIMIT, "%lld entries right of the diagonal blocks", (long long)nnz);
  GI_ALLOC(ctx, place, c->n);
  for (gable_idx k = 0; k < c->n; k++) place[c->order[k]] = k;
  GI_TRY(make_off(ctx, c, place, 0, p));
  GI_TRY(make_off(ctx, c, place, 1, p));
done:
  gi_free(ctx, place);
  return status;
}

/* Offsets of w x (w + rows of side) numbers a cluster (NULL: w x w), and device memory for them. */
static gable_status make_operators(gable_context *ctx, gi_cluster_panels *p, const gi_cluster_side *side,
                                   gable_off **out, void **values)
{
  gable_status status = GABLE_OK;
  const gi_clusters *c = p->clusters;
  gable_off *at;
  GI_ALLOC(ctx, *out, c->count + 1);
  at = *out;
  at[0] = 0;
  for (gable_idx j = 0; j < c->count; j++) {
    const gable_off w = gi_cluster_width(c, j);
    at[j + 1] = at[j] + w * (w + (side ? side->ptr[j + 1] - side->ptr[j] : 0));
  }
  GI_TRY(gi_cluster_to_device(ctx, NULL, at[c->count], gi_type_size(p->type), values, &p->device_bytes));
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
  GI_TRY(make_operators(ctx, p, &clusters->l, &p->lower_at, &p->lower));
  if (kind == GI_LU) GI_TRY(make_operators(ctx, p, &clusters->u, &p->upper_at, &p->upper));
  GI_TRY(make_operators(ctx, p, NULL, &p->inverse_at, &p->inverse));
  GI_TRY(gi_cluster_to_device(ctx, NULL, clusters->n, sizeof *p->dinv, (void **)&p->dinv, &p->device_bytes));
  if (kind == GI_LDLT)
    GI_TRY(gi_cluster_to_device(ctx, NULL, clusters->n, sizeof *p->dinv, (void **)&p->coupling, &p->device_bytes));
  GI_TRY(make_both_off(ctx, clusters, p));
  GI_TRY(gi_cluster_preparation_create(ctx, p));
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
  gi_cluster_preparation_destroy(ctx, &p->preparation);
  void *there[] = {p->lower, p->upper, p->inverse, p->dinv, p->coupling, p->off[0], p->off[1]};
  for (size_t k = 0; k < sizeof there / sizeof *there; k++) ctx->device->release(ctx, there[k]);
  void *const here[] = {p->lower_at,   p->upper_at,   p->inverse_at,  p->off_ptr[0], p->off_ptr[1],
                        p->off_col[0], p->off_col[1], p->off_from[0], p->off_from[1]};
  gi_free_each(ctx, here, sizeof here / sizeof *here);
  gi_free(ctx, p);
}

gable_off gi_cluster_panels_bytes(const gi_cluster_panels *p)
{
  const gi_clusters *c = p->clusters;
  const gable_off off = p->off[0] ? p->off_ptr[0][c->n] : 0;
  return 24 * c->count + 16 * off + gi_cluster_preparation_bytes(p);
}
