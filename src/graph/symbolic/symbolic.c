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

/* off_ptr, off_row: the entries right of the diagonal blocks, in the final order: gathered by rows, then by columns, so
 * that the rows of a column come increasing. */
static gable_status keep_off_blocks(gable_context *ctx, const gable_off *ptr, const gable_idx *idx,
                                    const gable_idx *perm, const gable_idx *block_of, gi_layout *y)
{
  gable_status status = GABLE_OK;
  const gable_idx n = y->n;
  gable_idx *place = NULL, *col = NULL;
  gable_off *row_ptr = NULL;
  GI_ALLOC(ctx, place, n);
  GI_ALLOC_ZERO(ctx, row_ptr, (gable_off)n + 1);
  GI_ALLOC_ZERO(ctx, y->off_ptr, (gable_off)n + 1);
  for (gable_idx k = 0; k < n; k++) place[perm[k]] = k;
  for (gable_idx j = 0; j < n; j++) {
    for (gable_off p = ptr[j]; p < ptr[j + 1]; p++) {
      const gable_idx i = place[idx[p]], k = place[j];
      if (block_of[i] >= block_of[k]) continue;
      row_ptr[i + 1]++;
      y->off_ptr[k + 1]++;
    }
  }
  sum_counts(row_ptr, n);
  sum_counts(y->off_ptr, n);
  GI_ALLOC(ctx, col, row_ptr[n]);
  GI_ALLOC(ctx, y->off_row, row_ptr[n]);
  for (gable_idx j = 0; j < n; j++) {
    for (gable_off p = ptr[j]; p < ptr[j + 1]; p++) {
      const gable_idx i = place[idx[p]], k = place[j];
      if (block_of[i] < block_of[k]) col[row_ptr[i]++] = k;
    }
  }
  rewind_offsets(row_ptr, n);
  for (gable_idx i = 0; i < n; i++) {
    for (gable_off p = row_ptr[i]; p < row_ptr[i + 1]; p++) y->off_row[y->off_ptr[col[p]]++] = i;
  }
  rewind_offsets(y->off_ptr, n);
done:
  gi_free(ctx, place);
  gi_free(ctx, col);
  gi_free(ctx, row_ptr);
  return status;
}

static gable_status attach_blocks(gable_context *ctx, const gable_off *ptr, const gable_idx *idx, const gable_idx *perm,
                                  const gi_symbolic_options *options, gi_layout *y)
{
  gable_status status = GABLE_OK;
  gable_idx *block_of = NULL;
  y->n_blocks = options->n_blocks > 1 ? options->n_blocks : 1;
  GI_ALLOC(ctx, y->block, (gable_off)y->n_blocks + 1);
  y->block[0] = 0;
  y->block[1] = y->n;
  if (y->n_blocks == 1) return GABLE_OK;
  memcpy(y->block, options->block, ((size_t)y->n_blocks + 1) * sizeof *y->block);
  GI_ALLOC(ctx, block_of, y->n);
  for (gable_idx b = 0; b < y->n_blocks; b++) {
    for (gable_idx k = y->block[b]; k < y->block[b + 1]; k++) block_of[k] = b;
  }
  GI_TRY(keep_off_blocks(ctx, ptr, idx, perm, block_of, y));
done:
  gi_free(ctx, block_of);
  return status;
}

/* The automatic form takes the unsymmetric layout when it holds less than WORTH_UNSYMMETRIC of the symmetric one's
 * numbers (two lists instead of one, and less to do at a time, cost something too), and does not look for it where more
 * than MOSTLY_MIRRORED of the entries have a mirror image: of twenty matrices it never was so small there. */
static const double WORTH_UNSYMMETRIC = 0.75, MOSTLY_MIRRORED = 0.6;

/* The share of the edges of A + A^T inside the diagonal blocks that stand in both triangles of A. */
static double mirrored_share(gable_idx n, const gable_off *ptr, const gable_idx *idx, const gi_tree *tree,
                             const gable_idx *block_of)
{
  gable_off entries = 0;
  const gable_off edges = tree->lower_ptr[n];
  for (gable_idx j = 0; j < n; j++) {
    for (gable_off p = ptr[j]; p < ptr[j + 1]; p++)
      entries += idx[p] != j && (!block_of || block_of[idx[p]] == block_of[j]);
  }
  return edges ? (double)(entries - edges) / (double)edges : 1;
}

/* Whether the unsymmetric form is to be tried. */
static gable_status looks_unsymmetric(gable_context *ctx, gable_idx n, const gable_off *ptr, const gable_idx *idx,
                                      const gable_idx *perm, const gi_symbolic_options *options, const gi_tree *tree,
                                      int *answer)
{
  gable_status status = GABLE_OK;
  gable_idx *block_of = NULL;
  *answer = 0;
  if (options->form != GI_SYMBOLIC_AUTO || options->cholesky) return GABLE_OK;
  if (options->n_blocks > 1) {
    GI_ALLOC(ctx, block_of, n);
    for (gable_idx b = 0; b < options->n_blocks; b++)
      for (gable_idx k = options->block[b]; k < options->block[b + 1]; k++) block_of[perm[k]] = b;
  }
  *answer = mirrored_share(n, ptr, idx, tree, block_of) <= MOSTLY_MIRRORED;
done:
  gi_free(ctx, block_of);
  return status;
}

static gable_status choose_form(gable_context *ctx, gable_idx n, const gable_off *ptr, const gable_idx *idx,
                                const gable_idx *perm, const gi_symbolic_options *options, const gi_tree *tree,
                                gi_layout **out)
{
  gable_status status = GABLE_OK;
  gable_off most = -1;
  int unsymmetric = 0;
  GI_TRY(looks_unsymmetric(ctx, n, ptr, idx, perm, options, tree, &unsymmetric));
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
  gi_layout *y = NULL;
  if (!options) options = &defaults;
  const gi_tree *tree = options->tree ? options->tree : &own;
  GI_REQUIRE(options->form != GI_SYMBOLIC_UNSYMMETRIC || !options->cholesky, GABLE_ERR_ARGUMENT,
             "Cholesky has no unsymmetric form");
  if (!options->tree) GI_TRY(gi_tree_analyse(ctx, n, ptr, idx, perm, options, &own));
  GI_TRY(gi_progress(ctx, "symbolic", 0.3));
  GI_TRY(choose_form(ctx, n, ptr, idx, perm, options, tree, &y));
  y->height = tree->height;
  GI_TRY(attach_blocks(ctx, ptr, idx, perm, options, y));
  GI_TRY(gi_progress(ctx, "symbolic", 1));
  *out = y;
  y = NULL;
done:
  gi_layout_destroy(ctx, &y);
  gi_tree_release(ctx, &own);
  return status;
}
