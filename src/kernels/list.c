/* list.c: the kernels of a CPU and of the mirror. */
#include "kernels/list.h"

#include <stddef.h>

#define PLAIN(group) &gik_##group##_cpu
#define GPU(group) NULL
#define ENTRY(group, plain) .group = plain(group),
const gik_kernels gik_kernels_cpu = {GIK_GROUPS(ENTRY)};
