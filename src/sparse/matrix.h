/* matrix.h: the inside of gable_matrix, and the readers that make one. */
#ifndef GI_MATRIX_H
#define GI_MATRIX_H

#include <gable/matrix.h>

#include "sparse/csc.h"
#include "sparse/source.h"

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

/* Refuses, by the options, fields that the caller does not take.  line: for the message. */
gable_status gi_check_field(const gi_source *source, const gable_read_options *options, gable_field field);

#endif
