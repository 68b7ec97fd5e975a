/* estimate_steps.h: vector operations of the estimates of norms (krylov/condition.h), on a device.
 *
 * What a caller decides by, an operation leaves in a gik_estimate beside the vectors.  Sums have one order, which is
 * not the same on each device.  Launches are asynchronous on the stream and allocate nothing. */
#ifndef GIK_ESTIMATE_STEPS_H
#define GIK_ESTIMATE_STEPS_H

#include <gable/types.h>

#include "base/context.h"
#include "kernels/list.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GIK_ESTIMATE_BLOCKS = 256 };

/* In device memory; zero before the first operation. */
typedef struct gik_estimate {
  double sum;           /* weigh: of |y_i| */
  double largest, last; /* largest: |x_best|, and |x_i| of the entry that was asked about */
  gable_idx best;       /* the first of the largest entries; -1: n is 0, or NaN alone */
  /* Of a GPU: what each thread block has found. */
  double part[GIK_ESTIMATE_BLOCKS];
  gable_idx where[GIK_ESTIMATE_BLOCKS];
  unsigned arrived;
} gik_estimate;

struct gik_estimate_steps {
  gable_status (*start)(gable_idx n, double *x, void *stream);                  /* x_i = 1 / n */
  gable_status (*unit)(gable_idx n, gable_idx k, double *x, void *stream);      /* x = e_k */
  gable_status (*alternate)(gable_idx n, double *x, void *stream);              /* x_i = (-1)^i (1 + i / (n - 1)) */
  gable_status (*signs)(gable_idx n, const double *d, double *y, void *stream); /* y_i = -d_i where y_i < 0, else d_i */
  /* y_i *= d_i, and their sum; d NULL, here and in signs: ones. */
  gable_status (*weigh)(gable_idx n, const double *d, double *y, gik_estimate *out, void *stream);
  /* The largest of |x_i|, and |x_last|; last -1: 0 instead. */
  gable_status (*largest)(gable_idx n, const double *x, gable_idx last, gik_estimate *out, void *stream);
  /* r_i = |r_i| + slack (weight_i + |b_i|). */
  gable_status (*bound)(gable_idx n, double slack, const double *weight, const double *b, double *r, void *stream);
};

#ifdef __cplusplus
}
#endif

#endif
