#include "graph/match/matching_cardinality.h"

typedef struct search {
  gable_idx n_cols;
  const gable_off *ptr; /* [n_cols+1] */
  const gable_idx *idx;
  gable_idx *row_of; /* [n_cols] */
  gable_idx *col_of; /* [n_rows] */
  gable_idx *depth;  /* [n_cols] in the breadth-first search, -1: not reached */
  gable_idx *queue;  /* [n_cols], then the path of the depth-first search */
  gable_off *next;   /* [n_cols] entry to try next */
  gable_idx size;
} search;

/* Each column takes its first free row: most of the matching, cheaply. */
static void match_greedily(search *s)
{
  for (gable_idx j = 0; j < s->n_cols; j++)
    for (gable_off p = s->ptr[j]; p < s->ptr[j + 1] && s->row_of[j] < 0; p++)
      if (s->col_of[s->idx[p]] < 0) {
        s->row_of[j] = s->idx[p];
        s->col_of[s->idx[p]] = j;
        s->size++;
      }
}

/* Depths of the columns along alternating paths from the free ones.  Returns whether one of them ends in a free row. */
static int find_depths(search *s)
{
  gable_idx head = 0, tail = 0, found = 0;
  for (gable_idx j = 0; j < s->n_cols; j++) {
    s->next[j] = s->ptr[j];
    s->depth[j] = s->row_of[j] < 0 ? 0 : -1;
    if (!s->depth[j]) s->queue[tail++] = j;
  }
  while (head < tail) {
    gable_idx j = s->queue[head++];
    for (gable_off p = s->ptr[j]; p < s->ptr[j + 1]; p++) {
      gable_idx k = s->col_of[s->idx[p]];
      if (k < 0) {
        found = 1;
      } else if (s->depth[k] < 0) {
        s->depth[k] = s->depth[j] + 1;
        s->queue[tail++] = k;
      }
    }
  }
  return found;
}

/* Columns path[0..top] are linked by the entries before next: each takes that row from the one behind it. */
static void flip_path(search *s, const gable_idx *path, gable_idx top)
{
  for (gable_idx k = 0; k <= top; k++) {
    gable_idx i = s->idx[s->next[path[k]] - 1];
    s->row_of[path[k]] = i;
    s->col_of[i] = path[k];
  }
  s->size++;
}

/* Looks for a path of increasing depth from the free column to a free row, and augments along it. */
static void augment(search *s, gable_idx column)
{
  gable_idx *path = s->queue, top = 0;
  path[0] = column;
  while (top >= 0) {
    gable_idx j = path[top];
    if (s->next[j] == s->ptr[j + 1]) {
      s->depth[j] = -1; /* no way on from here in this phase */
      top--;
      continue;
    }
    gable_idx k = s->col_of[s->idx[s->next[j]++]];
    if (k < 0) {
      flip_path(s, path, top);
      return;
    }
    if (s->depth[k] == s->depth[j] + 1) path[++top] = k;
  }
}

gable_status gi_matching_cardinality(gable_context *ctx, gable_idx n_rows, gable_idx n_cols, const gable_off *ptr,
                                     const gable_idx *idx, gable_idx *row_of, gable_idx *size)
{
  gable_status status = GABLE_OK;
  search s = {.n_cols = n_cols, .ptr = ptr, .idx = idx, .row_of = row_of};
  GI_ALLOC(ctx, s.col_of, n_rows);
  GI_ALLOC(ctx, s.depth, n_cols);
  GI_ALLOC(ctx, s.queue, n_cols);
  GI_ALLOC(ctx, s.next, n_cols);
  for (gable_idx i = 0; i < n_rows; i++) s.col_of[i] = -1;
  for (gable_idx j = 0; j < n_cols; j++) row_of[j] = -1;
  match_greedily(&s);
  while (s.size < n_cols && s.size < n_rows && find_depths(&s))
    for (gable_idx j = 0; j < n_cols; j++)
      if (s.row_of[j] < 0) augment(&s, j);
  *size = s.size;
done:
  GI_FREE(ctx, s.col_of, s.depth, s.queue, s.next);
  return status;
}
