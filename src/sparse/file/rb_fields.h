/* rb_fields.h: the inside of the Rutherford-Boeing reader: its header, and numbers in fields of fixed width, as a
 * Fortran format such as (13I6) or (1P,4E20.12) says. */
#ifndef GI_RB_FIELDS_H
#define GI_RB_FIELDS_H

#include "sparse/file/entries.h"
#include "sparse/matrix.h"

enum { GI_RB_MOST_WIDTH = 60, GI_RB_FIELDS_PER_PROGRESS = 1 << 14 };

typedef struct gi_rb_format {
  int per_line, width;
} gi_rb_format;

typedef struct gi_rb_header {
  gable_field field;
  gable_structure structure;
  int elemental;                 /* 1: a sum of element matrices */
  int64_t n_rows, n_cols, count; /* rows, columns, entries; elemental: variables, elements, variables in lists */
  int64_t element_values;        /* elemental: values in all elements together */
  int64_t value_lines, rhs_lines;
  gi_rb_format ptr, idx, val;
} gi_rb_header;

/* Fields of one format, line after line. */
typedef struct gi_rb_fields {
  gi_source *source;
  gi_rb_format format;
  const char *line;
  size_t length;
  int taken; /* of this line */
} gi_rb_fields;

/* The format that begins at *at, such as (1P,4E20.12), and *at behind it.  letters: that it may have. */
gable_status gi_rb_parse_format(gi_source *s, const char **at, const char *letters, gi_rb_format *f);

/* what: the numbers are, for messages. */
gable_status gi_rb_next_integer(gi_rb_fields *f, const char *what, int64_t least, int64_t most, int64_t *k);
gable_status gi_rb_next_value(gi_rb_fields *f, const gable_read_options *options, double *x);

/* *ptr [n_cols+1]: offsets of the columns, or of the elements' lists, from 0, checked as they come; the caller's to
 * free even on failure. */
gable_status gi_rb_read_offsets(gable_context *ctx, gi_source *s, const gi_rb_header *h, gable_off **ptr);

/* The entries of all element matrices behind the header, one after the other. */
gable_status gi_rb_read_elements(gable_context *ctx, gi_source *s, const gi_rb_header *h,
                                 const gable_read_options *options, gi_entries *e);

#endif
