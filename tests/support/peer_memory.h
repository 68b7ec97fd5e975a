/* peer_memory.h: symmetric memory (comm/shared.h) for tests in C++, which cannot read C11's atomics. */
#ifndef TEST_PEER_MEMORY_H
#define TEST_PEER_MEMORY_H

#include <gable/comm.h>

typedef struct peer_memory peer_memory;

/* Collective.  at [size]: where each rank's bytes are. */
gable_status peer_memory_open(gable_comm *comm, int64_t bytes, void **at, peer_memory **out);
void peer_memory_close(peer_memory *m);

#endif
