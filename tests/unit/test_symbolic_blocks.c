/* gable_symbolic_get_blocks: unmerged, every supernode with the level that the tree gives it, by level; merged, blocks
 * that cover the same columns in no more levels. */
#include "support/test.h"

enum { MOST = 4096 };

static gable_context *ctx;

typedef struct blocks {
  gable_idx count, level[MOST], columns[MOST], rows[MOST];
} blocks;

/* The same from the view: the level of a supernode is one above its highest child's. */
static void expect_supernodes(const gable_symbolic_view *v, const blocks *b, const char *kind)
{
  static gable_idx level[MOST];
  gable_idx k = 0, highest = 0;
  CHECK(b->count == v->supernodes && v->supernodes <= MOST, "%s: %d blocks of %d supernodes", kind, b->count,
        v->supernodes);
  for (gable_idx s = 0; s < v->supernodes; s++) level[s] = 0;
  for (gable_idx s = 0; s < v->supernodes; s++) {
    const gable_idx p = v->parent[s];
    if (p >= 0 && level[p] <= level[s]) level[p] = level[s] + 1;
    if (level[s] > highest) highest = level[s];
  }
  for (gable_idx l = 0; l <= highest; l++)
    for (gable_idx s = 0; s < v->supernodes; s++) {
      if (level[s] != l) continue;
      CHECK(b->level[k] == l && b->columns[k] == v->super[s + 1] - v->super[s] &&
                b->rows[k] == v->l_ptr[s + 1] - v->l_ptr[s],
            "%s: block %d: level %d, %d columns, %d rows; supernode %d has level %d", kind, k, b->level[k],
            b->columns[k], b->rows[k], s, l);
      k++;
    }
  CHECK(k == b->count, "%s", kind);
}

static gable_idx check_cover(const gable_symbolic_view *v, const blocks *b, const char *kind)
{
  gable_idx columns = 0, last = 0;
  for (gable_idx k = 0; k < b->count; k++) {
    CHECK(b->level[k] == last || b->level[k] == last + 1, "%s: level %d after %d", kind, b->level[k], last);
    CHECK(b->columns[k] > 0 && b->rows[k] >= 0, "%s: block %d", kind, k);
    last = b->level[k];
    columns += b->columns[k];
  }
  CHECK(columns == v->super[v->supernodes], "%s: %d columns", kind, columns);
  return last + 1;
}

static void check_kind(const char *kind, int whole)
{
  static blocks before, after;
  gable_matrix *a = NULL;
  gable_symbolic *s = NULL;
  gable_symbolic_options options = GABLE_SYMBOLIC_OPTIONS_INIT;
  gable_matrix_view view = GABLE_MATRIX_VIEW_INIT;
  gable_symbolic_view v = GABLE_SYMBOLIC_VIEW_INIT;
  gable_idx again = -1;
  options.keep_whole = whole;
  CHECK_OK(gable_matrix_generate(ctx, kind, 1, &a));
  CHECK_OK(gable_matrix_get_view(a, &view));
  CHECK_OK(gable_symbolic_create(ctx, &view, &options, &s));
  CHECK_OK(gable_symbolic_get_view(s, &v));
  CHECK_OK(gable_symbolic_get_blocks(s, 0, &before.count, before.level, before.columns, before.rows));
  CHECK_OK(gable_symbolic_get_blocks(s, 1, &after.count, after.level, after.columns, after.rows));
  CHECK_OK(gable_symbolic_get_blocks(s, 1, &again, NULL, NULL, NULL));
  CHECK(again == after.count && after.count <= before.count, "%s: %d %d %d", kind, again, after.count, before.count);
  if (v.blocks == 1) expect_supernodes(&v, &before, kind);
  const gable_idx levels = check_cover(&v, &before, kind), merged = check_cover(&v, &after, kind);
  CHECK(merged <= levels, "%s: %d levels, %d merged", kind, levels, merged);
  if (!strncmp(kind, "laplacian7", 10)) CHECK(2 * merged < levels && 2 * after.count < before.count, "%s", kind);
  CHECK(gable_symbolic_get_blocks(s, 2, &again, NULL, NULL, NULL) == GABLE_ERR_ARGUMENT);
  CHECK(gable_symbolic_get_blocks(s, 0, NULL, NULL, NULL, NULL) == GABLE_ERR_ARGUMENT);
  CHECK(gable_symbolic_get_blocks(NULL, 0, &again, NULL, NULL, NULL) == GABLE_ERR_ARGUMENT);
  gable_symbolic_destroy(&s);
  gable_matrix_destroy(&a);
}

int main(void)
{
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  check_kind("laplacian5:30x30", 1);
  check_kind("laplacian7:14x14x14", 1);
  check_kind("arrow:200", 1);
  check_kind("chain:50", 1);
  check_kind("chain:50", 0);
  check_kind("circuit:2000", 0);
  check_kind("random:1500", 0);
  gable_context_destroy(&ctx);
  return 0;
}
