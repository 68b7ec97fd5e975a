/* cluster_operator.h: the dense operators of one cluster, by substitution with columns of the unit matrix. */
#ifndef GI_CLUSTER_OPERATOR_H
#define GI_CLUSTER_OPERATOR_H

#include "factor/factor.h"
#include "supernodal/clusters.h"

/* Columns begin .. end-1 of an operator: each is a right-hand side of its own. */
typedef struct gi_operator_columns {
  gable_idx begin, end;
} gi_operator_columns;

enum { GI_OPERATOR_MOST_COLUMNS = 128 };

/* Columns that are computed together; the shape of the operator alone decides.  width: of the cluster, all: columns and
 * rows. */
gable_idx gi_operator_step(gable_off width, gable_off all);

/* Scratch of one thread. */
typedef struct gi_operator_room {
  double *own; /* [rows][GI_OPERATOR_MOST_COLUMNS] for operators in float; NULL: those in double are made in place */
  gable_idx *local; /* [n] position in the cluster of a column of A' */
  gable_idx *row;   /* [most rows of a supernode] */
  gable_idx *start; /* [n_super] first column of the cluster whose supernode lies below this one in the tree */
  double *panel;    /* [most values of an L or U panel] of a float factor in double; NULL: factors in double */
  double *inverse;  /* [most columns of a supernode] */
  void *pack;       /* of the dense kernels */
  double *size;     /* [most rows and columns] sums of |L_JJ| or |U_JJ| by columns */
} gi_operator_room;

/* Room for clusters of this layout and of at most `most` rows and columns. */
gable_status gi_operator_room_init(gable_context *ctx, const gi_layout *layout, gable_type type, gable_off most,
                                   gi_operator_room *room);
void gi_operator_room_release(gable_context *ctx, gi_operator_room *room); /* fine on a zeroed one */

/* Where columns begin .. end-1 go: entry (i,k) at dense[i * ld + k - begin]. */
typedef struct gi_operator_part {
  gi_operator_columns columns;
  double *dense;
  gable_off ld;
} gi_operator_part;

/* Columns of lower_J of cluster_panels.h, (w + nl) rows; of upper_J, w rows (LU alone).  O(w (w + nl or nu)) a column.
 * Return max_k sum_i (|T| |T^-1|)(i,k) for T = L_JJ or U_JJ and the columns k of T^-1 among these: by so much a product
 * with the inverse may leave a larger residual than a substitution (Higham, Accuracy and Stability of Numerical
 * Algorithms, 2nd edition, section 14.1); infinite where T^-1 overflows. */
double gi_lower_operator(const gi_clusters *c, const gi_factor *f, gable_idx j, const gi_operator_part *part,
                         const gi_operator_room *room);
double gi_upper_operator(const gi_clusters *c, const gi_factor *f, gable_idx j, const gi_operator_part *part,
                         const gi_operator_room *room);

#endif
