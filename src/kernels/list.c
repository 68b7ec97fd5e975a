/* list.c: the kernels of a CPU and of the mirror. */
#include "kernels/list.h"

#define ENTRY(group) .group = &gik_##group##_cpu,
const gik_kernels gik_kernels_cpu = {GIK_GROUPS(ENTRY)};
