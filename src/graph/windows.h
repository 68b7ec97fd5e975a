/* windows.h: an order close to the natural one in which neighbours are independent and alike.
 *
 * Windows of consecutive rows, each sorted by its own levels, and within a level by kind: then a processor can work on
 * several rows at once, and is not surprised by how long the next one is. */
#ifndef GI_WINDOWS_H
#define GI_WINDOWS_H

#include "base/context.h"

enum { GI_WINDOW_KINDS = 16 };

/* order: [n] rows 0..n-1, which depend on col[ptr[k] .. ptr[k+1]) below k; kind[k] < GI_WINDOW_KINDS.  O(nnz). */
gable_status gi_windows_sort(gable_context *ctx, gable_idx n, const gable_off *ptr, const gable_idx *col,
                             const unsigned char *kind, gable_idx width, gable_idx *order);

#endif
