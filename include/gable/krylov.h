/* krylov.h: CG, BiCGSTAB and restarted GMRES, with preconditioners made of triangular solves.
 *
 * In double precision, on the CPU or on a GPU, where factors and vectors stay in its memory and the host asks for the
 * residual at most once in an iteration.  Factors of ILU(0) and IC(0) are applied by gable_trisolve plans.  The results
 * have the same bits in every run on one place, unless method is levc, elmc or gsf; docs/algorithms/krylov.md says
 * where places differ. */
#ifndef GABLE_KRYLOV_H
#define GABLE_KRYLOV_H

#include <gable/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gable_krylov gable_krylov;

typedef enum gable_krylov_solver {
  GABLE_KRYLOV_CG = 0,
  GABLE_KRYLOV_BICGSTAB = 1,
  GABLE_KRYLOV_GMRES = 2
} gable_krylov_solver;

typedef enum gable_preconditioner {
  GABLE_PRECOND_NONE = 0,
  GABLE_PRECOND_JACOBI = 1, /* the diagonal */
  GABLE_PRECOND_GS = 2,     /* one symmetric Gauss-Seidel sweep from zero */
  GABLE_PRECOND_ILU0 = 3,
  GABLE_PRECOND_IC0 = 4 /* of the lower triangle; the matrix is taken to be symmetric */
} gable_preconditioner;

typedef struct gable_krylov_options {
  size_t size; /* of this struct, so that it can grow */
  gable_krylov_solver solver;
  gable_preconditioner preconditioner;
  const char *method;                /* of the triangular solves and sweeps; NULL is "auto" */
  double tolerance;                  /* on ||b - A x|| / ||b||; 0: 1e-8 */
  gable_idx max_iterations, restart; /* 0: 1000; 0: 30 (GMRES), at most 65000 */
  int threads;                       /* at most so many; 0: the context's */
} gable_krylov_options;
#define GABLE_KRYLOV_OPTIONS_INIT                                                                                      \
  {                                                                                                                    \
    sizeof(gable_krylov_options), GABLE_KRYLOV_CG, GABLE_PRECOND_NONE, NULL, 0.0, 0, 0, 0                              \
  }

/* Local.  options may be NULL.  ctx must outlive the solver. */
GABLE_API gable_status gable_krylov_create(gable_context *ctx, const gable_krylov_options *options, gable_krylov **out);

/* Local.  Copies the square matrix a (values included, double; symmetric ones with both triangles; device memory on a
 * GPU only) and makes the preconditioner.  May be called again.  GABLE_ERR_SINGULAR names the row of a pivot that
 * vanished, GABLE_ERR_ARGUMENT the entry that breaks a symmetry that a declares (a in host memory). */
GABLE_API gable_status gable_krylov_set_matrix(gable_krylov *k, const gable_matrix_view *a);

typedef struct gable_krylov_info {
  size_t size; /* of this struct, so that it can grow */
  gable_idx iterations;
  double residual;         /* ||b - A x|| / ||b|| of the recurrence when it ended */
  double true_residual;    /* the same, computed from x */
  int converged;           /* 1: true_residual is at most ten times the tolerance and the recurrence reached it */
  char stop[24];           /* "converged", "iterations", "breakdown" or "not finite" */
  char method_used[16];    /* of the triangular solves; "" without */
  double shift;            /* IC(0): by which share the diagonal had to be enlarged */
  double setup_s, solve_s; /* of set_matrix and of the last solve, copies between memories included */
  double precond_s;        /* its share in the preconditioner; 0 on a GPU, where nobody waits to see */
} gable_krylov_info;
#define GABLE_KRYLOV_INFO_INIT                                                                                         \
  {                                                                                                                    \
    sizeof(gable_krylov_info), 0, 0.0, 0.0, 0, "", "", 0.0, 0.0, 0.0, 0.0                                              \
  }

/* Local.  A x = b from the x that is given; b, x: [n] doubles in host memory, apart (else GABLE_ERR_ARGUMENT). history:
 * [max_iterations+1] relative residuals of the recurrence, filled up to info.iterations (GMRES: those of b - A x at
 * every restart and at the end), or NULL.  GABLE_ERR_TOLERANCE when the tolerance was not reached: x is the last
 * iterate.  GABLE_ERR_NOT_FINITE: NaN or infinity in b or x (host memory: the row is named), x is as it was.  b = 0 has
 * x = 0. GABLE_ERR_DEADLINE: a wait of 10 s on a GPU, with its row. One call at a time per object. */
GABLE_API gable_status gable_krylov_solve(gable_krylov *k, const double *b, double *x, double *history);

/* Local.  The same with one vector each, of doubles, both in host memory or both in the memory of the context's GPU,
 * where no copy is made: what writes b and x must be done, or be queued on gable_context_stream.  x is there when it
 * returns. */
GABLE_API gable_status gable_krylov_solve_vectors(gable_krylov *k, const gable_vectors_view *b, gable_vectors_view *x,
                                                  double *history);

/* Local.  Of set_matrix and of the last solve. */
GABLE_API gable_status gable_krylov_get_info(const gable_krylov *k, gable_krylov_info *info);

/* NULL is fine; sets *k to NULL. */
GABLE_API void gable_krylov_destroy(gable_krylov **k);

#ifdef __cplusplus
}
#endif
#endif
