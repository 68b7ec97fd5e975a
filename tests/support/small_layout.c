#include "support/small_layout.h"

#include "support/test.h"

unsigned char *small_pattern(gi_random *r, gable_idx n, double density, int symmetric)
{
  unsigned char *keep = calloc((size_t)n * (size_t)n + 1, 1);
  for (gable_idx j = 0; j < n; j++) {
    keep[j + j * n] = 1;
    for (gable_idx i = 0; i < n; i++)
      if (gi_random_unit(r) < density) keep[i + j * n] = 1;
  }
  for (gable_idx j = 0; symmetric && j < n; j++)
    for (gable_idx i = 0; i < j; i++) keep[j + i * n] = keep[i + j * n];
  return keep;
}

/* Elimination by supernodes: all rows of a supernode get the union of their rows, all columns of their columns. */
static void close_under(const gi_layout *y, unsigned char *fill)
{
  const gable_idx n = y->n;
  for (gable_idx s = 0; s < y->n_super; s++) {
    const gable_idx b = y->super[s], e = y->super[s + 1];
    for (gable_idx i = b; i < n; i++) {
      int row = i < e, column = i < e;
      for (gable_idx j = b; j < e; j++) {
        row |= fill[i + j * n];
        column |= fill[j + i * n];
      }
      for (gable_idx j = b; j < e; j++) {
        fill[i + j * n] = (unsigned char)row;
        fill[j + i * n] = (unsigned char)column;
      }
    }
    for (gable_idx i = e; i < n; i++)
      for (gable_idx j = e; fill[i + b * n] && j < n; j++) fill[i + j * n] |= fill[b + j * n];
  }
}

/* The places after each supernode in its columns (upper 0) or rows (upper 1). */
static void list_places(gable_context *ctx, const gi_layout *y, const unsigned char *fill, int upper, gable_off **ptr,
                        gable_idx **idx)
{
  const gable_idx n = y->n;
  *ptr = gi_alloc(ctx, y->n_super + 1, sizeof **ptr);
  *idx = gi_alloc(ctx, (gable_off)n * y->n_super, sizeof **idx);
  gable_off count = 0;
  for (gable_idx s = 0; s < y->n_super; s++) {
    (*ptr)[s] = count;
    const gable_idx b = y->super[s];
    for (gable_idx i = y->super[s + 1]; i < n; i++)
      if (upper ? fill[b + i * n] : fill[i + b * n]) (*idx)[count++] = i;
  }
  (*ptr)[y->n_super] = count;
}

static void fill_parents(gable_context *ctx, gi_layout *y, const unsigned char *pattern)
{
  const gable_idx n = y->n;
  unsigned char *both = calloc((size_t)n * (size_t)n + 1, 1);
  for (gable_idx j = 0; j < n; j++)
    for (gable_idx i = 0; i < n; i++) both[i + j * n] = pattern[i + j * n] | pattern[j + i * n];
  close_under(y, both);
  y->parent = gi_alloc(ctx, y->n_super, sizeof *y->parent);
  for (gable_idx s = 0; s < y->n_super; s++) {
    gable_idx i = y->super[s + 1];
    while (i < n && !both[i + y->super[s] * n]) i++;
    y->parent[s] = i < n ? y->of[i] : -1;
  }
  free(both);
}

/* Supernodes of random widths, none across the end of a block. */
static gi_layout *cut_columns(gable_context *ctx, gi_random *r, gable_idx n_blocks, const gable_idx *block,
                              gable_idx max_width)
{
  gi_layout *y = gi_alloc_zero(ctx, 1, sizeof *y);
  const gable_idx n = block[n_blocks];
  y->n = n;
  y->n_blocks = n_blocks;
  y->super = gi_alloc(ctx, n + 1, sizeof *y->super);
  y->of = gi_alloc(ctx, n, sizeof *y->of);
  for (gable_idx k = 0, b = 0; k < n; y->n_super++) {
    while (k >= block[b + 1]) b++;
    gable_idx w = 1 + (gable_idx)gi_random_below(r, max_width);
    y->super[y->n_super] = k;
    for (; w > 0 && k < block[b + 1]; w--) y->of[k++] = y->n_super;
  }
  y->super[y->n_super] = n;
  return y;
}

static void fill_structure(gable_context *ctx, gi_layout *y, const unsigned char *pattern, int cholesky, int symmetric)
{
  const gable_idx n = y->n;
  unsigned char *fill = malloc((size_t)n * (size_t)n + 1);
  memcpy(fill, pattern, (size_t)n * (size_t)n);
  close_under(y, fill);
  y->symmetric = symmetric;
  list_places(ctx, y, fill, 0, &y->lptr, &y->lrow);
  y->uptr = y->lptr;
  y->ucol = y->lrow;
  if (!symmetric) list_places(ctx, y, fill, 1, &y->uptr, &y->ucol);
  fill_parents(ctx, y, pattern);
  y->lval = gi_alloc(ctx, y->n_super + 1, sizeof *y->lval);
  y->uval = gi_alloc(ctx, y->n_super + 1, sizeof *y->uval);
  gi_layout_measure(y, cholesky);
  free(fill);
}

gi_layout *small_layout(gable_context *ctx, gi_random *r, gable_idx n, const unsigned char *pattern, int cholesky,
                        int symmetric, gable_idx max_width)
{
  const gable_idx whole[2] = {0, n};
  gi_layout *y = cut_columns(ctx, r, 1, whole, max_width);
  fill_structure(ctx, y, pattern, cholesky, symmetric);
  return y;
}

gi_layout *small_layout_blocks(gable_context *ctx, gi_random *r, gable_idx n_blocks, const gable_idx *block,
                               unsigned char *pattern, int symmetric, gable_idx max_width)
{
  const gable_idx n = block[n_blocks];
  gi_layout *y = cut_columns(ctx, r, n_blocks, block, max_width);
  y->block = gi_alloc(ctx, n_blocks + 1, sizeof *y->block);
  y->off_ptr = gi_alloc(ctx, n + 1, sizeof *y->off_ptr);
  y->off_row = gi_alloc(ctx, (gable_off)n * n + 1, sizeof *y->off_row);
  memcpy(y->block, block, ((size_t)n_blocks + 1) * sizeof *block);
  y->off_ptr[0] = 0;
  for (gable_idx j = 0, b = 0, count = 0; j < n; j++) {
    while (j >= block[b + 1]) b++;
    for (gable_idx i = 0; i < block[b]; i++) {
      if (pattern[i + j * n]) y->off_row[count++] = i;
      pattern[i + j * n] = 0;
    }
    for (gable_idx i = block[b + 1]; i < n; i++) pattern[i + j * n] = 0;
    y->off_ptr[j + 1] = count;
  }
  fill_structure(ctx, y, pattern, 0, symmetric);
  return y;
}

gi_layout *small_layout_either(gable_context *ctx, gi_random *r, gable_idx n, unsigned char *pattern, int cholesky,
                               int symmetric, gable_idx max_width, int blocks)
{
  gi_layout *y;
  if (blocks) {
    const gable_idx block[] = {0, n / 5, n / 5 + 1, n / 2, n};
    y = small_layout_blocks(ctx, r, 4, block, pattern, symmetric, max_width);
  } else {
    y = small_layout(ctx, r, n, pattern, cholesky, symmetric, max_width);
  }
  free(pattern);
  return y;
}
