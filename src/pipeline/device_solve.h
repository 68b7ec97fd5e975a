/* device_solve.h: refined solves on the context's GPU (or the mirror). */
#ifndef GI_DEVICE_SOLVE_H
#define GI_DEVICE_SOLVE_H

#include "pipeline/device_factor.h"
#include "pipeline/device_matrix.h"

/* Vectors and states of one refined solve in flight. */
typedef struct gi_device_refinement gi_device_refinement;

/* Where a refinement takes place: borrowed, and the same for all its solves. */
typedef struct gi_device_problem {
  gable_context *ctx;
  const gi_device_factor *factor;
  const gi_device_matrix *matrix;
  gi_device_sweep *sweep;
} gi_device_problem;

/* What a refinement is made for. */
typedef struct gi_device_refinement_form {
  gable_idx columns; /* at once, at most */
  int loops;         /* 1: corrections as long as they help, then GMRES; 0: none */
  gable_idx restart; /* of GMRES, 0: none */
  int recorded;      /* 1: when it is made; 0: the host looks after each correction */
} gi_device_refinement_form;

gable_status gi_device_refinement_create(const gi_device_problem *problem, const gi_device_refinement_form *form,
                                         gi_device_refinement **out);
void gi_device_refinement_destroy(gable_context *ctx, gi_device_refinement **w); /* NULL is fine */

/* Where figures of solves are collected until the next look. */
typedef enum gi_refine_report {
  GI_REPORT_DEVICE, /* of vectors in device memory */
  GI_REPORT_HOST,
  GI_REPORT_ESTIMATE, /* of estimates of rcond and of forward errors */
  GI_REFINE_REPORTS
} gi_refine_report;

typedef struct gi_device_refine_options {
  double tolerance;         /* that refinement is to reach */
  double required;          /* that the report holds x to; larger than tolerance where x is rounded to float */
  int max_steps, max_gmres; /* corrections by the factor; then iterations of GMRES, for each column that stalled */
  int to_float;             /* 1: x is rounded to float before its backward error is reported */
  gi_refine_report report;
} gi_device_refine_options;

/* op(A) x = b for vectors of any layout in device memory; x may be b.  Fewer corrections where the strict backward
 * error meets the tolerance or they stop to help.  Ordered on stream, waits for nothing, allocates nothing; what came
 * of it is told by gi_device_refinement_look.  GABLE_ERR_STATE: matrix or factor lie elsewhere than when w was made. */
gable_status gi_device_solve(gi_device_refinement *w, gable_op op, const gi_device_refine_options *how,
                             const gable_vectors_view *b, const gable_vectors_view *x, void *stream);

/* The same for vectors in host memory, at most as many columns as w takes at a time: b goes up, x comes down, between
 * them is a solve with vectors in device memory.  Waits for x.  Beside its errors GABLE_ERR_DEADLINE. */
gable_status gi_device_solve_host(gi_device_refinement *w, gable_op op, const gi_device_refine_options *how,
                                  const gi_host_columns *columns, void *stream);

/* The worst of all solves with this report since the last look; waits for the stream. */
gable_status gi_device_refinement_look(gi_device_refinement *w, gi_refine_report report, void *stream,
                                       gik_refine_summary *out);

/* Nobody will look at them. */
void gi_device_refinement_forget(gi_device_refinement *w, gi_refine_report report, void *stream);

#endif
