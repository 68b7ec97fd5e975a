/* thin_panels.h: copies of the thin panels of a factor, in the order in which a solve takes them.
 *
 * In small factors of circuits most supernodes are thin, and most of these are leaves.  One by one, in postorder, each
 * costs more in wrongly predicted branches and in waiting for the one before than in arithmetic.  So in each part, top
 * and small block of a plan whole subtrees of thin supernodes come level by level, within a level shape by shape, from
 * records that are one stream of memory (kernels/panel/panel_thin.h); the rest follows in postorder, from the panels.
 * The order belongs to the layout, so the sums keep theirs whatever the threads.
 *
 * A factor that does not fit a cache has none of this: its panels without the thin ones are no stream any more, and
 * that costs more (docs/algorithms/supernodal-solve.md has the figures). */
#ifndef GI_SOLVE_THIN_H
#define GI_SOLVE_THIN_H

#include "kernels/panel/panel_sweep.h"
#include "supernodal/cpu/solve.h"

typedef struct gi_solve_range {
  gable_idx s0, s1;
} gi_solve_range;

/* One sweep.  A piece of the plan: a part; a top, from n_parts on; a block, from n_parts + n_tops on. */
typedef struct gi_thin_stream {
  gable_idx n_groups, n_records, n_rest;
  gable_off indices, n_values;
  gik_thin_group *group; /* [n_groups] */
  gable_idx *group_ptr;  /* [pieces+1] */
  gable_idx *super;      /* [n_records] the supernode of each record */
  gable_idx *index;      /* [indices] */
  void *values;          /* [n_values] */
  gi_solve_range *rest;  /* [n_rest] supernodes without a record: ranges within pieces, increasing */
  gable_idx *rest_ptr;   /* [pieces+1] */
} gi_thin_stream;

typedef struct gi_thin_panels {
  const gi_solve_plan *plan;
  gi_thin_stream l;      /* forward sweeps, and backward ones with a symmetric factor */
  gi_thin_stream u;      /* backward sweeps of LU */
  gable_idx *back_index; /* a symmetric factor: l.index with the layout's rows for slots; l.index itself where there are
                            none */
  gable_off bytes;
} gi_thin_panels;

/* Copies the panels of factor into factor->thin, which is made for this plan when it is not there; to be called when
 * the numbers are new.  Leaves it NULL where thin panels are too many to hold twice.  The plan outlives the factor.
 * GABLE_ERR_MEMORY. */
gable_status gi_thin_update(gable_context *ctx, const gi_solve_plan *plan, gi_factor *factor);

/* Bytes that the copies of a factor of this kind and type take, their groups left out; 0: there are none. */
gable_off gi_thin_bytes(const gi_layout *y, gi_factor_kind kind, gable_type type);
void gi_thin_destroy(gable_context *ctx, gi_thin_panels **thin); /* NULL is fine */

#endif
