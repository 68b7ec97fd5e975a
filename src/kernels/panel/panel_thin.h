/* panel_thin.h: sweeps over thin supernodes whose numbers were copied one after the other in the order of the sweep.
 *
 * A group is a run of supernodes of one shape: w columns, m rows below (L) or beside (U) the diagonal block.  Of each
 * it has a record in two streams, so that group after group is read as memory goes and without a decision between
 * records:
 *
 *   index    first column, m rows                                                          1 + m
 *   values   of L: head, block and rows, column major, ld = w + m                          gik_thin_values(w, m, ..)
 *            of U: head, block, ld = w, and U^T(rows, block), ld = m
 *
 * head: the w reciprocals of the diagonal; none where the diagonal is one.  A single column has no block. */
#ifndef GIK_PANEL_THIN_H
#define GIK_PANEL_THIN_H

#include <gable/types.h>

#include "base/portable.h"

/* Is a supernode of w columns and m rows thin?  Its sweep is then compiled for w, and goes entry by entry. */
static inline int gik_panel_thin(gable_idx w, gable_idx m)
{
  return w <= 8 && m <= (w <= 4 ? 16 : 8);
}

typedef struct gik_thin_group {
  gable_idx w, m, count;
  gable_off index, value; /* offsets of the first record */
} gik_thin_group;

/* Values of one record; head: 1 or 0. */
static inline gable_off gik_thin_values(gable_idx w, gable_idx m, int head)
{
  return (head ? w : 0) + (w == 1 ? m : (gable_off)(w + m) * w);
}

typedef struct gik_thin_records {
  const gable_idx *index;
  const void *values;
  const gable_idx *pivot; /* [n] as in gik_panels, or NULL */
  int unit;               /* L has a unit diagonal: no head */
} gik_thin_records;

/* Groups upwards or downwards; y as in gik_panel_sweep. */
typedef void gik_panel_thin_sweep(const gik_thin_records *t, const gik_thin_group *group, gable_idx groups, void *y);

#endif
