/* matrix.c: gable_matrix_*: checks arguments and dispatches. */
#include <string.h>

#include "api/entry.h"
#include "api/structs.h"
#include "base/type_size.h"
#include "graph/shape.h"
#include "sparse/file/gzip.h"
#include "sparse/generate/generate.h"
#include "sparse/matrix.h"
#include "sparse/vectors.h"

gable_status gable_matrix_read(gable_context *ctx, const char *path, const gable_read_options *options,
                               gable_matrix **out)
{
  gable_status status = GABLE_OK;
  gable_read_options own;
  gi_source *source = NULL;
  GI_REQUIRE(ctx && path && out, GABLE_ERR_ARGUMENT, "ctx, path or out is NULL");
  *out = NULL;
  GI_TRY(gi_take_read_options(options, &own));
  GI_TRY(gi_source_open_file(ctx, path, &source));
  GI_TRY(gi_matrix_read(ctx, source, &own, out));
done:
  gi_source_close(&source);
  return status;
}

gable_status gable_matrix_from_view(gable_context *ctx, const gable_matrix_view *view, gable_matrix **out)
{
  gable_status status = GABLE_OK;
  gable_matrix *a = NULL;
  gable_matrix_view own;
  GI_REQUIRE(ctx && view && out, GABLE_ERR_ARGUMENT, "ctx, view or out is NULL");
  *out = NULL;
  GI_TRY(gi_take_matrix_view(view, &own));
  GI_TRY(gi_matrix_create(ctx, &a));
  GI_TRY(gi_csc_from_view(ctx, &own, &a->csc));
  a->field = !own.val ? GABLE_FIELD_PATTERN : a->csc.is_complex ? GABLE_FIELD_COMPLEX : GABLE_FIELD_REAL;
  a->structure = own.structure;
  a->part = own.part;
  *out = a;
  a = NULL;
done:
  gable_matrix_destroy(&a);
  return status;
}

gable_status gable_matrix_generate(gable_context *ctx, const char *kind, uint64_t seed, gable_matrix **out)
{
  GI_CHECK(ctx && kind && out, GABLE_ERR_ARGUMENT, "ctx, kind or out is NULL");
  *out = NULL;
  return GI_TRACED(gi_generate(ctx, kind, seed, out));
}

static int ends_with(const char *name, size_t n, const char *ending)
{
  size_t m = strlen(ending);
  return n >= m && !strncmp(name + n - m, ending, m);
}

/* The format that a name asks for, .gz left aside; GABLE_FILE_AUTO when it asks for none. */
static gable_file_format format_of_name(const char *path)
{
  static const char *const rb[] = {".rb", ".rua", ".rsa", ".rra", ".pua", ".psa", ".pra", ".cua", ".csa", ".hb"};
  size_t n = strlen(path);
  if (ends_with(path, n, ".gz")) n -= 3;
  if (ends_with(path, n, ".mtx") || ends_with(path, n, ".mm")) return GABLE_FILE_MATRIX_MARKET;
  if (ends_with(path, n, ".gbl")) return GABLE_FILE_BINARY;
  for (size_t k = 0; k < sizeof rb / sizeof *rb; k++)
    if (ends_with(path, n, rb[k])) return GABLE_FILE_RUTHERFORD_BOEING;
  return GABLE_FILE_AUTO;
}

gable_status gable_matrix_write_check(const char *path, gable_file_format format)
{
  GI_GIVEN(path, "path");
  if (format == GABLE_FILE_AUTO) format = format_of_name(path);
  GI_CHECK(format >= GABLE_FILE_MATRIX_MARKET && format <= GABLE_FILE_BINARY, GABLE_ERR_ARGUMENT,
           "%s: the name shows no format: end it in .mtx, .rb or .gbl", path);
  if (ends_with(path, strlen(path), ".gz")) GI_PASS(gi_deflate_possible(path));
  return GABLE_OK;
}

gable_status gable_matrix_write(const gable_matrix *a, const char *path, gable_file_format format)
{
  gable_status status = GABLE_OK;
  gi_sink *sink = NULL;
  GI_REQUIRE(a && path, GABLE_ERR_ARGUMENT, "a or path is NULL");
  GI_TRY(gable_matrix_write_check(path, format));
  if (format == GABLE_FILE_AUTO) format = format_of_name(path);
  GI_TRY(gi_sink_open(a->ctx, path, &sink));
  if (format == GABLE_FILE_MATRIX_MARKET) {
    GI_TRY(gi_mm_write(sink, a));
  } else if (format == GABLE_FILE_RUTHERFORD_BOEING) {
    GI_TRY(gi_rb_write(sink, a));
  } else {
    GI_TRY(gi_binary_write(sink, a));
  }
  GI_TRY(gi_sink_commit(&sink));
done:
  gi_sink_abandon(&sink);
  return status;
}

gable_status gable_matrix_from_vectors(gable_context *ctx, const gable_vectors_view *vectors, gable_matrix **out)
{
  gable_status status = GABLE_OK;
  gable_matrix *a = NULL;
  gable_vectors_view own;
  const gable_vectors_view *v = &own;
  GI_REQUIRE(ctx && vectors && out, GABLE_ERR_ARGUMENT, "ctx, vectors or out is NULL");
  *out = NULL;
  GI_TRY(gi_take_vectors_view(vectors, &own));
  GI_TRY(gi_vectors_take(v, "vectors", &own));
  GI_REQUIRE(v->space == GABLE_SPACE_HOST, GABLE_ERR_ARGUMENT, "vectors in device memory: give them in host memory");
  const gable_off row = v->major == GABLE_MAJOR_COL ? 1 : v->ld, column = v->major == GABLE_MAJOR_COL ? v->ld : 1;
  GI_TRY(gi_matrix_create(ctx, &a));
  GI_TRY(gi_csc_init(ctx, v->n, v->count, (gable_off)v->n * v->count, 1, &a->csc));
  for (gable_idx j = 0; j < v->count; j++) {
    gable_off first = (gable_off)j * v->n;
    a->csc.ptr[j + 1] = first + v->n;
    for (gable_idx i = 0; i < v->n; i++) {
      a->csc.idx[first + i] = i;
      a->csc.val[first + i] = gi_number_at(v->type, v->data, i * row + j * column, 0);
    }
  }
  a->field = GABLE_FIELD_REAL;
  a->dense = 1;
  *out = a;
  a = NULL;
done:
  gable_matrix_destroy(&a);
  return status;
}

/* A matrix that is described as a is, and holds nothing yet. */
static gable_status create_like(const gable_matrix *a, gable_matrix **out)
{
  GI_PASS(gi_matrix_create(a->ctx, out));
  (*out)->field = a->field;
  (*out)->structure = a->structure;
  (*out)->part = a->part;
  (*out)->duplicates = a->duplicates;
  (*out)->dense = a->dense;
  return GABLE_OK;
}

gable_status gable_matrix_expand(const gable_matrix *a, gable_matrix **out)
{
  gable_status status = GABLE_OK;
  gable_matrix *b = NULL;
  GI_REQUIRE(a && out, GABLE_ERR_ARGUMENT, "a or out is NULL");
  *out = NULL;
  GI_TRY(create_like(a, &b));
  GI_TRY(gi_csc_expand(a->ctx, &a->csc, a->part == GABLE_PART_FULL ? GABLE_STRUCTURE_GENERAL : a->structure, &b->csc));
  if (a->structure != GABLE_STRUCTURE_GENERAL) b->part = GABLE_PART_FULL;
  *out = b;
  b = NULL;
done:
  gable_matrix_destroy(&b);
  return status;
}

gable_status gable_matrix_transpose(const gable_matrix *a, gable_matrix **out)
{
  gable_status status = GABLE_OK;
  gable_matrix *b = NULL;
  GI_REQUIRE(a && out, GABLE_ERR_ARGUMENT, "a or out is NULL");
  *out = NULL;
  GI_TRY(create_like(a, &b));
  GI_TRY(gi_csc_transpose(a->ctx, &a->csc, &b->csc));
  if (a->part != GABLE_PART_FULL) b->part = a->part == GABLE_PART_LOWER ? GABLE_PART_UPPER : GABLE_PART_LOWER;
  *out = b;
  b = NULL;
done:
  gable_matrix_destroy(&b);
  return status;
}

static gable_off count_zeros(const gi_csc *a)
{
  gable_off zeros = 0, nnz = a->ptr[a->n_cols];
  if (!a->val) return 0;
  for (gable_off p = 0; p < nnz; p++)
    zeros += a->is_complex ? a->val[2 * p] == 0 && a->val[2 * p + 1] == 0 : a->val[p] == 0;
  return zeros;
}

gable_status gable_matrix_get_info(const gable_matrix *a, gable_matrix_info *info)
{
  gable_matrix_info own = GABLE_MATRIX_INFO_INIT;
  GI_CHECK(a && info, GABLE_ERR_ARGUMENT, "a or info is NULL");
  own.n_rows = a->csc.n_rows;
  own.n_cols = a->csc.n_cols;
  own.nnz = a->csc.ptr[a->csc.n_cols];
  own.duplicates = a->duplicates;
  own.explicit_zeros = count_zeros(&a->csc);
  own.field = a->field;
  own.structure = a->structure;
  own.part = a->part;
  own.dense = a->dense;
  return GI_TRACED(gi_give_matrix_info(&own, info));
}

gable_status gable_matrix_get_view(const gable_matrix *a, gable_matrix_view *view)
{
  gable_matrix_view own = GABLE_MATRIX_VIEW_INIT;
  GI_CHECK(a && view, GABLE_ERR_ARGUMENT, "a or view is NULL");
  own.n_rows = a->csc.n_rows;
  own.n_cols = a->csc.n_cols;
  own.format = GABLE_FORMAT_CSC;
  own.offset_type = GABLE_TYPE_I64;
  own.value_type = a->csc.is_complex ? GABLE_TYPE_Z : GABLE_TYPE_D;
  own.structure = a->structure;
  own.part = a->part;
  own.ptr = a->csc.ptr;
  own.idx = a->csc.idx;
  own.val = a->csc.val;
  return GI_TRACED(gi_give_matrix_view(&own, view));
}

/* *both = a with both triangles; *own = 1 when it must be released. */
static gable_status both_triangles(const gable_matrix *a, gi_csc *both, int *own)
{
  *own = a->part != GABLE_PART_FULL && a->structure != GABLE_STRUCTURE_GENERAL;
  *both = *own ? (gi_csc){0} : a->csc;
  return *own ? gi_csc_expand(a->ctx, &a->csc, a->structure, both) : GABLE_OK;
}

gable_status gable_matrix_describe(const gable_matrix *a, gable_matrix_shape *shape)
{
  gable_status status = GABLE_OK;
  gable_matrix_shape found = GABLE_MATRIX_SHAPE_INIT;
  gi_csc both = {0};
  int own = 0;
  GI_REQUIRE(a && shape, GABLE_ERR_ARGUMENT, "a or shape is NULL");
  GI_TRY(gi_give_matrix_shape(&found, shape));
  GI_TRY(both_triangles(a, &both, &own));
  GI_TRY(gi_shape(a->ctx, &both, &found));
  GI_TRY(gi_give_matrix_shape(&found, shape));
done:
  if (own) gi_csc_release(a->ctx, &both);
  return status;
}

gable_status gable_matrix_level_widths(const gable_matrix *a, gable_part triangle, gable_idx levels, gable_idx *width)
{
  gable_status status = GABLE_OK;
  gi_csc both = {0};
  gable_idx *level = NULL;
  int own = 0;
  GI_REQUIRE(a && (width || !levels), GABLE_ERR_ARGUMENT, "a or width is NULL");
  GI_REQUIRE(triangle == GABLE_PART_LOWER || triangle == GABLE_PART_UPPER, GABLE_ERR_ARGUMENT,
             "triangle %d: GABLE_PART_LOWER or GABLE_PART_UPPER", (int)triangle);
  GI_REQUIRE(a->csc.n_rows == a->csc.n_cols, GABLE_ERR_ARGUMENT, "levels need a square matrix; this one is %d by %d",
             a->csc.n_rows, a->csc.n_cols);
  GI_TRY(both_triangles(a, &both, &own));
  GI_ALLOC(a->ctx, level, both.n_cols);
  gable_idx count = gi_triangle_levels(&both, triangle, level);
  GI_REQUIRE(count == levels, GABLE_ERR_ARGUMENT, "levels is %d; the triangle has %d", levels, count);
  for (gable_idx k = 0; k < levels; k++) width[k] = 0;
  for (gable_idx k = 0; k < both.n_cols; k++) width[level[k]]++;
done:
  gi_free(a->ctx, level);
  if (own) gi_csc_release(a->ctx, &both);
  return status;
}
