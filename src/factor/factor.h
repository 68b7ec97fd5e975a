/* factor.h: the numbers of a factor, in the panels of its layout.
 *
 * LU: P A' = L U (+ F in block triangular form), P interchanging rows inside diagonal blocks only.  Cholesky: A' = L
 * L^T. L D L^T: P A' P^T = L D L^T, P interchanging rows and columns inside diagonal blocks, D of blocks of order 1 and
 * 2; the strict lower triangle of a diagonal block has L there, its diagonal and, where columns k, k+1 are one block of
 * D, place (k,k+1) have D.
 *
 * The rows of an L panel keep their numbers of A': the interchanges of supernode J apply to J's own diagonal block and
 * U panel, not to the panels of earlier supernodes, so that a solve interchanges the entries of J when it comes to J.
 */
#ifndef GI_FACTOR_H
#define GI_FACTOR_H

#include "base/team_choice.h"
#include "graph/symbolic/layout.h"
#include "kernels/dense/blas.h"
#include "sparse/csc.h"

typedef enum gi_factor_kind { GI_LU = 1, GI_CHOLESKY = 2, GI_LDLT = 3 } gi_factor_kind;

typedef struct gi_factor {
  gi_factor_kind kind;
  gable_type type;         /* GABLE_TYPE_D or GABLE_TYPE_S: of l, u, off and dinv */
  const gi_layout *layout; /* borrowed; outlives the factor */
  void *l;                 /* [layout->lval[n_super]] */
  void *u;                 /* [layout->uval[n_super]] or NULL (not LU) */
  void *dinv;          /* [n] reciprocals of the diagonal of U (LU) or of L (Cholesky); diagonal of D^-1 (L D L^T) */
  void *coupling;      /* [n] D^-1 at (k,k+1), 0 where these are not one block of D; NULL: not L D L^T */
  void *off;           /* [off_ptr[n]] values of F, or NULL */
  gable_idx *pivot;    /* [n] LAPACK style: row k of A' was interchanged with row pivot[k] >= k of the same supernode;
                          NULL: none */
  gable_idx perturbed; /* tiny pivots replaced */
  double max_entry, max_factor; /* largest magnitudes in A' and in U, or D L^T: growth */
  gable_off bytes;              /* held by this factor, the layout not counted */
  double flops;                 /* of one numeric factorization, set by the first one */
  gi_team_choice choice;        /* whether the next one goes on one thread though several could share it */
  struct gi_thin_panels *thin;  /* made by gi_thin_update for the solves of one plan, owned, or NULL */
  void (*thin_destroy)(gable_context *ctx, struct gi_thin_panels **thin); /* frees thin; NULL where thin is NULL */
  struct gi_plan *plan; /* made by the first numeric factorization, owned; NULL in a factor that was loaded */
} gi_factor;

typedef struct gi_factor_options {
  int threads;
  double tiny;          /* pivots below tiny * max|A'| are replaced by +-that; 0: the default, sqrt(eps) */
  const gik_blas *blas; /* for large products; NULL: the own kernels alone */
} gi_factor_options;

/* Memory for a factor of this layout; no numbers yet. */
gable_status gi_factor_create(gable_context *ctx, const gi_layout *layout, gi_factor_kind kind, gable_type type,
                              gi_factor **out);

/* What gi_factor_create takes, in bytes, and what gi_factor_numeric takes besides. */
gable_off gi_factor_bytes(const gi_layout *layout, gi_factor_kind kind, gable_type type);
gable_off gi_factor_work_bytes(const gi_layout *layout, gi_factor_kind kind, gable_type type, int threads);
void gi_factor_destroy(gable_context *ctx, gi_factor **f);

/* Number k of one of f's arrays of values. */
static inline double gi_factor_value(const gi_factor *f, const void *values, gable_off k)
{
  return f->type == GABLE_TYPE_S ? (double)((const float *)values)[k] : ((const double *)values)[k];
}

/* The pivot of column k of A' as it stands after the interchanges: of U, L or D its diagonal. */
double gi_factor_pivot(const gi_factor *f, gable_idx k);

/* a: A' (permuted and scaled) by columns.  at: A'^T by columns (so A' by rows), for LU alone; Cholesky reads the
 * lower triangle of a alone, as L D L^T does.  The same bits come out whatever the number of threads.
 * GABLE_ERR_SINGULAR when Cholesky meets a pivot <= 0 (its column is named; the caller may turn to LU),
 * GABLE_ERR_NOT_FINITE, GABLE_ERR_CANCELLED. */
gable_status gi_factor_numeric(gable_context *ctx, gi_factor *f, const gi_csc *a, const gi_csc *at,
                               const gi_factor_options *options);

#endif
