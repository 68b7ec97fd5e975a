/* inertia.c: how many eigenvalues of a symmetric A are positive and negative, from the pivots of its factor.
 *
 * A' = S A S^T = L D L^T is a congruence, so by Sylvester's law A and D have the same inertia.  A block of D of order 2
 * with a negative determinant has one eigenvalue of each sign. */
#include <math.h>

#include "pipeline/pipeline.h"

/* 1: A' = S A S^T with a diagonal S times a permutation; -1: with -A; 0: neither, as imported scalings may be. */
static int congruence(const gi_arrangement *a, gable_idx n)
{
  int sign = 0;
  for (gable_idx k = 0; k < n; k++) {
    const gable_idx i = a->row_perm[k];
    const int own = a->r[i] == a->c[i] ? 1 : a->r[i] == -a->c[i] ? -1 : 0;
    if (i != a->col_perm[k] || !own || (sign && own != sign)) return 0;
    sign = own;
  }
  return n ? sign : 1;
}

/* D^-1 at (k,k+1), not 0 where columns k and k+1 are one block of D. */
static double coupling_of(const gi_factor *f, gable_idx k)
{
  return f->coupling ? gi_factor_value(f, f->coupling, k) : 0;
}

/* A replaced pivot is a block of order 1 with the least magnitude of all: |1/d| of these; INFINITY: none. */
static double replaced_inverse(const gi_factor *f, gable_idx n)
{
  double most = 0;
  if (!f->perturbed) return INFINITY;
  for (gable_idx k = 0; k < n; k++)
    if (coupling_of(f, k) != 0)
      k++;
    else
      most = fmax(most, fabs(gi_factor_value(f, f->dinv, k)));
  return most;
}

static gi_inertia inertia_of_pivots(const gi_factor *f, gable_idx n)
{
  gi_inertia found = {0, 0, 0};
  const double replaced = replaced_inverse(f, n);
  for (gable_idx k = 0; k < n; k++) {
    const double a = gi_factor_value(f, f->dinv, k), b = coupling_of(f, k);
    if (b == 0) {
      *(fabs(a) == replaced ? &found.zero : a > 0 ? &found.positive : &found.negative) += 1;
      continue;
    }
    const double c = gi_factor_value(f, f->dinv, ++k);
    const int apart = (a > 0) != (c > 0) || fabs(a / b) * fabs(c / b) < 1; /* det < 0 */
    found.positive += apart ? 1 : a > 0 ? 2 : 0;
    found.negative += apart ? 1 : a > 0 ? 0 : 2;
  }
  return found;
}

gable_status gi_pipeline_inertia(const gable_solver *s, gi_inertia *out)
{
  gable_status status = GABLE_OK;
  const gi_arrangement *a = &s->arrangement;
  const gable_idx n = s->problem.n;
  GI_REQUIRE(a->method != GABLE_METHOD_LU, GABLE_ERR_STATE,
             "the inertia is not known: the factor is LU; Cholesky and L D L^T of symmetric matrices show it");
  GI_REQUIRE(!s->other_values, GABLE_ERR_STATE,
             "the inertia is not known: the factor was loaded and is of other values");
  const int sign = congruence(a, n);
  GI_REQUIRE(sign, GABLE_ERR_STATE, "the inertia is not known: imported orders or scalings of rows and columns differ");
  gi_inertia found = a->method == GABLE_METHOD_LDLT ? inertia_of_pivots(s->factor, n) : (gi_inertia){n, 0, 0};
  *out = sign > 0 ? found : (gi_inertia){found.negative, found.positive, found.zero};
done:
  return status;
}
