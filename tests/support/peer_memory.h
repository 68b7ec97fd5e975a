/* peer_memory.h: symmetric memory (comm/shared.h) for tests in C++, which cannot read C11's atomics. */
#ifndef TEST_PEER_MEMORY_H
#define TEST_PEER_MEMORY_H

#include <gable/forest.h>

typedef struct peer_memory peer_memory;

/* Collective.  at [size]: where each rank's bytes are; path: as of gi_transport.device_create. */
gable_status peer_memory_open(gable_comm *comm, int64_t bytes, gable_path path, void **at, peer_memory **out);
void peer_memory_close(peer_memory *m);

#endif
