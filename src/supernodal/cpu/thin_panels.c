/* thin_panels.c: finds the thin subtrees of a layout, sorts them, and copies their panels. */
#include "supernodal/cpu/thin_panels.h"

#include <string.h>

#include "supernodal/cpu/solve_plan.h"

enum { LEVELS = 16, WIDTHS = 9, ROWS = 17, LEAST_RECORDS = 4 };

/* Which factors are swept so: at most MOST_VALUES in their panels, one in LEAST_SHARE of them or more in thin ones;
 * with FEW_VALUES at most one in LEAST_SHARE_OF_FEW, since what the sweep passes over is near, too. */
enum { MOST_VALUES = 1 << 20, LEAST_SHARE = 4, FEW_VALUES = 1 << 18, LEAST_SHARE_OF_FEW = 16 };

typedef struct sorting {
  const gi_layout *y;
  int upper; /* 1: the U panels */
  gable_idx pieces;
  gable_idx *piece;     /* [n_super] */
  gable_idx *count;     /* [pieces+1] */
  unsigned char *level; /* [n_super] above thin leaves; LEVELS: not the root of a thin subtree, or of one too high */
  gable_idx *list, *to; /* [n_super] those that have a level, and room to sort them */
} sorting;

static gable_idx rows_of(const sorting *o, gable_idx s)
{
  return o->upper ? gi_layout_nu(o->y, s) : gi_layout_nl(o->y, s);
}

static void mark(sorting *o, gable_idx s0, gable_idx s1, gable_idx piece)
{
  for (gable_idx s = s0; s < s1; s++) o->piece[s] = piece;
}

static void mark_pieces(const gi_solve_plan *p, sorting *o)
{
  for (gable_idx k = 0; k < p->layout->n_blocks; k++)
    mark(o, p->super_of_block[k], p->super_of_block[k + 1], p->n_parts + p->n_tops + k);
  for (gable_idx k = 0; k < p->n_parts; k++) mark(o, p->part[k].s0, p->part[k].s1, k);
  for (gable_idx k = 0; k < p->n_tops; k++) mark(o, p->top[k].s0, p->top[k].s1, p->n_parts + k);
}

/* Levels within each piece; those of pieces with few are taken back.  Returns how many have one. */
static gable_idx find_levels(sorting *o)
{
  const gi_layout *y = o->y;
  gable_idx found = 0;
  memset(o->level, 0, (size_t)y->n_super);
  memset(o->count, 0, ((size_t)o->pieces + 1) * sizeof *o->count);
  for (gable_idx s = 0; s < y->n_super; s++) {
    const gable_idx parent = y->parent[s];
    if (!gik_panel_thin(gi_layout_width(y, s), rows_of(o, s))) o->level[s] = LEVELS;
    o->count[o->piece[s]] += o->level[s] < LEVELS;
    if (parent < 0 || o->piece[parent] != o->piece[s]) continue;
    const unsigned char above = (unsigned char)(o->level[s] < LEVELS ? o->level[s] + 1 : LEVELS);
    if (above > o->level[parent]) o->level[parent] = above;
  }
  for (gable_idx s = 0; s < y->n_super; s++) {
    if (o->count[o->piece[s]] < LEAST_RECORDS) o->level[s] = LEVELS;
    if (o->level[s] < LEVELS) o->list[found++] = s;
  }
  return found;
}

static gable_idx by_rows(const sorting *o, gable_idx s)
{
  return rows_of(o, s);
}

static gable_idx by_level_and_width(const sorting *o, gable_idx s)
{
  return o->level[s] * WIDTHS + gi_layout_width(o->y, s);
}

/* Sorts the first n of list by a key below bound; equals keep their order. */
static void sort_by(sorting *o, gable_idx n, gable_idx (*key)(const sorting *, gable_idx), gable_idx bound)
{
  gable_idx at[LEVELS * WIDTHS + ROWS] = {0}, total = 0;
  for (gable_idx k = 0; k < n; k++) at[key(o, o->list[k])]++;
  for (gable_idx v = 0; v < bound; v++) {
    const gable_idx here = at[v];
    at[v] = total;
    total += here;
  }
  for (gable_idx k = 0; k < n; k++) o->to[at[key(o, o->list[k])]++] = o->list[k];
  gable_idx *sorted = o->to;
  o->to = o->list;
  o->list = sorted;
}

/* by_piece := the first n of list in the order of the pieces. */
static void place(sorting *o, gable_idx n, gable_idx *by_piece)
{
  gable_idx total = 0;
  memset(o->count, 0, ((size_t)o->pieces + 1) * sizeof *o->count);
  for (gable_idx k = 0; k < n; k++) o->count[o->piece[o->list[k]]]++;
  for (gable_idx q = 0; q < o->pieces; q++) {
    const gable_idx here = o->count[q];
    o->count[q] = total;
    total += here;
  }
  for (gable_idx k = 0; k < n; k++) by_piece[o->count[o->piece[o->list[k]]]++] = o->list[k];
}

static int same_group(const sorting *o, gable_idx a, gable_idx b)
{
  return o->piece[a] == o->piece[b] && gi_layout_width(o->y, a) == gi_layout_width(o->y, b) &&
         rows_of(o, a) == rows_of(o, b);
}

static gable_status find_groups(gable_context *ctx, const sorting *o, int head, gi_thin_stream *t)
{
  gable_status status = GABLE_OK;
  for (gable_idx k = 0; k < t->n_records; k++) t->n_groups += !k || !same_group(o, t->super[k - 1], t->super[k]);
  GI_ALLOC(ctx, t->group, t->n_groups);
  GI_ALLOC(ctx, t->group_ptr, o->pieces + 1);
  gable_idx g = -1, piece = 0;
  t->group_ptr[0] = 0;
  for (gable_idx k = 0; k < t->n_records; k++) {
    const gable_idx s = t->super[k], w = gi_layout_width(o->y, s), m = rows_of(o, s);
    if (!k || !same_group(o, t->super[k - 1], s)) {
      t->group[++g] = (gik_thin_group){.w = w, .m = m, .index = t->indices, .value = t->n_values};
      while (piece < o->piece[s]) t->group_ptr[++piece] = g;
    }
    t->group[g].count++;
    t->indices += 1 + m;
    t->n_values += gik_thin_values(w, m, head);
  }
  while (piece < o->pieces) t->group_ptr[++piece] = t->n_groups;
done:
  return status;
}

/* First columns and rows; lrow or ucol of the layout, or with slots. */
static void fill_index(const sorting *o, const gi_thin_stream *t, const gable_idx *rows, gable_idx *index)
{
  const gi_layout *y = o->y;
  const gable_off *ptr = o->upper ? y->uptr : y->lptr;
  for (gable_idx k = 0; k < t->n_records; k++) {
    const gable_idx s = t->super[k];
    *index++ = y->super[s];
    for (gable_off q = ptr[s]; q < ptr[s + 1]; q++) *index++ = rows[q];
  }
}

/* Does a range of supernodes without a level begin at s? */
static int rest_begins(const sorting *o, gable_idx s)
{
  return o->level[s] == LEVELS && (s == 0 || o->level[s - 1] < LEVELS || o->piece[s - 1] != o->piece[s]);
}

static gable_status find_rest(gable_context *ctx, const sorting *o, gi_thin_stream *t)
{
  gable_status status = GABLE_OK;
  const gable_idx n = o->y->n_super;
  GI_ALLOC_ZERO(ctx, t->rest_ptr, o->pieces + 1);
  for (gable_idx s = 0; s < n; s++) t->rest_ptr[o->piece[s] + 1] += rest_begins(o, s);
  for (gable_idx q = 0; q < o->pieces; q++) {
    t->rest_ptr[q + 1] += t->rest_ptr[q];
    o->count[q] = t->rest_ptr[q];
  }
  t->n_rest = t->rest_ptr[o->pieces];
  GI_ALLOC(ctx, t->rest, t->n_rest);
  for (gable_idx s = 0; s < n; s++) {
    if (o->level[s] < LEVELS) continue;
    gable_idx *at = &o->count[o->piece[s]];
    if (rest_begins(o, s)) t->rest[(*at)++].s0 = s;
    t->rest[*at - 1].s1 = s + 1;
  }
done:
  return status;
}

static gable_status make_stream(gable_context *ctx, sorting *o, int head, const gable_idx *rows, gi_thin_stream *t)
{
  gable_status status = GABLE_OK;
  t->n_records = find_levels(o);
  GI_ALLOC(ctx, t->super, t->n_records);
  sort_by(o, t->n_records, by_rows, ROWS);
  sort_by(o, t->n_records, by_level_and_width, LEVELS * WIDTHS);
  place(o, t->n_records, t->super);
  GI_TRY(find_rest(ctx, o, t));
  GI_TRY(find_groups(ctx, o, head, t));
  GI_ALLOC(ctx, t->index, t->indices);
  fill_index(o, t, rows, t->index);
done:
  return status;
}

static void release_stream(gable_context *ctx, gi_thin_stream *t)
{
  GI_FREE(ctx, t->group, t->group_ptr, t->super, t->index, t->values, t->rest, t->rest_ptr);
}

static gable_off stream_bytes(const gi_thin_stream *t, gable_idx pieces, size_t value)
{
  return (gable_off)sizeof *t->group * t->n_groups + t->n_values * (gable_off)value +
         4 * (2 * ((gable_off)pieces + 1) + t->n_records + t->indices) + (gable_off)sizeof *t->rest * t->n_rest;
}

static gable_status make_streams(gable_context *ctx, const gi_solve_plan *plan, const gi_factor *f, gi_thin_panels *t)
{
  gable_status status = GABLE_OK;
  const gi_layout *y = plan->layout;
  const int lu = f->kind == GI_LU, head = f->kind == GI_CHOLESKY;
  sorting o = {.y = y, .pieces = plan->n_parts + plan->n_tops + y->n_blocks};
  GI_ALLOC(ctx, o.piece, y->n_super);
  GI_ALLOC(ctx, o.count, o.pieces + 1);
  GI_ALLOC(ctx, o.level, y->n_super);
  GI_ALLOC(ctx, o.list, y->n_super);
  GI_ALLOC(ctx, o.to, y->n_super);
  mark_pieces(plan, &o);
  GI_TRY(make_stream(ctx, &o, head, plan->lrow, &t->l));
  t->back_index = t->l.index;
  if (!lu && plan->lrow != y->lrow) {
    t->back_index = NULL;
    GI_ALLOC(ctx, t->back_index, t->l.indices);
    fill_index(&o, &t->l, y->lrow, t->back_index);
  }
  o.upper = 1;
  if (lu) GI_TRY(make_stream(ctx, &o, 1, y->ucol, &t->u));
  const size_t value = f->type == GABLE_TYPE_S ? sizeof(float) : sizeof(double);
  t->bytes = (gable_off)sizeof *t + stream_bytes(&t->l, o.pieces, value) + stream_bytes(&t->u, o.pieces, value) +
             (t->back_index == t->l.index ? 0 : 4 * t->l.indices);
done:
  GI_FREE(ctx, o.piece, o.count, o.level, o.list, o.to);
  return status;
}

/* Values of a factor: bytes each, from the panels to a stream. */
typedef struct copying {
  const gi_layout *y;
  size_t bytes;
  const char *l, *u, *dinv;
  char *to;
} copying;

static void copy(copying *c, const char *from, gable_off first, gable_off count)
{
  memcpy(c->to, from + (size_t)first * c->bytes, (size_t)count * c->bytes);
  c->to += (size_t)count * c->bytes;
}

static void copy_l(copying *c, const gi_thin_stream *t, int head)
{
  const gi_layout *y = c->y;
  for (gable_idx k = 0; k < t->n_records; k++) {
    const gable_idx s = t->super[k], w = gi_layout_width(y, s), single = w == 1;
    if (head) copy(c, c->dinv, y->super[s], w);
    copy(c, c->l, y->lval[s] + single, y->lval[s + 1] - y->lval[s] - single);
  }
}

static void copy_u(copying *c, const gi_thin_stream *t)
{
  const gi_layout *y = c->y;
  for (gable_idx k = 0; k < t->n_records; k++) {
    const gable_idx s = t->super[k], w = gi_layout_width(y, s), ld = w + gi_layout_nl(y, s);
    copy(c, c->dinv, y->super[s], w);
    for (gable_idx j = 0; w > 1 && j < w; j++) copy(c, c->l, y->lval[s] + (gable_off)j * ld, w);
    copy(c, c->u, y->uval[s], y->uval[s + 1] - y->uval[s]);
  }
}

/* A factor that fits a cache, much of it thin. */
static int worth_it(const gi_layout *y)
{
  const gable_off values = y->lval[y->n_super] + y->uval[y->n_super];
  gable_off thin = 0;
  if (values > MOST_VALUES) return 0;
  for (gable_idx s = 0; s < y->n_super; s++) {
    const gable_idx w = gi_layout_width(y, s);
    if (gik_panel_thin(w, gi_layout_nl(y, s))) thin += y->lval[s + 1] - y->lval[s];
    if (gik_panel_thin(w, gi_layout_nu(y, s))) thin += y->uval[s + 1] - y->uval[s];
  }
  return thin >= values / (values <= FEW_VALUES ? LEAST_SHARE_OF_FEW : LEAST_SHARE);
}

gable_off gi_thin_bytes(const gi_layout *y, gi_factor_kind kind, gable_type type)
{
  const int lu = kind == GI_LU;
  gable_off values = 0, indices = 0;
  if (!worth_it(y)) return 0;
  for (gable_idx s = 0; s < y->n_super; s++) {
    const gable_idx w = gi_layout_width(y, s), nl = gi_layout_nl(y, s), nu = gi_layout_nu(y, s);
    if (gik_panel_thin(w, nl)) {
      values += gik_thin_values(w, nl, kind == GI_CHOLESKY);
      indices += 2 + nl;
    }
    if (lu && gik_panel_thin(w, nu)) {
      values += gik_thin_values(w, nu, 1);
      indices += 2 + nu;
    }
  }
  return values * (gable_off)(type == GABLE_TYPE_S ? sizeof(float) : sizeof(double)) + 4 * indices;
}

gable_status gi_thin_update(gable_context *ctx, const gi_solve_plan *plan, gi_factor *f)
{
  gable_status status = GABLE_OK;
  gi_thin_panels *t = f->thin;
  f->thin = NULL;
  if (t && t->plan != plan) gi_thin_destroy(ctx, &t);
  const size_t bytes = f->type == GABLE_TYPE_S ? sizeof(float) : sizeof(double);
  if (!t && !worth_it(plan->layout)) goto done;
  if (!t) {
    GI_ALLOC_ZERO(ctx, t, 1);
    t->plan = plan;
    GI_TRY(make_streams(ctx, plan, f, t));
    t->l.values = gi_alloc(ctx, t->l.n_values, bytes);
    t->u.values = gi_alloc(ctx, t->u.n_values, bytes);
    GI_REQUIRE(t->l.values && t->u.values, GABLE_ERR_MEMORY, "out of memory: %.1f MB for thin panels",
               (double)t->bytes / 1e6);
  }
  copying c = {plan->layout, bytes, f->l, f->u, f->dinv, t->l.values};
  copy_l(&c, &t->l, f->kind == GI_CHOLESKY);
  c.to = t->u.values;
  copy_u(&c, &t->u);
  f->thin = t;
  f->thin_destroy = gi_thin_destroy;
  t = NULL;
done:
  gi_thin_destroy(ctx, &t);
  return status;
}

void gi_thin_destroy(gable_context *ctx, gi_thin_panels **thin)
{
  gi_thin_panels *t = *thin;
  if (!t) return;
  if (t->back_index != t->l.index) gi_free(ctx, t->back_index);
  release_stream(ctx, &t->l);
  release_stream(ctx, &t->u);
  gi_free(ctx, t);
  *thin = NULL;
}
