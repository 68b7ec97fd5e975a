/* certificate.h: proof that a layout holds a closed structure of LU without exchanges between supernodes, and that it
 * is the smallest one.
 *
 * P, the entries of the layout (diagonal blocks full), with A in P, is
 *   closed   when (i,k) in P and (k,j) in P with k < min(i,j) imply (i,j) in P,
 *   minimal  when each (i,j) in P but not in A has such a k.
 * Closed alone: elimination never leaves P.  Both: P is exactly the filled pattern, by induction on min(i,j). */
#ifndef CERTIFICATE_H
#define CERTIFICATE_H

#include "graph/symbolic/layout.h"

/* ptr, idx: A' (permuted), by columns; entries left or right of diagonal blocks are no part of P.  Any size; O(flops).
 * minimal: must it be that too?  1 when P is as it should; else 0, with why in *problem (or NULL). */
int certificate_holds(const gi_layout *y, const gable_off *ptr, const gable_idx *idx, int minimal,
                      const char **problem);

/* The invariants of every layout: partition, sorted lists, tree, offsets, counts. */
void check_layout(const gi_layout *y, int cholesky);

/* out [nnz]: the pattern of A(perm,perm), by columns, increasing; out_ptr [n+1]. */
void permute_pattern(gable_idx n, const gable_off *ptr, const gable_idx *idx, const gable_idx *perm, gable_off *out_ptr,
                     gable_idx *out_idx);

#endif
