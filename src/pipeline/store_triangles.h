/* store_triangles.h: imported factors that are solved element by element, in a saved factor: permutations, scalings, L
 * and U by columns.  The counts of lrow and ucol in the header are the entries of L and U. */
#ifndef GI_STORE_TRIANGLES_H
#define GI_STORE_TRIANGLES_H

#include "pipeline/store.h"
#include "pipeline/store_pieces.h"

/* What a header tells of them; the rest is the caller's. */
void gi_store_describe_triangles(const gi_triangles *t, gi_store_header *h);

/* Their arrays, in a and in t, whose l and u are the only fields that are touched; returns the number. */
int gi_store_triangle_pieces(const gi_store_header *h, gi_arrangement *a, gi_triangles *t, gi_store_piece *out);

/* What no writer of ours says in their header; NULL: nothing of the kind. */
const char *gi_store_triangles_fault(const gi_store_header *h);

/* s->triangles, and the arrays of s->arrangement. */
gable_status gi_store_load_triangles(gable_solver *s, gi_source *source, const gi_store_header *h);

#endif
