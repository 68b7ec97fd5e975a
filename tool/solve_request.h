/* solve_request.h: what `gable solve` was asked, and what it found; filled by cmd_solve.c, told by solve_report.c. */
#ifndef TOOL_SOLVE_REQUEST_H
#define TOOL_SOLVE_REQUEST_H

#include <gable/gable.h>

#include "json.h"

typedef struct solve_request {
  const char *matrix, *b_path, *x_path, *order, *method, *match, *blas, *save_path, *load_path, *json_path, *where,
      *solve_method;
  long rhs, threads, repeat, refine, expected_solves;
  double tolerance;
  int transpose, strict, merge_blocks;
  gable_order order_taken; /* of order; GABLE_ORDER_AUTO without */
} solve_request;

typedef struct solve_outcome {
  const char *where; /* of the sweeps */
  char why[200];     /* why auto took it; "" where it was not asked */
  int threads;
  gable_idx columns;
  gable_matrix_info matrix;
  double read_s, load_s, save_s, write_s, estimate_s, total_s;
  double solve_q1_s, solve_s, solve_q3_s; /* quartiles over the repeats */
  double floor_s;                         /* of one of them, by its bytes; 0: not measured */
  double rcond, forward_error;
  double peak_bytes; /* of the process */
  gable_off memory_bytes;
  gable_solve_report report;
  gable_status status; /* of the solve */
  const gable_solver *solver;
} solve_outcome;

/* By gable_method, as --method and the JSON name them. */
extern const char *const solve_methods[4];

/* The text that a person reads. */
void solve_report_print(FILE *out, const solve_request *q, const solve_outcome *r);
/* All but the matrix's name. */
void solve_report_json(json *j, const solve_request *q, const solve_outcome *r);

#endif
