/* vectors.h: the checks of a caller's dense vectors, shared by every object that takes some. */
#ifndef GI_VECTORS_H
#define GI_VECTORS_H

#include "base/status.h"

/* b and x of a call, checked, ld filled in. */
typedef struct gi_vectors_pair {
  gable_vectors_view b, x;
} gi_vectors_pair;

/* count columns of n doubles in space, column j at data + j*ld; ld 0: n.  data is const because a view of what is only
 * read has no type of its own. */
gable_vectors_view gi_columns_view(gable_space space, gable_idx n, gable_idx count, const double *data, gable_off ld);

/* Bytes from the first entry of v, whose ld is filled in, to the end of the last. */
size_t gi_vectors_span(const gable_vectors_view *v);

/* What memory b and x of a call may share. */
typedef enum gi_sharing {
  GI_VECTORS_APART,    /* none */
  GI_VECTORS_IN_PLACE, /* none, or every entry of x is that of b */
  GI_VECTORS_READ      /* any: neither is written */
} gi_sharing;

/* v: of this version's size; own may be v.  own = v with ld filled in where it is 0, or where there is one column (row)
 * and no step needs it.  name: for errors. GABLE_ERR_ARGUMENT: counts, type, major, ld or data of v is wrong. */
gable_status gi_vectors_take(const gable_vectors_view *v, const char *name, gable_vectors_view *own);

/* Takes b and x, both [n, count], to go with a matrix of this type: double, or float with a float matrix.
 * GABLE_ERR_ARGUMENT: one of them is wrong, they differ in count, or they share memory that `sharing` forbids.  Views
 * of equal steps that alternate in memory, such as the even and the odd columns of one array, share none; views of
 * different steps share memory where the ranges from first to last entry cross. */
gable_status gi_vectors_take_pair(const gable_vectors_view *b, const gable_vectors_view *x, gable_idx n,
                                  gable_type matrix_type, gi_sharing sharing, gi_vectors_pair *own);

#endif
