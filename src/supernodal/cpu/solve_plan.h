/* solve_plan.h: the inside of a solve plan: who sweeps what, and where parts of the tree leave what they owe others.
 *
 * A part is a range of supernodes that holds every descendant of its members.  Its forward sweep writes rows of its own
 * and, for rows above it, slots n + slot0 .. of its own, so parts do not meet.  The slots are then folded into the rows
 * above in the order of the parts.  The rest is made of tops, swept in order: a narrow top by one thread, a wide top
 * (one supernode) by all of them. */
#ifndef GI_SOLVE_PLAN_H
#define GI_SOLVE_PLAN_H

#include "base/team_choice.h"
#include "base/wait.h"
#include "supernodal/cpu/solve.h"

typedef struct gi_solve_piece {
  gable_idx s0, s1; /* supernodes */
  int wide;         /* of a top: shared by all threads */
  gable_idx slot0, slots;
  gable_off cost; /* panel values */
} gi_solve_piece;

/* Consecutive diagonal blocks.  Either one block cut into parts and tops, or small blocks swept by one thread. */
typedef struct gi_solve_segment {
  gable_idx block0, block1;
  gable_idx s0, s1;
  int cut;
  gable_idx part0, part1, top0, top1, fold0, fold1;
} gi_solve_segment;

struct gi_solve_plan {
  gable_context *ctx;
  const gi_layout *layout;
  gable_off values; /* in all panels */
  gable_off thread_values;
  gable_idx n_segments, n_parts, n_tops, n_folds, slots;
  int parallel;               /* 1: something is worth sharing */
  gi_solve_segment *segment;  /* [n_segments] */
  gable_idx *super_of_block;  /* [n_blocks+1] first supernode of each block */
  gi_solve_piece *part, *top; /* [n_parts], [n_tops] increasing */
  gable_idx *fold_row;        /* [n_folds] rows above parts that parts write to, increasing */
  gable_idx *fold_ptr;        /* [n_folds+1] */
  gable_idx *fold_slot;       /* [slots] the slots of each, by part */
  gable_idx *lrow, *ucol; /* the layout's, with rows above a part replaced by its slots; the same when it is symmetric
                             and the layout's own when there are no parts */
  gable_idx longest;      /* most rows of an L panel, its diagonal block included, or of a U panel */
};

struct gi_solve_work {
  gable_context *ctx;
  const gi_solve_plan *plan;
  int threads;  /* at most; no more than have values enough each */
  gi_team team; /* of the solve at hand; its waits have no deadline */
  gi_team_choice choice;
  uint64_t phase;                 /* of the last solve's last phase */
  atomic_uint done;               /* items of the solve at hand, of all its phases so far */
  atomic_uint_least64_t *claimed; /* [threads or n_parts, the larger] see solve_sweep.h */
  gable_idx rhs;                  /* columns of y */
  gable_off stride;               /* doubles of z for each thread */
  double *y;                      /* [(n + slots) rhs] */
  double *z;                      /* [threads stride] */
  int *owner;                     /* [n_parts] thread that takes each part first */
  gable_off *load;                /* [threads] values of a thread's parts */
  gable_off y_room, z_room;       /* numbers that y and z have room for */
  gable_idx parts_room, items_room;
  int threads_wanted, threads_room;
};

/* The cut: fills part, top and segment.  solve_cut.c */
gable_status gi_solve_cut(gi_solve_plan *plan, const gi_solve_plan_options *options);

#endif
