/* entries.h: entries (i, j, value) as a file lists them, in any order, become a compressed matrix. */
#ifndef GI_ENTRIES_H
#define GI_ENTRIES_H

#include "sparse/csc.h"
#include "sparse/file/source.h"

/* Begins a message about the line that was read last. */
#define AT "%s:%lld: "
#define HERE(source) gi_source_name(source), (long long)gi_source_line_number(source)

typedef struct gi_entries {
  gable_idx n_rows, n_cols;
  int words; /* doubles per value: 0, 1 or 2 */
  gable_off count, capacity;
  gable_idx *row, *col; /* [capacity] */
  double *val;          /* [words*capacity] */
  int with_lines;
  int64_t *line; /* [capacity] with_lines: of the file, for the message about duplicates; else NULL */
} gi_entries;

gable_status gi_entries_reserve(gable_context *ctx, gi_entries *e, gable_off capacity);
void gi_entries_release(gable_context *ctx, gi_entries *e);

/* GABLE_ERR_FORMAT when two entries stand at the same place: names the first that repeats another, and both lines.
 * Needs lines. */
gable_status gi_entries_refuse_duplicates(gable_context *ctx, const gi_source *source, const gi_entries *e);

/* *out = the sum of the entries; releases them on the way, so that memory peaks at less than twice the entries.
 * Entries at the same place are summed in the order in which they came; *duplicates: how many were summed away. */
gable_status gi_entries_compress(gable_context *ctx, gi_entries *e, gi_csc *out, gable_off *duplicates);

#endif
