/* cluster_inverse.c: row by row, sums of rows of lower_J in increasing order. */
#include "supernodal/cluster_inverse.h"

#include <string.h>

enum { ALONE = 64 }; /* columns of a cluster whose rows one thread computes */

GI_CLONES
static void add_doubles(double *restrict to, double a, const double *restrict from, gable_idx count)
{
  for (gable_idx k = 0; k < count; k++) to[k] += a * from[k];
}

GI_CLONES
static void add_floats(double *restrict to, double a, const float *restrict from, gable_idx count)
{
  for (gable_idx k = 0; k < count; k++) to[k] += a * (double)from[k];
}

static double value(const gi_cluster_panels *p, const void *values, gable_off at)
{
  return p->type == GABLE_TYPE_S ? (double)((const float *)values)[at] : ((const double *)values)[at];
}

/* to += a times row m of lower_J. */
static void add_row(const gi_cluster_panels *p, gable_idx j, gable_idx m, double a, double *to)
{
  const gable_idx w = gi_cluster_width(p->clusters, j);
  const gable_off at = p->lower_at[j] + (gable_off)m * w;
  if (a == 0) return;
  if (p->type == GABLE_TYPE_S)
    add_floats(to, a, (const float *)p->lower + at, w);
  else
    add_doubles(to, a, (const double *)p->lower + at, w);
}

/* Row i into row [w]: LU: upper_J lower_J, of their first w columns and rows; else lower_J^T D^-1 lower_J, D the
 * unit matrix of a Cholesky factor. */
static void inverse_row(const gi_cluster_panels *p, gable_idx j, gable_idx i, double *row)
{
  const gable_idx w = gi_cluster_width(p->clusters, j), first = p->clusters->first[j];
  const gable_off all = w + p->clusters->u.ptr[j + 1] - p->clusters->u.ptr[j];
  memset(row, 0, (size_t)w * sizeof *row);
  for (gable_idx m = 0; m < w; m++) {
    const double a = p->upper ? value(p, p->upper, p->upper_at[j] + i * all + m)
                              : value(p, p->lower, p->lower_at[j] + (gable_off)m * w + i);
    if (p->kind != GI_LDLT) {
      add_row(p, j, m, a, row);
      continue;
    }
    add_row(p, j, m, a * p->dinv[first + m], row);
    if (m + 1 < w) add_row(p, j, m + 1, a * p->coupling[first + m], row);
    if (m > 0) add_row(p, j, m - 1, a * p->coupling[first + m - 1], row);
  }
  const gable_off at = p->inverse_at[j] + (gable_off)i * w;
  if (p->type == GABLE_TYPE_S)
    for (gable_idx k = 0; k < w; k++) ((float *)p->inverse)[at + k] = (float)row[k];
  else
    memcpy((double *)p->inverse + at, row, (size_t)w * sizeof *row);
}

gable_status gi_cluster_inverses_update(gable_context *ctx, gi_cluster_panels *p)
{
  gable_status status = GABLE_OK;
  const gi_clusters *c = p->clusters;
  const int threads = ctx->threads;
  gable_idx most = 0;
  double *row = NULL;
  for (gable_idx j = 0; j < c->count; j++)
    if (gi_cluster_width(c, j) > most) most = gi_cluster_width(c, j);
  GI_ALLOC(ctx, row, threads * (gable_off)most);
  GI_OMP(parallel for num_threads(threads) schedule(dynamic, 16))
  for (gable_idx j = 0; j < c->count; j++)
    for (gable_idx i = 0; gi_cluster_width(c, j) <= ALONE && i < gi_cluster_width(c, j); i++)
      inverse_row(p, j, i, row + omp_get_thread_num() * (gable_off)most);
  for (gable_idx j = 0; j < c->count; j++) {
    const gable_idx w = gi_cluster_width(c, j);
    if (w <= ALONE) continue;
    GI_OMP(parallel for num_threads(threads) schedule(dynamic))
    for (gable_idx i = 0; i < w; i++) inverse_row(p, j, i, row + omp_get_thread_num() * (gable_off)most);
  }
done:
  gi_free(ctx, row);
  return status;
}
