/* arrangement.h: how a problem is to be factored: method, matching, scalings, order, structure. */
#ifndef GI_ARRANGEMENT_H
#define GI_ARRANGEMENT_H

#include <gable/solver.h>

#include "graph/symbolic/symbolic.h"
#include "pipeline/problem.h"
#include "supernodal/cpu/solve.h"

/* The arrangement came with imported factors: its structure need not hold the pattern of the matrix. */
enum { GI_ROWS_IMPORTED = 3 };

typedef struct gi_arrangement {
  gable_method method; /* never AUTO */
  gable_order order;   /* never AUTO */
  int starved;         /* 1: gi_order_report.metis_starved */
  gable_idx long_rows; /* gi_order_report.long_rows */
  int matched;         /* 1: by gi_match; 2: and then by partial pivoting; GI_ROWS_IMPORTED */
  gable_idx rank;
  gable_idx *row_perm, *col_perm; /* [n] row and column of A that come k-th in A' */
  double *r, *c;                  /* [n] scalings, by rows and columns of A */
  int keeps_small;                /* 1: pivots down to 64 epsilon are kept: nothing grew over them */
  int loaded;                     /* 1: the layout is from a file, and no numbers were put into it here */
  gi_layout *layout;
  gi_solve_plan *plan;
  double order_s, match_s, symbolic_s;
  double structure_s; /* of symbolic_s: gi_symbolic and the tree that came with the order */
} gi_arrangement;

/* A symmetric method factors the lower triangle of A' alone, and has no U. */
static inline gi_factor_kind gi_arrangement_kind(const gi_arrangement *a)
{
  return a->method == GABLE_METHOD_CHOLESKY ? GI_CHOLESKY : a->method == GABLE_METHOD_LDLT ? GI_LDLT : GI_LU;
}

/* What a prediction asks for beside the options of a solver. */
typedef struct gi_prediction {
  gi_symbolic_form form; /* of an LU; AUTO: as a solver has it */
  gable_idx max_width;   /* gi_symbolic_options */
  int exact;
} gi_prediction;

/* options: all filled in, match not GABLE_CHOICE_AUTO against the problem's interest: see docs/solver.md.  out: zeroed.
 * p->columns are taken.  GABLE_ERR_SINGULAR names a row that cannot be matched.
 * predicted: NULL for a solver.  Else out has neither scalings nor a plan, and where rows cannot be matched they all
 * stay where they are. */
gable_status gi_arrange(gable_context *ctx, gi_problem *p, const gable_solver_options *options,
                        const gi_prediction *predicted, gi_arrangement *out);

/* Solves with one factor that costs are weighed against; at least one. */
static inline double gi_solves_expected(const gable_solver_options *options)
{
  return options->solves > 1 ? (double)options->solves : 1;
}

/* The same order of columns, with the rows that threshold partial pivoting takes: for matrices on which static pivots
 * fail. a_prime: A' of old with its values, by columns.  threshold: of the largest entry of its column that a pivot
 * must have; 1: the largest itself. */
gable_status gi_arrange_pivots(gable_context *ctx, const gi_csc *a_prime, const gable_solver_options *options,
                               double threshold, const gi_arrangement *old, gi_arrangement *out);

gable_status gi_arrangement_init(gable_context *ctx, gable_idx n, gi_arrangement *a); /* permutations and scalings */
void gi_arrangement_release(gable_context *ctx, gi_arrangement *a);

/* Scalings again for new values under the old permutations. */
void gi_arrangement_rescale(const gi_problem *p, gi_arrangement *a);

gable_off gi_arrangement_bytes(const gi_arrangement *a);

#endif
