/* forest_check.h: random forests and exchanges against a serial program, on any comm. */
#ifndef TOOL_FOREST_CHECK_H
#define TOOL_FOREST_CHECK_H

#include <gable/gable.h>

typedef struct forest_check_result {
  long cases, exchanges, edges; /* of all ranks */
  long wrong;                   /* arrays that differ, on this rank */
  char first[256];              /* the first of them */
} forest_check_result;

/* Collective.  Each case: two exchanges of one plan under way, begun and ended in orders that differ between ranks, in
 * three rounds with new values; then every array is compared bit by bit.  Stops after the first case that is wrong. All
 * messages take the path.  On a device every other case has arrays in host memory too. */
gable_status forest_check(gable_comm *comm, long cases, uint64_t seed, gable_path path, forest_check_result *r);

#endif
