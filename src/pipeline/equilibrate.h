/* equilibrate.h: scalings by powers of two, so without a rounding error, that bring the largest entry of every row and
 * column near 1.  All of them leave what is zero, or out of reach of an exponent, alone.
 *
 * D. Ruiz, A scaling algorithm to equilibrate both rows and columns norms in matrices, RAL-TR-2001-034. */
#ifndef GI_EQUILIBRATE_H
#define GI_EQUILIBRATE_H

#include "sparse/csc.h"

/* r, c [n]: max |r_i a_ij c_j| over each row and each column that is not all zero lies in [1/4, 4]. */
void gi_equilibrate(const gi_csc *a, double *r, double *c);

/* The same with one r [n] for both sides; a holds both triangles of a matrix with |a_ij| = |a_ji|. */
void gi_equilibrate_symmetric(const gi_csc *a, double *r);

/* r_i r_i |a_ii| in [1/2, 2] for all a_ii != 0. */
void gi_equilibrate_diagonal(const gi_csc *a, double *r);

/* The power of two nearest to x > 0 in ratio; 1 when x is zero or not finite. */
double gi_power_of_two(double x);

#endif
