/* forest_solve.h: products and conjugate gradients on a matrix cut over ranks, timed and compared with a serial
 * program. */
#ifndef TOOL_FOREST_SOLVE_H
#define TOOL_FOREST_SOLVE_H

#include "forest_rows.h"

typedef struct forest_solve_options {
  int cg; /* else products */
  double tolerance;
  long iterations; /* at most */
  gable_path path; /* of all messages */
  int captured;    /* products or iterations are replayed from a graph */
  int model_a;     /* as in forest_bench_options */
} forest_solve_options;

/* Of all ranks, but for times and messages, which are rank 0's. */
typedef struct forest_solve_result {
  gable_idx n, rows_least, rows_most; /* rows: of a rank */
  gable_off nnz, edges;               /* edges: ghosts of all ranks */
  int messages;                       /* that rank 0 sends in one halo */
  char codec[16];                     /* of the first of them */
  double one_way_s, q1_s, q3_s;       /* a product, an iteration of cg: median, quartiles */
  double local_s;                     /* the product's sums alone */
  double floor_s, model_s;            /* forest_work_floor, _model; model_s 0: there is one rank */
  double puts, launches, syncs;       /* of rank 0's exchanges, a product or an iteration: gable_exchange_info */
  double checksum;                    /* sum of y, of x for cg */
  int checked;                        /* y, or x and the residuals, have the bits of the serial program */
  /* Of cg: */
  int64_t iterations;
  int converged;
  int underflowed;                /* (b, b) underflows: see forest_cg_outcome */
  double residual, true_residual; /* ||b - A x|| / ||b||: by the recurrence, by the serial product */
} forest_solve_result;

/* Collective.  a, part as in forest_rows_open.  spmv: y = A x for x between 1 and 2; cg: A x = b for b = A times ones,
 * from x = 0.  The result is complete on rank 0. */
gable_status forest_solve(gable_comm *comm, const gable_matrix_view *a, const int32_t *part,
                          const forest_solve_options *o, forest_solve_result *out);

#endif
