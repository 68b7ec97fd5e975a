#include "factor/numeric.h"

#include <math.h>
#include <string.h>

#include "kernels/dense/dense.h"
#include "kernels/dense/dense_ldlt.h"

enum { READY_DIAGONAL = 1, READY = 2 };
static const double prefer_diagonal = 0.1; /* of the largest of its column in the block: then no interchange */

typedef enum panel_kind { PANEL_L, PANEL_U } panel_kind;

/* Rows [begin, end) of one panel of supernode j, counted from the panel's top. */
typedef struct piece {
  panel_kind panel;
  gable_idx j, begin, end;
} piece;

/* Rows of the U panel as it is stored: LU alone has one. */
static gable_idx u_rows(const gi_factor *f, gable_idx j)
{
  return f->kind == GI_LU ? gi_layout_nu(f->layout, j) : 0;
}

static gable_idx l_rows(const gi_factor *f, gable_idx j)
{
  return gi_layout_width(f->layout, j) + gi_layout_nl(f->layout, j);
}

static gable_idx tiles_of(gable_idx rows)
{
  return (rows + GI_TILE - 1) / GI_TILE;
}

/* Rows of the L panel in tile 0: all where the panels are small, the diagonal block alone where that is large. */
static gable_idx first_rows(const gi_factor *f, gable_idx j)
{
  const gable_idx width = gi_layout_width(f->layout, j), all = l_rows(f, j);
  if (all + u_rows(f, j) <= GI_TILE_WHOLE) return all;
  if (width >= GI_TILE / 2) return width;
  return all < GI_TILE ? all : GI_TILE;
}

gable_idx gi_tile_count(const gi_factor *f, gable_idx j)
{
  const gable_idx all = l_rows(f, j), nu = u_rows(f, j);
  return all + nu <= GI_TILE_WHOLE ? 1 : 1 + tiles_of(all - first_rows(f, j)) + tiles_of(nu);
}

int gi_factor_is_column(const gi_factor *f, gable_idx j)
{
  return f->kind != GI_LDLT && gi_layout_width(f->layout, j) == 1 && l_rows(f, j) + u_rows(f, j) <= GI_TILE_WHOLE;
}

gable_idx gi_tile_rows(const gi_factor *f)
{
  gable_idx most = GI_TILE_WHOLE;
  for (gable_idx j = 0; j < f->layout->n_super; j++)
    if (gi_layout_width(f->layout, j) > most) most = gi_layout_width(f->layout, j);
  return most;
}

/* The pieces of tile t: one, or both panels where they are one tile. */
static int pieces_of(const gi_factor *f, gable_idx j, gable_idx t, piece part[2])
{
  const gable_idx all = l_rows(f, j), nu = u_rows(f, j), first = first_rows(f, j), more = tiles_of(all - first);
  if (t == 0) {
    part[0] = (piece){PANEL_L, j, 0, first};
    part[1] = (piece){PANEL_U, j, 0, nu};
    return nu > 0 && all + nu <= GI_TILE_WHOLE ? 2 : 1;
  }
  const panel_kind s = t <= more ? PANEL_L : PANEL_U;
  const gable_idx begin = s == PANEL_L ? first + (t - 1) * GI_TILE : (t - 1 - more) * GI_TILE;
  const gable_idx rows = s == PANEL_L ? all : nu;
  part[0] = (piece){s, j, begin, begin + GI_TILE < rows ? begin + GI_TILE : rows};
  return 1;
}

/* The row or column of A' that row i of the panel of p is. */
static gable_idx place_of(const gi_layout *y, const piece *p, gable_idx i)
{
  if (p->panel == PANEL_U) return y->ucol[y->uptr[p->j] + i];
  const gable_idx w = gi_layout_width(y, p->j);
  return i < w ? y->super[p->j] + i : y->lrow[y->lptr[p->j] + i - w];
}

static void fill_map(const gi_layout *y, const piece *p, gable_idx *map)
{
  gable_idx i = p->begin;
  const gable_idx w = p->panel == PANEL_L ? gi_layout_width(y, p->j) : 0;
  for (; i < w && i < p->end; i++) map[y->super[p->j] + i] = i;
  const gable_idx *row = p->panel == PANEL_L ? y->lrow + y->lptr[p->j] - w : y->ucol + y->uptr[p->j];
  for (; i < p->end; i++) map[row[i]] = i;
}

/* First place in increasing idx[begin, end) that holds at least value. */
static gable_off lower_bound(const gable_idx *idx, gable_off begin, gable_off end, gable_idx value)
{
  while (end - begin > 8) {
    const gable_off mid = begin + (end - begin) / 2;
    if (idx[mid] < value)
      begin = mid + 1;
    else
      end = mid;
  }
  while (begin < end && idx[begin] < value) begin++;
  return begin;
}

/* Until supernode k has come to level; 1 when the factorization stops.  Thread 0 asks the caller meanwhile. */
static int wait_for(gi_numeric *x, gi_worker *w, gable_idx k, unsigned char level)
{
  if (!x->parallel) return 0;
  gi_wait wait = {0};
  while (atomic_load_explicit(x->ready + k, memory_order_acquire) < level) {
    if (atomic_load_explicit(&x->stop, memory_order_relaxed)) return 1;
    if (w->number == 0 && (w->status = gi_pulse_wait(&x->pulse)) != GABLE_OK) return 1;
    gi_pass_time(&x->team, &wait);
  }
  gi_wait_end(&x->team, &wait);
  if (wait.since != 0.0) w->watched += fmin(gi_now() - wait.since, gi_patience_s);
  return 0;
}

/* What supernode u->k gives to a piece: C(rows, columns) -= tall wide^T, by places in its arrays. */
typedef struct source {
  panel_kind tall;                         /* the panel of k that holds the rows of the target */
  gable_idx rows_begin, rows_end;          /* places in its index array */
  gable_idx columns_begin, columns_end;    /* places in the other one */
  const gable_idx *row_index, *wide_index; /* those arrays */
} source;

/* Does supernode u->k have columns of U (for a piece of L; rows of L for one of U) inside the target supernode? */
static inline int touches(const gi_layout *y, const piece *p, const gi_update *u)
{
  const gable_idx end = y->super[p->j + 1];
  if (p->panel == PANEL_L) return u->u < gi_layout_nu(y, u->k) && y->ucol[y->uptr[u->k] + u->u] < end;
  return u->l < gi_layout_nl(y, u->k) && y->lrow[y->lptr[u->k] + u->l] < end;
}

static int product_of(const gi_layout *y, const piece *p, const gi_update *u, source *out)
{
  const gable_idx k = u->k, end = y->super[p->j + 1], nl = gi_layout_nl(y, k), nu = gi_layout_nu(y, k);
  const gable_idx *lrow = y->lrow + y->lptr[k], *ucol = y->ucol + y->uptr[k];
  const int lower = p->panel == PANEL_L;
  const gable_idx *wide = lower ? ucol : lrow, *tall = lower ? lrow : ucol;
  const gable_idx n_wide = lower ? nu : nl, n_tall = lower ? nl : nu;
  gable_idx b = lower ? u->u : u->l, e = b;
  while (e < n_wide && wide[e] < end) e++;
  if (e == b) return 0;
  gable_idx r = lower ? u->l : u->u, r_end = n_tall;
  const gable_idx low = place_of(y, p, p->begin), high = place_of(y, p, p->end - 1);
  r = (gable_idx)lower_bound(tall, r, r_end, low);
  if (r_end > r && tall[r_end - 1] > high) r_end = (gable_idx)lower_bound(tall, r, r_end, high + 1);
  if (r == r_end) return 0;
  *out = (source){p->panel, r, r_end, b, e, tall, wide};
  return 1;
}

/* map of the n places idx into out; NULL when they are one run, its start in *start. */
static const gable_idx *relative(gable_idx n, const gable_idx *idx, const gable_idx *map, gable_idx base,
                                 gable_idx *out, gable_idx *start)
{
  const gable_idx first = map ? map[idx[0]] : idx[0] - base, last = map ? map[idx[n - 1]] : idx[n - 1] - base;
  *start = first;
  if (last - first == n - 1) return NULL;
  *start = 0;
  if (map)
    for (gable_idx i = 0; i < n; i++) out[i] = map[idx[i]];
  else
    for (gable_idx i = 0; i < n; i++) out[i] = idx[i] - base;
  return out;
}

#define REAL double
#define NAME(name) name##_d
#define ROOT sqrt
#include "factor/panel.inc"
#undef REAL
#undef NAME
#undef ROOT

#define REAL float
#define NAME(name) name##_s
#define ROOT sqrtf
#include "factor/panel.inc"
