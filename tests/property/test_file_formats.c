/* What is written is read back bit by bit: every format, field and structure, plain and compressed. */
#include <float.h>
#include <unistd.h>

#include "support/small_matrix.h"
#include "support/test.h"

static char folder[] = "/tmp/gable-formats-XXXXXX";
static const char *const endings[] = {"a.mtx", "a.rb", "a.gbl", "a.mtx.gz", "a.rb.gz", "a.gbl.gz"};
enum { N_ENDINGS = 6, N_PLAIN = 3 };

static gable_matrix *through(gable_context *ctx, const gable_matrix *a, const char *name)
{
  gable_read_options options = GABLE_READ_OPTIONS_INIT;
  gable_matrix *b = NULL;
  char path[100];
  options.accept_complex = 1;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  CHECK_OK(gable_matrix_write(a, path, GABLE_FILE_AUTO));
  CHECK_OK(gable_matrix_read(ctx, path, &options, &b));
  CHECK(!unlink(path), "%s", path);
  return b;
}

static void check_round_trip(gable_context *ctx, const gable_matrix *a, const char *name, int binary)
{
  gable_matrix *b = through(ctx, a, name), *stored = NULL, *again = NULL;
  CHECK(b->field == a->field || a->csc.ptr[a->csc.n_cols] == 0, "%s: field %d became %d", name, a->field, b->field);
  if (binary) {
    CHECK(b->structure == a->structure && b->part == a->part && b->dense == a->dense, "%s", name);
    check_same_entries(&a->csc, &b->csc, name);
  } else { /* the text formats keep the lower triangle: compare what both stand for */
    CHECK(b->structure == (a->part == GABLE_PART_FULL ? GABLE_STRUCTURE_GENERAL : a->structure),
          "%s: structure %d became %d", name, a->structure, b->structure);
    CHECK_OK(gable_matrix_expand(a, &stored));
    CHECK_OK(gable_matrix_expand(b, &again));
    check_same_entries(&stored->csc, &again->csc, name);
  }
  gable_matrix_destroy(&stored);
  gable_matrix_destroy(&again);
  gable_matrix_destroy(&b);
}

/* A binary file is not believed: a column that holds a row twice, or rows out of order, is refused. */
static void check_forged(gable_context *ctx)
{
  gable_read_options options = GABLE_READ_OPTIONS_INIT;
  gable_matrix *a = NULL, *b = NULL;
  char path[100];
  snprintf(path, sizeof path, "%s/forged.gbl", folder);
  CHECK_OK(gable_matrix_generate(ctx, "laplacian5:5x4", 1, &a));
  const gable_off p = a->csc.ptr[3] + 1;
  const gable_idx held = a->csc.idx[p];
  for (int by = 0; by < 2; by++) {
    a->csc.idx[p] = a->csc.idx[p - 1] - by;
    CHECK_OK(gable_matrix_write(a, path, GABLE_FILE_AUTO));
    CHECK(gable_matrix_read(ctx, path, &options, &b) == GABLE_ERR_FORMAT && !b, "%d", by);
    a->csc.idx[p] = held;
  }
  CHECK_OK(gable_matrix_write(a, path, GABLE_FILE_AUTO));
  CHECK_OK(gable_matrix_read(ctx, path, &options, &b));
  CHECK(!unlink(path));
  gable_matrix_destroy(&a);
  gable_matrix_destroy(&b);
}

static int is_allowed(gable_field field, gable_structure structure, gable_part part)
{
  if (structure == GABLE_STRUCTURE_GENERAL) return part == GABLE_PART_FULL;
  if (structure == GABLE_STRUCTURE_SPD || part == GABLE_PART_FULL) return 0;
  if (structure == GABLE_STRUCTURE_HERMITIAN) return field == GABLE_FIELD_COMPLEX;
  return structure != GABLE_STRUCTURE_SKEW || field != GABLE_FIELD_PATTERN;
}

static void all_kinds(gable_context *ctx, gi_random *r, int n_endings)
{
  for (int f = GABLE_FIELD_PATTERN; f <= GABLE_FIELD_COMPLEX; f++)
    for (int s = GABLE_STRUCTURE_GENERAL; s <= GABLE_STRUCTURE_SPD; s++)
      for (int p = GABLE_PART_FULL; p <= GABLE_PART_UPPER; p++) {
        gable_idx n = (gable_idx)gi_random_below(r, 30), m = s ? n : (gable_idx)gi_random_below(r, 30);
        if (!is_allowed((gable_field)f, (gable_structure)s, (gable_part)p)) continue;
        gable_matrix *a =
            small_matrix(ctx, r, m, n, gi_random_unit(r), (gable_field)f, (gable_structure)s, (gable_part)p);
        for (int e = 0; e < n_endings; e++) check_round_trip(ctx, a, endings[e], !strncmp(endings[e], "a.gbl", 5));
        gable_matrix_destroy(&a);
      }
}

static void dense_vectors(gable_context *ctx, gi_random *r)
{
  double x[35], y[35];
  gable_vectors_view v = GABLE_VECTORS_VIEW_INIT;
  gable_matrix_view w = GABLE_MATRIX_VIEW_INIT;
  gable_matrix *a = NULL;
  for (int k = 0; k < 35; k++) x[k] = y[k] = gi_random_below(r, 3) ? gi_random_unit(r) : 0;
  v.n = 5, v.count = 7, v.ld = 5, v.data = x;
  CHECK_OK(gable_matrix_from_vectors(ctx, &v, &a));
  for (int e = 0; e < N_PLAIN; e++) {
    gable_matrix *b = through(ctx, a, endings[e]);
    CHECK_OK(gable_matrix_get_view(b, &w));
    check_same_entries(&a->csc, &b->csc, endings[e]);
    CHECK(b->dense == (e != 1) && !memcmp(w.val, y, sizeof y), "%s", endings[e]);
    gable_matrix_destroy(&b);
  }
  gable_matrix_destroy(&a);
}

/* Numbers of every size with all their digits: the columns of a Rutherford-Boeing file hold the longest. */
static void every_size(gable_context *ctx, gi_random *r)
{
  enum { COUNT = 1300 };
  static double x[COUNT];
  gable_vectors_view v = GABLE_VECTORS_VIEW_INIT;
  gable_matrix *a = NULL;
  for (int k = 0; k < COUNT; k++) x[k] = (k & 1 ? -1 : 1) * (0.5 + gi_random_unit(r)) * pow(10, k / 2 - 323);
  v.n = COUNT, v.ld = COUNT, v.data = x;
  for (int k = 0; k < COUNT; k++)
    if (!isfinite(x[k])) x[k] = -DBL_MAX;
  CHECK_OK(gable_matrix_from_vectors(ctx, &v, &a));
  for (int e = 0; e < N_PLAIN; e++) {
    gable_matrix *b = through(ctx, a, endings[e]);
    check_same_entries(&a->csc, &b->csc, endings[e]);
    gable_matrix_destroy(&b);
  }
  gable_matrix_destroy(&a);
}

/* The text formats call integers real from 2^53 on, where the writer uses exponents and 64 bits end. */
static void integers(gable_context *ctx, double value, gable_field text_field)
{
  gable_read_options options = GABLE_READ_OPTIONS_INIT;
  gi_random r = gi_random_seed(1);
  gable_matrix *a = small_matrix(ctx, &r, 3, 3, 1, GABLE_FIELD_INTEGER, GABLE_STRUCTURE_GENERAL, GABLE_PART_FULL);
  char path[100];
  options.accept_nonfinite = 1;
  a->csc.val[0] = value, a->csc.val[4] = -value;
  for (int e = 0; e < N_PLAIN; e++) {
    gable_matrix *b = NULL;
    snprintf(path, sizeof path, "%s/%s", folder, endings[e]);
    CHECK_OK(gable_matrix_write(a, path, GABLE_FILE_AUTO));
    CHECK_OK(gable_matrix_read(ctx, path, &options, &b));
    CHECK(b->field == (e == 2 ? GABLE_FIELD_INTEGER : text_field), "%s: field %d of %g", endings[e], b->field, value);
    for (int k = 0; k < 9; k++)
      CHECK(b->csc.val[k] == a->csc.val[k] || (isnan(b->csc.val[k]) && isnan(a->csc.val[k])), "%s: %.17g for %.17g",
            endings[e], b->csc.val[k], a->csc.val[k]);
    CHECK(!unlink(path), "%s", path);
    gable_matrix_destroy(&b);
  }
  gable_matrix_destroy(&a);
}

/* A real view that declares its matrix hermitian: every format calls it symmetric. */
static void real_hermitian(gable_context *ctx, gable_part part)
{
  gable_off ptr[] = {0, 1, 2};
  gable_idx idx[] = {0, 1};
  double val[] = {4, 5};
  gable_matrix_view view = GABLE_MATRIX_VIEW_INIT;
  gable_matrix *a = NULL;
  view.n_rows = view.n_cols = 2, view.ptr = ptr, view.idx = idx, view.val = val;
  view.structure = GABLE_STRUCTURE_HERMITIAN, view.part = part;
  CHECK_OK(gable_matrix_from_view(ctx, &view, &a));
  for (int e = 0; e < N_PLAIN; e++) {
    gable_matrix *b = through(ctx, a, endings[e]);
    const int general = part == GABLE_PART_FULL && e < 2;
    CHECK(b->structure == (general ? GABLE_STRUCTURE_GENERAL : GABLE_STRUCTURE_SYMMETRIC), "%s", endings[e]);
    check_same_entries(&a->csc, &b->csc, endings[e]);
    gable_matrix_destroy(&b);
  }
  gable_matrix_destroy(&a);
}

/* What is not set later reads as ones. */
static void dirty_stack(void)
{
  volatile char room[60000];
  for (size_t k = 0; k < sizeof room; k++) room[k] = 1;
  CHECK(room[0] == 1);
}

/* Line 2 of a pattern may end after three counts: no lines of values, and none of right-hand sides. */
static void three_counts(gable_context *ctx)
{
  static const char text[] = "%-72skey\n 3 1 1\npua 2 2 2 0\n(3I2)           (2I2)\n 1 2 3\n 1 2\n";
  gable_read_options options = GABLE_READ_OPTIONS_INIT;
  gable_matrix *a = NULL;
  char path[100];
  snprintf(path, sizeof path, "%s/three.rb", folder);
  FILE *file = fopen(path, "w");
  CHECK(file && fprintf(file, text, "title") > 0 && !fclose(file), "%s", path);
  dirty_stack();
  CHECK_OK(gable_matrix_read(ctx, path, &options, &a));
  CHECK(a->csc.ptr[2] == 2 && a->csc.idx[1] == 1);
  CHECK(!unlink(path), "%s", path);
  gable_matrix_destroy(&a);
}

/* A real matrix, through all formats in turn. */
static void real_matrix(gable_context *ctx, const char *path, gable_off nnz)
{
  gable_read_options options = GABLE_READ_OPTIONS_INIT;
  gable_matrix *a = NULL;
  options.accept_complex = 1;
  gable_status status = gable_matrix_read(ctx, path, &options, &a);
  if (status == GABLE_ERR_UNAVAILABLE) return; /* no zlib */
  CHECK_OK(status);
  CHECK(a->csc.ptr[a->csc.n_cols] == nnz, "%s: %lld entries", path, (long long)a->csc.ptr[a->csc.n_cols]);
  gable_matrix *b = through(ctx, a, endings[0]), *c = through(ctx, b, endings[1]), *d = through(ctx, c, endings[2]);
  check_same_entries(&a->csc, &d->csc, path);
  gable_matrix_destroy(&a);
  gable_matrix_destroy(&b);
  gable_matrix_destroy(&c);
  gable_matrix_destroy(&d);
}

int main(void)
{
  gable_context *ctx = NULL;
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  CHECK(mkdtemp(folder), "%s", folder);
  gi_sink *compressed = NULL;
  char path[100];
  snprintf(path, sizeof path, "%s/x.gz", folder);
  gable_status status = gi_sink_open(ctx, path, &compressed);
  int with_zlib = status != GABLE_ERR_UNAVAILABLE;
  gi_sink_abandon(&compressed);
  if (!with_zlib) printf("compressed files are not tried: there is no zlib\n");
  for (uint64_t seed = 1; seed <= 25; seed++) {
    gi_random r = gi_random_seed(seed);
    fprintf(stderr, "seed %d\n", (int)seed);
    all_kinds(ctx, &r, with_zlib ? N_ENDINGS : N_PLAIN);
    dense_vectors(ctx, &r);
    every_size(ctx, &r);
  }
  check_forged(ctx);
  three_counts(ctx);
  integers(ctx, 0x1p53 - 1, GABLE_FIELD_INTEGER);
  integers(ctx, 0x1p53, GABLE_FIELD_REAL);
  integers(ctx, 1e19, GABLE_FIELD_REAL);
  integers(ctx, INFINITY, GABLE_FIELD_REAL);
  integers(ctx, NAN, GABLE_FIELD_REAL);
  for (int part = GABLE_PART_FULL; part <= GABLE_PART_UPPER; part++) real_hermitian(ctx, (gable_part)part);
  real_matrix(ctx, "tests/data/west0479.mtx.gz", 1910);
  real_matrix(ctx, "tests/data/1138_bus.mtx.gz", 2596);
  real_matrix(ctx, "tests/data/young1c.mtx.gz", 4089);
  gable_context_destroy(&ctx);
  CHECK(!rmdir(folder), "something was left behind in %s", folder);
  return 0;
}
