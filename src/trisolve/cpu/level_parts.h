/* level_parts.h: levels in as many parts as there are threads.
 *
 * Each thread has the same part of every level, and rows of a level are in their natural order, so that what a row
 * needs was mostly computed by its own thread (the tasks of SpMP; Park et al., ISC 2014).  Narrow levels, which are not
 * worth a wait, are left to thread 0, a run of them as one part. */
#ifndef GI_LEVEL_PARTS_H
#define GI_LEVEL_PARTS_H

#include "graph/levels.h"

typedef struct gi_level_parts {
  gable_idx count;
  gable_idx *cuts; /* [count+1] offsets into levels->order */
  int *owner;      /* [count] thread */
} gi_level_parts;

/* Parts of equal weight, where a row weighs 3 and an entry 1; levels below the weight narrow are not split.  O(n). */
gable_status gi_level_parts_cut(gable_context *ctx, const gi_levels *levels, const gable_off *ptr, int threads,
                                gable_off narrow, gi_level_parts *out);

/* Frees the arrays.  Fine on a zeroed one, and twice. */
void gi_level_parts_release(gable_context *ctx, gi_level_parts *p);

#endif
