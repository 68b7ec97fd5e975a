/* blas.h: an OpenBLAS of the system for large dense products, opened at run time; blas.c, blas_absent.c.
 *
 * OpenBLAS is of one process and keeps state: how it was built says whether several threads may call it at once and how
 * many threads it starts itself.  It is asked, and never told: nothing that others in the process would notice is set.
 *   OpenMP   inside gik_blas_alone it uses the calling thread alone, and any number of threads may call it.  It must
 *            run on the OpenMP runtime that this library was built with.
 *   pthreads callable by any number of threads; but each call spreads over its own threads, unless it has one.
 *   serial   Debian's is built without locks: concurrent calls give wrong products.  For one thread alone, and only
 *            while no other thread of the process calls it.
 * It has room for so many calls at once, and ends the process when there are more: factorizations begin and end their
 * use, and one that would be too much waits for others.  Memory that it is refused it asks for again, for ever: it is
 * not opened where the address space or the data of the process is limited (setrlimit). */
#ifndef GIK_BLAS_H
#define GIK_BLAS_H

#include <gable/types.h>

#include "base/status.h"

/* C = alpha A op(B) + beta C; cblas_dgemm and cblas_sgemm, in its numbers. */
enum { GIK_BLAS_COLUMNS = 102, GIK_BLAS_PLAIN = 111, GIK_BLAS_TRANSPOSED = 112 };
typedef void gik_gemm_d(int order, int trans_a, int trans_b, int m, int n, int k, double alpha, const double *a,
                        int lda, const double *b, int ldb, double beta, double *c, int ldc);
typedef void gik_gemm_s(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const float *a, int lda,
                        const float *b, int ldb, float beta, float *c, int ldc);

typedef struct gik_blas {
  void *library; /* NULL: none */
  gik_gemm_d *gemm_d;
  gik_gemm_s *gemm_s;
  gable_off small; /* most rows x columns x terms of a product that it computes without packing; 0: it always packs */
  gable_idx least; /* rows, columns and terms of the products that it is given: at least so many of each */
  int most;        /* calls at once in the whole process */
  int in_place;    /* 1: and only those that it can add where they belong; 0: scattered ones too, through a buffer */
  char name[160];  /* in its own words */
} gik_blas;

/* Opens the OpenBLAS that serves for calls by `threads` threads at once; GABLE_ERR_UNAVAILABLE says what is in the way.
 * It is given every product of 96 rows, columns and terms.  Opening takes some milliseconds.  blas is zeroed before. */
gable_status gik_blas_open(int threads, gik_blas *blas);
/* The same for those products alone that it computes about as fast as the own kernels, or faster: in place, from 64 on.
 * One that any thread of the process may call at any time, with vectors as wide as theirs; none: library stays NULL. */
void gik_blas_open_if_good(int threads, gik_blas *blas);
void gik_blas_close(gik_blas *blas);

/* Around all calls of so many threads: waits, first come first served, until with theirs no more than blas->most calls
 * of users of this library can be under way.  Pairs; not within one another.  blas may be NULL: nothing. */
void gik_blas_begin(const gik_blas *blas, int threads);
void gik_blas_end(const gik_blas *blas, int threads);

/* run(user) as a task of its own whose calls of an OpenBLAS on OpenMP stay on this thread. */
void gik_blas_alone(void (*run)(void *user), void *user);

#endif
