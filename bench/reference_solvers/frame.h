/* frame.h: what a solver shows to be measured.  One program per solver: frame.c holds main, the solver's file defines
 * `solver`.
 *
 * Every phase returns NULL, or a text that says why it could not be done. */
#ifndef BENCH_FRAME_H
#define BENCH_FRAME_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Both triangles, by columns, base 0, rows increasing within a column. */
typedef struct frame_matrix {
  int n, symmetric;
  int64_t nnz;
  int64_t *ptr; /* [n+1] */
  int *ptr32;   /* [n+1] the same, for solvers with 32-bit offsets; NULL when nnz does not fit */
  int *idx;     /* [nnz] */
  double *val;  /* [nnz] */
} frame_matrix;

typedef struct frame_input {
  const frame_matrix *a;
  const char *mode;      /* "general", "symmetric" (indefinite) or "spd" */
  const char *variant;   /* "" or a word that the solver knows */
  const int *given;      /* [n] given[k] = the column of A that comes k-th, or NULL: the solver's own order */
  const int *given_rows; /* [n] and the row that stands with it on the diagonal */
  int threads;
} frame_input;

typedef struct frame_solver {
  const char *name;
  int in_place; /* 1: solve finds b in x and overwrites it */
  const char *(*order)(const frame_input *in);
  const char *(*symbolic)(const frame_input *in); /* NULL: order does both */
  const char *(*factor)(const frame_input *in);   /* may be called again, with the same pattern */
  const char *(*solve)(const frame_input *in, const double *b, double *x, int count); /* [n*count] column major */
  double (*nnz_l)(const frame_input *in); /* entries of L with its diagonal, and of U for an unsymmetric solver,
                                             together; -1: unknown */
  void (*options)(FILE *out, const frame_input *in); /* what was set, one JSON string's content */
  void (*split)(const frame_input *in, double *order_s,
                double *symbolic_s);               /* NULL, or what one call of order took apart */
  void (*extra)(FILE *out, const frame_input *in); /* NULL, or more members of the JSON object */
  const int *(*permutation)(const frame_input *in,
                            int rows); /* NULL, or the order of columns or rows, to be given to others */
} frame_solver;

extern const frame_solver solver;

#endif
