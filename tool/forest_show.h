/* forest_show.h: who sends what to whom along a forest: collected on rank 0, told, drawn. */
#ifndef TOOL_FOREST_SHOW_H
#define TOOL_FOREST_SHOW_H

#include <gable/gable.h>
#include <stdio.h>

#include "json.h"

enum { SHOWN_RANKS = 64 }; /* at most */

/* The edges from the roots of one rank to the leaves of another; codecs of the indices on both sides. */
typedef struct forest_pair {
  int root_rank, leaf_rank;
  gable_off edges;
  char root_codec[12], leaf_codec[12];
} forest_pair;

typedef struct forest_shape {
  int ranks, n;                                      /* n: pairs, by (root_rank, leaf_rank) */
  gable_off roots[SHOWN_RANKS], leaves[SHOWN_RANKS]; /* of each rank */
  forest_pair *pair;                                 /* [n] */
} forest_shape;

/* Collective.  *out is complete on every rank; forest_shape_close frees it.  GABLE_ERR_LIMIT: too many ranks. */
gable_status forest_shape_open(gable_comm *comm, const gable_forest *f, forest_shape *out);
void forest_shape_close(forest_shape *s);

/* Lines on out and keys of j; bytes: 8 for each edge. */
void forest_show(const forest_shape *s, FILE *out, json *j);

/* plot_forest.c: the ranks on a circle with their messages, and the table of bytes with codecs.  Returns an exit
 * status. */
int plot_forest(const char *path, const char *title, const forest_shape *s);

#endif
