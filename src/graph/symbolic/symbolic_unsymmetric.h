/* symbolic_unsymmetric.h: the exact form: L and U of LU without interchanges between supernodes, each with its own rows
 * and columns. */
#ifndef GI_SYMBOLIC_UNSYMMETRIC_H
#define GI_SYMBOLIC_UNSYMMETRIC_H

#include "graph/symbolic/symbolic.h"
#include "graph/symbolic/symbolic_symmetric.h"

/* The layout of A(perm,perm), perm being the postorder that tree (of A + A^T) has made of it.  Gives up, with *out =
 * NULL and GABLE_OK, when the panels would hold more than most_values numbers (< 0: never). */
gable_status gi_unsymmetric_layout(gable_context *ctx, gable_idx n, const gable_off *ptr, const gable_idx *idx,
                                   const gable_idx *perm, const gi_tree *tree, const gi_symbolic_options *options,
                                   gable_off most_values, gi_layout **out);

#endif
