/* windows.c: two counting sorts a window: by kind, then by level. */
#include <string.h>

#include "graph/windows.h"

typedef struct window {
  gable_idx begin, end, depth;
  const unsigned char *kind; /* [n] */
  gable_idx *level;          /* [width] of row begin + k inside the window */
  gable_idx *count;          /* [max(width, GI_WINDOW_KINDS) + 1] */
  gable_idx *by_kind;        /* [width] */
} window;

static void find_levels(window *w, const gable_off *ptr, const gable_idx *col)
{
  w->depth = 0;
  for (gable_idx k = w->begin; k < w->end; k++) {
    gable_idx level = 0;
    for (gable_off p = ptr[k + 1] - 1; p >= ptr[k] && col[p] >= w->begin; p--)
      if (w->level[col[p] - w->begin] >= level) level = w->level[col[p] - w->begin] + 1;
    w->level[k - w->begin] = level;
    if (level >= w->depth) w->depth = level + 1;
  }
}

static void sort(window *w, gable_idx *order)
{
  const gable_idx rows = w->end - w->begin;
  memset(w->count, 0, (GI_WINDOW_KINDS + 1) * sizeof *w->count);
  for (gable_idx k = w->begin; k < w->end; k++) w->count[w->kind[k] + 1]++;
  for (int q = 0; q < GI_WINDOW_KINDS; q++) w->count[q + 1] += w->count[q];
  for (gable_idx k = w->begin; k < w->end; k++) w->by_kind[w->count[w->kind[k]]++] = k - w->begin;
  memset(w->count, 0, ((size_t)w->depth + 1) * sizeof *w->count);
  for (gable_idx k = 0; k < rows; k++) w->count[w->level[k] + 1]++;
  for (gable_idx l = 0; l < w->depth; l++) w->count[l + 1] += w->count[l];
  for (gable_idx k = 0; k < rows; k++) order[w->begin + w->count[w->level[w->by_kind[k]]]++] = w->begin + w->by_kind[k];
}

gable_status gi_windows_sort(gable_context *ctx, gable_idx n, const gable_off *ptr, const gable_idx *col,
                             const unsigned char *kind, gable_idx width, gable_idx *order)
{
  gable_status status = GABLE_OK;
  window w = {.kind = kind};
  GI_ALLOC(ctx, w.level, width);
  GI_ALLOC(ctx, w.by_kind, width);
  GI_ALLOC(ctx, w.count, (gable_off)(width > GI_WINDOW_KINDS ? width : GI_WINDOW_KINDS) + 1);
  for (w.begin = 0; w.begin < n; w.begin = w.end) {
    w.end = n - w.begin < width ? n : w.begin + width;
    find_levels(&w, ptr, col);
    sort(&w, order);
  }
done:
  gi_free(ctx, w.level);
  gi_free(ctx, w.by_kind);
  gi_free(ctx, w.count);
  return status;
}
