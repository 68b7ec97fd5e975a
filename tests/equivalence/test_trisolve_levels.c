/* Levels of triangles with more rows than a GPU has threads: near entries in wide levels and in narrow ones, a few rows
 * for which many wait, a few that are longer than the others; lower and upper, against their definition. */
#include "support/test.h"

#include "base/portable.h"
#include "base/random.h"
#include "support/place.h"
#include "support/triangles.h"

static gable_context *ctx;

enum { ENTRIES = 5, HUBS = 3, LONG = 40 };

typedef struct shape {
  const char *name;
  gable_idx n, reach; /* entries of a row lie within reach of it, one in each fifth of that */
  int hubs;           /* 1: one row in 64 needs one of the first rows too */
  int long_rows;      /* 1: one row in 4000 has LONG entries more */
} shape;

/* Row i of the lower triangle, increasing, the diagonal last; how many. */
static gable_idx make_row(const shape *s, gi_random *r, gable_idx i, gable_idx *out)
{
  const gable_idx part = s->reach / ENTRIES;
  gable_idx count = 0;
  if (s->hubs && i > s->reach && i % 64 == 0) out[count++] = (i / 64) % HUBS;
  for (gable_idx k = 0; s->long_rows && i > s->reach + LONG && i % 4000 == 0 && k < LONG; k++)
    out[count++] = i - s->reach - LONG + k;
  for (gable_idx k = ENTRIES; k > 0; k--) {
    const gable_idx away = part * (k - 1) + 1 + (gable_idx)gi_random_below(r, part);
    if (away <= i) out[count++] = i - away;
  }
  out[count++] = i;
  return count;
}

/* level: [n] by definition, of the rows as they are returned. */
static test_triangle make(const shape *s, int upper, gable_idx *level)
{
  const size_t n = (size_t)s->n, room = (ENTRIES + 2) * n + n / 4000 * LONG + LONG;
  gi_random r = gi_random_seed(11);
  test_triangle t = {s->n, malloc((n + 1) * sizeof *t.ptr), malloc(room * sizeof *t.idx), malloc(room * sizeof *t.val)};
  gable_idx row[ENTRIES + LONG + 2];
  int64_t used = 0;
  for (gable_idx i = 0; i < s->n; i++) {
    const gable_idx count = make_row(s, &r, i, row);
    t.ptr[i] = used;
    level[i] = 0;
    for (gable_idx k = 0; k < count; k++) {
      t.idx[used] = row[k];
      t.val[used++] = k + 1 < count ? -0.5 / count : 1.5;
      if (k + 1 < count && level[row[k]] >= level[i]) level[i] = level[row[k]] + 1;
    }
  }
  t.ptr[s->n] = used;
  if (!upper) return t;
  test_triangle u = {s->n, malloc((n + 1) * sizeof *u.ptr), malloc(room * sizeof *u.idx), malloc(room * sizeof *u.val)};
  for (gable_idx i = 0; i <= s->n; i++) u.ptr[i] = used - t.ptr[s->n - i];
  for (int64_t p = 0; p < used; p++) {
    u.idx[p] = s->n - 1 - t.idx[used - 1 - p];
    u.val[p] = t.val[used - 1 - p];
  }
  for (gable_idx i = 0; i < s->n / 2; i++) {
    const gable_idx kept = level[i];
    level[i] = level[s->n - 1 - i];
    level[s->n - 1 - i] = kept;
  }
  test_triangle_free(&t);
  return u;
}

static void check(const shape *s, int upper)
{
  gable_trisolve_options options = GABLE_TRISOLVE_OPTIONS_INIT;
  gable_matrix_view view = GABLE_MATRIX_VIEW_INIT;
  gable_trisolve *plan = NULL;
  gable_idx *level = malloc((size_t)s->n * sizeof *level), *found = malloc((size_t)s->n * sizeof *found), wrong = 0;
  test_triangle t = make(s, upper, level);
  options.method = test_place_is_gpu(ctx) ? "rows" : "auto";
  options.solves = 0;
  options.uplo = upper ? GABLE_PART_UPPER : GABLE_PART_LOWER;
  options.ops = GABLE_TRISOLVE_N;
  view.n_rows = view.n_cols = t.n;
  view.format = GABLE_FORMAT_CSR;
  view.ptr = t.ptr;
  view.idx = t.idx;
  view.val = t.val;
  CHECK_OK(gable_trisolve_create(ctx, &options, &plan));
  CHECK_OK(gable_trisolve_analyse(plan, &view));
  CHECK_OK(gable_trisolve_get_schedule(plan, GABLE_OP_N, NULL, found));
  for (gable_idx i = 0; i < t.n; i++) wrong += found[i] != level[i];
  CHECK(!wrong, "%s, %s: %d rows have another level", s->name, upper ? "upper" : "lower", wrong);
  gable_trisolve_destroy(&plan);
  test_triangle_free(&t);
  free(level);
  free(found);
}

int main(int argc, char **argv)
{
  ctx = test_place(argc, argv, NULL);
  const gable_idx n = test_place_is_gpu(ctx) && !GI_SANITIZED ? (1 << 20) + 4321 : 30000;
  const shape shapes[] = {
      {"wide levels", n, 30000, 0, 0},
      {"wide levels, hubs", n, 30000, 1, 0},
      {"narrow levels", n, 1500, 0, 0},
      {"narrow levels, hubs and long rows", n, 1500, 1, 1},
  };
  for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
    for (int upper = 0; upper < 2; upper++) check(&shapes[k], upper);
  gable_context_destroy(&ctx);
  return 0;
}
