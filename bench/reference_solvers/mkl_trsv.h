/* mkl_trsv.h: Intel MKL's mkl_sparse_d_trsv as a reference solver; its library is opened at run time and never linked.
 */
#ifndef BENCH_MKL_TRSV_H
#define BENCH_MKL_TRSV_H

typedef struct mkl mkl;
typedef struct mkl_plan mkl_plan;

/* path: of libmkl_rt.so.  NULL with a line on stderr when it cannot be opened. */
mkl *mkl_open(const char *path);

/* The inspector-executor's handle for one triangle by rows (ptr [n+1], the diagonal stored), optimised for many solves
 * by so many threads.  The arrays stay the caller's and must outlive the plan.  NULL when MKL refuses. */
mkl_plan *mkl_analyse(const mkl *m, int n, int *ptr, int *idx, double *val, int upper, int threads);

/* Sets MKL's number of threads to the plan's: before a run of solves. */
void mkl_prepare(const mkl_plan *p);

/* Solves for b into x. */
void mkl_solve(const mkl_plan *p, const double *b, double *x);
void mkl_drop(mkl_plan *p);

#endif
