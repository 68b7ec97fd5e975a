/* row_cost_model.h: how long one core takes for consecutive rows, from a small model of an out-of-order processor.
 *
 * Rows enter in order at the rate of their work; a row is done a latency after it has entered and after all it depends
 * on is done; a row cannot enter before the one that is a window of instructions older is done.  So a chain of rows
 * costs a latency each, and independent rows only their work. */
#ifndef GI_ROW_COST_MODEL_H
#define GI_ROW_COST_MODEL_H

#include "base/context.h"

typedef struct gi_row_cost_model {
  const gable_off *ptr; /* [n+1] */
  const gable_idx *col; /* row k depends on col[ptr[k] .. ptr[k+1]) */
  double row, entry;    /* seconds of work */
  double latency;       /* seconds from the last dependency to the result */
  double *done;         /* [n] when each row is done, in the call of gi_row_cost that had it last */
  gable_idx *call;      /* [n] which call that was */
  gable_idx calls;
} gi_row_cost_model;

/* The constants are measured on one x86-64 server core at 2.6 GHz. */
gable_status gi_row_cost_model_init(gable_context *ctx, gable_idx n, const gable_off *ptr, const gable_idx *col,
                                    gi_row_cost_model *out);
void gi_row_cost_model_release(gable_context *ctx, gi_row_cost_model *p);

/* Seconds of rows order[begin] .. order[end-1] (NULL: begin .. end-1) alone. */
double gi_row_cost(gi_row_cost_model *p, const gable_idx *order, gable_idx begin, gable_idx end);

#endif
