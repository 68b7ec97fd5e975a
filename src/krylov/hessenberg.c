/* hessenberg.c: see hessenberg.h. */
#include <math.h>
#include <string.h>

#include "krylov/hessenberg.h"

gable_status gi_hessenberg_init(gable_context *ctx, gable_idx restart, gi_hessenberg *out)
{
  gable_status status = GABLE_OK;
  out->restart = restart;
  GI_ALLOC(ctx, out->h, (gable_off)(restart + 1) * restart);
  GI_ALLOC(ctx, out->cosine, restart);
  GI_ALLOC(ctx, out->sine, restart);
  GI_ALLOC(ctx, out->g, restart + 1);
done:
  return status;
}

void gi_hessenberg_release(gable_context *ctx, gi_hessenberg *q)
{
  gi_free(ctx, q->h);
  gi_free(ctx, q->cosine);
  gi_free(ctx, q->sine);
  gi_free(ctx, q->g);
  memset(q, 0, sizeof *q);
}

void gi_hessenberg_rotate(gi_hessenberg *q, gable_idx k)
{
  double *h = gi_hessenberg_column(q, k);
  for (gable_idx j = 0; j < k; j++) {
    double t = q->cosine[j] * h[j] + q->sine[j] * h[j + 1];
    h[j + 1] = -q->sine[j] * h[j] + q->cosine[j] * h[j + 1];
    h[j] = t;
  }
  double length = hypot(h[k], h[k + 1]);
  q->cosine[k] = length > 0 ? h[k] / length : 1;
  q->sine[k] = length > 0 ? h[k + 1] / length : 0;
  h[k] = length;
  q->g[k + 1] = -q->sine[k] * q->g[k];
  q->g[k] *= q->cosine[k];
}

void gi_hessenberg_solve(gi_hessenberg *q, gable_idx k)
{
  double *y = q->g;
  for (gable_idx j = k - 1; j >= 0; j--) {
    const double *column = gi_hessenberg_column(q, j);
    y[j] = column[j] != 0 ? y[j] / column[j] : 0;
    for (gable_idx i = 0; i < j; i++) y[i] -= y[j] * column[i];
  }
}
