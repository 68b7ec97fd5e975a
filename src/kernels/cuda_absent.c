/* cuda_absent.c: this build has no CUDA; no context can lead to these tables. */
#include "kernels/sweep_rows.h"

const gik_row_products gik_row_products_cuda = {0};
const gik_row_sweeps gik_row_sweeps_cuda = {0};
