/* attempt.h: a factorization that was tried, and what the systems solved with it say about it. */
#ifndef GI_ATTEMPT_H
#define GI_ATTEMPT_H

#include "factor/factor.h"
#include "pipeline/arrangement.h"

/* Zeroed: nothing was solved, since pivots and growth are above suspicion. */
typedef struct gi_verdict {
  double error;    /* the larger backward error of the systems with A and A^T; INFINITY: an answer overflows */
  gable_idx gmres; /* iterations that the worse one took */
} gi_verdict;

typedef struct gi_attempt {
  gi_arrangement arrangement; /* its times are counted elsewhere */
  gi_factor *factor;          /* NULL: there is no attempt */
  gi_verdict verdict;
  double factor_s;
} gi_attempt;

#endif
