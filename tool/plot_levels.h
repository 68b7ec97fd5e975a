/* plot_levels.h: a picture of the level sets of both triangles. */
#ifndef TOOL_PLOT_LEVELS_H
#define TOOL_PLOT_LEVELS_H

#include <gable/gable.h>

typedef struct level_sets {
  const char *name; /* "lower triangle" */
  gable_idx count;
  const gable_idx *rows;    /* [count] of each level */
  const gable_off *entries; /* [count] of each level, without the diagonal */
  gable_off narrow;         /* levels with at most so many rows and entries are left to one thread by levr and levc */
  const char *choice;       /* what auto says */
} level_sets;

/* Writes an SVG to path; title: a line.  Returns an exit status. */
int plot_levels(const char *path, const char *title, const level_sets *sets, int count);

#endif
