/* problem.h: the matrix as the caller gave it, and what can be said about it at a glance. */
#ifndef GI_PROBLEM_H
#define GI_PROBLEM_H

#include "graph/match/match.h"
#include "krylov/refine.h"
#include "pipeline/gather.h"
#include "sparse/csc.h"

typedef struct gi_problem {
  gable_idx n;
  gi_csc rows;           /* A by rows, both triangles; val is NULL until there are values */
  gi_csc columns;        /* A by columns as they came, when the pattern is not symmetric, until they are taken */
  gable_off given;       /* entries of the caller's view */
  gable_type value_type; /* of the caller's values */
  gi_gather from_caller; /* rows.val from the caller's values */
  int mirrored;          /* 1: columns of a symmetric pattern came: the values change places with their mirror images */
  uint64_t hash;         /* of the pattern */
  int pattern_symmetric; /* and of the values, once there are any: */
  int values_symmetric;  /* up to rounding */
  int diagonal_full;     /* no a_ii is zero, or missing where there are no values */
  int diagonal_positive; /* all a_ii > 0 */
  int diagonal_negative; /* all a_ii < 0 */
  int promised_spd;      /* by the view */
  gable_structure declared; /* by a view with both triangles: what its values must keep */
  const char *declared_why; /* how a message begins; NULL: the view declares it */
  double *norms;            /* [4n] sums and maxima of rows, then of columns unless values are symmetric */
  int measured;             /* 1: norms are those of the values */
  gi_matching matching;     /* of the values, once it was asked for; row_of is NULL before */
} gi_problem;

/* The pattern of the view (checked), and its values when it has any.  p: zeroed. */
gable_status gi_problem_init(gable_context *ctx, const gable_matrix_view *view, gi_problem *p);
void gi_problem_release(gable_context *ctx, gi_problem *p);

/* val [given] in the caller's order.  GABLE_ERR_NOT_FINITE names an entry that is not finite, GABLE_ERR_ARGUMENT one
 * that breaks the declared symmetry. */
gable_status gi_problem_check_values(gable_context *ctx, const gi_problem *p, const void *val);
/* New values, checked before.  GABLE_ERR_MEMORY: the old ones are still there. */
gable_status gi_problem_set_values(gable_context *ctx, gi_problem *p, const void *val);

/* The norms of the values, unless they are there: before a system is asked for.  A symmetric pattern is arranged
 * without them. */
void gi_problem_measure(gi_problem *p);

/* Is every diagonal entry as large as all others of its row, or of its column, together?  Then elimination is stable in
 * any symmetric order, and no matching does better.  Measured before. */
int gi_problem_is_dominant(const gi_problem *p);

/* p->matching of the values that are there, or of the pattern, found once.  columns: A by columns; of a symmetric A its
 * rows will do. */
gable_status gi_problem_match(gable_context *ctx, gi_problem *p, const gi_csc *columns);
/* Gives the memory of p->matching back. */
void gi_problem_forget_matching(gable_context *ctx, gi_problem *p);

/* out (zeroed): A by columns, with values where there are any. */
gable_status gi_problem_take_columns(gable_context *ctx, gi_problem *p, gi_csc *out);

gi_system gi_problem_system(const gi_problem *p, int threads);
double gi_largest(gable_idx n, const double *v); /* the largest |v_i|; 0 for none */
gable_off gi_problem_bytes(const gi_problem *p);

#endif
