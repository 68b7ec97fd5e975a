/* forest_cases.h: exchanges by name, on any comm and path: several under way, many in a row, adjoints, and what went
 * wrong in PetscSF before.  A case that fails ends the program. */
#ifndef TEST_FOREST_CASES_H
#define TEST_FOREST_CASES_H

#include <gable/gable.h>

#include "support/failing_allocator.h"

/* Collective.  Every case, between arrays in host memory, or in the place's device memory.  rounds: of exchanges of all
 * directions that are under way at once. */
void forest_cases(gable_comm *comm, gable_path path, long rounds);
void forest_device_cases(gable_comm *comm, gable_path path, long rounds);

/* Collective.  An exchange of the plan o on the forest of these leaves (leaf NULL: 0, 1, ...); all else is given back.
 */
gable_exchange *forest_exchange(gable_comm *comm, gable_off n_roots, gable_off n_leaves, const gable_off *leaf,
                                const gable_root *root, const gable_plan_options *o);

/* Collective.  Rounds of every direction, with roots of one leaf and with a root of many, take nothing from memory,
 * which is this rank's context's. */
void forest_quiet_rounds(gable_comm *comm, gable_path path, const failing_allocator *memory);

/* Collective.  One message of more than 2^31 bytes from rank 0 to the last rank and back; *needed: bytes of memory that
 * all ranks take together. */
int64_t forest_long_message_bytes(gable_path path);
void forest_long_message(gable_comm *comm, gable_path path);

#endif
