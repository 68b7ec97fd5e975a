/* windows.c: two counting sorts a window: by kind, then by level. */
#include <string.h>

#include "trisolve/cpu/windows.h"

typedef struct window {
  const gi_window_rows *rows;
  const gable_idx *base;
  gable_idx *place; /* [n] of each row in base; NULL: the row itself */
  gable_idx begin, end, depth;
  gable_idx *level;   /* [widest] of the row at place begin + k, inside the window */
  gable_idx *count;   /* [max(widest, GI_WINDOW_KINDS) + 1] */
  gable_idx *by_kind; /* [widest] places from begin on */
} window;

static gable_idx row_at(const window *w, gable_idx place)
{
  return w->base ? w->base[place] : place;
}

static void find_levels(window *w)
{
  const gable_off *ptr = w->rows->ptr;
  w->depth = 0;
  for (gable_idx k = w->begin; k < w->end; k++) {
    const gable_idx row = row_at(w, k);
    gable_idx level = 0;
    for (gable_off p = ptr[row + 1] - 1; p >= ptr[row]; p--) {
      const gable_idx from = w->place ? w->place[w->rows->col[p]] : w->rows->col[p];
      if (from < w->begin && !w->place) break; /* columns increase */
      if (from < w->begin || from >= w->end) continue;
      if (w->level[from - w->begin] >= level) level = w->level[from - w->begin] + 1;
    }
    w->level[k - w->begin] = level;
    if (level >= w->depth) w->depth = level + 1;
  }
}

static void sort(window *w, gable_idx *order)
{
  const gable_idx rows = w->end - w->begin;
  const unsigned char *kind = w->rows->kind;
  memset(w->count, 0, (GI_WINDOW_KINDS + 1) * sizeof *w->count);
  for (gable_idx k = w->begin; k < w->end; k++) w->count[kind[row_at(w, k)] + 1]++;
  for (int q = 0; q < GI_WINDOW_KINDS; q++) w->count[q + 1] += w->count[q];
  for (gable_idx k = w->begin; k < w->end; k++) w->by_kind[w->count[kind[row_at(w, k)]]++] = k - w->begin;
  memset(w->count, 0, ((size_t)w->depth + 1) * sizeof *w->count);
  for (gable_idx k = 0; k < rows; k++) w->count[w->level[k] + 1]++;
  for (gable_idx l = 0; l < w->depth; l++) w->count[l + 1] += w->count[l];
  for (gable_idx k = 0; k < rows; k++) {
    const gable_idx at = w->by_kind[k];
    order[w->begin + w->count[w->level[at]]++] = row_at(w, w->begin + at);
  }
}

gable_status gi_windows_sort(gable_context *ctx, const gi_window_rows *rows, const gable_idx *base,
                             const gable_idx *cuts, gable_idx windows, gable_idx *order)
{
  gable_status status = GABLE_OK;
  window w = {.rows = rows, .base = base};
  gable_idx widest = 0;
  for (gable_idx k = 0; k < windows; k++)
    if (cuts[k + 1] - cuts[k] > widest) widest = cuts[k + 1] - cuts[k];
  if (base) GI_ALLOC(ctx, w.place, rows->n);
  for (gable_idx k = 0; base && k < rows->n; k++) w.place[base[k]] = k;
  GI_ALLOC(ctx, w.level, widest);
  GI_ALLOC(ctx, w.by_kind, widest);
  GI_ALLOC(ctx, w.count, (gable_off)(widest > GI_WINDOW_KINDS ? widest : GI_WINDOW_KINDS) + 1);
  for (gable_idx k = 0; k < windows; k++) {
    w.begin = cuts[k];
    w.end = cuts[k + 1];
    find_levels(&w);
    sort(&w, order);
  }
done:
  GI_FREE(ctx, w.place, w.level, w.by_kind, w.count);
  return status;
}
