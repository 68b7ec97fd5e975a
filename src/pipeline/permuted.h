/* permuted.h: A' = (R A C)(row_perm, col_perm), by columns and by rows, as the numeric factorization reads it. */
#ifndef GI_PERMUTED_H
#define GI_PERMUTED_H

#include "pipeline/gather.h"
#include "pipeline/problem.h"

typedef struct gi_permuted {
  gi_csc columns, rows;   /* A' by columns (its lower triangle alone: lower), and by rows (unless lower); of a symmetric
                             pattern ptr and idx of rows are those of columns */
  gi_gather from;         /* of problem->rows.val, for columns */
  gi_gather from_columns; /* of columns.val, for rows */
} gi_permuted;

/* The structure; no values. */
gable_status gi_permuted_init(gable_context *ctx, const gi_problem *p, const gable_idx *row_perm,
                              const gable_idx *col_perm, int lower, gi_permuted *out);
void gi_permuted_release(gable_context *ctx, gi_permuted *a);

/* Allocates and fills the values r_i a_ij c_j; r, c [n] by rows and columns of A. */
gable_status gi_permuted_fill(gable_context *ctx, gi_permuted *a, const gi_problem *p, const gable_idx *row_perm,
                              const gable_idx *col_perm, const double *r, const double *c);
/* Gives the memory of the values back. */
void gi_permuted_empty(gable_context *ctx, gi_permuted *a);

gable_off gi_permuted_bytes(const gi_permuted *a);
/* The most that it will be for this problem, values included; 0 without a matrix. */
gable_off gi_permuted_most_bytes(const gi_problem *p, int lower);

#endif
