/* cluster_piece.h: the tasks of some clusters of one level and direction, made by one thread. */
#ifndef GI_CLUSTER_PIECE_H
#define GI_CLUSTER_PIECE_H

#include "supernodal/clusters/cluster_record.h"

/* Clusters begin .. end-1.  Tiles of one large cluster may be spread over several pieces: tile t belongs to part t %
 * parts. */
typedef struct gi_task_piece {
  const gi_task_plan *plan;
  int forward;
  gable_idx begin, end, part, parts;
  gable_off target;          /* bytes of a task */
  const gi_records *records; /* of the thread that built it */
  gable_idx from, tasks;     /* of these records */
  gable_off places;          /* that the piece adds: its records number them from gi_task_places on */
  gable_off shift;           /* from these to those of the board */
  gable_off first;           /* number of its first task */
} gi_task_piece;

/* What one thread builds pieces with; it keeps their records. */
typedef struct gi_task_builder gi_task_builder;

/* A task where its piece keeps it. */
typedef struct gi_task_ref {
  const unsigned char *record;
  const gik_flow_source *source;
  gable_idx bytes, values, sources; /* of the record, of the values */
} gi_task_ref;

gable_off gi_task_places(const gi_task_plan *plan); /* of columns and slots: those of sums come behind */
/* Bytes of the values of cluster j in one direction, with zeros. */
gable_off gi_task_cluster_bytes(const gi_task_plan *plan, int forward, gable_idx j);

gable_status gi_task_builder_create(gable_context *ctx, gi_task_builder **out);
void gi_task_builder_destroy(gable_context *ctx, gi_task_builder **made); /* NULL is fine */
/* Makes the tasks of a piece.  GABLE_ERR_MEMORY, GABLE_ERR_LIMIT. */
gable_status gi_task_piece_build(gi_task_builder *b, gi_task_piece *piece);

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
