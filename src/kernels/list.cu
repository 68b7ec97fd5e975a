/* list.cu: the kernels of a GPU. */
#include "kernels/list.h"

#define ENTRY(group) &gik_##group##_cuda,
extern "C" const gik_kernels gik_kernels_cuda = {GIK_GROUPS(ENTRY)};
