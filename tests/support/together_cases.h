/* together_cases.h: several exchanges that begin and end together, beside the same ones one after the other. */
#ifndef TEST_TOGETHER_CASES_H
#define TEST_TOGETHER_CASES_H

#include <gable/forest.h>

/* Collective.  Seven exchanges of all directions, of different units and ops, arrays in the memory of the place, by
 * path: rounds with new data, in groups that differ between ranks; 40 more in one group; and errors.  A wrong value
 * ends the program. */
void together_cases(gable_comm *comm, gable_path path, int rounds);

#endif
