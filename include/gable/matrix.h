/* matrix.h: a sparse matrix that owns its arrays on the host: read, written, generated, converted, described.
 *
 * Entries are stored compressed by columns (CSC), indices increasing within a column, 0 based, 64-bit offsets.
 * A symmetric matrix from a file has one triangle until gable_matrix_expand adds the other. */
#ifndef GABLE_MATRIX_H
#define GABLE_MATRIX_H

#include <gable/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gable_matrix gable_matrix;

typedef enum gable_field {
  GABLE_FIELD_PATTERN = 0,
  GABLE_FIELD_REAL = 1,
  GABLE_FIELD_INTEGER = 2,
  GABLE_FIELD_COMPLEX = 3
} gable_field;

typedef struct gable_matrix_info {
  size_t size;
  gable_idx n_rows, n_cols;
  gable_off nnz;        /* stored entries, duplicates summed, explicit zeros kept */
  gable_off duplicates; /* entries of the file that were summed into another */
  gable_off explicit_zeros;
  gable_field field;
  gable_structure structure; /* as the file says */
  gable_part part;           /* GABLE_PART_FULL, or the triangle that is stored */
  int dense;                 /* 1: an 'array' file: all n_rows entries of each column are stored, zeros too */
} gable_matrix_info;
#define GABLE_MATRIX_INFO_INIT                                                                                         \
  {                                                                                                                    \
    sizeof(gable_matrix_info), 0, 0, 0, 0, 0, GABLE_FIELD_PATTERN, GABLE_STRUCTURE_GENERAL, GABLE_PART_FULL, 0         \
  }

typedef struct gable_read_options {
  size_t size;
  int strict;           /* 1: duplicate entries are GABLE_ERR_FORMAT */
  int accept_complex;   /* 0: a complex file is GABLE_ERR_FORMAT */
  int accept_pattern;   /* 0: a pattern file is GABLE_ERR_FORMAT */
  int accept_nonfinite; /* 0: NaN and infinity are GABLE_ERR_NOT_FINITE, with the line */
} gable_read_options;
#define GABLE_READ_OPTIONS_INIT                                                                                        \
  {                                                                                                                    \
    sizeof(gable_read_options), 0, 1, 1, 0                                                                             \
  }

typedef enum gable_file_format {
  GABLE_FILE_AUTO = 0,          /* by content when reading, by name when writing */
  GABLE_FILE_MATRIX_MARKET = 1, /* also .gz */
  GABLE_FILE_RUTHERFORD_BOEING = 2,
  GABLE_FILE_BINARY = 3 /* Gable's own: versioned, checksummed */
} gable_file_format;

/* Local.  Reads Matrix Market, Rutherford-Boeing or Gable's binary file, each also compressed by gzip; the content
 * decides. path "-": standard input.  options may be NULL.  GABLE_ERR_IO, _FORMAT (with the line), _LIMIT, _MEMORY. */
GABLE_API gable_status gable_matrix_read(gable_context *ctx, const char *path, const gable_read_options *options,
                                         gable_matrix **out);

/* Local.  Writes to a temporary file beside path (path.PID-K.tmp), then renames: path is whole or untouched; links are
 * followed, and a file that exists keeps its rights.  GABLE_FILE_AUTO goes by
 * the name: .mtx, .rb (also .rua, .hb, ..) or .gbl; a further .gz compresses.  Of a symmetric matrix the text formats
 * keep the lower triangle.  GABLE_ERR_IO, _ARGUMENT, _MEMORY, _CANCELLED. */
GABLE_API gable_status gable_matrix_write(const gable_matrix *a, const char *path, gable_file_format format);

/* Local.  Checks path and format as gable_matrix_write would, without opening a file, so that a long computation can
 * fail early: GABLE_ERR_ARGUMENT when the name shows no format, _UNAVAILABLE when this build cannot compress. */
GABLE_API gable_status gable_matrix_write_check(const char *path, gable_file_format format);

/* Local.  A copy of what the view shows; CSR or CSC, base 0 or 1, any offset type.  Checked: GABLE_ERR_ARGUMENT says
 * which entry is out of range or out of order. */
GABLE_API gable_status gable_matrix_from_view(gable_context *ctx, const gable_matrix_view *view, gable_matrix **out);

/* Triplets (row[k], col[k], val[k]) of the caller (COO), in any order; duplicates are summed. */
typedef struct gable_coo_view {
  size_t size; /* of this struct, so that it can grow */
  gable_idx n_rows, n_cols;
  gable_off count; /* of triplets */
  int base;        /* of row and col: 0 or 1 */
  gable_type value_type;
  gable_structure structure;
  gable_part part;            /* GABLE_PART_LOWER, _UPPER: triplets of the other triangle are left out */
  const gable_idx *row, *col; /* [count] */
  const void *val;            /* [count] or NULL: pattern only */
} gable_coo_view;
#define GABLE_COO_VIEW_INIT                                                                                            \
  {                                                                                                                    \
    sizeof(gable_coo_view), 0, 0, 0, 0, GABLE_TYPE_D, GABLE_STRUCTURE_GENERAL, GABLE_PART_FULL, NULL, NULL, NULL       \
  }

typedef struct gable_coo gable_coo;

/* Local.  a_ij = sum of val[k] over the triplets k with (row[k], col[k]) = (i, j), added in double, from the first to
 * the last; every sum is an entry, zeros too.  Structure and part are those of the matrix; whether the triplets have
 * the symmetry that they declare is checked by what uses it, as of a view.  map: NULL, or where each triplet went, for
 * gable_coo_update; belongs to the caller.  O(count + n_rows + n_cols) in time and memory; the map has 8 bytes for each
 * triplet and each entry.  GABLE_ERR_ARGUMENT: an index out of range (the triplet is named), or a symmetric matrix that
 * is not square; GABLE_ERR_NOT_FINITE: a triplet, or a sum that overflows. */
GABLE_API gable_status gable_matrix_from_coo(gable_context *ctx, const gable_coo_view *triplets, gable_coo **map,
                                             gable_matrix **out);

/* Local.  Replaces the values of a, which was made with map, by the sums of val, [count] in the order and type of the
 * triplets.  Views of a stay valid.  The bits are those of a new matrix.  Threads may share map.  Cost: O(count);
 * allocates nothing but the values of a pattern.  After an error a is as it was: GABLE_ERR_NOT_FINITE as above,
 * GABLE_ERR_MISMATCH: a has another number of rows, columns or entries, or is complex where the triplets are real. */
GABLE_API gable_status gable_coo_update(const gable_coo *map, const void *val, gable_matrix *a);

/* NULL is fine; sets *map to NULL. */
GABLE_API void gable_coo_destroy(gable_coo **map);

/* Local.  A copy of dense vectors, all entries stored, to be written as an 'array' file. */
GABLE_API gable_status gable_matrix_from_vectors(gable_context *ctx, const gable_vectors_view *vectors,
                                                 gable_matrix **out);

/* Local.  kind and its numbers in one string, for example "laplacian5:300x300", "elasticity3d:20x8x8",
 * "circuit:20000", "dag:5000,degree=4,values=random"; gable_matrix_kinds() and docs/files.md list them.  seed serves
 * whatever is random, unless the string has its own.  A symmetric matrix has its lower triangle stored.
 * GABLE_ERR_ARGUMENT, _LIMIT, _MEMORY, _CANCELLED. */
GABLE_API gable_status gable_matrix_generate(gable_context *ctx, const char *kind, uint64_t seed, gable_matrix **out);

/* The kinds that gable_matrix_generate knows, a line each; static text. */
GABLE_API const char *gable_matrix_kinds(void);

/* Local.  A new matrix: a with both triangles stored (a copy where they are); A^T.  The caller destroys it.
 * GABLE_ERR_MEMORY. */
GABLE_API gable_status gable_matrix_expand(const gable_matrix *a, gable_matrix **out);
GABLE_API gable_status gable_matrix_transpose(const gable_matrix *a, gable_matrix **out);

/* Local. */
GABLE_API gable_status gable_matrix_get_info(const gable_matrix *a, gable_matrix_info *info);

/* Statistics of a matrix, both triangles of a symmetric one.  Rectangular matrices have no levels and no symmetry. */
typedef struct gable_matrix_shape {
  size_t size;
  gable_off nnz;                              /* of both triangles */
  gable_idx structural_rank;                  /* pairs in a largest matching of the entries that are not 0 */
  gable_idx diagonal;                         /* entries on the diagonal that are not 0 */
  gable_idx lower_bandwidth, upper_bandwidth; /* largest distance from the diagonal on either side */
  gable_idx empty_rows, empty_cols, longest_row, longest_col;
  double pattern_symmetry, value_symmetry; /* shares in [0,1] of the entries off the diagonal with a mirror image,
                                              and with an equal one */
  gable_idx lower_levels, lower_widest;    /* level sets when the lower triangle is solved, rows of the widest */
  gable_idx upper_levels, upper_widest;
} gable_matrix_shape;
#define GABLE_MATRIX_SHAPE_INIT                                                                                        \
  {                                                                                                                    \
    sizeof(gable_matrix_shape), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0                                            \
  }

/* Local.  Of a, with both triangles.  Cost: O(nnz), and at worst O(nnz sqrt(n)) for the structural rank.
 * GABLE_ERR_MEMORY. */
GABLE_API gable_status gable_matrix_describe(const gable_matrix *a, gable_matrix_shape *shape);

/* Local.  width [levels], as many as gable_matrix_describe said: rows in each level of the triangle, GABLE_PART_LOWER
 * or GABLE_PART_UPPER.  GABLE_ERR_ARGUMENT when the matrix is not square or levels is another number. */
GABLE_API gable_status gable_matrix_level_widths(const gable_matrix *a, gable_part triangle, gable_idx levels,
                                                 gable_idx *width);

/* Borrowed arrays of a, valid until it is destroyed: CSC, base 0, 64-bit offsets, values GABLE_TYPE_D (GABLE_TYPE_Z for
 * a complex matrix, NULL for a pattern). */
GABLE_API gable_status gable_matrix_get_view(const gable_matrix *a, gable_matrix_view *view);

/* NULL is fine; sets *a to NULL. */
GABLE_API void gable_matrix_destroy(gable_matrix **a);

#ifdef __cplusplus
}
#endif
#endif
