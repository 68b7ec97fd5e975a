/* peer.h: ranks that are threads, each with a device whose memory kernels of all the others reach. */
#ifndef GI_PEER_H
#define GI_PEER_H

#include "comm/shared.h"

/* peer_shared.c */
gable_status gi_peer_shared_create(gable_comm *comm, int64_t bytes, gi_shared **out);
void gi_peer_shared_destroy(gi_shared *s);

#endif
