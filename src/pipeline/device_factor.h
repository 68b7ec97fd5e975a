/* device_factor.h: the factor of a solver on a GPU (or the mirror): prepared, uploaded, and swept there. */
#ifndef GI_DEVICE_FACTOR_H
#define GI_DEVICE_FACTOR_H

#include "pipeline/arrangement.h"
#include "pipeline/device_triangles.h"
#include "supernodal/clusters/cluster_solve.h"
#include "supernodal/methods/method_solve.h"

/* A factor there: over clusters, in the form of a named method, or as two triangles. */
typedef struct gi_device_factor {
  gable_idx n;
  int apart;             /* 1: supernodes with small pivots are clusters of their own */
  gi_clusters *clusters; /* these three NULL: one of the next two is not */
  gi_cluster_panels *panels;
  gi_cluster_solver *solver;
  gi_method_solver *named;
  gi_device_triangles *triangles;
  double prepare_s, lists_s, upload_s; /* of the last factorization; lists_s: within prepare_s, of clusters alone */
} gi_device_factor;

/* Work vectors and staging of one solve in flight. */
typedef struct gi_device_sweep {
  gi_cluster_work *clusters; /* NULL: one of the next two is not */
  gi_method_work *named;
  gi_device_triangles_work *triangles;
  double *b, *x; /* [columns*n] on the device */
} gi_device_sweep;

/* f's numbers on the device of ctx, in the form of method; lists are made anew where *d is NULL.  After an error *d is
 * NULL.  *moved: 1: works made so far are of no use any more. */
gable_status gi_device_factor_update(gable_context *ctx, const gi_arrangement *a, const gi_factor *f,
                                     gable_solve_method method, int merge, gi_device_factor **d, int *moved);
/* The same for imported factors that are solved element by element. */
gable_status gi_device_factor_of_triangles(gable_context *ctx, const gi_arrangement *a, const gi_triangles *t,
                                           gi_device_factor **out);
void gi_device_factor_destroy(gable_context *ctx, gi_device_factor **d); /* NULL is fine */

gable_off gi_device_factor_host_bytes(const gi_device_factor *d);
gable_off gi_device_factor_bytes(const gi_device_factor *d); /* of device memory */
double gi_device_factor_launched_s(const gable_context *ctx, const gi_device_factor *d,
                                   gable_idx rhs); /* seconds predicted for a solve level by level; 0: it is not one */
double
gi_device_factor_floor_bytes(const gi_device_factor *d); /* that a solve of one right-hand side reads and writes */

/* Right-hand sides that a sweep takes at once where max_rhs are asked for. */
gable_idx gi_device_sweep_columns(const gi_device_factor *d, gable_idx max_rhs);

gable_status gi_device_sweep_create(gable_context *ctx, const gi_device_factor *d, gable_idx columns,
                                    gi_device_sweep **out);
void gi_device_sweep_destroy(gable_context *ctx, gi_device_sweep **w); /* NULL is fine */

/* gi_cluster_solve, gi_method_solve or gi_device_triangles_solve. */
gable_status gi_device_sweep_solve(const gi_device_factor *d, gi_device_sweep *w, gable_op op, unsigned parts,
                                   const gable_vectors_view *b, const gable_vectors_view *x, void *stream);
typedef gable_status gi_device_solve_function(const gi_device_factor *d, gi_device_sweep *w, gable_op op,
                                              unsigned parts, const gable_vectors_view *b, const gable_vectors_view *x,
                                              void *stream);

/* The same for corrections, which are recorded: of the factors in whose solves a library is called for each block
 * (has_calls), another method's launches, which are fewer. */
gi_device_solve_function gi_device_sweep_correct;
int gi_device_factor_has_calls(const gi_device_factor *d);

/* Columns of n doubles in host memory; x may be b. */
typedef struct gi_host_columns {
  const double *b;
  double *x;
  gable_off ldb, ldx;
  gable_idx first, count; /* first: the caller's number of column 0 */
} gi_host_columns;

/* To and from n doubles a column in device memory, one after another, in the order of stream. */
gable_status gi_host_columns_up(gable_context *ctx, const gi_host_columns *v, gable_idx n, double *to, void *stream);
gable_status gi_host_columns_down(gable_context *ctx, const gi_host_columns *v, gable_idx n, const double *from,
                                  void *stream);

/* The same for these, at most as many as w takes at a time; waits for x. */
gable_status gi_device_sweep_host(gable_context *ctx, const gi_device_factor *d, gi_device_sweep *w, gable_op op,
                                  unsigned parts, const gi_host_columns *columns, void *stream);

/* Waits for stream; what gi_cluster_work_check says of the sweeps so far. */
gable_status gi_device_sweep_check(gable_context *ctx, gi_device_sweep *w, void *stream);

#endif
