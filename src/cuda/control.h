/* control.h: the state that all thread blocks of one solve share.  Plain C, since hosts allocate and clear it. */
#ifndef GIK_CONTROL_H
#define GIK_CONTROL_H

enum { GIK_PARITY_WORDS = 60, GIK_MOST_RHS = 32 * GIK_PARITY_WORDS }; /* right-hand sides of one launch */

/* One solve in flight: what its blocks share.  In device memory, so that a captured graph can be replayed.
 * Published values have two copies.  Bit r of parity selects the copy that right-hand side r uses; the solve clears the
 * other one and flips the bit.  It flips the bits of its own right-hand sides alone: the next solve may have more. */
typedef struct gik_control {
  unsigned ticket; /* the next piece of work */
  unsigned left;   /* blocks that are done */
  int aborted;     /* 1: a deadline has passed, every wait ends */
  int fault_row;   /* row (of the matrix) that waited or was waited for when it did; -1: none */
  unsigned parity[GIK_PARITY_WORDS];
} gik_control;

#endif
