/* scaled_grid.c: see scaled_grid.h. */
#include "support/scaled_grid.h"

#include "support/place.h"
#include "support/test.h"

double scaled_grid_scale(int round)
{
  return ldexp(1.0, round % SCALED_GRID_SCALES - SCALED_GRID_SCALES / 2);
}

void *scaled_grid_memory(gable_context *ctx, const void *host, size_t bytes)
{
  void *p = NULL;
  if (gable_context_space(ctx) == GABLE_SPACE_HOST) {
    p = calloc(1, bytes);
    if (host) memcpy(p, host, bytes);
    return p;
  }
  CHECK_OK(gable_device_alloc(ctx, bytes, &p));
  if (host)
    CHECK_OK(gable_device_copy_in(ctx, p, host, bytes, NULL));
  else
    CHECK_OK(gable_device_fill(ctx, p, 0, bytes, NULL));
  CHECK_OK(gable_device_synchronise(ctx, NULL));
  return p;
}

void scaled_grid_fetch(gable_context *ctx, void *host, const void *from, size_t bytes)
{
  if (gable_context_space(ctx) == GABLE_SPACE_HOST) {
    memcpy(host, from, bytes);
    return;
  }
  CHECK_OK(gable_device_copy_out(ctx, host, from, bytes, NULL));
  CHECK_OK(gable_device_synchronise(ctx, NULL));
}

void scaled_grid_give(gable_context *ctx, void *p)
{
  if (gable_context_space(ctx) == GABLE_SPACE_DEVICE)
    gable_device_free(ctx, &p);
  else
    free(p);
}

gable_vectors_view scaled_grid_column(const scaled_grid *g, void *data)
{
  gable_vectors_view v = GABLE_VECTORS_VIEW_INIT;
  v.space = g->view.space;
  v.n = g->view.n_rows;
  v.ld = v.n;
  v.count = 1;
  v.data = data;
  return v;
}

/* Fills the arrays; the number of entries. */
static gable_off fill(gable_idx side, int64_t *ptr, gable_idx *idx, double *val)
{
  const gable_idx step[] = {-side, -1, 0, 1, side}, n = side * side;
  gable_off q = 0;
  for (gable_idx i = 0; i < n; i++) {
    ptr[i] = q;
    for (int k = 0; k < 5; k++) {
      const gable_idx j = i + step[k];
      if (j < 0 || j >= n || ((k == 1 || k == 3) && j / side != i / side)) continue;
      idx[q] = j;
      val[q++] = k == 2 ? 4.5 + 0.125 * (i % 3) : -1;
    }
  }
  ptr[n] = q;
  return q;
}

scaled_grid scaled_grid_make(gable_context *ctx, gable_idx side)
{
  scaled_grid g = {.view = GABLE_MATRIX_VIEW_INIT};
  const size_t n = (size_t)side * (size_t)side;
  int64_t *ptr = malloc((n + 1) * sizeof *ptr);
  gable_idx *idx = malloc(5 * n * sizeof *idx);
  double *val = malloc(5 * n * sizeof *val), *scaled = malloc(5 * n * sizeof *scaled);
  g.nnz = fill(side, ptr, idx, val);
  g.view.n_rows = g.view.n_cols = (gable_idx)n;
  g.view.space = gable_context_space(ctx);
  g.view.ptr = scaled_grid_memory(ctx, ptr, (n + 1) * sizeof *ptr);
  g.view.idx = scaled_grid_memory(ctx, idx, (size_t)g.nnz * sizeof *idx);
  for (int k = 0; k < SCALED_GRID_SCALES; k++) {
    for (gable_off q = 0; q < g.nnz; q++) scaled[q] = scaled_grid_scale(k) * val[q];
    g.val[k] = scaled_grid_memory(ctx, scaled, (size_t)g.nnz * sizeof *scaled);
  }
  g.b = malloc(n * sizeof *g.b);
  for (size_t i = 0; i < n; i++) g.b[i] = 1 - 0.25 * (double)(i % 5);
  free(ptr);
  free(idx);
  free(val);
  free(scaled);
  return g;
}

void scaled_grid_drop(gable_context *ctx, scaled_grid *g)
{
  scaled_grid_give(ctx, (void *)g->view.ptr);
  scaled_grid_give(ctx, (void *)g->view.idx);
  for (int k = 0; k < SCALED_GRID_SCALES; k++) scaled_grid_give(ctx, g->val[k]);
  free(g->b);
}
