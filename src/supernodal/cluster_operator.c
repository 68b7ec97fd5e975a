/* cluster_operator.c: sweeps over the supernodes of one cluster with the unit matrix as right-hand sides.
 *
 * lower: X = [I; 0]; for each supernode, in increasing order: exchange its rows of X, solve with its diagonal block,
 *        subtract its L times them from the rows below.  Row k of X is zero beyond the supernode's last column.
 * upper: Z for the supernodes in decreasing order: their rows of [I, 0] minus U times the rows of Z of later columns,
 *        solved with the diagonal block of U. */
#include "supernodal/cluster_operator.h"

#include <string.h>

static void locate(const gi_clusters *c, const gi_cluster_side *side, gable_idx j, gable_idx *local)
{
  const gable_idx w = gi_cluster_width(c, j);
  for (gable_idx k = 0; k < w; k++) local[c->order[c->first[j] + k]] = k;
  for (gable_off k = side->ptr[j]; k < side->ptr[j + 1]; k++)
    local[c->order[side->row[k]]] = w + (gable_idx)(k - side->ptr[j]);
}

/* to -= a from, count values. */
static void subtract(double *restrict to, double a, const double *restrict from, gable_idx count)
{
  if (a == 0) return;
  for (gable_idx k = 0; k < count; k++) to[k] -= a * from[k];
}

static void scale(double *row, double by, gable_idx count)
{
  for (gable_idx k = 0; k < count; k++) row[k] *= by;
}

static void exchange(double *a, double *b, gable_idx count)
{
  if (a == b) return;
  for (gable_idx k = 0; k < count; k++) {
    const double held = a[k];
    a[k] = b[k];
    b[k] = held;
  }
}

/* Entry (i,k) of the L panel of supernode s. */
static double panel(const gi_factor *f, gable_idx s, gable_idx i, gable_idx k)
{
  const gi_layout *y = f->layout;
  const gable_off ld = gi_layout_width(y, s) + gi_layout_nl(y, s);
  return gi_factor_value(f, f->l, y->lval[s] + i + k * ld);
}

GI_CLONES
static void lower_supernode(const gi_factor *f, gable_idx s, const gi_operator_room *room, gable_idx ld)
{
  const gi_layout *y = f->layout;
  const gable_idx first = y->super[s], w = gi_layout_width(y, s), nl = gi_layout_nl(y, s);
  const gable_idx o = room->local[first], columns = o + w;
  double *x = room->dense, *own = x + (gable_off)o * ld;
  for (gable_idx k = 0; f->pivot && k < w; k++)
    exchange(own + (gable_off)k * ld, own + (gable_off)(f->pivot[first + k] - first) * ld, columns);
  for (gable_idx k = 0; k < w; k++) {
    double *row = own + (gable_off)k * ld;
    if (f->kind == GI_CHOLESKY) scale(row, gi_factor_value(f, f->dinv, first + k), columns);
    for (gable_idx i = k + 1; i < w; i++) subtract(own + (gable_off)i * ld, panel(f, s, i, k), row, columns);
  }
  for (gable_idx i = 0; i < nl; i++) {
    double *row = x + (gable_off)room->local[y->lrow[y->lptr[s] + i]] * ld;
    for (gable_idx k = 0; k < w; k++) subtract(row, panel(f, s, w + i, k), own + (gable_off)k * ld, columns);
  }
}

void gi_lower_operator(const gi_clusters *c, const gi_factor *f, gable_idx j, const gi_operator_room *room)
{
  const gable_idx w = gi_cluster_width(c, j);
  const gable_off rows = w + c->l.ptr[j + 1] - c->l.ptr[j];
  locate(c, &c->l, j, room->local);
  memset(room->dense, 0, (size_t)(rows * w) * sizeof *room->dense);
  for (gable_idx k = 0; k < w; k++) room->dense[(gable_off)k * w + k] = 1;
  for (gable_idx m = c->member_ptr[j]; m < c->member_ptr[j + 1]; m++) lower_supernode(f, c->member[m], room, w);
}

GI_CLONES
static void upper_supernode(const gi_factor *f, gable_idx s, const gi_operator_room *room, gable_idx width,
                            gable_idx ld)
{
  const gi_layout *y = f->layout;
  const gable_idx first = y->super[s], w = gi_layout_width(y, s), nu = gi_layout_nu(y, s), o = room->local[first];
  for (gable_idx k = w - 1; k >= 0; k--) {
    double *row = room->dense + (gable_off)(o + k) * ld;
    row[o + k] = 1;
    for (gable_idx e = 0; e < nu; e++) {
      const double u = gi_factor_value(f, f->u, y->uval[s] + e + (gable_off)k * nu);
      const gable_idx at = room->local[y->ucol[y->uptr[s] + e]];
      if (at < width)
        subtract(row + o, u, room->dense + (gable_off)at * ld + o, ld - o);
      else
        row[at] -= u;
    }
    for (gable_idx i = k + 1; i < w; i++)
      subtract(row + o, panel(f, s, k, i), room->dense + (gable_off)(o + i) * ld + o, ld - o);
    scale(row + o, gi_factor_value(f, f->dinv, first + k), ld - o);
  }
}

void gi_upper_operator(const gi_clusters *c, const gi_factor *f, gable_idx j, const gi_operator_room *room)
{
  const gable_idx w = gi_cluster_width(c, j), ld = w + (gable_idx)(c->u.ptr[j + 1] - c->u.ptr[j]);
  locate(c, &c->u, j, room->local);
  memset(room->dense, 0, (size_t)w * (size_t)ld * sizeof *room->dense);
  for (gable_idx m = c->member_ptr[j + 1] - 1; m >= c->member_ptr[j]; m--)
    upper_supernode(f, c->member[m], room, w, ld);
}
