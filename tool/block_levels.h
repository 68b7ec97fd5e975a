/* block_levels.h: the blocks of a supernodal triangular solve, counted level by level, before and after merging. */
#ifndef TOOL_BLOCK_LEVELS_H
#define TOOL_BLOCK_LEVELS_H

#include <stdio.h>

#include <gable/gable.h>

#include "json.h"

/* What one level solves at once. */
typedef struct block_level {
  gable_idx blocks;
  gable_idx columns, columns_largest; /* of all its blocks together, of the widest one */
  gable_idx rows_largest;             /* columns and rows below them, of the tallest block */
} block_level;

typedef struct block_levels {
  gable_idx blocks, count;
  block_level *level; /* owned [count] */
} block_levels;

/* merged: as in gable_symbolic_get_blocks. */
gable_status block_levels_find(const gable_symbolic *s, int merged, block_levels *out);
void block_levels_release(block_levels *b);

/* Both as a table of at most 16 lines; where there are more levels, a line is of several. */
void block_levels_print(FILE *out, const block_levels *before, const block_levels *after);
void block_levels_json(json *j, const char *key, const block_levels *b);

/* An SVG of both: blocks of each level, and their sizes.  Returns an exit status. */
int plot_blocks(const char *path, const char *title, const block_levels *before, const block_levels *after);

#endif
