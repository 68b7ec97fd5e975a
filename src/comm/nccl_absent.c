/* nccl_absent.c: a build without this transport: no function stands in its tables. */
#include "comm/stream_link.h"

const gi_transport gi_transport_nccl = {.name = "nccl"};
const gi_stream_messages gi_nccl_messages = {0};
