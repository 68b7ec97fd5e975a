/* refine_steps.h: iterative refinement with vectors on a device, several columns at a time, without a question to the
 * host.
 *
 *   load | solve B -> X | residual, judge | while active: solve R -> R, correct, residual, judge |
 *        to float: round, residual, judge | finish
 *
 * The state of each column lies beside the vectors.  judge computes the backward errors of krylov/refine.h and decides
 * as refine.c does: a column ends when its strict error meets the tolerance, when a correction gains less than a factor
 * of two, or after max_steps; a correction that makes it worse is taken back.  A column that has ended stays as it is.
 *
 * Columns that ended above the tolerance go on by GMRES, one after another, as in refine.c:
 *
 *   pick | while going: residual, weigh, measure, aim, cycle |
 *                         while cycling: direct, solve, product, orthogonalise |
 *                       combine, accept, residual, judge, pick
 *
 * with measure, cycle, combine and what makes orthogonal of krylov_steps.h.
 *
 * Maxima do not depend on the order in which they are taken, and every sum has a fixed one: the same bits in every run,
 * and for a column whatever stands beside it.  Launches are asynchronous on the stream and allocate nothing. */
#ifndef GIK_REFINE_STEPS_H
#define GIK_REFINE_STEPS_H

#include <stdint.h>

#include <gable/types.h>

#include "base/context.h"
#include "kernels/krylov/krylov_steps.h"
#include "kernels/list.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GIK_REFINE_COLUMNS = 128 };

/* What the pivots of the factor tell of A; in device memory, so that a graph reads those of new values. */
typedef struct gik_refine_pivots {
  double norm;      /* ||A||_1 where pivots were replaced, else 0 */
  int64_t replaced; /* pivots */
  int singular;     /* 1: A is numerically singular */
} gik_refine_pivots;

/* A or its transpose by rows, with the sum and the maximum of |a_ij| of each row. */
typedef struct gik_refine_matrix {
  gable_idx n;
  const gable_off *ptr; /* [n+1] */
  const gable_idx *idx;
  const double *val, *sum, *top;
  const gik_refine_pivots *pivots;
} gik_refine_matrix;

/* Of one column; in device memory, zero before its first look. */
typedef struct gik_refine_column {
  double backward, strict, first; /* errors of x; the backward error before the first correction */
  int looks;                      /* that judge has taken */
  int ended, taken_back;
  int gmres;   /* iterations */
  int bad_row; /* the lowest row in which b is not finite, plus one; 0: none */
  int huge;    /* 1: ||b||_1 < eps ||A||_1 ||x||_1, and pivots were replaced */
  /* What a look collects: bits of numbers that are not negative, which have the order of integers. */
  uint64_t norm_x, strict_bits, omega_1, omega_2;
} gik_refine_column;

/* What says that a system is numerically singular; the larger one counts. */
typedef enum gik_refine_singular { GIK_REGULAR = 0, GIK_HUGE_X = 1, GIK_SINGULAR_FACTOR = 2 } gik_refine_singular;

/* Of all columns since the last reset: zero at first. */
typedef struct gik_refine_summary {
  double backward, first;         /* the largest; backward: of the columns that miss their tolerance, if any do */
  double required;                /* the tolerance of the column with that backward error */
  int64_t replaced;               /* pivots, of GIK_SINGULAR_FACTOR */
  int singular;                   /* a gik_refine_singular */
  int worst, bad_row, bad_column; /* column with that backward error; rows and columns plus one, 0: none */
  int steps, gmres;               /* the most of a column */
  double solve_s, refine_s;       /* sums: from load to the first residual, from there to finish */
} gik_refine_summary;

/* What a solve is asked for, how far it is, and the column at which GMRES works; in device memory. */
typedef struct gik_refine_control {
  double tolerance;
  int count, max_steps, max_gmres;
  int active;        /* columns that have not ended */
  int rounded;       /* 1: x has the precision of float, judge measures it and changes nothing */
  unsigned arrived;  /* thread blocks of the kernel that runs */
  int64_t begin;     /* nanoseconds of the device's clock at load */
  int64_t swept;     /* and at the first residual, 0: not yet */
  int column;        /* -1: none yet */
  int going;         /* 1: it is to go on */
  int iterations;    /* that it has had */
  int cycle;         /* those of the last cycle */
  uint64_t heaviest; /* bits of the largest weight */
} gik_refine_control;

/* Columns of n doubles, one after another. */
typedef struct gik_refine {
  gik_refine_matrix a;
  int count; /* at most GIK_REFINE_COLUMNS */
  double *b, *x, *r, *weight, *old;
  gik_refine_column *column; /* [GIK_REFINE_COLUMNS] */
  gik_refine_summary *summary;
  double tolerance;         /* load puts these three into control */
  int max_steps, max_gmres; /* corrections; then iterations of GMRES, of a column */
  double required;          /* backward error that finish lets pass; tolerance, or more where x is rounded */
  gik_refine_control *control;
} gik_refine;

/* Vectors of GMRES. */
typedef struct gik_refine_gmres {
  gik_krylov krylov;
  gik_gmres q;
  double *z;         /* [restart][n] preconditioned vectors of the basis */
  double *direction; /* [n] the one that is being made */
  double *step;      /* [n] A direction, and the update of a cycle */
} gik_refine_gmres;

/* Columns of a caller: entry (i,j) at data[i*row + j*step], float or double. */
typedef struct gik_refine_outside {
  gable_type type;
  void *data;
  gable_off row, step;
} gik_refine_outside;

struct gik_refine_steps {
  gable_status (*load)(const gik_refine *f, const gik_refine_outside *b, void *stream); /* B, fresh columns */
  gable_status (*residual)(const gik_refine *f, void *stream); /* r = b - A x, weight = |A||x|, ||x||_inf */
  gable_status (*judge)(const gik_refine *f, void *stream);
  gable_status (*correct)(const gik_refine *f, void *stream); /* old = x, x += r */
  /* Takes back what made columns worse and rounds x to float; every column is active again. */
  gable_status (*round)(const gik_refine *f, void *stream);
  /* Takes back what made columns worse, gives x to the caller, and adds the columns, the first of which is the caller's
   * number first, to the summary.  Finds the columns with a huge x where pivots were replaced; r and weight are scratch
   * then. */
  gable_status (*finish)(const gik_refine *f, const gik_refine_outside *x, int first, void *stream);

  /* GMRES for the column control->column, j. */
  gable_status (*pick)(const gik_refine *f,
                       void *stream); /* the next one, if j has ended; takes back what made it worse */
  /* basis_0 = r / weight, weight_i = max(|A||x| + |b|, 2^-40 sum_k |a_ik| ||x||), the largest where that is 0; state:
   * fresh. */
  gable_status (*weigh)(const gik_refine *f, const gik_refine_gmres *g, void *stream);
  /* The norm of basis_0 is known: a tenth of the tolerance is to be reached. */
  gable_status (*aim)(const gik_refine *f, const gik_refine_gmres *g, void *stream);
  gable_status (*direct)(const gik_refine *f, const gik_refine_gmres *g, void *stream); /* direction = weight basis_k */
  /* z_k = direction, step = (A direction) / weight. */
  gable_status (*product)(const gik_refine *f, const gik_refine_gmres *g, void *stream);
  gable_status (*accept)(const gik_refine *f, const gik_refine_gmres *g, void *stream); /* old = x, x += step */
};

#ifdef __cplusplus
}
#endif

#endif
