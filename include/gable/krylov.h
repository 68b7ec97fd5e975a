/* krylov.h: CG, BiCGSTAB and restarted GMRES.
 *
 *   create -> analyse (pattern) -> update (values, as often as they change) -> work -> solve
 *
 * Shortcuts: set_matrix does analyse, update and work at once; set_operator takes a callback instead of a matrix; solve
 * and solve_vectors use a work that the solver owns.
 *
 * Double precision, on the CPU or on a GPU, where matrix, factors and vectors stay in device memory and the host reads
 * the residual at most once an iteration.  The preconditioner comes from options.preconditioner, a gable_precond of the
 * caller, or a callback.  Threads share a solver, each with its own gable_krylov_work, while nobody changes it. Results
 * are bitwise repeatable on one place, unless method is levc, elmc or gsf (docs/algorithms/krylov.md). */
#ifndef GABLE_KRYLOV_H
#define GABLE_KRYLOV_H

#include <gable/context.h>
#include <gable/precond.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gable_krylov gable_krylov;
typedef struct gable_krylov_work gable_krylov_work;

typedef enum gable_krylov_solver {
  GABLE_KRYLOV_AUTO = 0, /* CG where A is symmetric with a positive diagonal and the preconditioner symmetric, else
                            BiCGSTAB. On a CPU the values decide, on a GPU the structure that the view declares; with
                            ILUT, or A or a preconditioner by callback: BiCGSTAB */
  GABLE_KRYLOV_CG = 1,   /* of symmetric positive definite matrices */
  GABLE_KRYLOV_BICGSTAB = 2,
  GABLE_KRYLOV_GMRES = 3
} gable_krylov_solver;

typedef struct gable_krylov_options {
  size_t size; /* of this struct, so that it can grow */
  gable_krylov_solver solver;
  gable_preconditioner preconditioner;
  const char *method;                /* of the triangular solves and sweeps; NULL is "auto" */
  double tolerance;                  /* on ||b - A x|| / ||b||; 0: 1e-8 */
  gable_idx max_iterations, restart; /* 0: 1000; 0: 30 (GMRES), at most 65000 */
  int threads;                       /* at most so many; 0: the context's */
  gable_idx level;                   /* of GABLE_PRECOND_ILUK, as in gable_precond_options */
  double drop;                       /* of GABLE_PRECOND_ILUT, likewise */
  gable_idx row_fill;                /* of GABLE_PRECOND_ILUT, likewise */
  int64_t solves;                    /* linear systems expected with one analysis, likewise */
} gable_krylov_options;
#define GABLE_KRYLOV_OPTIONS_INIT                                                                                      \
  {                                                                                                                    \
    sizeof(gable_krylov_options), GABLE_KRYLOV_AUTO, GABLE_PRECOND_NONE, NULL, 0.0, 0, 0, 0, 1, 1e-3, 10, 10           \
  }

/* Local.  options may be NULL; they are copied. ctx must outlive the solver.
 * GABLE_ERR_ARGUMENT: an option is out of range, or method is no method; GABLE_ERR_UNAVAILABLE: as
 * gable_precond_create. */
GABLE_API gable_status gable_krylov_create(gable_context *ctx, const gable_krylov_options *options, gable_krylov **out);

/* Local.  Copies the pattern of the square matrix a (GABLE_TYPE_D; symmetric ones with both triangles; device memory on
 * a GPU only) and analyses the preconditioner of the options; a's values serve only to check a symmetry that a
 * declares.  Create works again after it.  Errors: as gable_precond_analyse, after which k may have no
 * analysis. */
GABLE_API gable_status gable_krylov_analyse(gable_krylov *k, const gable_matrix_view *a);

/* Local.  Sets the stream of later updates, of gable_krylov_solve and of gable_krylov_solve_vectors; analyse reads a
 * matrix in device memory in its order, too.  NULL, the default: gable_context_stream.  The new stream first waits for
 * the old one.  The stream must outlive its use by k.  No effect on the CPU. */
GABLE_API gable_status gable_krylov_set_stream(gable_krylov *k, void *stream);

/* Local.  Copies the values val, [nnz] in the order and the memory of the analysed matrix, and updates the
 * preconditioner of the options.  Works stay valid; no solve may run at the same time.  As solves do, it waits for its
 * stream, and so cannot be captured in a CUDA graph (GABLE_ERR_STATE).  Errors: as
 * gable_precond_update. */
GABLE_API gable_status gable_krylov_update(gable_krylov *k, const void *val);

/* Local.  gable_krylov_analyse, gable_krylov_update with a's values, and the work of gable_krylov_solve, which then
 * allocates nothing.  With gable_krylov_set_precond the first solve makes that work. */
GABLE_API gable_status gable_krylov_set_matrix(gable_krylov *k, const gable_matrix_view *a);

/* y = M x for an n x n operator M of the caller: x, y [n] doubles in host memory that do not overlap.  Threads that
 * share a solver call it concurrently.  A status other than GABLE_OK ends the solve, which returns it; where apply set
 * no error (gable_set_error, or a failed call of the library) gable_last_error names apply and the status. */
typedef gable_status gable_apply_function(void *user, const double *x, double *y);

/* Local.  Uses apply as A instead of a matrix, with GABLE_PRECOND_NONE, a gable_precond or a callback. user must
 * outlive the solves.  Create works again after it.  GABLE_ERR_UNAVAILABLE: on a GPU. */
GABLE_API gable_status gable_krylov_set_operator(gable_krylov *k, gable_idx n, gable_apply_function *apply, void *user);

/* Local.  Preconditions solves by p, which has the rows of A and the context of k.  Update p before a work is created;
 * later updates between solves are allowed. p must outlive k's works.  NULL: the preconditioner of the options, after
 * the next gable_krylov_set_matrix.  Create works again after it. */
GABLE_API gable_status gable_krylov_set_precond(gable_krylov *k, const gable_precond *p);

/* Local.  Preconditions solves by apply, y = M^-1 x.  CG needs a constant symmetric positive definite M; GMRES is
 * flexible and takes any.  GABLE_ERR_UNAVAILABLE: on a GPU. */
GABLE_API gable_status gable_krylov_set_precond_function(gable_krylov *k, gable_apply_function *apply, void *user);

/* Called on the solving thread after iteration 0 (the start) and each later one, with ||b - A x|| / ||b|| of the
 * recurrence.  A nonzero return ends the solve with GABLE_ERR_CANCELLED. Threads that share a solver call it
 * concurrently.  On a GPU the calls come in batches of up to 8 finished iterations. */
typedef int gable_monitor_function(void *user, gable_idx iteration, double residual);

/* Local.  Sets the monitor of later solves; NULL: none. user must outlive the solves.  No solve may run at the same
 * time; works stay valid. */
GABLE_API gable_status gable_krylov_set_monitor(gable_krylov *k, gable_monitor_function *monitor, void *user);

/* Local.  The vectors for one solve at a time; any number of works per solver.  The caller owns it; it must not outlive
 * k.  GABLE_ERR_STATE: A or the preconditioner has no values; GABLE_ERR_MISMATCH: they differ in size or context. */
GABLE_API gable_status gable_krylov_work_create(const gable_krylov *k, gable_krylov_work **out);

/* Local.  Sets the stream of solves with w.  NULL, the default: gable_context_stream.  The new stream first waits for
 * the old one.  The stream must outlive its use by w.  No effect on the CPU. */
GABLE_API gable_status gable_krylov_work_set_stream(gable_krylov_work *w, void *stream);

typedef struct gable_krylov_info {
  size_t size; /* of this struct, so that it can grow */
  gable_idx iterations;
  double residual;      /* ||b - A x|| / ||b|| of the recurrence when it ended */
  double true_residual; /* the same, computed from x */
  int converged;        /* 1: true_residual is at most ten times the tolerance and the recurrence reached it */
  char stop[24]; /* "converged", "iterations", "breakdown", "not finite", "cancelled" or, where a call failed, "" */
  char method_used[16];       /* of the triangular solves; "" without */
  double shift;               /* IC(0): share by which the diagonal had to be enlarged */
  double setup_s;             /* of the last analysis and update, copies between memories included */
  double solve_s;             /* of the last solve, the same way */
  double precond_s;           /* of solve_s, in the preconditioner; 0 on a GPU: its launches are not timed apart */
  gable_krylov_solver solver; /* that solves; for GABLE_KRYLOV_AUTO the one that was chosen */
} gable_krylov_info;
#define GABLE_KRYLOV_INFO_INIT                                                                                         \
  {                                                                                                                    \
    sizeof(gable_krylov_info), 0, 0.0, 0.0, 0, "", "", 0.0, 0.0, 0.0, 0.0, GABLE_KRYLOV_AUTO                           \
  }

/* Local.  Solves A x = b, starting from x: one column of doubles each, not overlapping, both in host memory or both in
 * device memory of the context's GPU (no copies).  Earlier writes to b and x must be complete or enqueued on the
 * stream of w.  The call is synchronous.  history: [max_iterations+1] relative residuals of the recurrence,
 * filled up to info.iterations (GMRES: those of b - A x at every restart and at the end), or NULL.  b = 0 has x = 0.
 * GABLE_ERR_TOLERANCE: the tolerance was not reached, x is the last iterate; GABLE_ERR_NOT_FINITE: NaN or infinity in b
 * or x, x is as it was (host memory: the row is named; device memory: GABLE_ERR_TOLERANCE for x); GABLE_ERR_DEADLINE: a
 * wait of 10 s on a GPU, with its row; GABLE_ERR_CANCELLED, between two products with A or by the monitor: x is no
 * answer; GABLE_ERR_MISMATCH: w is of an earlier A or preconditioner.  One solve at a time per work; concurrent solves
 * call the progress function concurrently.
 */
GABLE_API gable_status gable_krylov_work_solve(gable_krylov_work *w, const gable_vectors_view *b, gable_vectors_view *x,
                                               double *history);

/* Local.  The same with a work that k owns and the first call creates; one call at a time per solver. */
GABLE_API gable_status gable_krylov_solve_vectors(gable_krylov *k, const gable_vectors_view *b, gable_vectors_view *x,
                                                  double *history);

/* Local.  The same; b, x: [n] in host memory. */
GABLE_API gable_status gable_krylov_solve(gable_krylov *k, const double *b, double *x, double *history);

/* Local.  Of the set-up of k and the last solve with w, or with the work that k owns. */
GABLE_API gable_status gable_krylov_work_get_info(const gable_krylov_work *w, gable_krylov_info *info);
GABLE_API gable_status gable_krylov_get_info(const gable_krylov *k, gable_krylov_info *info);

/* NULL is fine; sets *w, *k to NULL.  Destroy works before their solver. */
GABLE_API void gable_krylov_work_destroy(gable_krylov_work **w);
GABLE_API void gable_krylov_destroy(gable_krylov **k);

#ifdef __cplusplus
}
#endif
#endif
