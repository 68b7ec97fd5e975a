/* coo.h: the inside of gable_coo: which triplets each entry of an assembled matrix is the sum of. */
#ifndef GI_COO_H
#define GI_COO_H

#include <gable/matrix.h>

#include "sparse/csc.h"

struct gable_coo {
  gable_context *ctx;
  gable_idx n_rows, n_cols;
  gable_type value_type;
  gable_off count;   /* triplets, those of the other triangle too */
  gable_off nnz;     /* entries */
  gable_off *start;  /* [nnz+1] entry q is the sum of the triplets source[start[q]], ..., source[start[q+1]-1] */
  gable_off *source; /* [start[nnz]] increasing within an entry */
};

/* Sorts the triplets of v by columns, by rows within a column, and in the order given within an entry.  pattern:
 * zeroed; its ptr and idx are filled.  v: of this version's size, fields checked but for the positions.  O(count + n).
 */
gable_status gi_coo_create(gable_context *ctx, const gable_coo_view *v, gable_coo **out, gi_csc *pattern);
void gi_coo_destroy(gable_coo **map); /* NULL is fine */

/* a->val = the sums of val, or nothing is written: GABLE_ERR_NOT_FINITE names a triplet, or an entry whose sum
 * overflows.  a: the pattern of create, with val [nnz], twice that when it is complex.  O(count). */
gable_status gi_coo_sum(const gable_coo *map, const void *val, gi_csc *a);

#endif
