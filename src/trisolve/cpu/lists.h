/* lists.h: the matrix permuted to schedule order, and the gather that brings new values there. */
#ifndef GI_TRISOLVE_LISTS_H
#define GI_TRISOLVE_LISTS_H

#include "kernels/trisolve/substitution_cpu.h"
#include "trisolve/triangle.h"

typedef struct gi_lists {
  gik_lists m;
  gable_off nnz;
  gable_off *from;  /* [nnz] place in the caller's val */
  gable_off *begin; /* [n+1] of each list, or NULL where the method walks lists in order, or they are packed */
  gable_idx *part;  /* packed: [parts+1] the first run of each part; NULL: one part */
  gable_idx blocks; /* packed: how many */
} gi_lists;

/* Lists of t (rows of op(T), or its columns when t is the other op's triangle) in the given order: order[k] is a row in
 * the matrix's own numbering.  with_begin: also begin. */
gable_status gi_lists_build(gable_context *ctx, const gi_triangle *t, const gable_idx *order, gable_type value_type,
                            int with_begin, gi_lists *out);

/* Which rows make a block, in solve numbering: block u is rows start[u] .. start[u+1]-1, or row u alone when start is
 * NULL. */
typedef struct gi_block_starts {
  gable_idx count;
  const gable_idx *start;
} gi_block_starts;

enum { GI_RUN = 12 }; /* a good least */

/* The same packed (kernels/trisolve/substitution_cpu.h): blocks of t in the given order (NULL: 0, 1, ...), [parts+1]
 * cuts places in it that no run goes across (NULL: none); least: so many blocks of a kind make a run of their own.
 * Until the first update values are 0 and reciprocals 1. */
gable_status gi_lists_pack(gable_context *ctx, const gi_triangle *t, const gi_block_starts *blocks,
                           const gable_idx *order, const gable_idx *cuts, gable_idx parts, gable_idx least,
                           gable_type value_type, gi_lists *out);

/* Whole rows without the diagonal, for sweeps: list k holds first the entries of row order[k] in other, then those in
 * own, the triangle whose order this is.  shift is added to the indices of other's. */
gable_status gi_lists_build_rows(gable_context *ctx, const gi_triangle *own, const gi_triangle *other,
                                 const gable_idx *order, gable_type value_type, gable_idx shift, gi_lists *out);

/* rdiag[k] = 1 / diagonal(row k): from diagonal[] (separate), val[diagonal_from[]] (stored) or 1 (both NULL).
 * GABLE_ERR_SINGULAR and _NOT_FINITE with *bad_row, the lowest one. */
gable_status gi_lists_update(gi_lists *l, const void *val, const gable_off *diagonal_from, const void *diagonal,
                             gable_idx *bad_row);

size_t gi_lists_bytes(const gi_lists *l);

/* Upper bounds of gi_lists_bytes: lists of n rows and nnz entries; what packing them in so many parts adds, with
 * least = GI_RUN: a run of fewer blocks ends with its part or before a run of so many. */
size_t gi_lists_bound(gable_idx n, gable_off nnz, gable_type value_type);
size_t gi_lists_pack_bound(gable_idx n, gable_idx parts);
void gi_lists_release(gable_context *ctx, gi_lists *l);

#endif
