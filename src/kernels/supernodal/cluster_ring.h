/* cluster_ring.h: where pieces of different lengths lie in a ring of bytes, each in one part.  Host and GPU. */
#ifndef GIK_CLUSTER_RING_H
#define GIK_CLUSTER_RING_H

#include "base/portable.h"

/* Bytes from tail to head are taken, counted modulo 2^32 from the first piece on; at: where head lies. */
typedef struct gik_ring {
  unsigned bytes, head, tail, at;
} gik_ring;

/* Whether a piece of length bytes, at most the ring's, has room now; then it lies at *place and gives its room back by
 * tail = *end, after all pieces before it. */
GI_HD int gik_ring_take(gik_ring *r, unsigned length, unsigned *place, unsigned *end)
{
  if (r->head == r->tail) r->at = 0; /* nothing is there */
  const int wraps = length > r->bytes - r->at;
  const unsigned skip = wraps ? r->bytes - r->at : 0;
  if (r->head - r->tail + skip + length > r->bytes) return 0;
  *place = wraps ? 0 : r->at;
  r->at = *place + length;
  r->head += skip + length;
  *end = r->head;
  return 1;
}

#endif
