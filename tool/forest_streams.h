/* forest_streams.h: model a, of programs that know no streams: they wait for the GPU before an exchange and for its
 * stream after it. */
#ifndef TOOL_FOREST_STREAMS_H
#define TOOL_FOREST_STREAMS_H

#include <gable/gable.h>

/* Local.  Before a begin: the comm's GPU has done all; after an end: its context's stream has.  Nothing unless
 * model_a. */
gable_status forest_before(gable_comm *comm, int model_a);
gable_status forest_after(gable_comm *comm, int model_a);

#endif
