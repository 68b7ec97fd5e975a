/* binary_read.c: the header is proved before anything is allocated, every array by its checksum, and then the indices
 * one by one: a forged file must not lead anywhere. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "sparse/file/binary.h"
#include "sparse/file/checksum.h"
#include "sparse/matrix.h"

enum { FIRST_PIECE = 1 << 26, HEADER_BYTES_BEFORE_VERSION = 8 };

int gi_is_binary(const char *bytes, size_t n)
{
  return n >= HEADER_BYTES_BEFORE_VERSION && !memcmp(bytes, GI_BINARY_MAGIC, HEADER_BYTES_BEFORE_VERSION);
}

/* Where the header has a member. */
#define BYTE_OF(member) ((long long)offsetof(gi_binary_header, member))

static gable_status check_kind(const char *name, const gi_binary_header *h)
{
  gable_status status = GABLE_OK;
  const int words = h->field == GABLE_FIELD_PATTERN ? 0 : h->field == GABLE_FIELD_COMPLEX ? 2 : 1;
  GI_REQUIRE(h->field >= GABLE_FIELD_PATTERN && h->field <= GABLE_FIELD_COMPLEX, GABLE_ERR_FORMAT,
             "%s: byte %lld: the header names an unknown field, %d", name, BYTE_OF(field), h->field);
  GI_REQUIRE(h->words == words, GABLE_ERR_FORMAT, "%s: byte %lld: %d numbers an entry, where the field needs %d", name,
             BYTE_OF(words), h->words, words);
  GI_REQUIRE(h->structure >= GABLE_STRUCTURE_GENERAL && h->structure <= GABLE_STRUCTURE_SPD, GABLE_ERR_FORMAT,
             "%s: byte %lld: the header names an unknown structure, %d", name, BYTE_OF(structure), h->structure);
  GI_REQUIRE(h->part >= GABLE_PART_FULL && h->part <= GABLE_PART_UPPER, GABLE_ERR_FORMAT,
             "%s: byte %lld: the header names an unknown triangle, %d", name, BYTE_OF(part), h->part);
  GI_REQUIRE(h->dense == 0 || h->dense == 1, GABLE_ERR_FORMAT, "%s: byte %lld: dense is %d: 0 or 1", name,
             BYTE_OF(dense), h->dense);
  GI_REQUIRE(h->n_rows == h->n_cols || (h->structure == GABLE_STRUCTURE_GENERAL && h->part == GABLE_PART_FULL),
             GABLE_ERR_FORMAT, "%s: byte %lld: symmetric or triangular, and %lld by %lld", name, BYTE_OF(n_rows),
             (long long)h->n_rows, (long long)h->n_cols);
done:
  return status;
}

static gable_status check_header(gi_source *s, const gi_binary_header *h)
{
  gable_status status = GABLE_OK;
  const char *name = gi_source_name(s);
  GI_REQUIRE(h->order == GI_BINARY_ORDER, GABLE_ERR_MISMATCH,
             "%s: byte %lld: written on a machine of another byte order: convert it there to Matrix Market", name,
             BYTE_OF(order));
  GI_REQUIRE(h->version == GI_BINARY_VERSION, GABLE_ERR_MISMATCH,
             "%s: byte %lld: version %u of Gable's file; this is version %d", name, BYTE_OF(version), h->version,
             GI_BINARY_VERSION);
  GI_REQUIRE(h->header_sum == gi_checksum(0, h, offsetof(gi_binary_header, header_sum)), GABLE_ERR_FORMAT,
             "%s: bytes 0 to %lld: the header is damaged (its checksum is wrong): convert the matrix again", name,
             BYTE_OF(header_sum) - 1);
  GI_REQUIRE(h->n_rows >= 0 && h->n_cols >= 0 && h->n_rows < INT32_MAX && h->n_cols < INT32_MAX && h->nnz >= 0,
             GABLE_ERR_FORMAT, "%s: byte %lld: %lld by %lld with %lld entries in the header", name, BYTE_OF(n_rows),
             (long long)h->n_rows, (long long)h->n_cols, (long long)h->nnz);
  GI_TRY(check_kind(name, h));
  int64_t most = gi_source_most_bytes_left(s);
  GI_REQUIRE(h->nnz <= most / (4 + 8 * h->words) &&
                 8 * (h->n_cols + 1) <= most - h->nnz * (4 + 8 * h->words) - 4 * (h->nnz % 2),
             GABLE_ERR_FORMAT,
             "%s: byte %lld: the header promises %lld columns and %lld entries, more than the file holds", name,
             BYTE_OF(n_cols), (long long)h->n_cols, (long long)h->nnz);
  GI_TRY(gi_check_dimensions(s, h->n_rows, h->n_cols, h->nnz, BYTE_OF(n_rows)));
done:
  return status;
}

/* *array = count elements, into memory that grows with what really comes. */
static gable_status read_array(gable_context *ctx, gi_source *s, gable_off count, size_t size, void **array)
{
  gable_status status = GABLE_OK;
  gable_off have = 0, piece = FIRST_PIECE / (gable_off)size;
  if (gi_source_stored_bytes_left(s) / (int64_t)size >= count) piece = count; /* the file is as large as it says */
  do {
    gable_off next = have + (have ? have : piece);
    if (next > count) next = count;
    void *larger = gi_grow(ctx, *array, have, next, size);
    GI_REQUIRE(larger, GABLE_ERR_MEMORY, "out of memory: %.1f MB to read %s", (double)next * (double)size / 1e6,
               gi_source_name(s));
    *array = larger;
    GI_TRY(gi_source_read(s, (char *)larger + (size_t)have * size, (size_t)(next - have) * size));
    GI_TRY(gi_source_progress(s));
    have = next;
  } while (have < count);
done:
  return status;
}

/* Where the arrays begin in the file. */
typedef struct layout {
  long long ptr, idx, val, end;
} layout;

static layout layout_of(const gi_binary_header *h)
{
  layout at = {.ptr = (long long)sizeof *h};
  at.idx = at.ptr + 8 * (h->n_cols + 1);
  at.val = at.idx + 4 * (h->nnz + h->nnz % 2);
  at.end = at.val + 8 * h->nnz * h->words;
  return at;
}

static gable_status check_sums(gi_source *s, const gi_binary_header *h, const gi_csc *c)
{
  gable_status status = GABLE_OK;
  const layout at = layout_of(h);
  const struct {
    uint64_t sum;
    const void *data;
    size_t bytes;
    long long from;
    const char *what;
  } part[] = {{h->ptr_sum, c->ptr, ((size_t)h->n_cols + 1) * sizeof *c->ptr, at.ptr, "column offsets"},
              {h->idx_sum, c->idx, (size_t)h->nnz * sizeof *c->idx, at.idx, "row indices"},
              {h->val_sum, c->val, (size_t)h->nnz * (size_t)h->words * sizeof *c->val, at.val, "values"}};
  for (int k = 0; k < (h->words ? 3 : 2); k++)
    GI_REQUIRE(
        part[k].sum == gi_checksum(0, part[k].data, part[k].bytes), GABLE_ERR_FORMAT,
        "%s: bytes %lld to %lld: the data are damaged (the checksum of the %s is wrong): convert the matrix again",
        gi_source_name(s), part[k].from, part[k].from + (long long)part[k].bytes - 1, part[k].what);
done:
  return status;
}

static gable_status check_offsets(gi_source *s, const gi_binary_header *h, const gable_off *ptr)
{
  gable_status status = GABLE_OK;
  const long long begin = layout_of(h).ptr;
  GI_REQUIRE(ptr[0] == 0, GABLE_ERR_FORMAT, "%s: byte %lld: the first column offset is %lld, not 0", gi_source_name(s),
             begin, (long long)ptr[0]);
  for (gable_off j = 0; j < h->n_cols; j++)
    GI_REQUIRE(ptr[j] <= ptr[j + 1], GABLE_ERR_FORMAT, "%s: byte %lld: the offset of column %lld, %lld, decreases",
               gi_source_name(s), begin + 8 * (j + 1), (long long)j + 2, (long long)ptr[j + 1]);
  GI_REQUIRE(ptr[h->n_cols] == h->nnz, GABLE_ERR_FORMAT,
             "%s: byte %lld: the last column offset is %lld, and the header promises %lld entries", gi_source_name(s),
             begin + 8 * (long long)h->n_cols, (long long)ptr[h->n_cols], (long long)h->nnz);
done:
  return status;
}

static gable_status check_entries(gi_source *s, const gi_binary_header *h, const gable_read_options *options,
                                  const gable_matrix *a)
{
  gable_status status = GABLE_OK;
  const layout at = layout_of(h);
  const gi_csc *c = &a->csc;
  int words = gi_csc_words(c);
  for (gable_idx j = 0; j < c->n_cols; j++) {
    gable_idx last = a->part == GABLE_PART_LOWER ? j - 1 : -1;
    gable_idx end = a->part == GABLE_PART_UPPER ? j + 1 : c->n_rows;
    for (gable_off p = c->ptr[j]; p < c->ptr[j + 1]; p++) {
      GI_REQUIRE(c->idx[p] > last && c->idx[p] < end, GABLE_ERR_FORMAT,
                 "%s: byte %lld: row %lld in column %d is out of order", gi_source_name(s), at.idx + 4 * (long long)p,
                 c->idx[p] + 1LL, j + 1);
      last = c->idx[p];
    }
    for (gable_off p = words * c->ptr[j]; !options->accept_nonfinite && p < words * c->ptr[j + 1]; p++)
      GI_REQUIRE(isfinite(c->val[p]), GABLE_ERR_NOT_FINITE, "%s: byte %lld: a value in column %d is not finite",
                 gi_source_name(s), at.val + 8 * (long long)p, j + 1);
  }
done:
  return status;
}

gable_status gi_binary_read(gi_source *s, const gable_read_options *options, gable_matrix *a)
{
  gable_status status = GABLE_OK;
  gi_binary_header h = {0};
  gi_csc *c = &a->csc;
  char padding[4];
  void *array = NULL;
  const char *rest;
  size_t left;
  GI_TRY(gi_source_read(s, &h, sizeof h));
  GI_TRY(check_header(s, &h));
  GI_TRY(gi_check_field(s, options, (gable_field)h.field, BYTE_OF(field)));
  c->n_rows = (gable_idx)h.n_rows;
  c->n_cols = (gable_idx)h.n_cols;
  c->is_complex = h.words == 2;
  GI_TRY(read_array(a->ctx, s, h.n_cols + 1, sizeof *c->ptr, &array));
  c->ptr = array, array = NULL;
  GI_TRY(read_array(a->ctx, s, h.nnz, sizeof *c->idx, &array));
  c->idx = array, array = NULL;
  GI_TRY(gi_source_read(s, padding, h.nnz % 2 ? sizeof padding : 0));
  if (h.words) GI_TRY(read_array(a->ctx, s, h.nnz, (size_t)h.words * sizeof *c->val, &array));
  c->val = array, array = NULL;
  GI_TRY(check_sums(s, &h, c));
  GI_TRY(gi_source_peek(s, &rest, &left));
  GI_REQUIRE(!left, GABLE_ERR_FORMAT, "%s: byte %lld: bytes after the end of the data", gi_source_name(s),
             layout_of(&h).end);
  a->field = (gable_field)h.field;
  a->structure = (gable_structure)h.structure;
  a->part = (gable_part)h.part;
  a->dense = h.dense;
  GI_TRY(check_offsets(s, &h, c->ptr));
  GI_TRY(check_entries(s, &h, options, a));
done:
  gi_free(a->ctx, array);
  return status;
}
