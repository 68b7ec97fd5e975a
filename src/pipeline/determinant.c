/* determinant.c: log and sign of the determinant, of the pivots, the scalings and the three permutations. */
#include <math.h>
#include <string.h>

#include "pipeline/pipeline.h"

/* 1: the permutation is odd. */
static int parity(const gable_idx *perm, gable_idx n, unsigned char *seen)
{
  int odd = 0;
  memset(seen, 0, (size_t)n);
  for (gable_idx k = 0; k < n; k++) {
    if (seen[k]) continue;
    gable_idx length = 0;
    for (gable_idx j = k; !seen[j]; j = perm[j]) {
      seen[j] = 1;
      length++;
    }
    odd ^= (length - 1) & 1;
  }
  return odd;
}

/* A product of many numbers, whatever their exponents: part 2^exponent. */
typedef struct product {
  double part; /* 1e-150 .. 1e150, or 0, infinite, NaN */
  gable_off exponent;
} product;

static int is_in_the_middle(double x)
{
  return fabs(x) > 1e-150 && fabs(x) < 1e150; /* two of them multiply without leaving the exponents */
}

static void multiply(product *p, double factor)
{
  int e = 0;
  if (GI_LIKELY(is_in_the_middle(factor))) {
    p->part *= factor;
  } else {
    p->part *= frexp(factor, &e);
    p->exponent += e;
  }
  if (GI_LIKELY(is_in_the_middle(p->part))) return;
  p->part = frexp(p->part, &e);
  p->exponent += e;
}

static double log_of(const product *p)
{
  return log(fabs(p->part)) + log(2) * (double)p->exponent;
}

/* p times the determinant of the block of D^-1 that begins at column *k, which moves to its last column.  A block of
 * order 2 is scaled by a power of two, whose products stay inside the exponents. */
static void multiply_block(const gable_solver *s, gable_idx *k, product *p)
{
  const gi_factor *f = s->factor;
  int e;
  if (s->triangles) {
    multiply(p, 1 / s->triangles->diagonal[*k]);
    return;
  }
  const double a = gi_factor_value(f, f->dinv, *k), b = f->coupling ? gi_factor_value(f, f->coupling, *k) : 0;
  if (b == 0) {
    multiply(p, a);
    return;
  }
  const double c = gi_factor_value(f, f->dinv, ++*k);
  (void)frexp(fmax(fabs(b), fmax(fabs(a), fabs(c))), &e);
  multiply(p, ldexp(a, -e) * ldexp(c, -e) - ldexp(b, -e) * ldexp(b, -e));
  p->exponent += 2 * e;
}

gable_status gi_pipeline_determinant(const gable_solver *s, double *log_abs, int *sign)
{
  gable_status status = GABLE_OK;
  const gi_arrangement *a = &s->arrangement;
  const gi_factor *f = s->factor;
  unsigned char *seen = NULL;
  product inverse = {1, 0}, scales = {1, 0};
  if (s->other_values) {
    *log_abs = NAN;
    *sign = 0;
    goto done;
  }
  GI_ALLOC(s->ctx, seen, s->problem.n);
  int odd = parity(a->row_perm, s->problem.n, seen) ^ parity(a->col_perm, s->problem.n, seen);
  for (gable_idx k = 0; k < s->problem.n; k++) {
    multiply(&scales, a->r[k]);
    multiply(&scales, a->c[k]);
    odd ^= f && f->kind == GI_LU && f->pivot[k] != k; /* L D L^T interchanges columns, too */
  }
  for (gable_idx k = 0; k < s->problem.n; k++) multiply_block(s, &k, &inverse);
  odd ^= (inverse.part < 0 && a->method != GABLE_METHOD_CHOLESKY) ^ (scales.part < 0);
  *log_abs = -(a->method == GABLE_METHOD_CHOLESKY ? 2 : 1) * log_of(&inverse) - log_of(&scales);
  *sign = odd ? -1 : 1;
done:
  gi_free(s->ctx, seen);
  return status;
}
