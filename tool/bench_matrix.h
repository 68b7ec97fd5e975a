/* bench_matrix.h: both triangles of a matrix by rows, made fit to be solved with, for `gable bench`. */
#ifndef TOOL_BENCH_MATRIX_H
#define TOOL_BENCH_MATRIX_H

#include <gable/gable.h>

/* Base 0, increasing within a row, the diagonal included. */
typedef struct bench_rows {
  gable_idx n, levels;
  gable_off nnz;
  gable_part part;
  int32_t *ptr;   /* [n+1] */
  gable_idx *idx; /* [nnz] */
  double *val;    /* [nnz] */
  int scaled;     /* 1: substitution overflows, so off-diagonal entries were scaled: 0.9 of the diagonal in each row */
} bench_rows;

typedef struct bench_matrix {
  char name[80];
  gable_off duplicates;     /* of the file: refused when strict, else summed */
  bench_rows part[2];       /* lower, upper */
  bench_rows transposed[2]; /* of part[k], where asked for; else empty */
} bench_matrix;

typedef struct bench_reading {
  int strict;
  int single;    /* 1: values that a float holds, and no substitution beyond its range */
  int transpose; /* 1: transposed, too, and no substitution with it overflows */
} bench_reading;

/* source: a file, or what `gable generate` understands (seed 1).  A zero, missing or infinite diagonal entry
 * becomes 1; a pattern's entries become -1; a matrix without an entry above its diagonal (a twin) is mirrored for its
 * upper triangle.  GABLE_ERR_ARGUMENT: not square; GABLE_ERR_FORMAT: complex;
 * GABLE_ERR_LIMIT: 2^31 entries or more. */
gable_status bench_matrix_open(gable_context *ctx, const char *name, const char *source, const bench_reading *how,
                               bench_matrix *m, char *why, size_t why_bytes);
void bench_matrix_close(bench_matrix *m);

/* Both triangles as one matrix by rows: for sweeps. */
gable_status bench_matrix_whole(const bench_matrix *m, bench_rows *whole);
void bench_rows_free(bench_rows *r);

/* The largest |b - T x|_i over 4 nnz_i eps (|T||x| + |b|)_i with the eps of the vectors' type, on so many threads;
 * infinite for NaN. */
double bench_rows_ratio(const bench_rows *t, const gable_vectors_view *b, const gable_vectors_view *x, int threads);

#endif
