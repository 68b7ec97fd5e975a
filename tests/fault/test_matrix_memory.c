/* Each allocation fails once while matrices are read, generated, described, converted and written: the status says so,
 * nothing leaks, nothing is left behind. */
#include <dirent.h>
#include <unistd.h>

#include "support/failing_allocator.h"
#include "support/test.h"

static char folder[] = "/tmp/gable-memory-XXXXXX";

static int files_in_folder(void)
{
  DIR *d = opendir(folder);
  int n = 0;
  CHECK(d, "%s", folder);
  for (const struct dirent *entry; (entry = readdir(d));) n += entry->d_name[0] != '.';
  closedir(d);
  return n;
}

typedef gable_status phase(gable_context *ctx, const char *what);

static gable_status read_file(gable_context *ctx, const char *path)
{
  gable_read_options options = GABLE_READ_OPTIONS_INIT;
  gable_matrix *a = NULL;
  options.accept_complex = 1;
  gable_status status = gable_matrix_read(ctx, path, &options, &a);
  CHECK(!status == (a != NULL), "%s", path);
  gable_matrix_destroy(&a);
  return status;
}

static gable_status generate(gable_context *ctx, const char *kind)
{
  gable_matrix *a = NULL;
  gable_status status = gable_matrix_generate(ctx, kind, 3, &a);
  CHECK(!status == (a != NULL), "%s", kind);
  gable_matrix_destroy(&a);
  return status;
}

static gable_status look_at(gable_context *ctx, const char *kind)
{
  gable_matrix_shape shape = GABLE_MATRIX_SHAPE_INIT;
  gable_matrix *a = NULL, *b = NULL, *c = NULL;
  gable_idx width[1000];
  gable_status status = gable_matrix_generate(ctx, kind, 3, &a);
  if (!status) status = gable_matrix_expand(a, &b);
  if (!status) status = gable_matrix_transpose(b, &c);
  if (!status) status = gable_matrix_describe(a, &shape);
  if (!status) status = gable_matrix_level_widths(a, GABLE_PART_UPPER, shape.upper_levels, width);
  gable_matrix_destroy(&a);
  gable_matrix_destroy(&b);
  gable_matrix_destroy(&c);
  return status;
}

static gable_status write_file(gable_context *ctx, const char *name)
{
  gable_matrix *a = NULL, *b = NULL;
  char path[120];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  gable_status status = gable_matrix_generate(ctx, "laplacian5:9x8", 3, &a);
  if (!status) status = gable_matrix_transpose(a, &b); /* upper: the writer must turn it */
  if (!status) status = gable_matrix_write(b, path, GABLE_FILE_AUTO);
  CHECK(files_in_folder() == !status, "%s: %d files", name, files_in_folder());
  if (!status) unlink(path);
  gable_matrix_destroy(&a);
  gable_matrix_destroy(&b);
  return status;
}

static gable_status assemble(gable_context *ctx, const char *what)
{
  static const gable_idx row[] = {0, 2, 2, 1, 0}, col[] = {1, 0, 0, 1, 1};
  static const double val[] = {1, 2, 3, 4, 5};
  gable_coo_view v = GABLE_COO_VIEW_INIT;
  gable_coo *map = NULL;
  gable_matrix *a = NULL;
  v.n_rows = v.n_cols = 3;
  v.count = 5;
  v.row = row;
  v.col = col;
  v.val = *what == 'v' ? val : NULL;
  gable_status status = gable_matrix_from_coo(ctx, &v, &map, &a);
  CHECK(!status == (a != NULL && map != NULL), "%s", what);
  if (!status) status = gable_coo_update(map, val, a); /* a pattern takes memory for them */
  gable_coo_destroy(&map);
  gable_matrix_destroy(&a);
  return status;
}

static void fail_each_in(failing_mode mode, phase *run, const char *what)
{
  failing_allocator memory = failing_allocator_init();
  gable_context_options options = failing_allocator_options(&memory);
  gable_context *ctx = NULL;
  CHECK_OK(gable_context_create("cpu", &options, &ctx));
  long before = memory.live;
  for (long k = 0;; k++) {
    failing_allocator_arm_mode(&memory, mode, k);
    gable_status status = run(ctx, what);
    CHECK(memory.live == before, "%s: allocation %ld leaks", what, k);
    if (!memory.failures) {
      CHECK(status == GABLE_OK || status == GABLE_ERR_UNAVAILABLE, "%s: %s", what, gable_last_error());
      CHECK(k > 2, "%s: only %ld allocations", what, k);
      break;
    }
    CHECK(status == GABLE_ERR_MEMORY, "%s: mode %d, allocation %ld gave %d: %s", what, (int)mode, k, (int)status,
          gable_last_error());
  }
  gable_context_destroy(&ctx);
  CHECK(memory.live == 0, "%s", what);
}

static void fail_each(phase *run, const char *what)
{
  fail_each_in(FAIL_FROM, run, what);
  fail_each_in(FAIL_ONE, run, what);
}

int main(void)
{
  static const char *const files[] = {"tests/data/west0479.mtx.gz",        "tests/data/1138_bus.mtx.gz",
                                      "tests/data/young1c.mtx.gz",         "tests/fuzz/corpus/rb/general.rua",
                                      "tests/fuzz/corpus/rb/elements.rse", "tests/fuzz/corpus/binary/symmetric.gbl",
                                      "tests/fuzz/corpus/mm/array.mtx"};
  static const char *const kinds[] = {"laplacian5:9x8",
                                      "laplacian27:4x5x6,values=random,numbering=random",
                                      "convection3d:4x5x6",
                                      "elasticity2d:7x5",
                                      "elasticity3d:4x5x6",
                                      "circuit:300,numbering=random",
                                      "dag:100",
                                      "random:100,values=random",
                                      "arrow:20",
                                      "band:20",
                                      "chain:20"};
  static const char *const names[] = {"a.mtx", "a.rb", "a.gbl", "a.mtx.gz"};
  CHECK(mkdtemp(folder), "%s", folder);
  for (size_t k = 0; k < sizeof files / sizeof *files; k++) fail_each(read_file, files[k]);
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    fail_each(generate, kinds[k]);
    fail_each(look_at, kinds[k]);
  }
  fail_each(assemble, "values");
  fail_each(assemble, "pattern");
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) fail_each(write_file, names[k]);
  CHECK(!rmdir(folder), "%s", folder);
  return 0;
}
