/* test_trisolve_orders.c: blocks and windows against their definitions, and which way solves take turns. */
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "support/triangles.h"
#include "trisolve/cpu/row_blocks.h"
#include "trisolve/cpu/thread_switch.h"
#include "trisolve/cpu/windows.h"

/* The strict part of a triangle. */
static void strict_part(const test_triangle *t, gable_off *ptr, gable_idx *col)
{
  ptr[0] = 0;
  for (gable_idx k = 0; k < t->n; k++) {
    const gable_off len = t->ptr[k + 1] - t->ptr[k] - 1;
    memcpy(col + ptr[k], t->idx + t->ptr[k], (size_t)len * sizeof *col);
    ptr[k + 1] = ptr[k] + len;
  }
}

static int has(const gable_off *ptr, const gable_idx *col, gable_idx k, gable_idx c)
{
  for (gable_off p = ptr[k]; p < ptr[k + 1]; p++)
    if (col[p] == c) return 1;
  return 0;
}

/* Rows of a block have the same columns before it and all rows of it; blocks depend on each other as their rows do. */
static void check_blocks(const char *name, gable_idx n, const gable_off *ptr, const gable_idx *col,
                         const gi_row_blocks *u)
{
  gable_idx *of = malloc(((size_t)n + 1) * sizeof *of);
  CHECK(u->start[0] == 0 && u->start[u->count] == n, "%s", name);
  for (gable_idx q = 0; q < u->count; q++) {
    const gable_idx first = u->start[q];
    CHECK(first < u->start[q + 1] && u->start[q + 1] - first <= 4, "%s: block %d", name, q);
    for (gable_idx k = first; k < u->start[q + 1]; k++) {
      of[k] = q;
      CHECK(ptr[k + 1] - ptr[k] == ptr[first + 1] - ptr[first] + k - first, "%s: row %d", name, k);
      for (gable_off p = ptr[first]; p < ptr[first + 1]; p++) CHECK(has(ptr, col, k, col[p]), "%s: row %d", name, k);
      for (gable_idx j = first; j < k; j++) CHECK(has(ptr, col, k, j), "%s: row %d", name, k);
    }
    for (gable_off p = ptr[first]; p < ptr[first + 1]; p++)
      CHECK(has(u->ptr, u->col, q, of[col[p]]), "%s: block %d", name, q);
    for (gable_off p = u->ptr[q]; p < u->ptr[q + 1]; p++) {
      int found = 0;
      for (gable_off r = ptr[first]; r < ptr[first + 1]; r++) found |= of[col[r]] == u->col[p];
      CHECK(found, "%s: block %d", name, q);
    }
  }
  free(of);
}

/* A permutation inside each window, each row after those of the window that it needs. */
static void check_windows(gable_context *ctx, const char *name, gable_idx n, const gable_off *ptr, const gable_idx *col,
                          const gable_idx *base)
{
  enum { WIDTH = 100 };
  gable_idx *order = malloc(((size_t)n + 1) * sizeof *order), *place = malloc(((size_t)n + 1) * sizeof *place);
  gable_idx *cuts = malloc(((size_t)n / WIDTH + 2) * sizeof *cuts), windows = 0;
  unsigned char *kind = malloc((size_t)n + 1);
  for (gable_idx k = 0; k < n; k++) kind[k] = (unsigned char)((ptr[k + 1] - ptr[k]) % GI_WINDOW_KINDS);
  for (gable_idx k = 0; k < n; k += WIDTH) cuts[windows++] = k;
  cuts[windows] = n;
  CHECK_OK(gi_windows_sort(ctx, &(gi_window_rows){n, ptr, col, kind}, base, cuts, windows, order));
  for (gable_idx k = 0; k < n; k++) place[k] = -1;
  for (gable_idx k = 0; k < n; k++) place[order[k]] = k;
  for (gable_idx k = 0; k < n; k++) {
    const gable_idx row = base ? base[k] : k;
    CHECK(place[row] >= 0 && place[row] / WIDTH == k / WIDTH, "%s: row %d", name, row);
    for (gable_off p = ptr[row]; p < ptr[row + 1]; p++) {
      const gable_idx from = place[col[p]];
      CHECK(from / WIDTH != place[row] / WIDTH || from < place[row], "%s: row %d", name, row);
    }
  }
  free(order);
  free(place);
  free(cuts);
  free(kind);
}

/* Solves that take so long alone and by the team; returns how many of the last hundred the team did. */
static int team_of(gi_thread_switch *t, int solves, double alone, double team)
{
  int by_team = 0;
  for (int k = 0; k < solves; k++) {
    if (solves - k <= 100) by_team += t->way == GI_TEAM;
    gi_thread_switch_learn(t, t->way == GI_TEAM ? team : alone);
  }
  return by_team;
}

static void check_thread_switch(void)
{
  gi_thread_switch t;
  gi_thread_switch_begin(&t);
  CHECK(team_of(&t, 1000, 1e-4, 2e-4) <= 10, "a slow team");
  CHECK(team_of(&t, 20000, 2e-4, 1e-4) >= 90, "a team that has become fast");
  CHECK(team_of(&t, 1000, 2e-4, 4e-4) <= 10, "a team that has become slow is left soon");
}

int main(void)
{
  gable_context *ctx = NULL;
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  for (int kind = 0; test_triangle_name(kind); kind++) {
    const char *name = test_triangle_name(kind);
    test_triangle t = test_triangle_make(kind, 7);
    gable_off *ptr = malloc(((size_t)t.n + 1) * sizeof *ptr);
    gable_idx *col = malloc(((size_t)t.ptr[t.n] + 1) * sizeof *col), *base = malloc(((size_t)t.n + 1) * sizeof *base);
    gi_row_blocks blocks;
    strict_part(&t, ptr, col);
    CHECK_OK(gi_row_blocks_find(ctx, t.n, ptr, col, 4, &blocks));
    CHECK(!blocks.count == (strcmp(name, "dense") && strcmp(name, "several unknowns a node")), "%s: %d blocks", name,
          blocks.count);
    if (blocks.count) check_blocks(name, t.n, ptr, col, &blocks);
    gi_row_blocks_release(ctx, &blocks);
    check_windows(ctx, name, t.n, ptr, col, NULL);
    for (gable_idx k = 0; k < t.n; k++) base[k] = (k | 1) < t.n && !has(ptr, col, k | 1, k & ~1) ? k ^ 1 : k;
    check_windows(ctx, name, t.n, ptr, col, base);
    free(ptr);
    free(col);
    free(base);
    test_triangle_free(&t);
  }
  check_thread_switch();
  gable_context_destroy(&ctx);
  return 0;
}
