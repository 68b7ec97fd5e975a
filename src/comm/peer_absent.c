/* peer_absent.c: a build without this transport: no function stands in its table. */
#include "comm/comm.h"

const gi_transport gi_transport_peer = {.name = "peer"};
