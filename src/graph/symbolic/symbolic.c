#include "graph/symbolic/symbolic.h"

#include <string.h>

#include "graph/symbolic/symbolic_symmetric.h"
#include "graph/symbolic/symbolic_unsymmetric.h"

/* Turns counts at [1..n] into offsets at [0..n]. */
static void sum_counts(gable_off *ptr, gable_idx n)
{
  ptr[0] = 0;
  for (gable_idx k = 0; k < n; k++) ptr[k + 1] += ptr[k];
}

/* After filling with ptr[k]++, offsets are one place early. */
static void rewind_offsets(gable_off *ptr, gable_idx n)
{
  memmove(ptr + 1, ptr, (size_t)n * sizeof *ptr);
  ptr[0] = 0;
}

/* What a pattern has outside of its diagonal blocks, and how much inside. */
typedef struct block_entries {
  gable_idx *block_of; /* [n] of each row and column of A, or NULL when there is one block */
  gable_off inside;    /* entries in the blocks, without the diagonal */
  gable_off *off_ptr;  /* [n+1] the entries right of the blocks, in the final order */
  gable_idx *off_row;
} block_entries;

static void block_entries_release(gable_context *ctx, block_entries *e)
{
  GI_FREE(ctx, e->block_of, e->off_ptr, e->off_row);
}

static gable_status find_blocks(gable_context *ctx, gable_idx n, const gable_idx *perm,
                                const gi_symbolic_options *options, block_entries *e)
{
  gable_status status = GABLE_OK;
  if (options->n_blocks <= 1) return GABLE_OK;
  GI_ALLOC(ctx, e->block_of, n);
  for (gable_idx b = 0; b < options->n_blocks; b++)
    for (gable_idx k = options->block[b]; k < options->block[b + 1]; k++) e->block_of[perm[k]] = b;
done:
  return status;
}

/* Fills all but block_of.  Entries are read by columns, then gathered by rows and by columns again, so that the rows of
 * a column come increasing. */
static gable_status part_entries(gable_context *ctx, gable_idx n, const gable_off *ptr, const gable_idx *idx,
                                 const gable_idx *perm, block_entries *e)
{
  gable_status status = GABLE_OK;
  gable_idx *place = NULL, *row = NULL, *col = NULL;
  gable_off *row_ptr = NULL, end = 0, diagonal = 0;
  if (!e->block_of) {
    for (gable_idx j = 0; j < n; j++)
      for (gable_off p = ptr[j]; p < ptr[j + 1]; p++) e->inside += idx[p] != j;
    return GABLE_OK;
  }
  GI_ALLOC(ctx, place, n);
  GI_ALLOC(ctx, row, ptr[n]);
  GI_ALLOC_ZERO(ctx, row_ptr, (gable_off)n + 1);
  GI_ALLOC(ctx, e->off_ptr, (gable_off)n + 1);
  for (gable_idx k = 0; k < n; k++) place[perm[k]] = k;
  for (gable_idx k = 0; k < n; k++) {
    const gable_idx j = perm[k], block = e->block_of[j];
    e->off_ptr[k] = end;
    for (gable_off p = ptr[j]; p < ptr[j + 1]; p++) {
      const gable_idx i = idx[p];
      diagonal += i == j;
      if (e->block_of[i] == block) continue;
      GI_REQUIRE(e->block_of[i] < block, GABLE_ERR_ARGUMENT,
                 "the entry in row %d of column %d (counted from 0) lies left of its diagonal block", i, j);
      row[end++] = place[i];
      row_ptr[place[i] + 1]++;
    }
  }
  e->off_ptr[n] = end;
  e->inside = ptr[n] - end - diagonal;
  sum_counts(row_ptr, n);
  GI_ALLOC(ctx, col, end);
  GI_ALLOC(ctx, e->off_row, end);
  for (gable_idx k = 0; k < n; k++)
    for (gable_off p = e->off_ptr[k]; p < e->off_ptr[k + 1]; p++) col[row_ptr[row[p]]++] = k;
  rewind_offsets(row_ptr, n);
  for (gable_idx i = 0; i < n; i++)
    for (gable_off p = row_ptr[i]; p < row_ptr[i + 1]; p++) e->off_row[e->off_ptr[col[p]]++] = i;
  rewind_offsets(e->off_ptr, n);
done:
  GI_FREE(ctx, place, row, col, row_ptr);
  return status;
}

static gable_status attach_blocks(gable_context *ctx, const gi_symbolic_options *options, block_entries *e,
                                  gi_layout *y)
{
  gable_status status = GABLE_OK;
  y->n_blocks = options->n_blocks > 1 ? options->n_blocks : 1;
  GI_ALLOC(ctx, y->block, (gable_off)y->n_blocks + 1);
  y->block[0] = 0;
  y->block[1] = y->n;
  if (y->n_blocks == 1) return GABLE_OK;
  memcpy(y->block, options->block, ((size_t)y->n_blocks + 1) * sizeof *y->block);
  y->off_ptr = e->off_ptr;
  y->off_row = e->off_row;
  e->off_ptr = NULL;
  e->off_row = NULL;
done:
  return status;
}

/* The automatic form takes the unsymmetric layout when it holds less than WORTH_UNSYMMETRIC of the symmetric one's
 * numbers (two lists instead of one, and less to do at a time, cost something too), and does not look for it where more
 * than MOSTLY_MIRRORED of the entries have a mirror image: of twenty matrices it never was so small there. */
static const double WORTH_UNSYMMETRIC = 0.75, MOSTLY_MIRRORED = 0.6;

/* Whether the unsymmetric form is to be tried: by the share of the edges of A + A^T inside the diagonal blocks that
 * stand in both triangles of A. */
static int looks_unsymmetric(const gi_symbolic_options *options, const gi_tree *tree, gable_off inside)
{
  const gable_off edges = tree->lower_ptr[tree->n];
  if (options->form != GI_SYMBOLIC_AUTO || options->cholesky || edges == 0) return 0;
  return (double)(inside - edges) <= MOSTLY_MIRRORED * (double)edges;
}

static gable_status choose_form(gable_context *ctx, gable_idx n, const gable_off *ptr, const gable_idx *idx,
                                const gable_idx *perm, const gi_symbolic_options *options, const gi_tree *tree,
                                gable_off inside, gi_layout **out)
{
  gable_status status = GABLE_OK;
  gable_off most = -1;
  const int unsymmetric = looks_unsymmetric(options, tree, inside);
  if (unsymmetric) {
    GI_TRY(gi_tree_values(ctx, tree, options, &most));
    most = (gable_off)(WORTH_UNSYMMETRIC * (double)most);
  }
  if (unsymmetric || options->form == GI_SYMBOLIC_UNSYMMETRIC)
    GI_TRY(gi_unsymmetric_layout(ctx, n, ptr, idx, perm, tree, options, most, out));
  GI_TRY(gi_progress(ctx, "symbolic", 0.6));
  if (!*out) GI_TRY(gi_tree_layout(ctx, tree, options, out));
done:
  return status;
}

gable_status gi_symbolic(gable_context *ctx, gable_idx n, const gable_off *ptr, const gable_idx *idx, gable_idx *perm,
                         const gi_symbolic_options *options, gi_layout **out)
{
  gable_status status = GABLE_OK;
  const gi_symbolic_options defaults = {0};
  gi_tree own = {0};
  gi_adjacency graph = {0};
  block_entries entries = {0};
  gi_layout *y = NULL;
  if (!options) options = &defaults;
  const gi_tree *tree = options->tree ? options->tree : &own;
  GI_REQUIRE(options->form != GI_SYMBOLIC_UNSYMMETRIC || !options->cholesky, GABLE_ERR_ARGUMENT,
             "Cholesky has no unsymmetric form");
  GI_TRY(find_blocks(ctx, n, perm, options, &entries));
  if (!options->tree) {
    GI_TRY(gi_adjacency_build(ctx, n, ptr, idx, entries.block_of, options->mirrored, &graph));
    GI_TRY(gi_tree_of_graph(ctx, &graph, perm, options, &own));
    gi_adjacency_release(ctx, &graph);
  }
  GI_TRY(part_entries(ctx, n, ptr, idx, perm, &entries));
  GI_TRY(gi_progress(ctx, "symbolic", 0.3));
  GI_TRY(choose_form(ctx, n, ptr, idx, perm, options, tree, entries.inside, &y));
  y->height = tree->height;
  GI_TRY(attach_blocks(ctx, options, &entries, y));
  GI_TRY(gi_progress(ctx, "symbolic", 1));
  *out = y;
  y = NULL;
done:
  gi_layout_destroy(ctx, &y);
  gi_tree_release(ctx, &own);
  gi_adjacency_release(ctx, &graph);
  block_entries_release(ctx, &entries);
  return status;
}
