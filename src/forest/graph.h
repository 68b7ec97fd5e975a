/* graph.h: a star forest as one rank knows it.
 *
 * Two sides.  leaves: this rank's leaves by the rank of their roots.  roots: this rank's roots, once for each edge, by
 * the rank of the leaf.  The edges between two ranks stand in one order on both, by the leaf's position: edge e of
 * neighbour k is index[ptr[k] + e], here a position, there the root.  That is also the order of sums. */
#ifndef GI_FOREST_GRAPH_H
#define GI_FOREST_GRAPH_H

#include <gable/forest.h>

#include "comm/comm.h"
#include "kernels/forest/index_map.h"

typedef struct gi_forest_side {
  int n;          /* neighbours, by increasing rank */
  int self;       /* which of them is this rank, -1: none */
  int *rank;      /* [n] */
  int64_t *ptr;   /* [n + 1] */
  int64_t *index; /* [ptr[n]] */
  gik_map *map;   /* [n], of the indices */
  int64_t *runs;  /* what maps of runs point to */
} gi_forest_side;

static inline int64_t gi_edges(const gi_forest_side *s)
{
  return s->n ? s->ptr[s->n] : 0;
}

/* A wide root's edges with one neighbour: their places in its message, or the positions of this rank's own leaves. */
typedef struct gi_wide_part {
  int64_t root;  /* which of the wide roots */
  int64_t first; /* number of the first value in the root's tree */
  gik_map from;
} gi_wide_part;

/* Roots with more than GIK_WIDE_DEGREE leaves, which reductions other than REPLACE take by the tree of wide_tree.h;
 * and the edges of all other roots, by neighbour of the roots side. */
typedef struct gi_wide {
  int64_t n;
  int64_t *root, *degree; /* [n] by increasing root */
  int64_t *lane;          /* [n + 1] where the lanes of each tree begin, in items */
  int64_t *part_ptr;      /* [neighbours + 1] */
  gi_wide_part *part;     /* [part_ptr[neighbours]] of a neighbour by increasing root */
  gik_map *to, *from;     /* [neighbours] narrow edges: root, and place as in a part */
  int64_t *index;         /* what maps point to */
} gi_wide;

struct gable_forest {
  gable_comm *comm;
  gable_context *ctx;
  int references; /* of the caller and of plans */
  int64_t n_roots, n_leaves, max_degree;
  int64_t root_space, leaf_space; /* 1 + the largest root with a leaf, and the largest position: how far arrays reach */
  gi_forest_side leaves, roots;
  int64_t *leaf_root;   /* [n_leaves] the index of each leaf's root, in the order of leaves.index */
  unsigned char *apart; /* [roots.n] 1: no root twice among this neighbour's edges */
  int self_first;       /* no root of a local edge has a leaf on a lower rank */
  gi_wide *wide;        /* NULL: no root is wide */
  gable_forest *multi;  /* gable_forest_multi, once a plan has needed it */
};

/* gable_forest_create without a check for NULL; leaf and root may be the caller's or a temporary. */
gable_status gi_forest_create(gable_comm *comm, int64_t n_roots, int64_t n_leaves, const int64_t *leaf,
                              const gable_root *root, gable_forest **out);
void gi_forest_release(gable_forest *f); /* one reference less; NULL is fine */

/* *number [edges of the roots side]: the roots' own, or, where they are many more than the edges, numbers by increasing
 * root among those with leaves, in *made, which the caller frees; *count: above the largest. */
gable_status gi_number_roots(const gable_forest *f, const int64_t **number, int64_t **made, int64_t *count);

/* This rank's edges: leaf positions and roots in the order of the leaves side; arrays [n_leaves] of the caller's. */
void gi_forest_edges(const gable_forest *f, int64_t *leaf, gable_root *root);

/* side.c: edges [size] with each rank; index [their sum], by rank, moves in on success. */
gable_status gi_forest_side_init(gable_context *ctx, gi_forest_side *s, int own, int size, const int64_t *edges,
                                 int64_t *index);
gable_status gi_forest_side_maps(gable_context *ctx, gi_forest_side *s);
void gi_forest_side_release(gable_context *ctx, gi_forest_side *s);

/* wide.c: f->wide.  number [edges of the roots side] in [0, count): the root of each edge, in increasing order of
 * roots; degree [count].  What was made when it fails is the forest's. */
gable_status gi_wide_create(gable_forest *f, const int64_t *number, const int64_t *degree, int64_t count);
void gi_wide_release(gable_context *ctx, gi_wide *w);

/* sort.c: order [n]: the numbers 0 to n-1 by increasing key, equal ones in their order; room [n]. */
void gi_sort_order(const int64_t *key, int64_t n, int64_t *order, int64_t *room);
void gi_sort_numbers(int64_t *number, int64_t n);
int gi_is_among(const int64_t *sorted, int64_t n, int64_t value);

#endif
