/* chunks.h: short sequences of rows of a dependency graph, and the graph between them. */
#ifndef GI_CHUNKS_H
#define GI_CHUNKS_H

#include "trisolve/cpu/row_cost_model.h"

typedef struct gi_chunks {
  gable_idx count;
  gable_idx *start;    /* [count+1] offsets into the base order */
  double *seconds;     /* [count] its rows alone */
  gable_off *pred_ptr; /* [count+1] */
  gable_idx *pred;     /* [pred_ptr[count]] chunks that it needs, each once, all below it */
  float *pred_lines;   /* [pred_ptr[count]] cache lines of unknowns that stand for the edge */
  gable_off *succ_ptr; /* [count+1] */
  gable_idx *succ;     /* [succ_ptr[count]] */
} gi_chunks;

/* Runs of base (NULL: 0..n-1) that end at the places cuts[] (increasing, beginning with 0; NULL: nowhere), with at most
 * size rows and entries together, or one row.  O(nnz). */
gable_status gi_chunks_cut(gable_context *ctx, gable_idx n, gi_row_cost_model *row_cost, const gable_idx *base,
                           const gable_idx *cuts, gable_off size, gi_chunks *out);

/* Frees the arrays.  Fine on a zeroed one, and twice. */
void gi_chunks_release(gable_context *ctx, gi_chunks *c);

#endif
