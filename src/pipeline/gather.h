/* gather.h: where each value of a rearranged matrix comes from, so that new values need no new structure.
 *
 * Maps are made by sending the positions 1, 2, 3, ... through the same functions as values (doubles hold them exactly
 * up to 2^53); a negated position becomes a negated value. */
#ifndef GI_GATHER_H
#define GI_GATHER_H

#include "sparse/csc.h"

typedef struct gi_gather {
  gable_off count;
  int identity;    /* 1: from k to k */
  uint32_t *small; /* [count] positions from 0, when all fit and none is negated */
  int64_t *large;  /* [count] +-(position + 1) otherwise */
} gi_gather;

/* The positions 1 .. count as values. */
gable_status gi_gather_positions(gable_context *ctx, gable_off count, double **out);

/* positions [count] of 1 .. source_count or their negatives, as they came out of the rearrangement. */
gable_status gi_gather_init(gable_context *ctx, gable_off count, const double *positions, gable_off source_count,
                            gi_gather *out);
/* *out: lists by label; list l holds k, increasing, for every entry j with place[j] = l of the list order[k] of a.  So
 * with neither (NULL: the identity) it is the transpose, and with two permutations that of A(order, .)(., place^-1).
 * lower: only k >= l; place is then the inverse of order.  from: the position in a of each entry.  No values.  out,
 * from: zeroed.  Two passes over a. */
typedef struct gi_gather_plan {
  const gi_csc *a;
  const gable_idx *order, *place; /* [a->n_cols], [a->n_rows]; both or none */
  int lower;
} gi_gather_plan;
gable_status gi_gather_transpose(gable_context *ctx, const gi_gather_plan *plan, gi_csc *out, gi_gather *from);

/* Is the pattern of a (square, lists increasing) its own mirror image?  Then *map (zeroed; or NULL: not wanted) sends
 * each entry (i,j) to the place of (j,i).  One pass over half of a. */
gable_status gi_gather_mirror(gable_context *ctx, const gi_csc *a, gi_gather *map, int *pattern);

/* The same walk over the values of an a whose pattern is symmetric: 1 where they are, too, up to 4 eps.  With transpose
 * a->val becomes that of A^T.  cursor: [n] scratch. */
int gi_gather_transpose_values(gi_csc *a, gable_off *cursor, int transpose);

void gi_gather_release(gable_context *ctx, gi_gather *g);
gable_off gi_gather_bytes(const gi_gather *g);

/* Position that entry k comes from; *sign is 1 or -1. */
static inline gable_off gi_gather_from(const gi_gather *g, gable_off k, double *sign)
{
  *sign = 1;
  if (g->identity) return k;
  if (g->small) return g->small[k];
  *sign = g->large[k] < 0 ? -1 : 1;
  return (g->large[k] < 0 ? -g->large[k] : g->large[k]) - 1;
}

/* 1: no number of in [count], type GABLE_TYPE_S or GABLE_TYPE_D, is NaN or infinite. */
int gi_all_finite(gable_type type, const void *in, gable_off count);

/* in [source_count], type GABLE_TYPE_S or GABLE_TYPE_D.  The position of a gathered value that is not finite, the first
 * to be gathered, or -1. */
gable_off gi_gather_check(const gi_gather *g, gable_type type, const void *in, gable_off source_count);

/* out[k] = +-in[from k]. */
void gi_gather_values(const gi_gather *g, gable_type type, const void *in, double *out);

#endif
