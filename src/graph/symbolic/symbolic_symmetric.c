#include "graph/symbolic/symbolic_symmetric.h"

#include <string.h>

#include "graph/symbolic/counts.h"
#include "graph/symbolic/etree.h"
#include "graph/symbolic/structure.h"
#include "graph/symbolic/supernodes.h"

/* Turns counts [n] into offsets [n+1]; returns their sum. */
static gable_off counts_to_offsets(gable_idx n, gable_off *ptr)
{
  gable_off total = 0;
  ptr[n] = 0;
  for (gable_idx k = 0; k <= n; k++) {
    const gable_off here = ptr[k];
    ptr[k] = total;
    total += here;
  }
  return total;
}

/* After filling with ptr[k]++ offsets are one place early. */
static void rewind_offsets(gable_idx n, gable_off *ptr)
{
  memmove(ptr + 1, ptr, (size_t)n * sizeof *ptr);
  ptr[0] = 0;
}

/* *out_idx: for each place k the places i < k with an edge to k, unsorted.  lower_count [n]: how many lists hold each
 * place.  inverse [n]: place of each node. */
static gable_status gather_upper(gable_context *ctx, const gi_adjacency *g, const gable_idx *perm,
                                 const gable_idx *inverse, gable_off *upper_ptr, gable_idx **out_idx,
                                 gable_off *lower_count)
{
  gable_status status = GABLE_OK;
  gable_idx *idx = NULL;
  gable_off end = 0;
  GI_ALLOC(ctx, idx, g->ptr[g->n] / 2 + 1);
  for (gable_idx k = 0; k < g->n; k++) {
    const gable_idx v = perm[k];
    upper_ptr[k] = end;
    for (gable_off p = g->ptr[v]; p < g->ptr[v + 1]; p++) {
      const gable_idx i = inverse[g->idx[p]];
      idx[end] = i; /* and stays when it counts */
      end += i < k;
    }
    lower_count[k] = g->ptr[v + 1] - g->ptr[v] - (end - upper_ptr[k]);
  }
  upper_ptr[g->n] = end;
  *out_idx = idx;
  idx = NULL;
done:
  gi_free(ctx, idx);
  return status;
}

/* The transpose: for each place i the places k > i, increasing.  out->lower_ptr: the counts of gather_upper. */
static gable_status transpose_upper(gable_context *ctx, gable_idx n, const gable_off *upper_ptr,
                                    const gable_idx *upper_idx, gi_tree *out)
{
  gable_status status = GABLE_OK;
  gable_off *start = out->lower_ptr;
  GI_ALLOC(ctx, out->lower_idx, counts_to_offsets(n, start));
  for (gable_idx k = 0; k < n; k++)
    for (gable_off p = upper_ptr[k]; p < upper_ptr[k + 1]; p++) out->lower_idx[start[upper_idx[p]]++] = k;
  rewind_offsets(n, start);
done:
  return status;
}

/* Tree and counts in the order given, then both postordered with the longest column last among siblings; by_number:
 * with the last column last, so that neighbours that are child and parent stay neighbours. */
static void count_and_postorder(gable_idx n, const gable_off *upper_ptr, const gable_idx *upper_idx, int by_number,
                                gi_tree *t, gable_idx *perm, gable_idx *work)
{
  gable_idx *parent = work, *count = work + n, *scratch = work + 2 * (size_t)n; /* scratch [4n] */
  gi_etree(n, upper_ptr, upper_idx, parent, scratch);
  gi_postorder(n, parent, NULL, t->old, scratch);
  gi_column_counts(n, t->lower_ptr, t->lower_idx, parent, t->old, count, scratch);
  if (!by_number) gi_postorder(n, parent, count, t->old, scratch);
  for (gable_idx k = 0; k < n; k++) t->place[t->old[k]] = k;
  t->nnz = 0;
  for (gable_idx k = 0; k < n; k++) {
    const gable_idx j = t->old[k];
    t->parent[k] = parent[j] < 0 ? -1 : t->place[parent[j]];
    t->count[k] = count[j];
    t->nnz += count[j];
    scratch[k] = perm[j];
  }
  memcpy(perm, scratch, (size_t)n * sizeof *perm);
  t->height = gi_tree_height(n, t->parent, scratch);
}

gable_status gi_tree_of_graph(gable_context *ctx, const gi_adjacency *g, gable_idx *perm,
                              const gi_symbolic_options *options, gi_tree *out)
{
  gable_status status = GABLE_OK;
  gable_idx *upper_idx = NULL, *work = NULL;
  gable_off *upper_ptr = NULL;
  const gable_idx n = g->n;
  gi_tree t = {.n = n};
  GI_ALLOC(ctx, t.parent, n);
  GI_ALLOC(ctx, t.count, n);
  GI_ALLOC(ctx, t.old, n);
  GI_ALLOC(ctx, t.place, n);
  GI_ALLOC(ctx, t.lower_ptr, (gable_off)n + 1);
  GI_ALLOC(ctx, upper_ptr, (gable_off)n + 1);
  GI_ALLOC(ctx, work, 6 * (gable_off)n);
  for (gable_idx k = 0; k < n; k++) work[perm[k]] = k;
  GI_TRY(gather_upper(ctx, g, perm, work, upper_ptr, &upper_idx, t.lower_ptr));
  GI_TRY(transpose_upper(ctx, n, upper_ptr, upper_idx, &t));
  count_and_postorder(n, upper_ptr, upper_idx, options->begins != NULL, &t, perm, work);
  if (options->mate) GI_ALLOC_ZERO(ctx, t.tied, n);
  for (gable_idx k = 0; options->mate && k + 1 < n; k++)
    t.tied[k] = options->mate[perm[k]] == perm[k + 1] && perm[k] != perm[k + 1];
  if (options->begins) {
    GI_ALLOC(ctx, t.begins, n);
    for (gable_idx k = 0; k < n; k++) t.begins[k] = options->begins[t.old[k]];
  }
  *out = t;
  t = (gi_tree){0};
done:
  gi_tree_release(ctx, &t);
  GI_FREE(ctx, upper_idx, upper_ptr, work);
  return status;
}

void gi_tree_release(gable_context *ctx, gi_tree *tree)
{
  GI_FREE(ctx, tree->parent, tree->count, tree->lower_ptr, tree->lower_idx, tree->tied, tree->begins, tree->old,
          tree->place);
  *tree = (gi_tree){0};
}

/* Where the panel ends that begins at k, in a supernode before end: at most step columns wide, no pair cut in two. */
static gable_idx panel_end(const gi_tree *t, gable_idx k, gable_idx end, gable_idx step)
{
  if (end - k <= step) return end;
  const int splits = t->tied && t->tied[k + step - 1];
  return k + step + (!splits ? 0 : step > 1 ? -1 : 1);
}

/* Cuts the supernodes wide[0..n_wide] into panels and fills super, of and lptr; row_at [n_wide]: where the rows
 * below a whole supernode, which its last panel has, are to be. */
static void cut_panels(const gi_tree *t, gable_idx n_wide, const gable_idx *wide, gable_idx max_width, gi_layout *y,
                       gable_off *row_at)
{
  gable_idx s = 0;
  y->lptr[0] = 0;
  for (gable_idx v = 0; v < n_wide; v++) {
    const gable_idx end = wide[v + 1], below = t->count[end - 1] - 1;
    const gable_idx step = gi_supernodes_panel_width(end - wide[v], max_width);
    for (gable_idx k = wide[v], stop; k < end; k = stop, s++) {
      stop = panel_end(t, k, end, step);
      y->super[s] = k;
      for (gable_idx j = k; j < stop; j++) y->of[j] = s;
      row_at[v] = y->lptr[s];
      y->lptr[s + 1] = y->lptr[s] + (end - stop) + below;
    }
  }
  y->super[s] = t->n;
}

/* Rows of the panels that are not the last of their supernode: its columns further right, then its rows below. */
static void fill_panels(gi_layout *y, gable_idx n_wide, const gable_idx *wide, const gable_off *row_at)
{
  for (gable_idx v = 0; v < n_wide; v++) {
    const gable_idx last = y->of[wide[v + 1] - 1];
    const size_t below = (size_t)(y->lptr[last + 1] - row_at[v]);
    for (gable_idx s = y->of[wide[v]]; s < last; s++) {
      gable_idx *row = y->lrow + y->lptr[s];
      for (gable_idx k = y->super[s + 1]; k < wide[v + 1]; k++) *row++ = k;
      if (below) memcpy(row, y->lrow + row_at[v], below * sizeof *row);
    }
  }
}

/* The tree of the structure as it is stored: the parent holds the first row below. */
static void fill_parents(gi_layout *y)
{
  for (gable_idx s = 0; s < y->n_super; s++) y->parent[s] = gi_layout_nl(y, s) ? y->of[y->lrow[y->lptr[s]]] : -1;
}

static gable_idx count_panels(const gi_tree *t, gable_idx n_wide, const gable_idx *wide, gable_idx max_width)
{
  gable_idx count = 0;
  for (gable_idx v = 0; v < n_wide; v++) {
    const gable_idx end = wide[v + 1], step = gi_supernodes_panel_width(end - wide[v], max_width);
    for (gable_idx k = wide[v]; k < end; k = panel_end(t, k, end, step)) count++;
  }
  return count;
}

/* wide [n+1]: first columns of the supernodes before they are cut into panels; returns their number in *n_wide. */
static gable_status find_supernodes(gable_context *ctx, const gi_tree *t, const gi_symbolic_options *options,
                                    gable_idx *wide, gable_idx *n_wide)
{
  gable_status status = GABLE_OK;
  gable_idx *work = NULL;
  double *zeros = NULL;
  if (t->begins) {
    *n_wide = 0;
    for (gable_idx k = 0; k < t->n; k++)
      if (t->begins[k]) wide[(*n_wide)++] = k;
    wide[*n_wide] = t->n;
    goto done;
  }
  GI_ALLOC(ctx, work, 2 * (gable_off)t->n);
  *n_wide = gi_supernodes_fundamental(t->n, t->parent, t->count, wide, work);
  if (!options->exact) {
    GI_ALLOC(ctx, zeros, *n_wide);
    const double shares = gi_supernodes_shares(options->solves);
    *n_wide = gi_supernodes_relax(t->parent, t->count, *n_wide, wide, shares, zeros, work);
  }
done:
  GI_FREE(ctx, work, zeros);
  return status;
}

gable_status gi_tree_values(gable_context *ctx, const gi_tree *t, const gi_symbolic_options *options, gable_off *values)
{
  gable_status status = GABLE_OK;
  gable_idx *wide = NULL, n_wide;
  GI_ALLOC(ctx, wide, (gable_off)t->n + 1);
  GI_TRY(find_supernodes(ctx, t, options, wide, &n_wide));
  *values = 0;
  for (gable_idx v = 0; v < n_wide; v++) {
    const gable_idx end = wide[v + 1], below = t->count[end - 1] - 1;
    const gable_idx step = gi_supernodes_panel_width(end - wide[v], gi_symbolic_max_width(options));
    for (gable_idx k = wide[v], stop; k < end; k = stop) {
      stop = panel_end(t, k, end, step);
      const gable_off width = stop - k, beyond = end - k - width + below;
      *values += width * (width + (options->cholesky ? 1 : 2) * beyond);
    }
  }
done:
  gi_free(ctx, wide);
  return status;
}

gable_status gi_tree_layout(gable_context *ctx, const gi_tree *t, const gi_symbolic_options *options, gi_layout **out)
{
  gable_status status = GABLE_OK;
  const gable_idx max_width = gi_symbolic_max_width(options);
  gi_layout *y = NULL;
  gable_idx *wide = NULL, n_wide;
  gable_off *row_at = NULL;
  GI_ALLOC(ctx, wide, (gable_off)t->n + 1);
  GI_TRY(find_supernodes(ctx, t, options, wide, &n_wide));
  GI_ALLOC_ZERO(ctx, y, 1);
  y->n = t->n;
  y->symmetric = 1;
  y->n_super = count_panels(t, n_wide, wide, max_width);
  GI_ALLOC(ctx, y->super, (gable_off)y->n_super + 1);
  GI_ALLOC(ctx, y->of, t->n);
  GI_ALLOC(ctx, y->parent, y->n_super);
  GI_ALLOC(ctx, y->lptr, (gable_off)y->n_super + 1);
  GI_ALLOC(ctx, y->lval, (gable_off)y->n_super + 1);
  GI_ALLOC(ctx, y->uval, (gable_off)y->n_super + 1);
  GI_ALLOC(ctx, row_at, n_wide);
  cut_panels(t, n_wide, wide, max_width, y, row_at);
  GI_ALLOC(ctx, y->lrow, y->lptr[y->n_super]);
  y->uptr = y->lptr;
  y->ucol = y->lrow;
  const gi_partition part = {t->n, n_wide, wide, t->parent, t->count};
  const gi_relabelled a = {t->lower_ptr, t->lower_idx, t->old, t->place};
  GI_TRY(gi_structure_merge(ctx, &part, &a, row_at, y->lrow));
  fill_panels(y, n_wide, wide, row_at);
  fill_parents(y);
  gi_layout_measure(y, options->cholesky);
  y->nnz_l = y->nnz_u = t->nnz;
  *out = y;
  y = NULL;
done:
  gi_layout_destroy(ctx, &y);
  GI_FREE(ctx, wide, row_at);
  return status;
}
