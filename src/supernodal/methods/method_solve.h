/* method_solve.h: the solve methods of the literature on the context's device, in launches level by level: on a CPU as
 * plain loops, one launch after the other.  docs/algorithms/solve-methods.md
 *
 * Yamazaki, Rajamanickam, Ellingwood, "Performance portable supernode-based sparse triangular solver for manycore
 * architectures", ICPP 2020; Alvarado, Pothen, Schreiber, "Highly parallel sparse triangular solution", 1993. */
#ifndef GI_METHOD_SOLVE_H
#define GI_METHOD_SOLVE_H

#include "supernodal/clusters/cluster_solve.h"
#include "supernodal/cpu/solve.h"
#include "supernodal/methods/method_triangle.h"

/* A factor's triangles in the memory of the context's device; const in a solve, several works share it. */
typedef struct gi_method_solver gi_method_solver;
/* Work vectors of one solve in flight. */
typedef struct gi_method_work gi_method_work;

/* Seconds of the last update. */
typedef struct gi_method_times {
  double prepare_s, upload_s;
} gi_method_times;

/* f's numbers in the form of the method (not GABLE_SOLVE_AUTO), and what surrounds A'.  *s NULL: a new one; else of an
 * earlier factor with the same layout, kind, method and merging: addresses stay where sizes do, and *moved becomes 1
 * where one does not.  f goes when the caller likes.  O(values), and O(values times width) where blocks are inverted.
 * GABLE_ERR_MEMORY; after an error *s is NULL. */
gable_status gi_method_solver_update(gable_context *ctx, const gi_factor *f, gable_solve_method method, int merge,
                                     const gi_cluster_outside *outside, gi_method_solver **s, int *moved);
void gi_method_solver_destroy(gable_context *ctx, gi_method_solver **s); /* NULL is fine */

/* Does s serve factors of this layout and kind? */
int gi_method_solver_fits(const gi_method_solver *s, const gi_factor *f);

gable_solve_method gi_method_solver_method(const gi_method_solver *s);
gi_method_times gi_method_solver_times(const gi_method_solver *s);
gable_off gi_method_solver_bytes(const gi_method_solver *s); /* of device memory */
gi_method_counts gi_method_solver_counts(const gi_method_solver *s);
gable_off gi_method_solver_launches(const gi_method_solver *s); /* of a solve with op N */
double gi_method_floor_bytes(const gi_method_solver *s,
                             gable_idx rhs); /* both sweeps' numbers and rows, vectors once */

/* Room for max_rhs right-hand sides at once (at most 16; more are solved in turns).  GABLE_ERR_UNAVAILABLE: `levels`
 * on a GPU without cuBLAS, `partitioned-cusparse` without cuSPARSE. */
gable_status gi_method_work_create(const gi_method_solver *s, gable_idx max_rhs, gi_method_work **out);
void gi_method_work_destroy(gi_method_work **work); /* NULL is fine */
/* Makes w a work of s, which has the method of its solver (not `partitioned-cusparse`), where its vectors are large
 * enough; 0: they are not. */
int gi_method_work_fit(gi_method_work *w, const gi_method_solver *s);

/* As gi_cluster_solve.  The bits of `levels` depend on how many right-hand sides it takes at once: 1, up to 4, or up
 * to 16; those of `partitioned-cusparse` on how many the work has room for. */
gable_status gi_method_solve(const gi_method_solver *s, gi_method_work *w, gable_op op, unsigned parts,
                             const gable_vectors_view *b, const gable_vectors_view *x, void *stream);

/* The same for corrections, in launches that are few enough to be recorded: `levels` takes those of `batched`. */
gable_status gi_method_correct(const gi_method_solver *s, gi_method_work *w, gable_op op, unsigned parts,
                               const gable_vectors_view *b, const gable_vectors_view *x, void *stream);

#endif
