/* dot.h: scalar products and 2-norms of vectors in host memory, in an order that depends on n alone. */
#ifndef GIK_DOT_H
#define GIK_DOT_H

#include <gable/types.h>

/* sum x_i y_i, as eight partial sums. */
double gik_dot(gable_off n, const double *x, const double *y);

/* ||x||_2; scaled by the largest entry where the sum of squares would overflow or underflow. */
double gik_norm2(gable_off n, const double *x);

/* The same where the caller knows square = x . x. */
double gik_norm2_of(gable_off n, const double *x, double square);

#endif
