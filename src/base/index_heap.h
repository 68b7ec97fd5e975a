/* index_heap.h: a binary heap of indices, the lowest on top, in an array of the caller's with room for one more. */
#ifndef GI_INDEX_HEAP_H
#define GI_INDEX_HEAP_H

#include <gable/types.h>

static inline void gi_heap_push(gable_idx *heap, gable_idx *size, gable_idx index)
{
  gable_idx k = (*size)++;
  for (; k > 0 && index < heap[(k - 1) / 2]; k = (k - 1) / 2) heap[k] = heap[(k - 1) / 2];
  heap[k] = index;
}

/* *size > 0. */
static inline gable_idx gi_heap_pop(gable_idx *heap, gable_idx *size)
{
  const gable_idx top = heap[0], last = heap[--*size], n = *size;
  gable_idx k = 0;
  for (gable_idx child = 1; child < n; child = 2 * k + 1) {
    if (child + 1 < n && heap[child + 1] < heap[child]) child++;
    if (heap[child] >= last) break;
    heap[k] = heap[child];
    k = child;
  }
  heap[k] = last;
  return top;
}

#endif
