/* Twins against their originals: rows, entries a row, levels and their widths, and the quantiles of the distances. */
#include "../../tool/twin.h"

#include "sparse/matrix.h"
#include "support/test.h"

static gable_context *ctx;
static char reason[TWIN_REASON_BYTES];

/* Of a strictly lower triangle. */
typedef struct shape {
  gable_idx n, levels;
  gable_off entries;
  gable_idx *length, *width, *distance; /* [n] increasing, [n] by level, [entries] increasing */
} shape;

static int ascending(const void *a, const void *b)
{
  const gable_idx x = *(const gable_idx *)a, y = *(const gable_idx *)b;
  return (x > y) - (x < y);
}

static shape shape_of(const gable_matrix *a)
{
  const gi_csc *c = &a->csc;
  const size_t n = (size_t)c->n_cols;
  shape s = {.n = c->n_cols};
  gable_idx *level = calloc(n + 1, sizeof *level);
  s.length = calloc(n + 1, sizeof *s.length);
  s.width = calloc(n + 1, sizeof *s.width);
  s.distance = calloc((size_t)c->ptr[s.n] + 1, sizeof *s.distance);
  CHECK(level && s.length && s.width && s.distance, "no memory");
  for (gable_idx j = 0; j < s.n; j++) {
    s.width[level[j]]++;
    if (level[j] >= s.levels) s.levels = level[j] + 1;
    for (gable_off p = c->ptr[j]; p < c->ptr[j + 1]; p++) {
      const gable_idx i = c->idx[p];
      if (i <= j) continue;
      s.length[i]++;
      s.distance[s.entries++] = i - j;
      if (level[i] <= level[j]) level[i] = level[j] + 1;
    }
  }
  free(level);
  qsort(s.length, n, sizeof *s.length, ascending);
  qsort(s.distance, (size_t)s.entries, sizeof *s.distance, ascending);
  return s;
}

static void drop(shape *s)
{
  free(s->length);
  free(s->width);
  free(s->distance);
}

static gable_idx quantile(const gable_idx *sorted, gable_off count, double u)
{
  gable_off k = (gable_off)(u * (double)count);
  return sorted[k < 0 ? 0 : k >= count ? count - 1 : k];
}

/* Each decile within 10% of the original's, to the next integer, give or take one part in 50 of the entries: a
 * distribution may jump. */
static void check_distances(const char *kind, const shape *own, const shape *twin)
{
  for (int tenth = 1; tenth < 10; tenth++) {
    const double u = 0.1 * tenth, is = quantile(twin->distance, twin->entries, u);
    const double low = floor(0.9 * quantile(own->distance, own->entries, u - 0.02));
    const double high = ceil(1.1 * quantile(own->distance, own->entries, u + 0.02));
    CHECK(is >= low && is <= high, "%s: decile %d of the distances is %g, not in %g .. %g", kind, tenth, is, low, high);
  }
}

/* Takes a. */
static void check_alike(const char *of, const char *twin_of, int may_be_a_copy, gable_matrix *a)
{
  char kind[120];
  gable_matrix *b = NULL, *again = NULL;
  snprintf(kind, sizeof kind, "twin:%s,seed=5", twin_of);
  CHECK_OK(twin_or_generate(ctx, kind, 1, &b, reason));
  shape own = shape_of(a), twin = shape_of(b);
  CHECK(own.n == twin.n && own.levels == twin.levels, "%s: %d levels, not %d", of, twin.levels, own.levels);
  CHECK(!memcmp(own.width, twin.width, (size_t)own.n * sizeof *own.width), "%s: widths of levels", of);
  CHECK(own.entries == twin.entries && !memcmp(own.length, twin.length, (size_t)own.n * sizeof *own.length),
        "%s: %lld entries, not %lld", of, (long long)twin.entries, (long long)own.entries);
  check_distances(of, &own, &twin);
  CHECK(may_be_a_copy || memcmp(a->csc.idx, b->csc.idx, (size_t)b->csc.ptr[b->csc.n_cols] * sizeof *b->csc.idx),
        "%s: a copy", of);
  for (gable_idx j = 0; j < own.n; j++) CHECK(b->csc.idx[b->csc.ptr[j]] == j && b->csc.val[b->csc.ptr[j]] > 0);
  CHECK_OK(twin_or_generate(ctx, kind, 2, &again, reason));
  CHECK(!memcmp(again->csc.val, b->csc.val, (size_t)own.entries * sizeof *b->csc.val), "%s: the seed in the text", of);
  gable_matrix_destroy(&a);
  gable_matrix_destroy(&b);
  gable_matrix_destroy(&again);
  drop(&own);
  drop(&twin);
}

static void check_twin(const char *of)
{
  char path[100];
  gable_matrix *a = NULL;
  snprintf(path, sizeof path, "tests/data/%s", of);
  gable_status status = gable_matrix_read(ctx, path, NULL, &a);
  if (status == GABLE_ERR_UNAVAILABLE) SKIP("its matrices are compressed, and this build has no zlib");
  CHECK(!status, "%s: %s", path, gable_last_error());
  check_alike(of, path, 0, a);
}

/* A twin of a grid against that grid. */
static void check_lattice(const char *of, const char *twin_of)
{
  gable_matrix *a = NULL;
  CHECK_OK(gable_matrix_generate(ctx, of, 1, &a));
  check_alike(of, twin_of, 1, a);
}

/* Several unknowns a point: each entry of the grid is a full block, so the twin of one is known in numbers. */
static void check_unknowns(void)
{
  enum { SIDE = 12, UNKNOWNS = 3 };
  gable_matrix *a = NULL, *b = NULL;
  CHECK_OK(twin_or_generate(ctx, "twin:grid=12x12x12,points=27,unknowns=3", 1, &b, reason));
  CHECK_OK(gable_matrix_generate(ctx, "laplacian27:12x12x12", 1, &a));
  shape point = shape_of(a), rows = shape_of(b);
  CHECK(rows.n == UNKNOWNS * point.n && rows.levels == UNKNOWNS * point.levels, "%d levels", rows.levels);
  CHECK(rows.entries == UNKNOWNS * UNKNOWNS * point.entries + point.n * UNKNOWNS * (UNKNOWNS - 1) / 2);
  for (gable_idx l = 0; l < rows.levels; l++) CHECK(rows.width[l] == point.width[l / UNKNOWNS], "level %d", l);
  gable_matrix_destroy(&a);
  gable_matrix_destroy(&b);
  drop(&point);
  drop(&rows);
  /* triangles: two unknowns at 708 x 708 points are the numbers of the seed's elasticity2D; here 30 x 30 */
  CHECK_OK(twin_or_generate(ctx, "twin:grid=30x30,points=7,unknowns=2", 1, &b, reason));
  rows = shape_of(b);
  CHECK(rows.levels == 2 * (30 + 30 - 1) && rows.entries == 4 * (2 * 30 * 29 + 29 * 29) + 900,
        "%d levels, %lld entries", rows.levels, (long long)rows.entries);
  gable_matrix_destroy(&b);
  drop(&rows);
}

/* Numbers of a whole matrix: levels are of both triangles. */
static void check_numbers(gable_idx n, gable_off nnz, gable_idx levels)
{
  char kind[100];
  gable_matrix *b = NULL;
  snprintf(kind, sizeof kind, "twin:n=%d,nnz=%lld,levels=%d", n, (long long)nnz, levels);
  CHECK_OK(twin_or_generate(ctx, kind, 3, &b, reason));
  shape s = shape_of(b);
  const double inside = 0.5 * (double)(nnz - n), half = 0.5 * levels;
  CHECK(s.n == n && fabs((double)s.entries - inside) <= 0.02 * inside + 1, "%s: %lld entries below the diagonal", kind,
        (long long)s.entries);
  CHECK(fabs(s.levels - half) <= 0.03 * half + 0.5, "%s: %d levels", kind, s.levels);
  gable_matrix_destroy(&b);
  drop(&s);
}

static void check_refused(const char *kind, const char *why)
{
  gable_matrix *a = NULL;
  CHECK(twin_or_generate(ctx, kind, 1, &a, reason) != GABLE_OK && !a, "%s", kind);
  CHECK(strstr(reason, why), "%s: %s", kind, reason);
}

int main(void)
{
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  check_twin("1138_bus.mtx.gz");
  check_twin("west0479.mtx.gz");
  check_twin("steam2.mtx.gz");
  check_twin("young1c.mtx.gz");
  check_lattice("laplacian5:40x90", "grid=40x90,points=5");
  check_lattice("laplacian9:60x40", "grid=60x40,points=9");
  check_lattice("laplacian7:16x14x18", "grid=16x14x18,points=7");
  check_lattice("laplacian27:11x12x13", "grid=11x12x13,points=27");
  check_unknowns();
  check_numbers(10000, 49600, 398);  /* a square of 5 points */
  check_numbers(14790, 348930, 752); /* a tenth of a row of the seed's table 4, 3D_thermal2 */
  check_numbers(52582, 367462, 14);
  check_numbers(100, 100, 2);
  check_numbers(1, 1, 2);
  check_refused("twin:no/such/file.mtx", "no/such/file.mtx");
  check_refused("twin:n=10,nnz=30", "is expected");
  check_refused("twin:n=10,nnz=3,levels=4", "nnz of n or more");
  check_refused("twin:n=10,nnz=30,levels=44", "no matrix of 10 rows");
  check_refused("twin:n=10,nnz=30,levels=4,seed=x", "seed needs");
  check_refused("twin:grid=10x10", "points=P");
  check_refused("twin:grid=10x10,points=27", "5, 7 or 9 points");
  check_refused("twin:grid=10x10,points=0", "5, 7 or 9 points");
  check_refused("twin:grid=10x10x10x10,points=7", "points=P");
  check_refused("twin:grid=10x0,points=5", "1 or more");
  gable_context_destroy(&ctx);
  return 0;
}
