/* ilu0.h: incomplete factorizations without fill, in the pattern of the matrix.
 *
 * Y. Saad, Iterative Methods for Sparse Linear Systems, 2nd edition, sections 10.3.2 (ILU(0)) and 10.8 (IC); shifts
 * after T. A. Manteuffel, An incomplete factorization technique for positive definite linear systems, Math. Comp. 34
 * (1980). */
#ifndef GI_ILU0_H
#define GI_ILU0_H

#include "base/context.h"

enum { GI_ROWS_A_LOOK = 1024 }; /* rows between two looks at whether the caller cancels */

/* A by rows; val is overwritten: strictly lower part L (unit diagonal not stored), the rest U, L U ~ A on the pattern.
 * ptr: [n+1], idx: increasing within a row, a diagonal entry in every row.  GABLE_ERR_SINGULAR with *bad_row when a
 * pivot is zero or not finite.  O(sum of row lengths of the rows that each row uses). */
gable_status gi_ilu0(gable_context *ctx, gable_idx n, const gable_off *ptr, const gable_idx *idx, double *val,
                     gable_idx *bad_row);

/* The same for any pattern that holds A's, with zeros in val where A has no entry: ILU(k).  name: for messages. */
gable_status gi_ilu_in_pattern(gable_context *ctx, const char *name, gable_idx n, const gable_off *ptr,
                               const gable_idx *idx, double *val, gable_idx *bad_row);

/* The lower triangle of A by rows, as above, of a symmetric A; factor: [ptr[n]], of which the lower triangle becomes L
 * with L L^T ~ A + shift diag(A) on its pattern.  *bad_row: the first row whose pivot is not positive, where the
 * factorization ends; -1: none.  GABLE_ERR_SINGULAR with *bad_row: a row has no diagonal entry. */
gable_status gi_ic0(gable_context *ctx, gable_idx n, const gable_off *ptr, const gable_idx *idx, const double *val,
                    double *factor, double shift, gable_idx *bad_row);

#endif
