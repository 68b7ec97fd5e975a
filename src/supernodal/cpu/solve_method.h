/* solve_method.h: the supernodal solve methods of the literature by name, as plain loops on one thread: the reference
 * for other forms of them.  docs/algorithms/solve-methods.md
 *
 * Yamazaki, Rajamanickam, Ellingwood, "Performance portable supernode-based sparse triangular solver for manycore
 * architectures", ICPP 2020; Alvarado, Pothen, Schreiber, "Highly parallel sparse triangular solution", 1993. */
#ifndef GI_SOLVE_METHOD_H
#define GI_SOLVE_METHOD_H

#include "supernodal/cpu/block_triangle.h"
#include "supernodal/cpu/solve.h"

typedef struct gi_solve_method gi_solve_method;           /* immutable: threads may share it */
typedef struct gi_solve_method_work gi_solve_method_work; /* one per calling thread */

/* Copies of f's numbers in the form of the method (not GABLE_SOLVE_AUTO); f is borrowed and outlives it.  All is of
 * double, whatever f's type.  O(values) and, where blocks are inverted, O(values times width).  GABLE_ERR_MEMORY. */
gable_status gi_solve_method_create(gable_context *ctx, const gi_factor *f, gable_solve_method method, int merge,
                                    gi_solve_method **out);
void gi_solve_method_destroy(gable_context *ctx, gi_solve_method **method); /* NULL is fine */
gable_off gi_solve_method_bytes(const gi_solve_method *m);

/* Levels of L and of U^T, one after another; what a solve reads at least for one right-hand side, vectors included. */
gable_idx gi_solve_method_levels(const gi_solve_method *m);
double gi_solve_method_floor_bytes(const gi_solve_method *m);

/* Room for solves of n rows and up to max_rhs right-hand sides at once (more in turns of 16); for every method and
 * factor of n rows. */
gable_status gi_solve_method_work_create(gable_context *ctx, gable_idx n, gable_idx max_rhs,
                                         gi_solve_method_work **out);
void gi_solve_method_work_destroy(gable_context *ctx, gi_solve_method_work **work); /* NULL is fine */

/* As gi_solve, for checked views. */
gable_status gi_solve_method_solve(const gi_solve_method *m, gi_solve_method_work *work, gable_op op, unsigned parts,
                                   const gable_vectors_view *b, const gable_vectors_view *x,
                                   const gi_solve_frame *frame);

#endif
