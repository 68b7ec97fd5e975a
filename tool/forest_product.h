/* forest_product.h: the rows of a forest_rows on a GPU, and their sums. */
#ifndef TOOL_FOREST_PRODUCT_H
#define TOOL_FOREST_PRODUCT_H

#include <gable/gable.h>

struct forest_rows;

typedef struct forest_product forest_product;

/* Local.  Copies of the rows in the memory of the comm's context. */
gable_status forest_product_open(const struct forest_rows *r, forest_product **out);
void forest_product_close(forest_product *p); /* NULL is fine */

/* Local.  y_i = sum_j a_ij x_j for rows order[from..to), each by increasing column without contraction, on the
 * context's stream; x, y: device memory. */
gable_status forest_product_sum(forest_product *p, gable_idx from, gable_idx to, const double *x, double *y);

#endif
