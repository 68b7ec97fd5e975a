/* method_state.h: what a gi_method_solver holds. */
#ifndef GI_METHOD_STATE_H
#define GI_METHOD_STATE_H

#include "kernels/supernodal/cluster_steps.h"
#include "supernodal/methods/method_solve.h"

/* F by rows or by columns, in solve order. */
typedef struct method_off {
  gi_resident ptr, col, value;
} method_off;

struct gi_method_solver {
  gable_context *ctx;
  const gi_layout *layout;
  gi_factor_kind kind;
  gable_solve_method method;
  int merge, has_off;
  const gik_block_steps *steps;
  const gik_cluster_steps *frame;
  gi_method_order order;
  gi_method_triangle l, u; /* u: empty where U is L^T */
  gi_resident dinv, coupling;
  gi_resident plain, interchanged, rows,
      cols; /* [n] number of the k-th: of A', after the interchanges, of the caller's */
  gi_resident row_scale, col_scale;
  method_off off[2];
  gi_method_times times;
};

#endif
