#include "graph/btf.h"

#include <string.h>

/* One depth-first search.  Tarjan's low links; a node is finished once `component` is set. */
typedef struct search {
  const gable_off *ptr;
  const gable_idx *idx;
  const gable_idx *node_of;            /* [n] the column matched with each row, or NULL: the same */
  gable_off *next;                     /* [n] next entry of a node on the path */
  gable_idx *number, *low, *component; /* [n] order of discovery, -1: not yet; low link; -1: not yet */
  gable_idx *path, *open;              /* [n] stacks: from the root to here; found, not yet in a component */
  gable_idx n_found, n_open, n_components;
} search;

static void discover(search *t, gable_idx v)
{
  t->number[v] = t->low[v] = t->n_found++;
  t->next[v] = t->ptr[v];
  t->open[t->n_open++] = v;
}

static void close_component(search *t, gable_idx root)
{
  gable_idx v;
  do {
    v = t->open[--t->n_open];
    t->component[v] = t->n_components;
  } while (v != root);
  t->n_components++;
}

/* The next node reached from v that is new, or -1 when there is none; lowers v's link on the way. */
static gable_idx advance(search *t, gable_idx v)
{
  while (t->next[v] < t->ptr[v + 1]) {
    const gable_idx row = t->idx[t->next[v]++], w = t->node_of ? t->node_of[row] : row;
    if (t->number[w] < 0) return w;
    if (t->component[w] < 0 && t->number[w] < t->low[v]) t->low[v] = t->number[w];
  }
  return -1;
}

static void search_from(search *t, gable_idx root)
{
  gable_idx depth = 0;
  discover(t, root);
  t->path[depth++] = root;
  while (depth > 0) {
    const gable_idx v = t->path[depth - 1], w = advance(t, v);
    if (w >= 0) {
      discover(t, w);
      t->path[depth++] = w;
      continue;
    }
    if (t->low[v] == t->number[v]) close_component(t, v);
    depth--;
    if (depth > 0 && t->low[v] < t->low[t->path[depth - 1]]) t->low[t->path[depth - 1]] = t->low[v];
  }
}

gable_status gi_btf(gable_context *ctx, gable_idx n, const gable_off *ptr, const gable_idx *idx,
                    const gable_idx *row_of, gable_idx *perm, gable_idx *block, gable_idx *n_blocks)
{
  gable_status status = GABLE_OK;
  gable_idx *work = NULL;
  search t = {.ptr = ptr, .idx = idx};
  GI_ALLOC(ctx, work, 6 * (gable_off)n);
  GI_ALLOC(ctx, t.next, n);
  const size_t m = (size_t)n;
  t.number = work;
  t.low = work + m;
  t.component = work + 2 * m;
  t.path = work + 3 * m;
  t.open = work + 4 * m;
  memset(t.number, 0xff, m * sizeof *t.number);
  memset(t.component, 0xff, m * sizeof *t.component);
  if (row_of) {
    gable_idx *node_of = work + 5 * m;
    for (gable_idx j = 0; j < n; j++) node_of[row_of[j]] = j;
    t.node_of = node_of;
  }
  for (gable_idx v = 0; v < n; v++) {
    if (t.number[v] < 0) search_from(&t, v);
  }
  /* An entry (i,j) is the edge j -> i, and components are closed after all that they reach: numbers grow towards the
   * right, as an upper triangular form wants. */
  memset(block, 0, (m + 1) * sizeof *block);
  for (gable_idx v = 0; v < n; v++) block[t.component[v] + 1]++;
  for (gable_idx c = 0; c < t.n_components; c++) block[c + 1] += block[c];
  memcpy(t.path, block, m * sizeof *block);
  for (gable_idx v = 0; v < n; v++) perm[t.path[t.component[v]]++] = v;
  *n_blocks = t.n_components;
done:
  GI_FREE(ctx, work, t.next);
  return status;
}
