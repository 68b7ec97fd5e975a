/* cluster_panels.h: the dense operators of clusters in the memory of the context's device, computed there from a
 * factor.
 *
 *   lower_J = [ inv(L_JJ) ; -L_IJ inv(L_JJ) ] P_J   (w + nl) x w    forward:  [y_J; contributions] = lower_J g
 *   upper_J = [ inv(U_JJ) , -inv(U_JJ) U_JI ]       w x (w + nu)    backward: x_J = upper_J [y_J; x_I]
 *   inverse_J = upper_JJ lower_JJ                   w x w           both, inside J: its share of x_J = inverse_J g
 *
 * with J the cluster's columns, I its rows, P_J the exchanges inside its supernodes.  L_JJ of several supernodes is
 * block triangular.  Cholesky and L D L^T: upper_J = lower_J^T, which is not stored; D^-1 stands between the sweeps
 * and the factors of inverse_J.
 *
 * F. L. Alvarado, A. Pothen, R. Schreiber, Highly parallel sparse triangular solution (1993); I. Yamazaki, S.
 * Rajamanickam, N. Ellingwood, Performance portable supernode-based sparse triangular solver (2020). */
#ifndef GI_CLUSTER_PANELS_H
#define GI_CLUSTER_PANELS_H

#include "factor/factor.h"
#include "supernodal/clusters/clusters.h"

/* Lists of the factor's panels and what they are copied through: cluster_prepare.c. */
typedef struct gi_cluster_preparation gi_cluster_preparation;

typedef struct gi_cluster_panels {
  const gi_clusters *clusters; /* borrowed */
  gi_factor_kind kind;
  gable_type type;        /* of lower, upper, inverse and off: the factor's */
  gable_off *lower_at;    /* [count+1] offsets of the operators, row major without gaps */
  gable_off *upper_at;    /* [count+1], or NULL (not LU) */
  gable_off *inverse_at;  /* [count+1] of inverse_J */
  gable_off *off_ptr[2];  /* [n+1] F by rows and by columns, in solve order, or NULL */
  gable_idx *off_col[2];  /* [nnz F] */
  gable_idx *off_from[2]; /* [nnz F] place in the factor's off */

  /* In the device's memory. */
  void *lower, *upper, *inverse; /* upper NULL: not LU */
  double *dinv;                  /* [n] D^-1 in solve order (LU: of the diagonal of U) */
  double *coupling;              /* [n] D^-1 at (k,k+1) in solve order, or NULL */
  void *off[2];                  /* [nnz F] values */

  struct { /* lists of the clusters: first and order, ptr and operators' offsets of both sides (those of LU alone) */
    gable_idx *first, *order;
    gable_off *ptr[2], *at[2];
  } lists;
  gi_cluster_preparation *preparation;
  gable_off device_bytes;
  double residual[2]; /* of the last update, the largest || |T| |T^-1| ||_1: of a T = L_JJ or U_JJ; of an A_JJ, with
                         |L_JJ| |D| |U_JJ| for |A_JJ|.  Infinite where T^-1 overflows */
  double upload_s;    /* of the last update: seconds that the host took to copy the factor */
} gi_cluster_panels;

/* Memory and lists for factors of this kind and type; no numbers yet.  GABLE_ERR_MEMORY, GABLE_ERR_LIMIT. */
gable_status gi_cluster_panels_create(gable_context *ctx, const gi_clusters *clusters, gi_factor_kind kind,
                                      gable_type type, gi_cluster_panels **out);
void gi_cluster_panels_destroy(gable_context *ctx, gi_cluster_panels **panels); /* NULL is fine */

/* Host memory that p holds. */
gable_off gi_cluster_panels_bytes(const gi_cluster_panels *p);

/* The operators of f, in the order of the context's stream, for which it waits.  A product with the inverse of T may
 * leave a residual larger than that of a substitution by a factor of residual[0], all parts of one launch by one of
 * residual[1], too (Higham, Accuracy and Stability of Numerical Algorithms, 2nd edition, section 14.1).  Allocates
 * nothing.  O(sum of w^2 (w + nl + nu)). */
gable_status gi_cluster_panels_update(gable_context *ctx, const gi_factor *f, gi_cluster_panels *p);

#endif
