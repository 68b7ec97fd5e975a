/* method_tiles.h: the launches of a named method and the tiles of each. */
#ifndef GI_METHOD_TILES_H
#define GI_METHOD_TILES_H

#include "supernodal/methods/method_triangle.h"

/* d->batch from the method and the shapes and levels of d's blocks, see method_triangle.h.  GABLE_ERR_MEMORY,
 * GABLE_ERR_LIMIT; what was made so far is d's. */
gable_status gi_method_batches_make(gable_context *ctx, gi_method_triangle *d, int *moved);

#endif
