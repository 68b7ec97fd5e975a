/* sweep_rows.h: Gauss-Seidel with whole rows in the order of levels, the product with the old values and the solve for
 * the new ones in one kernel: LEVR and ELMR of Li and Zhang (SIAM PP 2020), section 5.2. */
#ifndef GIK_SWEEP_ROWS_H
#define GIK_SWEEP_ROWS_H

#include "kernels/list.h"
#include "kernels/sparse/row_product.h"
#include "kernels/trisolve/trisolve_cuda.h"

/* The rows of one direction, by level of the triangle that it follows. */
typedef struct gik_sweep_order {
  int backward, levels;
  const unsigned *order;        /* [n] on the device */
  const unsigned *start;        /* host, [levels+1] where each level starts in order */
  const unsigned *device_start; /* the same on the device */
} gik_sweep_order;

typedef struct gik_sweep {
  gable_type type;     /* of the vectors */
  const void *b, *old; /* old: [n] the values before the sweep; NULL: in place, which wants a symmetric pattern */
  void *x;
  ptrdiff_t b_step, x_step;
  double omega;
  gik_control *control; /* elements: of this type of vectors, made ready by prepare */
  void *published;      /* elements: [2][n] of the vectors' type, likewise */
  unsigned long long deadline_ns;
  void *stream;
} gik_sweep;

struct gik_row_sweeps {
  gable_status (*levels)(const gik_rows *a, const gik_sweep_order *o, const gik_sweep *s);
  gable_status (*elements)(const gik_rows *a, const gik_sweep_order *o, const gik_sweep *s);
  gable_status (*prepare)(gik_control *control, void *published, gable_idx n, gable_type type, void *stream);
};

#endif
