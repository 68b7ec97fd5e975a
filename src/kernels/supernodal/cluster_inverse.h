/* cluster_inverse.h: the dense operators of clusters from the panels of a factor.
 *
 * A cluster J of w columns, its nl rows below and nu columns right of it (all: w + nl or w + nu) has in `inverse` first
 * its triangles as LAPACK stores them, w x w by rows: L_JJ strictly below the diagonal, with the interchanges inside
 * its supernodes applied to the rows of earlier columns, U_JJ above it, reciprocals of pivots on it.  In this order:
 *
 *   place    panels -> triangles in inverse; -L_IJ in lower, -U_JI in upper; all three were zero
 *   invert   lower_J = [inv(L_JJ); -L_IJ inv(L_JJ)], upper_J = [inv(U_JJ), -inv(U_JJ) U_JI] (LU alone),
 *            inverse_J = upper_JJ lower_JJ (LU), lower_JJ^T D^-1 lower_JJ; the columns of lower and, where they are
 *            those of lower, rows and columns of inverse go back to the order before interchanges
 *
 * A column of inv(T) is a substitution T x = e, sums in double, x rounded to the type of the operators.  invert raises
 * residual[0] to the largest sum_i sums_i |x_i|, sums_i the magnitudes in column i of T = L_JJ or U_JJ, which is
 * || |T| |T^-1| ||_1, and residual[1] to || |L_JJ| |D| |U_JJ| |inverse_J| ||_1; infinite where they overflow.  Every
 * sum has one order, so the bits are the same in every run. O(w^2 (w + nl + nu)) a cluster. */
#ifndef GIK_CLUSTER_INVERSE_H
#define GIK_CLUSTER_INVERSE_H

#include <math.h>

#include <gable/types.h>

#include "base/context.h"
#include "base/portable.h"
#include "kernels/list.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A supernode: columns first .. first+w-1 of A', which are columns at .. of its cluster. */
typedef struct gik_panel {
  gable_off l, u;          /* where its values begin in the factor's l and u */
  gable_off rows, columns; /* where its lists begin in position of side 0 and 1 */
  gable_idx cluster, at, first, w, nl, nu;
} gik_panel;

/* Columns that are substituted together, or rows that are multiplied; rows of inverse_J that are combined for them. */
enum { GIK_INVERSE_TILE = 64, GIK_INVERSE_PART = 128 };
typedef struct gik_inverse_tile {
  gable_idx cluster;
  gable_idx first; /* below w: columns of the inverse; else rows of lower, columns of upper; none across w */
  gable_idx part;  /* of a product: rows GIK_INVERSE_PART part .. of inverse_J */
} gik_inverse_tile;

typedef struct gik_inverse_side {
  const gable_off *ptr, *at;    /* [count+1] rows (columns) beyond the clusters before; where operators begin */
  const gable_idx *position;    /* in the cluster, of each row (column) of each panel */
  const gik_inverse_tile *tile; /* [tiles] columns to substitute: of the inverse, on side 1 those beyond w, too */
  gable_off tiles;
  void *values; /* NULL: no such operator */
  double *sums; /* [n] scratch */
} gik_inverse_side;

typedef struct gik_cluster_inverse {
  gable_type type;
  int unit;               /* the diagonal of L_JJ is one: not Cholesky */
  const gable_idx *first; /* [count+1] columns of each cluster */
  gik_inverse_side side[2];
  const gik_inverse_tile *product; /* [products] columns of the inverse, part by part; rows of lower beyond w */
  gable_off products;
  const gable_off *inverse_at;
  void *inverse;
  const double *dinv, *coupling;   /* [n] D^-1, in solve order; coupling NULL: not L D L^T */
  const gable_idx *after, *before; /* [n] by column in solve order, counted in its cluster: where interchanges bring the
                                      row to, and where they bring it from; NULL: none */
  const gik_panel *panel;
  const gable_idx *of; /* [n] panel of each column of A' */
  double *weights;     /* [n] scratch: magnitudes in the columns of |L_JJ| |D| |U_JJ| */
  double *residual;    /* [2] the largest so far: of triangles, of inverse_J */
  void *held;          /* [GIK_INVERSE_HELD][widest] scratch, of type */
  gable_idx widest;    /* w of a cluster, at most */
} gik_cluster_inverse;

enum { GIK_INVERSE_HELD = 1024 }; /* rows that are permuted at a time */

/* Values of columns begin .. end-1 of A', a part of the factor's l (side 0) or u from number `from` on. */
typedef struct gik_panel_part {
  int side;
  gable_idx begin, end;
  gable_off from;
  const void *values;
} gik_panel_part;

/* to_k = factor from_{index[k]}, or from_k where index is NULL. */
typedef struct gik_inverse_gather {
  gable_off count;
  const gable_idx *index;
  gable_type type, to_type;
  const void *from;
  double factor;
  void *to;
} gik_inverse_gather;

/* Asynchronous on stream. */
struct gik_cluster_inverses {
  gable_status (*gather)(gable_context *ctx, const gik_inverse_gather *p, void *stream);
  gable_status (*place)(gable_context *ctx, const gik_cluster_inverse *p, const gik_panel_part *part, void *stream);
  gable_status (*invert)(gable_context *ctx, const gik_cluster_inverse *p, void *stream);
};

/* Number (i,k) of a matrix is at + i row + k column. */
typedef struct gik_inverse_view {
  gable_off at, row, column;
} gik_inverse_view;

/* What a tile works on.  Side 1 goes through U_JJ from its last row on, as a lower triangle in reverse order. */
typedef struct gik_inverse_work {
  gable_idx first, w, count;         /* of the cluster; columns (rows) of the tile */
  gable_idx start;                   /* rows of x before it are zero */
  int identity;                      /* right-hand sides are columns of the unit matrix */
  gik_inverse_view triangle, x, row; /* T; x and right-hand sides by columns of the tile; rows of the tile in lower */
} gik_inverse_work;

GI_HD gik_inverse_view gik_inverse_view_of(gable_off at, gable_off row, gable_off column)
{
  gik_inverse_view v;
  v.at = at;
  v.row = row;
  v.column = column;
  return v;
}

GI_HD gik_inverse_work gik_inverse_work_of(const gik_cluster_inverse *p, int side, const gik_inverse_tile *t)
{
  const gik_inverse_side *s = &p->side[side];
  const gable_idx j = t->cluster, w = p->first[j + 1] - p->first[j], identity = t->first < w;
  const gable_off all = w + s->ptr[j + 1] - s->ptr[j], end = identity ? w : all, last = w - 1;
  const gable_off values = s->at[j], square = p->inverse_at[j];
  gik_inverse_work k;
  k.first = p->first[j];
  k.w = w;
  const gable_idx rest = (gable_idx)end - t->first, most = GIK_INVERSE_TILE;
  k.count = rest < most ? rest : most;
  k.identity = identity;
  k.start = identity ? t->first : 0;
  if (!side) {
    k.triangle = gik_inverse_view_of(square, w, 1);
    k.x = gik_inverse_view_of(values + t->first, w, 1);
  } else {
    k.triangle = gik_inverse_view_of(square + last * (w + 1), -w, -1);
    k.x = gik_inverse_view_of(values + last * all + (identity ? last - t->first : t->first), -all, identity ? -1 : 1);
  }
  k.row = gik_inverse_view_of(values + t->first * (gable_off)w, w, 1);
  return k;
}

/* Number i of (magnitudes in the columns of L_JJ) |D|, D the unit matrix but for L D L^T. */
GI_HD double gik_inverse_times_d(const gik_cluster_inverse *p, gable_idx first, gable_idx w, gable_idx i)
{
  const double *sums = p->side[0].sums + first, *dinv = p->dinv + first;
  if (!p->coupling) return sums[i];
  const double *coupling = p->coupling + first;
  const gable_idx other = i + 1 < w && coupling[i] != 0 ? i + 1 : i > 0 && coupling[i - 1] != 0 ? i - 1 : i;
  if (other == i) return sums[i] / fabs(dinv[i]);
  const double off = coupling[other < i ? other : i], determinant = dinv[i] * dinv[other] - off * off;
  return (fabs(dinv[other]) * sums[i] + fabs(off) * sums[other]) / fabs(determinant);
}

/* U_JJ of tile k of side 0, which is D^-1 U_JJ = L_JJ^T where it is symmetric. */
GI_HD gik_inverse_view gik_inverse_upper(const gik_cluster_inverse *p, const gik_inverse_work *k)
{
  const gable_off w = k->w;
  return p->side[1].values ? gik_inverse_view_of(k->triangle.at, w, 1) : gik_inverse_view_of(k->triangle.at, 1, w);
}

#ifdef __cplusplus
}
#endif

#endif
