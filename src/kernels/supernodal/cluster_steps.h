/* cluster_steps.h: the steps of a solve over clusters: products of dense operators with gathered values, one launch a
 * level.
 *
 * Work vectors are [n][rhs] in solve order, slots [slots][rhs], all double.  Each column of a product is summed in an
 * order that depends on its operator's shape alone, so a column has the same bits whatever stands beside it.  Kernels
 * own nothing and allocate nothing; launches are asynchronous on the stream. */
#ifndef GIK_CLUSTER_STEPS_H
#define GIK_CLUSTER_STEPS_H

#include <gable/types.h>

#include "base/context.h"
#include "kernels/list.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GIK_CLUSTER_MOST_RHS = 16, GIK_CLUSTER_TILE_COLUMNS = 32, GIK_CLUSTER_INPUTS = 256 };

/* Outputs begin .. end-1 of one cluster's product, of inputs in_begin .. in_end-1 (multiples of GIK_CLUSTER_INPUTS but
 * for the last).  Where the inputs of these outputs are split among parts tiles, each leaves its sums in partial, and
 * the last one to finish, by counter, adds them in the order of the parts. */
typedef struct gik_cluster_tile {
  gable_idx cluster, begin, end, in_begin, in_end;
  gable_idx part, parts;
  gable_idx counter;
  gable_off partial; /* of part 0: [parts][end - begin] */
} gik_cluster_tile;

/* out = M in, M the operator as stored (direct) or its transpose, rows x columns as stored.
 *   forward:  in_i = own_i + the slots of i, i a column of the cluster; output k of its columns goes to out, output k
 * of its rows to its slot, with the slots that its position adds. backward: in = own at the cluster's columns, then out
 * at its rows; the outputs are its columns, in out. */
typedef struct gik_cluster_product {
  int forward, transposed;
  gable_type type;           /* of values */
  gable_idx rhs;             /* 1, 4 or 16 */
  const void *values;        /* operators, row major */
  const gable_off *value_at; /* [count+1] */
  const gable_idx *first;    /* [count+1] */
  const gable_off *ptr;      /* [count+1] the side's lists, see supernodal/clusters.h */
  const gable_idx *row;
  const gable_off *in_ptr, *in_slot;
  const double *own;
  double *out, *slots;
  double *partial;   /* [..][rhs] */
  unsigned *counter; /* all zero between launches */
} gik_cluster_product;

/* v_i -= sum over F's entries k of row i: value[k] x[col[k]], rows begin .. end-1. */
typedef struct gik_cluster_off {
  gable_type type;
  gable_idx begin, end, rhs;
  const gable_off *ptr;
  const gable_idx *col;
  const void *value;
  const double *x;
  double *v;
} gik_cluster_off;

/* v = D^-1 v (divide) or D v; coupling NULL: D is diagonal.  out of place, v to out. */
typedef struct gik_cluster_diagonal {
  gable_idx n, rhs;
  int divide;
  const double *dinv, *coupling;
  const double *v;
  double *out;
} gik_cluster_diagonal;

/* Between the caller's vectors and a work vector.  Entry (i,j) of the caller's at data[i*row + j*column], float or
 * double.  in:  work[k] = scale[place[k]] data[place[k]] for k < n, columns beyond count are zero;
 * out: data[place[k]] = scale[place[k]] work[k].  scale NULL: ones.
 * out alone: place NULL: k. */
typedef struct gik_cluster_frame {
  gable_idx n, count, rhs;
  gable_type type;
  const gable_idx *place;
  const double *scale;
  gable_off row, column;
  void *data;
  double *work;
} gik_cluster_frame;

struct gik_cluster_steps {
  gable_status (*product)(gable_context *ctx, const gik_cluster_product *p, const gik_cluster_tile *tiles,
                          gable_idx count, void *stream);
  gable_status (*off)(gable_context *ctx, const gik_cluster_off *p, void *stream);
  gable_status (*diagonal)(gable_context *ctx, const gik_cluster_diagonal *p, void *stream);
  gable_status (*take)(gable_context *ctx, const gik_cluster_frame *p, void *stream);
  gable_status (*give)(gable_context *ctx, const gik_cluster_frame *p, void *stream);
};

#ifdef __cplusplus
}
#endif

#endif
