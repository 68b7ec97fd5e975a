/* cuda_absent.c: this build has no CUDA; no context can lead to these tables. */
#include "kernels/row_product.h"

const gik_row_products gik_row_products_cuda = {0};
