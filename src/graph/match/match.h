/* match.h: a row permutation that puts large entries on the diagonal, with the scalings that make them 1.
 *
 * I. S. Duff and J. Koster, On algorithms for permuting large entries to the diagonal of a sparse matrix, SIAM J.
 * Matrix Anal. Appl. 22 (2001): maximise the product of the matched magnitudes (job 5 of HSL's MC64). */
#ifndef GI_MATCH_H
#define GI_MATCH_H

#include "sparse/csc.h"

typedef struct gi_matching {
  gable_idx n, rank; /* rank: of the pattern of the entries that are not zero */
  gable_idx *row_of; /* [n] row matched with each column, or -1 */
  double *r, *c;     /* [n] |r_i a_ij c_j| <= 1, and 1 where i is matched with j, up to rounding; within e^+-690 */
} gi_matching;

/* The matching of greatest product among the largest ones.  a is square; without values every entry counts the same, so
 * that the matching is merely a largest one and r = c = 1.  Explicit zeros are no entries.  rank < n is no error here.
 * O(n (nnz + n log n)) at worst, O(nnz) when each column's largest entry stands in a row of its own.  m: zeroed;
 * release it. Where the identity is best, it is what is found. */
gable_status gi_match(gable_context *ctx, const gi_csc *a, gi_matching *m);
void gi_match_release(gable_context *ctx, gi_matching *m);

#endif
