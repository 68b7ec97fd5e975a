/* cluster_solve.h: solves with the operators of clusters on the context's device: all parts of up to 16 right-hand
 * sides in one launch, of more level by level, as single parts are.
 *
 * One sweep is one product a level: forward from the leaves, backward from the roots; see cluster_panels.h for the
 * operators and clusters.h for who adds what.  Every sum has a fixed order, so x has the same bits in every run and on
 * every stream, and a column has the bits that it has alone; with all parts and more than 16 right-hand sides, those
 * that it has among any such number. */
#ifndef GI_CLUSTER_SOLVE_H
#define GI_CLUSTER_SOLVE_H

#include "supernodal/clusters/cluster_panels.h"
#include "supernodal/cpu/solve.h"

/* Operators and lists in the memory of the context's device; const in a solve, several works share it. */
typedef struct gi_cluster_solver gi_cluster_solver;
/* Work vectors of one solve in flight. */
typedef struct gi_cluster_work gi_cluster_work;

/* What surrounds A' = R-scaled, permuted A: row k of A' is row row_perm[k] of the caller's, columns likewise; scalings
 * by the caller's rows and columns.  Each may be NULL: as it is. */
typedef struct gi_cluster_outside {
  const gable_idx *row_perm, *col_perm; /* [n] */
  const double *row_scale, *col_scale;  /* [n] */
} gi_cluster_outside;

/* Copies the lists of panels' clusters and the permutations of outside (NULL: A' itself) to the device; no numbers yet.
 * panels is borrowed until destroy.  GABLE_ERR_MEMORY. */
gable_status gi_cluster_solver_create(gable_context *ctx, const gi_cluster_panels *panels,
                                      const gi_cluster_outside *outside, gi_cluster_solver **out);
void gi_cluster_solver_destroy(gable_context *ctx, gi_cluster_solver **solver); /* NULL is fine */

/* The operators that panels holds now, and the scalings of outside, in the order of stream. */
gable_status gi_cluster_solver_update(gi_cluster_solver *s, const gi_cluster_outside *outside, void *stream);

gable_off gi_cluster_solver_bytes(const gi_cluster_solver *s);            /* of device memory */
double gi_cluster_floor_bytes(const gi_cluster_solver *s, gable_idx rhs); /* operators, lists and vectors once */

/* Right-hand sides that are solved at once where max_rhs are asked for: 1, 4 or 16; beyond 16 a multiple of 32 up to
 * 128, as many as take no more memory than s or 1 GiB. */
gable_idx gi_cluster_columns(const gi_cluster_solver *s, gable_idx max_rhs);

/* Room for gi_cluster_columns of them; more are solved in turns. */
gable_status gi_cluster_work_create(const gi_cluster_solver *s, gable_idx max_rhs, gi_cluster_work **out);
void gi_cluster_work_destroy(gi_cluster_work **work); /* NULL is fine */

/* Solves op(product of parts) x = b; parts are those of gi_solve, and only GI_SOLVE_ALL applies outside and F.  b and x
 * lie in the device's memory (space GABLE_SPACE_DEVICE; on the CPU in host memory), n rows, count columns, float or
 * double; x may be b.  Ordered on stream, allocates nothing, waits for nothing. */
gable_status gi_cluster_solve(const gi_cluster_solver *s, gi_cluster_work *w, gable_op op, unsigned parts,
                              const gable_vectors_view *b, const gable_vectors_view *x, void *stream);

/* Waits for stream.  GABLE_ERR_DEADLINE, once, where a value of an earlier solve never came; names the cluster. */
gable_status gi_cluster_work_check(gi_cluster_work *w, void *stream);

#endif
