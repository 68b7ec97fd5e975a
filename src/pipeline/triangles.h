/* triangles.h: imported factors solved element by element on the CPU, each triangle by a plan of src/trisolve.
 *
 * For incomplete factors: panels would store the closure of L + U, and multiply by its zeros. */
#ifndef GI_TRIANGLES_H
#define GI_TRIANGLES_H

#include "factor/export.h"
#include "pipeline/triangle_plans.h"
#include "supernodal/cpu/solve.h"

typedef struct gi_triangles {
  gable_context *ctx;
  gable_idx n;
  gi_factor_kind kind;      /* GI_LU or GI_CHOLESKY */
  gable_type type;          /* of the plans' values */
  gi_csc l, u;              /* by columns, rounded to the factor's type; LU: l with its ones;
                               Cholesky: no u */
  double *diagonal;         /* [n] of u (LU) or of l (Cholesky) */
  gi_triangle_plans *plans; /* on the CPU */
} gi_triangles;

typedef struct gi_triangles_work gi_triangles_work; /* one per calling thread */

/* l, u: checked by gi_factor_check_columns, and taken (zeroed); u NULL:
 * Cholesky.  GABLE_ERR_MEMORY. */
gable_status gi_triangles_create(gable_context *ctx, gi_csc *l, gi_csc *u, gable_type type, gi_triangles **out);
void gi_triangles_destroy(gi_triangles **t); /* NULL is fine */
gable_off gi_triangles_bytes(const gi_triangles *t);

/* Room for solves with up to max_rhs right-hand sides at once; more are solved
 * in turns. */
gable_status gi_triangles_work_create(const gi_triangles *t, gable_idx max_rhs, gi_triangles_work **out);
void gi_triangles_work_destroy(gi_triangles_work **w); /* NULL is fine */

/* As gi_solve: op(product of parts) x = b, L unit, D the diagonal of u, U =
 * D^-1 u (Cholesky: D = I, U = L^T).  x may be b.  Allocates nothing. */
gable_status gi_triangles_solve(const gi_triangles *t, gi_triangles_work *w, gable_op op, unsigned parts,
                                const gable_vectors_view *b, const gable_vectors_view *x, const gi_solve_frame *frame);

/* Copies of l and u.  out: zeroed. */
gable_status gi_triangles_export(const gi_triangles *t, gi_factor_columns *out);

#endif
