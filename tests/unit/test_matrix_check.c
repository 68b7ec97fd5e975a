/* What a reader takes, the writers write and the readers take again; what contradicts itself is refused with its place:
 * duplicates that sum to infinity, diagonals that skew and hermitian matrices cannot have, forged headers. */
#include <math.h>
#include <stddef.h>
#include <unistd.h>

#include "sparse/file/binary.h"
#include "sparse/file/checksum.h"
#include "sparse/matrix.h"
#include "support/test.h"

static gable_context *ctx;

static gable_status read_bytes(const void *bytes, size_t n, int accept_nonfinite)
{
  gable_read_options options = GABLE_READ_OPTIONS_INIT;
  gi_source *source = NULL;
  gable_matrix *a = NULL;
  options.accept_nonfinite = accept_nonfinite;
  CHECK_OK(gi_source_open_memory(ctx, "test", bytes, n, &source));
  const gable_status status = gi_matrix_read(ctx, source, &options, &a);
  gi_source_close(&source);
  gable_matrix_destroy(&a);
  return status;
}

/* A text with this status and piece of the message. */
static void text(const char *banner, const char *lines, gable_status expected, const char *piece)
{
  char bytes[400];
  const int n = snprintf(bytes, sizeof bytes, "%%%%MatrixMarket matrix %s\n%s", banner, lines);
  const gable_status status = read_bytes(bytes, (size_t)n, 0);
  CHECK(status == expected, "%s: %s: %s", banner, gable_status_text(status), gable_last_error());
  if (expected) CHECK(strstr(gable_last_error(), piece), "%s", gable_last_error());
}

static void texts(void)
{
  const char *const infinite = "2 2 4\n1 1 1\n2 2 1\n2 1 1e308\n2 1 1.5e308\n";
  text("coordinate real general", infinite, GABLE_ERR_NOT_FINITE, "sum to inf in row 1, column 0");
  text("coordinate real symmetric", infinite, GABLE_ERR_NOT_FINITE, "sum to inf in row 1, column 0");
  text("coordinate complex general", "1 1 2\n1 1 0 -1e308\n1 1 0 -1.5e308\n", GABLE_ERR_NOT_FINITE, "sum to -inf");
  text("array complex hermitian", "2 2\n1 0\n2 3\n4 5\n", GABLE_ERR_FORMAT, "5 i in row 1");
  text("array complex hermitian", "2 2\n1 0\n2 3\n4 0\n", GABLE_OK, "");
  text("coordinate complex hermitian", "2 2 2\n1 1 1 0\n2 2 1 1\n", GABLE_ERR_FORMAT, "real");
  text("coordinate real general", "2 2 3\n1 1 1\n2 2 1\n2 2 2\n", GABLE_OK, "");
}

/* Gable's file of 2 x 2 with every entry of its lower triangle, or of both, and this header. */
typedef struct forged {
  gi_binary_header h;
  int64_t ptr[3];
  int32_t idx[4];
  double val[8];
} forged;

static gable_status read_forged(gable_field field, gable_structure structure, gable_part part, const double *val)
{
  static const int64_t halves[] = {0, 2, 3}, whole[] = {0, 2, 4};
  static const int32_t lower[] = {0, 1, 1, 0}, full[] = {0, 1, 0, 1};
  const int both = part == GABLE_PART_FULL;
  const int words = field == GABLE_FIELD_PATTERN ? 0 : field == GABLE_FIELD_COMPLEX ? 2 : 1;
  forged f = {.h = {.version = GI_BINARY_VERSION, .order = GI_BINARY_ORDER}};
  memcpy(f.h.magic, GI_BINARY_MAGIC, sizeof f.h.magic);
  f.h.field = (int32_t)field;
  f.h.structure = (int32_t)structure;
  f.h.part = (int32_t)part;
  f.h.words = words;
  f.h.n_rows = f.h.n_cols = 2;
  f.h.nnz = both ? 4 : 3;
  memcpy(f.ptr, both ? whole : halves, sizeof f.ptr);
  memcpy(f.idx, both ? full : lower, sizeof f.idx);
  memcpy(f.val, val, (size_t)(words * f.h.nnz) * sizeof *val);
  f.h.ptr_sum = gi_checksum(0, f.ptr, sizeof f.ptr);
  f.h.idx_sum = gi_checksum(0, f.idx, (size_t)f.h.nnz * sizeof *f.idx);
  f.h.val_sum = gi_checksum(0, f.val, (size_t)(words * f.h.nnz) * sizeof *f.val);
  f.h.header_sum = gi_checksum(0, &f.h, offsetof(gi_binary_header, header_sum));
  return read_bytes(&f, offsetof(forged, val) + (size_t)(words * f.h.nnz) * sizeof *f.val, 0);
}

static void binaries(void)
{
  const double ones[] = {1, 1, 1, 1, 1, 1, 1, 1}, halves[] = {1.5, 1, 1, 1}, skew[] = {0, 1, 0},
               real[] = {1, 0, 1, 1, 1, 0};
  const double slanted[] = {1, 2, 3, 4};
  const gable_part low = GABLE_PART_LOWER, full = GABLE_PART_FULL;
  CHECK_OK(read_forged(GABLE_FIELD_REAL, GABLE_STRUCTURE_SYMMETRIC, low, ones));
  CHECK_OK(read_forged(GABLE_FIELD_REAL, GABLE_STRUCTURE_SYMMETRIC, full, ones));
  CHECK_OK(read_forged(GABLE_FIELD_REAL, GABLE_STRUCTURE_SKEW, low, skew));
  CHECK_OK(read_forged(GABLE_FIELD_COMPLEX, GABLE_STRUCTURE_HERMITIAN, low, real));
  CHECK_OK(read_forged(GABLE_FIELD_INTEGER, GABLE_STRUCTURE_GENERAL, full, slanted));
  const struct {
    gable_field field;
    gable_structure structure;
    gable_part part;
    const double *val;
    const char *piece;
  } wrong[] = {
      {GABLE_FIELD_REAL, GABLE_STRUCTURE_HERMITIAN, low, ones, "not complex"},
      {GABLE_FIELD_PATTERN, GABLE_STRUCTURE_HERMITIAN, low, ones, "not complex"},
      {GABLE_FIELD_PATTERN, GABLE_STRUCTURE_SKEW, low, ones, "skew-symmetric pattern"},
      {GABLE_FIELD_REAL, GABLE_STRUCTURE_SKEW, low, ones, "no diagonal"},
      {GABLE_FIELD_COMPLEX, GABLE_STRUCTURE_HERMITIAN, low, ones, "is real"},
      {GABLE_FIELD_COMPLEX, GABLE_STRUCTURE_SPD, low, ones,
       "test: byte 20: a symmetric positive definite matrix that is complex"},
      {GABLE_FIELD_INTEGER, GABLE_STRUCTURE_GENERAL, full, halves, "integer"},
      {GABLE_FIELD_REAL, GABLE_STRUCTURE_SYMMETRIC, full, slanted,
       "test: byte 20: both triangles are stored, and contradict"},
  };
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
    const gable_status status = read_forged(wrong[k].field, wrong[k].structure, wrong[k].part, wrong[k].val);
    CHECK(status == GABLE_ERR_FORMAT && strstr(gable_last_error(), wrong[k].piece), "%zu: %s: %s", k,
          gable_status_text(status), gable_last_error());
  }
}

/* What is wrong inside arrays whose checksums are right is named by its byte: the header has 120, the offsets 24 and
 * the indices 12 and 4 of padding. */
static void binary_bytes(void)
{
  const struct {
    int64_t ptr[3];
    int32_t idx[3];
    double val[3];
    gable_status status;
    const char *piece;
  } wrong[] = {
      {{1, 2, 3}, {0, 1, 1}, {1, 1, 1}, GABLE_ERR_FORMAT, "test: byte 120: the first column offset is 1"},
      {{0, 4, 3}, {0, 1, 1}, {1, 1, 1}, GABLE_ERR_FORMAT, "test: byte 136: the offset of column 3, 3, decreases"},
      {{0, 2, 2}, {0, 1, 1}, {1, 1, 1}, GABLE_ERR_FORMAT, "test: byte 136: the last column offset is 2"},
      {{0, 2, 3}, {0, 0, 1}, {1, 1, 1}, GABLE_ERR_FORMAT, "test: byte 148: row 1 in column 1 is out of order"},
      {{0, 2, 3}, {0, 1, 2}, {1, 1, 1}, GABLE_ERR_FORMAT, "test: byte 152: row 3 in column 2 is out of order"},
      {{0, 2, 3}, {0, 1, 1}, {1, 1, INFINITY}, GABLE_ERR_NOT_FINITE, "test: byte 176: a value in column 2"},
  };
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
    forged f = {.h = {.version = GI_BINARY_VERSION, .order = GI_BINARY_ORDER}};
    memcpy(f.h.magic, GI_BINARY_MAGIC, sizeof f.h.magic);
    f.h.field = GABLE_FIELD_REAL;
    f.h.words = 1;
    f.h.n_rows = f.h.n_cols = 2;
    f.h.nnz = 3;
    memcpy(f.ptr, wrong[k].ptr, sizeof wrong[k].ptr);
    memcpy(f.idx, wrong[k].idx, sizeof wrong[k].idx);
    memcpy(f.val, wrong[k].val, sizeof wrong[k].val);
    f.h.ptr_sum = gi_checksum(0, f.ptr, sizeof f.ptr);
    f.h.idx_sum = gi_checksum(0, f.idx, 3 * sizeof *f.idx);
    f.h.val_sum = gi_checksum(0, f.val, 3 * sizeof *f.val);
    f.h.header_sum = gi_checksum(0, &f.h, offsetof(gi_binary_header, header_sum));
    const gable_status status = read_bytes(&f, offsetof(forged, val) + 3 * sizeof *f.val, 0);
    CHECK(status == wrong[k].status && !strncmp(gable_last_error(), wrong[k].piece, strlen(wrong[k].piece)),
          "%zu: %s: %s", k, gable_status_text(status), gable_last_error());
  }
}

int main(void)
{
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  texts();
  binaries();
  binary_bytes();
  gable_context_destroy(&ctx);
  return 0;
}
