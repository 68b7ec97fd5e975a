/* random_factor.h: factors filled with random numbers, and the dense matrices that they stand for. */
#ifndef RANDOM_FACTOR_H
#define RANDOM_FACTOR_H

#include "base/random.h"
#include "factor/factor.h"

/* Well conditioned numbers in every panel, random exchanges inside diagonal blocks, random F. */
gi_factor *random_factor(gable_context *ctx, gi_random *r, const gi_layout *layout, gi_factor_kind kind,
                         gable_type type);

/* Entries beside the diagonal in the first three columns and rows of some diagonal blocks become larger by 2^40, so
 * that a product with the inverse of a block loses digits that a substitution keeps.  How many blocks there are. */
gable_idx random_factor_spoil(gi_factor *f);

/* Cholesky of n columns (layout is the caller's, too), so that L x = b and L^T x = b are finite where the inverse of
 * the first block is not.  0: supernodes of 2 columns and of 1, entries of 1e150 over pivots of 1e-150.  1: one
 * supernode, two pivots of 1e-200: an infinity of the inverse meets a zero and leaves NaN in its third row, the last is
 * finite. */
typedef struct wide_range {
  gable_idx n;
  double b[2][4], x[2][4]; /* [op] */
} wide_range;
enum { WIDE_RANGES = 2 };
extern const wide_range wide_ranges[WIDE_RANGES];
gi_factor *wide_range_factor(gable_context *ctx, int which, gi_layout **layout);

/* The factors as dense matrices by columns, [n*n], the caller's to free: lower = P^T L, d the diagonal of D and e what
 * is beside it, at (j,j+1) and (j+1,j), upper = U without D, as solve.h names them; off = F. */
typedef struct dense_factor {
  gable_idx n;
  double *lower, *d, *e, *upper, *off;
} dense_factor;
dense_factor dense_factor_of(const gi_factor *f);
void dense_factor_free(dense_factor *d);

/* b = op(M) x, M the product of parts, and F when parts is GI_SOLVE_ALL. */
void dense_factor_multiply(const dense_factor *d, unsigned parts, gable_op op, const double *x, double *b);

/* The largest |b - op(M) x|_i over n eps (|op(L)||op(D)||op(U)||x| + |b|)_i, M the product of parts (and F when parts
 * is GI_SOLVE_ALL), eps 2^-53 or 2^-24.  Infinite when x has a NaN. */
double dense_factor_ratio(const dense_factor *d, unsigned parts, gable_op op, const double *x, const double *b,
                          int is_float);

#endif
