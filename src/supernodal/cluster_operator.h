/* cluster_operator.h: the dense operators of one cluster, by substitution with the unit matrix. */
#ifndef GI_CLUSTER_OPERATOR_H
#define GI_CLUSTER_OPERATOR_H

#include "factor/factor.h"
#include "supernodal/clusters.h"

/* Scratch of one thread. */
typedef struct gi_operator_room {
  double *dense;    /* the operator, row major: w (w + nl) or w (w + nu) values */
  gable_idx *local; /* [n] position in the cluster of a column of A' */
} gi_operator_room;

/* lower_J of cluster_panels.h into room->dense, upper_J likewise (LU alone).  O(w^2 (w + nl or nu)). */
void gi_lower_operator(const gi_clusters *c, const gi_factor *f, gable_idx j, const gi_operator_room *room);
void gi_upper_operator(const gi_clusters *c, const gi_factor *f, gable_idx j, const gi_operator_room *room);

#endif
