/* incomplete.c: see incomplete.h; row by row. */
#include <math.h>
#include <string.h>

#include "kernels/krylov/incomplete.h"

/* One factorization.  Within a row places are counted from its first entry, so that 32 bits hold them. */
typedef struct factorization {
  const gik_incomplete *f;
  const gable_idx *idx;
  const double *a;
  double *val;
  unsigned *diagonal; /* [n] of the rows that are done */
  unsigned *place;    /* [n] of each column in the row at hand; NONE */
} factorization;

#define NONE (~0u)

static gable_off offset(const gik_incomplete *f, gable_idx i)
{
  return f->wide ? f->wide[i] : (gable_off)f->a->ptr[i];
}

static factorization begin(const gik_incomplete *f)
{
  const size_t n = (size_t)f->a->n;
  unsigned *scratch = f->scratch;
  if (!f->first && n) memset(scratch + n, 0xff, n * sizeof *scratch);
  return (factorization){f, f->a->idx, f->a->val, f->factor, scratch, scratch + n};
}

static void blame(const gik_incomplete *f, gable_idx i, int bad)
{
  if (bad && i < *f->fault) *f->fault = i;
}

static void ilu0_row(const factorization *g, gable_idx i)
{
  const gik_incomplete *f = g->f;
  const gable_off first = offset(f, i), end = offset(f, i + 1);
  double *row = g->val + first;
  if (g->val != g->a) memcpy(row, g->a + first, (size_t)(end - first) * sizeof *row);
  for (gable_off p = first; p < end; p++) g->place[g->idx[p]] = (unsigned)(p - first);
  for (gable_off p = first; p < end && g->idx[p] < i; p++) {
    const gable_idx k = g->idx[p];
    const gable_off pivot = offset(f, k) + g->diagonal[k], last = offset(f, k + 1);
    const double factor = g->val[p] / g->val[pivot];
    g->val[p] = factor;
    for (gable_off q = pivot + 1; q < last; q++) {
      const unsigned at = g->place[g->idx[q]];
      if (at != NONE) row[at] -= factor * g->val[q];
    }
  }
  g->diagonal[i] = g->place[i];
  for (gable_off p = first; p < end; p++) g->place[g->idx[p]] = NONE;
}

/* The sum of l_ik l_jk over k < j, rows of the factor from p and q on; both increase and have their diagonal. */
static double row_product(const gable_idx *idx, const double *l, gable_off p, gable_off q, gable_idx j)
{
  double sum = 0;
  while (idx[p] < j && idx[q] < j) {
    if (idx[p] == idx[q])
      sum += l[p++] * l[q++];
    else if (idx[p] < idx[q])
      p++;
    else
      q++;
  }
  return sum;
}

/* 1: the pivot will not do. */
static int ic0_row(const factorization *g, gable_idx i)
{
  const gik_incomplete *f = g->f;
  const gable_off first = offset(f, i);
  double *l = g->val;
  gable_off end = first;
  while (g->idx[end] < i) end++;
  double pivot = g->a[end] * (1 + f->shift);
  for (gable_off p = first; p < end; p++) {
    const gable_idx j = g->idx[p];
    const gable_off other = offset(f, j);
    l[p] = (g->a[p] - row_product(g->idx, l, first, other, j)) / l[other + g->diagonal[j]];
    pivot -= l[p] * l[p];
  }
  g->diagonal[i] = (unsigned)(end - first);
  l[end] = sqrt(pivot);
  return !(pivot > 0) || !isfinite(pivot);
}

static gable_idx row_at(const gik_incomplete *f, gable_idx w)
{
  return f->order ? (gable_idx)f->order[w] : w;
}

/* Rows in their natural order end at the first bad one, which is the lowest. */
static int ended(const gik_incomplete *f)
{
  return !f->order && *f->fault < GIK_NO_ROW;
}

static gable_status ilu0(const gik_incomplete *f)
{
  const factorization g = begin(f);
  for (gable_idx w = f->first; w < f->last && !ended(f); w++) {
    const gable_idx i = row_at(f, w);
    ilu0_row(&g, i);
    const double pivot = g.val[offset(f, i) + g.diagonal[i]];
    blame(f, i, !isfinite(pivot) || !isfinite(1 / pivot));
  }
  return GABLE_OK;
}

static gable_status ic0(const gik_incomplete *f)
{
  const factorization g = begin(f);
  for (gable_idx w = f->first; w < f->last && !ended(f); w++) {
    const gable_idx i = row_at(f, w);
    blame(f, i, ic0_row(&g, i));
  }
  return GABLE_OK;
}

const gik_incomplete_factors gik_incomplete_factors_cpu = {ilu0, ic0, 2 * sizeof(unsigned)};
