#include "graph/symbolic/structure.h"

#include <assert.h>
#include <string.h>

#include "graph/symbolic/merge_sort.h"

/* Rows of one supernode while they are gathered. */
typedef struct gather {
  gable_idx *mark;          /* [n] last supernode that saw the row */
  gable_idx *found, *spare; /* [n] rows outside the longest child's list; room for sorting */
  gable_off n_found;
} gather;

static void add_row(gather *g, gable_idx s, gable_idx row)
{
  if (g->mark[row] == s) return;
  g->mark[row] = s;
  g->found[g->n_found++] = row;
}

/* Rows below column `end` of the children's lists and of the columns of A, as the longest child's tail (base, sorted)
 * and the rest (g->found). */
typedef struct base_list {
  const gable_idx *row;
  gable_off n;
} base_list;

static base_list list_of(const gi_partition *part, const gable_off *row_at, const gable_idx *row, gable_idx s,
                         gable_idx end)
{
  base_list list = {row + row_at[s], part->count[part->super[s + 1] - 1] - 1};
  while (list.n > 0 && list.row[0] < end) {
    list.row++;
    list.n--;
  }
  return list;
}

static base_list gather_rows(const gi_partition *part, const gi_relabelled *a, const gable_off *row_at,
                             const gable_idx *row, const gable_idx *first_child, const gable_idx *next_child,
                             gable_idx s, gather *g)
{
  const gable_idx end = part->super[s + 1];
  base_list base = {NULL, 0};
  gable_idx longest = -1;
  g->n_found = 0;
  for (gable_idx c = first_child[s]; c >= 0; c = next_child[c]) {
    const base_list list = list_of(part, row_at, row, c, end);
    if (list.n > base.n) {
      base = list;
      longest = c;
    }
  }
  for (gable_off p = 0; p < base.n; p++) g->mark[base.row[p]] = s;
  for (gable_idx c = first_child[s]; c >= 0; c = next_child[c]) {
    if (c == longest) continue;
    const base_list list = list_of(part, row_at, row, c, end);
    for (gable_off p = 0; p < list.n; p++) add_row(g, s, list.row[p]);
  }
  for (gable_idx k = part->super[s]; k < end; k++) {
    const gable_idx j = a->old[k];
    for (gable_off p = a->lower_ptr[j]; p < a->lower_ptr[j + 1]; p++) {
      const gable_idx r = a->place[a->lower_idx[p]];
      if (r >= end) add_row(g, s, r);
    }
  }
  return base;
}

/* Children of each supernode, as lists. */
static void link_children(const gi_partition *part, gable_idx *of, gable_idx *first_child, gable_idx *next_child)
{
  for (gable_idx s = 0; s < part->n_super; s++) {
    first_child[s] = next_child[s] = -1;
    for (gable_idx k = part->super[s]; k < part->super[s + 1]; k++) of[k] = s;
  }
  for (gable_idx s = part->n_super - 1; s >= 0; s--) {
    const gable_idx p = part->parent[part->super[s + 1] - 1];
    if (p < 0) continue;
    next_child[s] = first_child[of[p]];
    first_child[of[p]] = s;
  }
}

gable_status gi_structure_merge(gable_context *ctx, const gi_partition *part, const gi_relabelled *a,
                                const gable_off *row_at, gable_idx *row)
{
  gable_status status = GABLE_OK;
  const size_t n = (size_t)part->n, m = (size_t)part->n_super;
  gable_idx *work = NULL;
  GI_ALLOC(ctx, work, 3 * n + 2 * m);
  gather g = {work, work + n, work + 2 * n, 0};
  gable_idx *first_child = work + 3 * n, *next_child = first_child + m;
  link_children(part, g.mark, first_child, next_child);
  memset(g.mark, 0xff, n * sizeof *g.mark);
  for (gable_idx s = 0; s < part->n_super; s++) {
    const base_list base = gather_rows(part, a, row_at, row, first_child, next_child, s, &g);
    const gable_idx *sorted = gi_sort_runs(g.found, g.n_found, g.spare);
    assert(base.n + g.n_found == part->count[part->super[s + 1] - 1] - 1);
    gi_merge_runs(base.row, base.n, sorted, g.n_found, row + row_at[s]);
  }
done:
  gi_free(ctx, work);
  return status;
}
