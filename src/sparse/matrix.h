/* matrix.h: the inside of gable_matrix, and the readers that make one. */
#ifndef GI_MATRIX_H
#define GI_MATRIX_H

#include <gable/matrix.h>

#include "sparse/csc.h"
#include "sparse/file/sink.h"
#include "sparse/file/source.h"

/* A header that promises a dimension above GI_UNCHECKED_DIMENSION and more than GI_MOST_EMPTY times as many rows or
 * columns as entries is taken for damage: its offsets alone would fill the memory. */
enum { GI_UNCHECKED_DIMENSION = 1 << 24, GI_MOST_EMPTY = 64 };

struct gable_matrix {
  gable_context *ctx;
  gi_csc csc;
  gable_field field;
  gable_structure structure;
  gable_part part;      /* stored */
  gable_off duplicates; /* entries of the file that were summed into another */
  int dense;            /* from an 'array' file */
};

gable_status gi_matrix_create(gable_context *ctx, gable_matrix **out); /* zeroed */

/* Reads whatever source holds. */
gable_status gi_matrix_read(gable_context *ctx, gi_source *source, const gable_read_options *options,
                            gable_matrix **out);

/* One reader each; the matrix is empty on entry, and whatever it then holds is the caller's to destroy. */
gable_status gi_mm_read(gi_source *source, const gable_read_options *options, gable_matrix *a);
gable_status gi_rb_read(gi_source *source, const gable_read_options *options, gable_matrix *a);
gable_status gi_binary_read(gi_source *source, const gable_read_options *options, gable_matrix *a);

/* Do the first bytes of a file look like this format? */
int gi_is_binary(const char *bytes, size_t n);
int gi_is_rb(const char *bytes, size_t n);

/* One writer each. */
gable_status gi_mm_write(gi_sink *sink, const gable_matrix *a);
gable_status gi_rb_write(gi_sink *sink, const gable_matrix *a);
gable_status gi_binary_write(gi_sink *sink, const gable_matrix *a);

/* a's structure as every reader takes it: a hermitian matrix that is not complex is symmetric. */
gable_structure gi_matrix_structure(const gable_matrix *a);

/* What a text file says of a: general when both triangles are stored. */
gable_structure gi_matrix_file_structure(const gable_matrix *a);

/* The field that a text file can carry: real instead of integer where a value is not finite or has 2^53 and more, which
 * is written with an exponent.  O(nnz). */
gable_field gi_matrix_file_field(const gable_matrix *a);

/* *out = what a text file holds of a: of one stored triangle the lower one.  Borrows a's arrays where it can; *own = 1
 * when out must be released. */
gable_status gi_matrix_file_part(const gable_matrix *a, gi_csc *out, int *own);

/* A stored entry (i, j) off the diagonal, of a symmetric file of which one triangle is stored: sets *part at the first,
 * and refuses entries on the other side.  On the diagonal: refuses what skew and hermitian matrices cannot have.
 * i, j from 0; value [words] or NULL. */
gable_status gi_check_side(const gi_source *source, gable_structure structure, gable_idx i, gable_idx j,
                           const double *value, int words, gable_part *part);

/* Refuses a header with so many rows or columns for so few entries that it must be damaged.  byte: where a binary file
 * has them; text has its line. */
gable_status gi_check_dimensions(const gi_source *source, int64_t n_rows, int64_t n_cols, int64_t count, int64_t byte);

/* Refuses a matrix that was read whole and contradicts its own field or structure, or whose duplicates sum to what
 * options do not accept.  O(nnz). */
gable_status gi_matrix_check(const gi_source *source, const gable_read_options *options, const gable_matrix *a);

/* Refuses, by the options, fields that the caller does not take.  byte: as above. */
gable_status gi_check_field(const gi_source *source, const gable_read_options *options, gable_field field,
                            int64_t byte);

#endif
