/* cluster_steps.h: the steps of a solve over clusters level by level: products of dense operators with gathered values.
 *
 * Work vectors are [n][rhs] in solve order, slots [slots][rhs], all double.  Each column of a product is summed in an
 * order that depends on its operator's shape alone, so a column has the same bits whatever stands beside it.  Kernels
 * own nothing and allocate nothing; launches are asynchronous on the stream.
 */
#ifndef GIK_CLUSTER_STEPS_H
#define GIK_CLUSTER_STEPS_H

#include <gable/types.h>

#include "base/context.h"
#include "base/portable.h"
#include "kernels/list.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GIK_CLUSTER_MOST_RHS = 16, GIK_CLUSTER_OUTPUTS = 16 }; /* outputs: of a thread block */

/* More right-hand sides than GIK_CLUSTER_MOST_RHS are solved level by level, in columns that are a multiple of WIDE. */
enum { GIK_CLUSTER_WIDE = 32, GIK_CLUSTER_MOST_WIDE = 128 };

/* Columns of the work vectors in which so many right-hand sides, or the first 16 of more, are solved: 1, 4 or 16. */
static inline gable_idx gik_cluster_width(gable_idx rhs)
{
  return rhs <= 1 ? 1 : rhs <= 4 ? 4 : GIK_CLUSTER_MOST_RHS;
}

/* The same where more than 16 go together. */
static inline gable_idx gik_cluster_columns(gable_idx rhs)
{
  if (rhs <= GIK_CLUSTER_MOST_RHS) return gik_cluster_width(rhs);
  return (rhs + GIK_CLUSTER_WIDE - 1) / GIK_CLUSTER_WIDE * GIK_CLUSTER_WIDE;
}

/* out = M in for clusters begin .. end-1 of one level, M the operator as stored (direct) or its transpose.
 *   forward:  own_i += the slots of i for each column i, then in = own; output k of the columns goes to out, output k
 * of the rows to its slot, with the slots that its position adds. backward: in = own at the cluster's columns, then out
 * at its rows; the outputs are its columns, in out. */
typedef struct gik_cluster_product {
  int forward, transposed;
  int leaves;      /* 1: there are no slots to add */
  int narrow;      /* 1: of more than 16 right-hand sides, a warp takes all inputs of its outputs */
  gable_type type; /* of values */
  gable_idx rhs;   /* 1, 4, 16, or a multiple of GIK_CLUSTER_WIDE */
  gable_idx begin, end;
  gable_idx column, columns; /* the first one's first column, and how many all have */
  gable_off tile, tiles;     /* gik_cluster_tile of begin, and of end less that */
  const void *values;        /* operators, row major */
  const gable_off *value_at; /* [count+1] */
  const gable_idx *first;    /* [count+1] */
  const gable_off *ptr;      /* [count+1] the side's lists, see supernodal/clusters/clusters.h */
  const gable_idx *row;
  const gable_off *in_ptr, *in_slot;
  double *own, *out, *slots;
} gik_cluster_product;

/* Cluster j has the tiles from this number on up to that of j + 1, the last of which may be empty.  before: outputs of
 * the clusters before it. */
GI_HD gable_off gik_cluster_tile(gable_off before, gable_idx j)
{
  return before / GIK_CLUSTER_OUTPUTS + j;
}

/* v_i -= sum over F's entries k of row i: value[k] v[col[k]], rows begin .. end-1, none of which is a col.  Columns of
 * rhs a multiple of GIK_CLUSTER_WIDE have one order of sums, others another. */
typedef struct gik_cluster_off {
  gable_type type;
  gable_idx begin, end, rhs;
  const gable_off *ptr;
  const gable_idx *col;
  const void *value;
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
 * out: data[place[k]] = scale[place[k]] work[k].  scale NULL: ones.  place NULL: k.  Where rhs is a multiple of
 * GIK_CLUSTER_WIDE, inverse stands for place: inverse[place[k]] = k. */
typedef struct gik_cluster_frame {
  int in;
  gable_idx n, count, rhs;
  gable_type type;
  const gable_idx *place, *inverse;
  const double *scale;
  gable_off row, column;
  void *data;
  double *work;
} gik_cluster_frame;

struct gik_cluster_steps {
  gable_status (*product)(gable_context *ctx, const gik_cluster_product *p, void *stream);
  gable_status (*off)(gable_context *ctx, const gik_cluster_off *p, void *stream);
  gable_status (*diagonal)(gable_context *ctx, const gik_cluster_diagonal *p, void *stream);
  gable_status (*frame)(gable_context *ctx, const gik_cluster_frame *p, void *stream);
};

#ifdef __cplusplus
}
#endif

#endif
