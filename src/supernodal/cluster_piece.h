/* cluster_piece.h: the tasks of some clusters of one level and direction, made by one thread. */
#ifndef GI_CLUSTER_PIECE_H
#define GI_CLUSTER_PIECE_H

#include "supernodal/cluster_record.h"

/* Clusters begin .. end-1.  Tiles of one large cluster may be spread over several pieces: tile t belongs to part t %
 * parts. */
typedef struct gi_task_piece {
  const gi_task_plan *plan;
  int forward;
  gable_idx begin, end, part, parts;
  gable_off target; /* bytes of a task */
  gi_records records;
  gable_off places; /* that the piece adds: its records number them from gi_task_places on */
  gable_off shift;  /* from these to the board's */
  gable_off first;  /* number of its first task */
} gi_task_piece;

/* A task where its piece keeps it. */
typedef struct gi_task_ref {
  const unsigned char *record;
  const gik_flow_source *source;
  gable_idx bytes, values, sources; /* of the record, of the values */
} gi_task_ref;

gable_off gi_task_places(const gi_task_plan *plan); /* of columns and slots: those of sums come behind */
/* Bytes of the values of cluster j in one direction, with zeros. */
gable_off gi_task_cluster_bytes(const gi_task_plan *plan, int forward, gable_idx j);

/* Fills records and places.  GABLE_ERR_MEMORY, GABLE_ERR_LIMIT. */
gable_status gi_task_piece_build(gable_context *ctx, gi_task_piece *piece);
void gi_task_piece_release(gable_context *ctx, gi_task_piece *piece); /* fine on one that was not built */
/* Adds shift to its places, and writes its tasks to task. */
void gi_task_piece_place(gi_task_piece *piece, gi_task_ref *task);

/* order[k]: the k-th task to be taken, each after those that store what it reads: a list schedule on workers thread
 * blocks, the task with the longest way to the end first. */
typedef struct gi_task_schedule {
  const gi_task_ref *task;
  gable_idx count, workers;
  gable_off places;
  gable_idx *order;
} gi_task_schedule;

/* The orders of so many lists.  GABLE_ERR_ARGUMENT where tasks wait in a circle. */
gable_status gi_task_schedules_make(gable_context *ctx, gi_task_schedule *schedule, int count, int threads);

#endif
