/* The structure of L and U when the columns of each supernode share the rows of L below it and its rows share the
 * columns of U right of it.  With J the columns of s, it is the smallest one with
 *
 *   L(s) = rows > J of A(:,J)  and of L(t), for all t < s with U(t) and J in common,
 *   U(s) = cols > J of A(J,:)  and of U(t), for all t < s with L(t) and J in common.
 *
 * Once J has met both L(t) and U(t), t is not asked again: what it could still give, s gives (symmetric pruning:
 * Eisenstat and Liu, SIAM J. Matrix Anal. Appl. 13, 1992; 14, 1993).  A symmetric pattern prunes every t at its parent,
 * and this becomes the merging of children.
 *
 * A supernode stays open while columns join it; column k may join when the open structure reaches k from both sides
 * (then k is the parent of k-1 in the elimination tree of A + A^T) and the zeros that this costs are few, or none in
 * the exact form.  Columns that join without zeros have equal L and equal U: supernodes of type T3. */
#include "graph/symbolic/symbolic_unsymmetric.h"

#include <string.h>

#include "graph/symbolic/merge_sort.h"
#include "graph/symbolic/supernodes.h"
#include "sparse/csc.h"

/* Factor 0 is L: lists of rows; factor 1 is U: lists of columns.  What waits in one gives to the other. */
typedef struct factor_lists {
  gi_csc a;       /* the pattern of A' (L) or of its transpose (U), by columns */
  gable_off *ptr; /* [n+1] of the lists of closed supernodes */
  gable_idx *list;
  gable_off room;           /* of list */
  gable_off *at;            /* [n] by supernode: its first element that has not been reached */
  gable_idx *head, *next;   /* [n] supernodes that wait at a row (column); [n] lists of them */
  gable_idx *gave;          /* [n] by supernode: the last one that got its list of this factor */
  gable_idx *mark;          /* [n] the last supernode whose open list holds the element */
  gable_idx *open;          /* [n] list of the open supernode, unsorted; may hold columns of its own */
  gable_off n_open, n_live; /* elements; those beyond the last column */
} factor_lists;

typedef struct unsymmetric {
  gable_context *ctx;
  gable_idx n, n_super, max_width;
  int exact;
  double shares;       /* of zeros, a factor: gi_supernodes_shares */
  gable_idx block_end; /* of the diagonal block that is under way */
  factor_lists factor[2];
  gable_idx *super; /* [n+1] */
  gable_idx *spare; /* [n] */
  double zeros;     /* in the open supernode */
  gable_off values; /* in the panels of closed supernodes */
  gable_off nnz[2]; /* exact, of L and U, the diagonal counted in both */
} unsymmetric;

static inline void add(factor_lists *d, gable_idx s, gable_idx element)
{
  if (d->mark[element] == s) return;
  d->mark[element] = s;
  d->open[d->n_open++] = element;
  d->n_live++;
}

/* The entries of A in column (row) k beyond k. */
static void add_matrix(unsymmetric *u, int which, gable_idx s, gable_idx k)
{
  factor_lists *d = &u->factor[which];
  for (gable_off p = d->a.ptr[k]; p < d->a.ptr[k + 1]; p++) {
    const gable_idx i = d->a.idx[p];
    if (i > k && i < u->block_end) add(d, s, i);
  }
}

/* The elements of t's list beyond k. */
static void add_list(factor_lists *d, gable_idx s, gable_idx t, gable_idx k)
{
  for (gable_off p = d->at[t]; p < d->ptr[t + 1]; p++) {
    if (d->list[p] > k) add(d, s, d->list[p]);
  }
}

/* Supernode t waits at the next element of its list. */
static inline void wait_on(factor_lists *d, gable_idx t)
{
  if (d->at[t] == d->ptr[t + 1]) return;
  const gable_idx element = d->list[d->at[t]];
  d->next[t] = d->head[element];
  d->head[element] = t;
}

/* What waits at k gives its other list to the open supernode s, unless it has done so. */
static void add_waiting(unsymmetric *u, gable_idx s, gable_idx k)
{
  for (int d = 0; d < 2; d++) {
    factor_lists *other = &u->factor[1 - d];
    for (gable_idx t = u->factor[d].head[k]; t >= 0; t = u->factor[d].next[t]) {
      if (other->gave[t] != s) add_list(other, s, t, k);
    }
  }
}

static void undo(factor_lists *d, gable_off n_open, gable_off n_live)
{
  for (gable_off p = n_open; p < d->n_open; p++) d->mark[d->open[p]] = -1;
  d->n_open = n_open;
  d->n_live = n_live;
}

/* Column k of L and row k of U are known: that is what the open lists hold beyond k. */
static void count_entries(unsymmetric *u)
{
  u->nnz[0] += 1 + u->factor[0].n_live;
  u->nnz[1] += 1 + u->factor[1].n_live;
}

/* Adds column k to the open supernode s where they were given as one (joins), or when s reaches it from both sides and
 * the zeros are few; 1 when it did.  Column
 * and row k then hold all that s has beyond them, so the joined supernode has their structure: it costs zeros in the
 * columns before, and no fill further on. */
static int try_join(unsymmetric *u, gable_idx s, gable_idx k, int joins)
{
  factor_lists *l = &u->factor[0], *r = &u->factor[1];
  const gable_idx width = k - u->super[s];
  const int reached_l = l->mark[k] == s, reached_u = r->mark[k] == s;
  if (!joins && (!reached_l || !reached_u || width >= u->max_width)) return 0;
  const gable_off open_l = l->n_open, live_l = l->n_live, open_u = r->n_open, live_u = r->n_live;
  add_matrix(u, 0, s, k);
  add_matrix(u, 1, s, k);
  add_waiting(u, s, k);
  const double more = (double)(l->n_live - live_l + r->n_live - live_u);
  const double zeros = u->zeros + width * more;
  const double wide = width + 1, total = wide * (wide + (double)(l->n_live + r->n_live - 2));
  if (!joins && (u->exact ? zeros > 0 : !gi_supernodes_worth(wide, zeros, total, u->shares))) {
    undo(l, open_l, live_l);
    undo(r, open_u, live_u);
    return 0;
  }
  l->n_live -= reached_l; /* k itself */
  r->n_live -= reached_u;
  u->zeros = zeros;
  count_entries(u);
  return 1;
}

/* Moves the supernodes that wait at k to their next row (column), or out when s has got both of their lists. */
static void pass_on(unsymmetric *u, gable_idx s, gable_idx k)
{
  factor_lists *l = &u->factor[0], *r = &u->factor[1];
  for (gable_idx t = l->head[k]; t >= 0; t = l->next[t]) r->gave[t] = s;
  for (gable_idx t = r->head[k]; t >= 0; t = r->next[t]) l->gave[t] = s;
  for (int d = 0; d < 2; d++) {
    factor_lists *here = &u->factor[d];
    gable_idx t = here->head[k];
    here->head[k] = -1;
    for (gable_idx after; t >= 0; t = after) {
      after = here->next[t];
      if (l->gave[t] == s && r->gave[t] == s) {
        l->at[t] = l->ptr[t + 1]; /* pruned: nothing of it is left */
        r->at[t] = r->ptr[t + 1];
      } else if (here->at[t] < here->ptr[t + 1]) { /* it may have been pruned while it waited here */
        here->at[t]++;
      }
      wait_on(here, t);
    }
  }
}

static void start_supernode(unsymmetric *u, gable_idx k)
{
  const gable_idx s = u->n_super;
  u->super[s] = k;
  u->zeros = 0;
  for (int d = 0; d < 2; d++) {
    u->factor[d].n_open = u->factor[d].n_live = 0;
    add_matrix(u, d, s, k);
  }
  add_waiting(u, s, k);
  count_entries(u);
}

/* Makes room for count more elements. */
static gable_status reserve(gable_context *ctx, factor_lists *d, gable_off used, gable_off count)
{
  gable_status status = GABLE_OK;
  if (used + count > d->room) {
    const gable_off room = 2 * d->room + count;
    GI_GROW(ctx, d->list, used, room, "the structure of the factors");
    d->room = room;
  }
done:
  return status;
}

/* The open supernode ends before column end: its lists are sorted and kept, and it waits for its first row and column.
 */
static gable_status close_supernode(unsymmetric *u, gable_idx end)
{
  gable_status status = GABLE_OK;
  const gable_idx s = u->n_super;
  const gable_off width = end - u->super[s];
  gable_off below = 0;
  for (int i = 0; i < 2; i++) {
    factor_lists *d = &u->factor[i];
    const gable_off first = d->ptr[s];
    gable_off count = 0;
    for (gable_off p = 0; p < d->n_open; p++) {
      if (d->open[p] >= end) d->open[count++] = d->open[p];
    }
    GI_TRY(reserve(u->ctx, d, first, count));
    if (count) memcpy(d->list + first, gi_sort_runs(d->open, count, u->spare), (size_t)count * sizeof *d->list);
    d->ptr[s + 1] = first + count;
    d->at[s] = first;
    d->gave[s] = -1;
    wait_on(d, s);
    below += count;
  }
  u->values += width * (width + below);
  u->n_super++;
done:
  return status;
}

static gable_status lists_init(gable_context *ctx, gable_idx n, gable_off room, factor_lists *d)
{
  gable_status status = GABLE_OK;
  d->room = room;
  GI_ALLOC(ctx, d->ptr, (gable_off)n + 1);
  GI_ALLOC(ctx, d->list, room);
  GI_ALLOC(ctx, d->at, n);
  GI_ALLOC(ctx, d->head, n);
  GI_ALLOC(ctx, d->next, n);
  GI_ALLOC(ctx, d->gave, n);
  GI_ALLOC(ctx, d->mark, n);
  GI_ALLOC(ctx, d->open, n);
  memset(d->head, 0xff, (size_t)n * sizeof *d->head);
  memset(d->mark, 0xff, (size_t)n * sizeof *d->mark);
  d->ptr[0] = 0;
done:
  return status;
}

static void unsymmetric_release(unsymmetric *u)
{
  for (int i = 0; i < 2; i++) {
    factor_lists *d = &u->factor[i];
    gi_csc_release(u->ctx, &d->a);
    GI_FREE(u->ctx, d->ptr, d->list, d->at, d->head, d->next, d->gave, d->mark, d->open);
  }
  GI_FREE(u->ctx, u->super, u->spare);
}

static gable_status unsymmetric_init(gable_context *ctx, gable_idx n, const gable_off *ptr, const gable_idx *idx,
                                     const gable_idx *perm, const gi_symbolic_options *options, unsymmetric *u)
{
  gable_status status = GABLE_OK;
  const gi_csc a = {.n_rows = n, .n_cols = n, .ptr = (gable_off *)ptr, .idx = (gable_idx *)idx};
  u->ctx = ctx;
  u->n = n;
  u->max_width = gi_symbolic_max_width(options);
  u->exact = options->exact;
  u->shares = gi_supernodes_shares(options->solves);
  for (int d = 0; d < 2; d++) GI_TRY(lists_init(ctx, n, ptr[n] + n, &u->factor[d]));
  GI_ALLOC(ctx, u->super, (gable_off)n + 1);
  GI_ALLOC(ctx, u->spare, n);
  GI_TRY(gi_csc_permute_transposed(ctx, &a, perm, perm, &u->factor[1].a));
  GI_TRY(gi_csc_transpose(ctx, &u->factor[1].a, &u->factor[0].a));
done:
  return status;
}

/* All columns; *gave_up when the panels hold too much. */
static gable_status eliminate(unsymmetric *u, const unsigned char *begins, const gi_symbolic_options *options,
                              gable_off most_values, int *gave_up)
{
  gable_status status = GABLE_OK;
  gable_idx block = 0;
  u->block_end = options->n_blocks > 1 ? 0 : u->n;
  for (gable_idx k = 0; k < u->n; k++) {
    while (k == u->block_end) u->block_end = options->block[++block];
    if (k == 0 || (begins && begins[k]) || !try_join(u, u->n_super, k, begins != NULL)) {
      if (k > 0) GI_TRY(close_supernode(u, k));
      start_supernode(u, k);
      *gave_up = most_values >= 0 && u->values > most_values;
      if (*gave_up) goto done;
    }
    pass_on(u, u->n_super, k);
  }
  if (u->n > 0) GI_TRY(close_supernode(u, u->n));
  u->super[u->n_super] = u->n;
done:
  return status;
}

/* The lists become the layout's, cut to their length when much is left over. */
static gable_status take_list(gable_context *ctx, factor_lists *d, gable_idx n_super, gable_off **ptr, gable_idx **list)
{
  gable_status status = GABLE_OK;
  const gable_off used = d->ptr[n_super];
  GI_ALLOC(ctx, *ptr, (gable_off)n_super + 1);
  memcpy(*ptr, d->ptr, ((size_t)n_super + 1) * sizeof **ptr);
  GI_ALLOC(ctx, *list, used);
  if (used) memcpy(*list, d->list, (size_t)used * sizeof **list);
done:
  return status;
}

static gable_status make_layout(unsymmetric *u, const gi_tree *tree, gi_layout **out)
{
  gable_status status = GABLE_OK;
  gable_context *ctx = u->ctx;
  gi_layout *y = NULL;
  GI_ALLOC_ZERO(ctx, y, 1);
  y->n = u->n;
  y->n_super = u->n_super;
  GI_ALLOC(ctx, y->super, (gable_off)y->n_super + 1);
  memcpy(y->super, u->super, ((size_t)y->n_super + 1) * sizeof *y->super);
  GI_ALLOC(ctx, y->of, y->n);
  GI_ALLOC(ctx, y->parent, y->n_super);
  GI_ALLOC(ctx, y->lval, (gable_off)y->n_super + 1);
  GI_ALLOC(ctx, y->uval, (gable_off)y->n_super + 1);
  GI_TRY(take_list(ctx, &u->factor[0], y->n_super, &y->lptr, &y->lrow));
  GI_TRY(take_list(ctx, &u->factor[1], y->n_super, &y->uptr, &y->ucol));
  for (gable_idx s = 0; s < y->n_super; s++) {
    for (gable_idx k = y->super[s]; k < y->super[s + 1]; k++) y->of[k] = s;
  }
  for (gable_idx s = 0; s < y->n_super; s++) {
    const gable_idx p = tree->parent[y->super[s + 1] - 1];
    y->parent[s] = p < 0 ? -1 : y->of[p];
  }
  gi_layout_measure(y, 0);
  y->nnz_l = u->nnz[0];
  y->nnz_u = u->nnz[1];
  *out = y;
  y = NULL;
done:
  gi_layout_destroy(ctx, &y);
  return status;
}

gable_status gi_unsymmetric_layout(gable_context *ctx, gable_idx n, const gable_off *ptr, const gable_idx *idx,
                                   const gable_idx *perm, const gi_tree *tree, const gi_symbolic_options *options,
                                   gable_off most_values, gi_layout **out)
{
  gable_status status = GABLE_OK;
  unsymmetric u = {0};
  int gave_up = 0;
  GI_TRY(unsymmetric_init(ctx, n, ptr, idx, perm, options, &u));
  GI_TRY(eliminate(&u, tree->begins, options, most_values, &gave_up));
  if (!gave_up) GI_TRY(make_layout(&u, tree, out));
done:
  unsymmetric_release(&u);
  return status;
}
