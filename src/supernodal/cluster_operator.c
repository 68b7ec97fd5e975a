/* cluster_operator.c: sweeps over the supernodes of one cluster with columns of the unit matrix as right-hand sides.
 *
 * lower: X = [I; 0]; for each supernode, in increasing order: exchange its rows of X, solve with its diagonal block,
 *        subtract its L times them from the rows below.  Its rows of X are zero but for the columns of the supernodes
 *        below it in the tree, and its own.
 * upper: Z for the supernodes in decreasing order: their rows of [I, 0] minus U times the rows of Z of later columns,
 *        solved with the diagonal block of U.  Row k of Z is zero left of column k.
 *
 * Rows of X are consecutive in memory, so the dense kernels see X^T by columns: L X = B is X^T L^T = B^T. */
#include "supernodal/cluster_operator.h"

#include <math.h>
#include <string.h>

#include "kernels/dense/dense.h"

gable_idx gi_operator_step(gable_off width, gable_off all)
{
  enum { WORK = 8000000, LEAST = 32, MULTIPLE = 16 }; /* multiplications: about a millisecond */
  const gable_off wanted = WORK / (width * all + 1) / MULTIPLE * MULTIPLE;
  return (gable_idx)(wanted < LEAST ? LEAST : wanted < GI_OPERATOR_MOST_COLUMNS ? wanted : GI_OPERATOR_MOST_COLUMNS);
}

gable_status gi_operator_room_init(gable_context *ctx, const gi_layout *y, gable_type type, gable_off most,
                                   gi_operator_room *room)
{
  gable_status status = GABLE_OK;
  gable_off width = 0, rows = 0, values = 0;
  double *pack = NULL;
  for (gable_idx s = 0; s < y->n_super; s++) {
    const gable_off w = gi_layout_width(y, s), nl = gi_layout_nl(y, s), nu = gi_layout_nu(y, s);
    const gable_off panel = w * (w + nl > nu ? w + nl : nu);
    width = w > width ? w : width;
    rows = nl > rows ? nl : rows;
    values = panel > values ? panel : values;
  }
  GI_ALLOC(ctx, room->local, y->n);
  GI_ALLOC(ctx, room->row, rows);
  GI_ALLOC(ctx, room->start, y->n_super);
  GI_ALLOC(ctx, room->inverse, width);
  GI_ALLOC(ctx, room->size, most);
  GI_ALLOC(ctx, pack, gik_pack_size(GI_OPERATOR_MOST_COLUMNS, GIK_PACK_COLUMNS, GIK_PACK_DEPTH));
  room->pack = pack;
  if (type == GABLE_TYPE_D) goto done;
  GI_ALLOC(ctx, room->panel, values);
  GI_ALLOC(ctx, room->own, most * GI_OPERATOR_MOST_COLUMNS);
done:
  return status;
}

void gi_operator_room_release(gable_context *ctx, gi_operator_room *room)
{
  gi_free(ctx, room->own);
  gi_free(ctx, room->local);
  gi_free(ctx, room->row);
  gi_free(ctx, room->start);
  gi_free(ctx, room->inverse);
  gi_free(ctx, room->size);
  gi_free(ctx, room->pack);
  gi_free(ctx, room->panel);
  memset(room, 0, sizeof *room);
}

static void locate(const gi_clusters *c, const gi_cluster_side *side, gable_idx j, gable_idx *local)
{
  const gable_idx w = gi_cluster_width(c, j);
  for (gable_idx k = 0; k < w; k++) local[c->order[c->first[j] + k]] = k;
  for (gable_off k = side->ptr[j]; k < side->ptr[j + 1]; k++)
    local[c->order[side->row[k]]] = w + (gable_idx)(k - side->ptr[j]);
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

/* count values from number `from` on, as doubles. */
static const double *values_of(const gi_factor *f, const void *values, gable_off from, gable_off count, double *room)
{
  if (f->type == GABLE_TYPE_D) return (const double *)values + from;
  for (gable_off k = 0; k < count; k++) room[k] = ((const float *)values)[from + k];
  return room;
}

/* Zeros in rows 0 .. rows-1. */
static void clear(const gi_operator_part *part, gable_off rows)
{
  const gable_idx count = part->columns.end - part->columns.begin;
  for (gable_off i = 0; i < rows; i++) memset(part->dense + i * part->ld, 0, (size_t)count * sizeof *part->dense);
}

/* max over the columns k of sum_i size_i |X(i,k)|, i < width. */
static double largest_residual(const gi_operator_part *part, gable_idx width, const double *size)
{
  const gable_idx count = part->columns.end - part->columns.begin;
  double sum[GI_OPERATOR_MOST_COLUMNS] = {0}, largest = 0;
  for (gable_idx i = 0; i < width; i++)
    for (gable_idx k = 0; k < count; k++) sum[k] += size[i] * fabs(part->dense[i * part->ld + k]);
  for (gable_idx k = 0; k < count; k++)
    if (!(sum[k] <= largest)) largest = isfinite(sum[k]) ? sum[k] : (double)INFINITY;
  return largest;
}

/* size of the columns of supernode s: what L has in the rows of the cluster, `width` of them. */
static void measure_lower(const gi_factor *f, gable_idx s, gable_idx width, const double *l,
                          const gi_operator_room *room)
{
  const gi_layout *y = f->layout;
  const gable_idx w = gi_layout_width(y, s), nl = gi_layout_nl(y, s);
  double *size = room->size + room->local[y->super[s]];
  for (gable_idx k = 0; k < w; k++, l += w + nl) {
    double sum = f->kind == GI_CHOLESKY ? 1 / room->inverse[k] : 1;
    for (gable_idx i = k + 1; i < w; i++) sum += fabs(l[i]);
    for (gable_idx i = 0; i < nl && room->row[i] < width; i++) sum += fabs(l[w + i]); /* rows come in order */
    size[k] = sum;
  }
}

/* lower: what supernode s does to the columns. */
static void lower_supernode(const gi_factor *f, gable_idx s, gable_idx width, const gi_operator_part *part,
                            const gi_operator_room *room)
{
  const gi_layout *y = f->layout;
  const gik_tools tools = {room->pack, NULL};
  const gable_idx first = y->super[s], w = gi_layout_width(y, s), nl = gi_layout_nl(y, s), o = room->local[first];
  const gable_idx begin = part->columns.begin, end = part->columns.end < o + w ? part->columns.end : o + w;
  const gable_idx from = room->start[s] > begin ? room->start[s] - begin : 0, count = end - begin - from;
  const gable_off ldl = w + nl, ld = part->ld;
  double *x = part->dense + from, *own = x + o * ld;
  for (gable_idx k = 0; k < w; k++) room->size[o + k] = 0; /* X has no such row here */
  if (count <= 0) return;
  const double *l = values_of(f, f->l, y->lval[s], ldl * w, room->panel);
  for (gable_idx k = 0; f->pivot && k < w; k++) exchange(own + k * ld, own + (f->pivot[first + k] - first) * ld, count);
  for (gable_idx k = 0; k < w; k++) room->inverse[k] = gi_factor_value(f, f->dinv, first + k);
  for (gable_idx i = 0; i < nl; i++) room->row[i] = room->local[y->lrow[y->lptr[s] + i]];
  measure_lower(f, s, width, l, room);
  gik_solve_right_large_d(count, w, own, ld, l, 1, ldl, f->kind == GI_CHOLESKY ? room->inverse : NULL, &tools);
  gik_multiply_large_d(count, nl, w, own, ld, l + w, 1, ldl, x, ld, NULL, room->row, 0, &tools);
}

/* Supernodes are numbered from the leaves on. */
static void find_starts(const gi_clusters *c, gable_idx j, const gi_operator_room *room)
{
  const gi_layout *y = c->layout;
  const gable_idx *member = c->member + c->member_ptr[j], count = c->member_ptr[j + 1] - c->member_ptr[j];
  for (gable_idx m = 0; m < count; m++) room->start[member[m]] = room->local[y->super[member[m]]];
  for (gable_idx m = 0; m + 1 < count; m++) { /* the last one alone has its parent elsewhere */
    gable_idx *above = room->start + y->parent[member[m]];
    if (room->start[member[m]] < *above) *above = room->start[member[m]];
  }
}

double gi_lower_operator(const gi_clusters *c, const gi_factor *f, gable_idx j, const gi_operator_part *part,
                         const gi_operator_room *room)
{
  const gable_idx begin = part->columns.begin, w = gi_cluster_width(c, j);
  locate(c, &c->l, j, room->local);
  find_starts(c, j, room);
  clear(part, w + c->l.ptr[j + 1] - c->l.ptr[j]);
  for (gable_idx k = begin; k < part->columns.end; k++) part->dense[k * part->ld + k - begin] = 1;
  for (gable_idx m = c->member_ptr[j]; m < c->member_ptr[j + 1]; m++) lower_supernode(f, c->member[m], w, part, room);
  return largest_residual(part, w, room->size);
}

/* Rows o .. o+w-1 of Z minus u, nu x w, times the rows of Z of later columns of the cluster, a run of which at a time
 * is consecutive; entries beyond the cluster's width stand where the unit matrix has zeros. */
static void subtract_later(const gi_layout *y, gable_idx s, gable_idx width, const double *u,
                           const gi_operator_part *part, const gi_operator_room *room)
{
  const gik_tools tools = {room->pack, NULL};
  const gable_idx w = gi_layout_width(y, s), nu = gi_layout_nu(y, s), *column = y->ucol + y->uptr[s];
  const gable_idx begin = part->columns.begin, count = part->columns.end - begin;
  const gable_off ld = part->ld;
  double *own = part->dense + room->local[y->super[s]] * ld;
  for (gable_idx e = 0, run; e < nu; e += run) {
    const gable_idx at = room->local[column[e]], from = at > begin ? at - begin : 0; /* zero left of its diagonal */
    run = 1;
    if (at >= width) {
      for (gable_idx k = 0; at >= begin && from < count && k < w; k++) own[k * ld + from] -= u[e + (gable_off)k * nu];
      continue;
    }
    while (e + run < nu && at + run < width && room->local[column[e + run]] == at + run) run++;
    if (from < count)
      gik_multiply_large_d(count - from, w, run, part->dense + at * ld + from, ld, u + e, nu, 1, own + from, ld, NULL,
                           NULL, 0, &tools);
  }
}

/* Adds |U| of supernode s to the sums of the columns of the cluster: of its diagonal block, and right of it. */
static void measure_diagonal(gable_idx w, const double *l, gable_off ldl, double *size)
{
  for (gable_idx i = 0; i < w; i++)
    for (gable_idx k = 0; k <= i; k++) size[i] += fabs(l[k + i * ldl]);
}

static void measure_right(const gi_layout *y, gable_idx s, gable_idx width, const double *u,
                          const gi_operator_room *room)
{
  const gable_idx w = gi_layout_width(y, s), nu = gi_layout_nu(y, s), *column = y->ucol + y->uptr[s];
  for (gable_idx k = 0; k < w; k++, u += nu)
    for (gable_idx e = 0; e < nu && room->local[column[e]] < width; e++) /* columns come in order */
      room->size[room->local[column[e]]] += fabs(u[e]);
}

/* upper: the rows of supernode s. */
static void upper_supernode(const gi_factor *f, gable_idx s, gable_idx width, const gi_operator_part *part,
                            const gi_operator_room *room)
{
  const gi_layout *y = f->layout;
  const gik_tools tools = {room->pack, NULL};
  const gable_idx first = y->super[s], w = gi_layout_width(y, s), nu = gi_layout_nu(y, s), o = room->local[first];
  const gable_idx begin = part->columns.begin, count = part->columns.end - begin, from = o > begin ? o - begin : 0;
  const gable_off ldl = w + gi_layout_nl(y, s), ld = part->ld;
  double *own = part->dense + o * ld;
  if (from >= count) return;
  for (gable_idx k = 0; k < w; k++)
    if (o + k >= begin && o + k < part->columns.end) own[k * ld + o + k - begin] = 1;
  const double *u = values_of(f, f->u, y->uval[s], (gable_off)nu * w, room->panel);
  const int inverse = begin < width; /* columns of it are among these */
  if (inverse) measure_right(y, s, width, u, room);
  subtract_later(y, s, width, u, part, room);
  const double *l = values_of(f, f->l, y->lval[s], ldl * w, room->panel);
  if (inverse) measure_diagonal(w, l, ldl, room->size + o);
  for (gable_idx k = 0; k < w; k++) room->inverse[k] = gi_factor_value(f, f->dinv, first + w - 1 - k);
  /* Z^T U^T = B^T with rows and columns of U in reverse order, so that U^T is an upper triangle */
  gik_solve_right_large_d(count - from, w, own + (w - 1) * ld + from, -ld, l + (w - 1) * (1 + ldl), -1, -ldl,
                          room->inverse, &tools);
}

double gi_upper_operator(const gi_clusters *c, const gi_factor *f, gable_idx j, const gi_operator_part *part,
                         const gi_operator_room *room)
{
  const gable_idx w = gi_cluster_width(c, j);
  locate(c, &c->u, j, room->local);
  clear(part, w);
  memset(room->size, 0, (size_t)w * sizeof *room->size);
  for (gable_idx m = c->member_ptr[j + 1] - 1; m >= c->member_ptr[j]; m--)
    upper_supernode(f, c->member[m], w, part, room);
  gi_operator_part own = *part; /* the inverse alone, without what stands right of it */
  if (own.columns.end > w) own.columns.end = w;
  return own.columns.begin < w ? largest_residual(&own, w, room->size) : 0;
}
