/* row_blocks.c: one pass over neighbouring rows, and the graph of the blocks. */
#include <string.h>

#include "trisolve/cpu/row_blocks.h"

enum { ALIKE = 3 }; /* entries that a block's rows have in common, at least */

void gi_row_blocks_release(gable_context *ctx, gi_row_blocks *u)
{
  GI_FREE(ctx, u->start, u->ptr, u->col);
  memset(u, 0, sizeof *u);
}

/* Whether row k can follow the rows first .. k-1 of a block: the same entries before first, then all rows up to k. */
static int follows(const gable_off *ptr, const gable_idx *col, gable_idx first, gable_idx k)
{
  const gable_off len = ptr[first + 1] - ptr[first];
  if (ptr[k + 1] - ptr[k] != len + k - first) return 0;
  if (len && memcmp(col + ptr[first], col + ptr[k], (size_t)len * sizeof *col)) return 0;
  return col[ptr[k] + len] == first; /* distinct and below k: then all of first .. k-1 */
}

static gable_idx end_of(gable_idx n, const gable_off *ptr, const gable_idx *col, gable_idx first, gable_idx most)
{
  gable_idx end = first + 1;
  if (ptr[first + 1] - ptr[first] < ALIKE) return end;
  while (end < n && end - first < most && follows(ptr, col, first, end)) end++;
  return end;
}

/* The blocks that each block's first row depends on; columns increase, and so do their blocks. */
static gable_off quotient(gi_row_blocks *u, const gable_off *ptr, const gable_idx *col, const gable_idx *unit_of)
{
  gable_off used = 0;
  for (gable_idx k = 0; k < u->count; k++) {
    gable_idx last = -1;
    u->ptr[k] = used;
    for (gable_off p = ptr[u->start[k]]; p < ptr[u->start[k] + 1]; p++) {
      if (unit_of[col[p]] == last) continue;
      last = unit_of[col[p]];
      if (u->col) u->col[used] = last;
      used++;
    }
  }
  u->ptr[u->count] = used;
  return used;
}

gable_status gi_row_blocks_find(gable_context *ctx, gable_idx n, const gable_off *ptr, const gable_idx *col,
                                gable_idx most, gi_row_blocks *out)
{
  gable_status status = GABLE_OK;
  gable_idx *unit_of = NULL;
  gable_off inside = 0, longest = 0, used;
  memset(out, 0, sizeof *out);
  GI_ALLOC(ctx, unit_of, n);
  for (gable_idx k = 0; k < n; out->count++) {
    const gable_idx end = end_of(n, ptr, col, k, most);
    if (end - k > 1) inside += ptr[end] - ptr[k];
    if (ptr[k + 1] - ptr[k] > longest) longest = ptr[k + 1] - ptr[k];
    for (; k < end; k++) unit_of[k] = out->count;
  }
  if (3 * inside < ptr[n] || !ptr[n] || longest > GI_ROW_BLOCK_LONGEST) {
    out->count = 0;
    goto done;
  }
  GI_ALLOC(ctx, out->start, (gable_off)out->count + 1);
  GI_ALLOC(ctx, out->ptr, (gable_off)out->count + 1);
  for (gable_idx k = n - 1; k >= 0; k--) out->start[unit_of[k]] = k;
  out->start[out->count] = n;
  used = quotient(out, ptr, col, unit_of);
  GI_ALLOC(ctx, out->col, used);
  quotient(out, ptr, col, unit_of);
done:
  gi_free(ctx, unit_of);
  if (status) gi_row_blocks_release(ctx, out);
  return status;
}
