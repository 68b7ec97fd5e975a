/* windows.h: an order close to the natural one in which neighbours are independent and alike.
 *
 * Windows of consecutive rows, each sorted by its own levels, and within a level by kind: then a processor can work on
 * several rows at once, and is not surprised by how long the next one is. */
#ifndef GI_WINDOWS_H
#define GI_WINDOWS_H

#include "base/context.h"

enum { GI_WINDOW_KINDS = 16 };

/* Rows depend on col[ptr[k] .. ptr[k+1]); kind[k] < GI_WINDOW_KINDS. */
typedef struct gi_window_rows {
  gable_idx n;
  const gable_off *ptr;
  const gable_idx *col;
  const unsigned char *kind; /* [n] */
} gi_window_rows;

/* order: [n] the rows as base has them (NULL: 0..n-1), windows sorted: window w is places cuts[w] .. cuts[w+1]-1 of
 * base, in which a row comes after those of the window that it depends on.  O(nnz). */
gable_status gi_windows_sort(gable_context *ctx, const gi_window_rows *rows, const gable_idx *base,
                             const gable_idx *cuts, gable_idx windows, gable_idx *order);

#endif
