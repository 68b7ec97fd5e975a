/* solver.h: solves A x = b for a square sparse A by direct factorization and iterative refinement.
 *
 *   create -> analyse (pattern, and values where there are any) -> factor (values, as often as they change) -> work ->
 *   solve
 *
 * factor is the update of this object; with GABLE_REUSE_NOTHING it does analyse, too.
 *
 * Symmetric positive definite matrices are factored by Cholesky, other symmetric ones as L D L^T with pivots of one and
 * two columns, all others by LU with static pivoting after a weighted matching; docs/solver.md explains the choices.
 * The factor is const between two calls of gable_solver_factor: threads share it, each with its own gable_solver_work.
 */
#ifndef GABLE_SOLVER_H
#define GABLE_SOLVER_H

#include <gable/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gable_solver gable_solver;
typedef struct gable_solver_work gable_solver_work;

typedef enum gable_method {
  GABLE_METHOD_AUTO = 0,
  GABLE_METHOD_LU = 1,
  GABLE_METHOD_CHOLESKY = 2,
  GABLE_METHOD_LDLT = 3 /* of a symmetric matrix */
} gable_method;

typedef enum gable_order {
  GABLE_ORDER_AUTO = 0, /* AMD or METIS, whichever predicts less fill; AMD alone where METIS is not expected to earn its
                           time in options.solves solves (docs/algorithms/symbolic.md) */
  GABLE_ORDER_METIS = 1,
  GABLE_ORDER_AMD = 2,
  GABLE_ORDER_COLAMD = 3,
  GABLE_ORDER_NATURAL = 4,
  GABLE_ORDER_USER = 5
} gable_order;

/* What gable_solver_factor keeps of the analysis. */
typedef enum gable_reuse {
  GABLE_REUSE_NOTHING = 0, /* nothing: analyses again with the new values */
  GABLE_REUSE_PATTERN = 1, /* the pattern; matching, scalings, order and structure are found again */
  GABLE_REUSE_ROWS = 2,    /* and the row permutation, the order and the structure; scalings are found again */
  GABLE_REUSE_ALL = 3      /* and the scalings: a gather and the numeric factorization, nothing else */
} gable_reuse;

typedef enum gable_choice { GABLE_CHOICE_AUTO = 0, GABLE_CHOICE_NEVER = 1, GABLE_CHOICE_ALWAYS = 2 } gable_choice;

/* What multiplies the large blocks of a numeric factorization.  Gable's own kernels always multiply small ones. */
typedef enum gable_blas {
  GABLE_BLAS_AUTO = 0,    /* the system's OpenBLAS, where there is one that any thread may call, for factorizations of
                             4e9 operations and more and for the products that it is fast at
                             (docs/algorithms/factor.md); else Gable's */
  GABLE_BLAS_OWN = 1,     /* Gable's kernels */
  GABLE_BLAS_OPENBLAS = 2 /* the system's OpenBLAS; gable_solver_create fails where it cannot serve */
} gable_blas;

/* Where a context on a GPU keeps the factor and sweeps.  On the CPU all are the same. */
typedef enum gable_place {
  GABLE_PLACE_CONTEXT = 0, /* on the GPU */
  GABLE_PLACE_HOST = 1,    /* on the CPU: vectors lie in host memory */
  GABLE_PLACE_SHORTER = 2  /* on the GPU where preparation, upload and options.solves solves are predicted to take less
                              time than these solves on the CPU, else on the CPU (docs/algorithms/decisions.md);
                              predicted again where the first factorization finds ill-conditioned diagonal blocks.
                              On the CPU until the next analysis where preparation finds too little memory there:
                              a warning, and GABLE_SOLVER_PLACE_FALLBACK is 1; GABLE_PLACE_CONTEXT returns
                              GABLE_ERR_MEMORY */
} gable_place;

/* How the sweeps of a solve run: the triangular solves with the factor (docs/algorithms/solve-methods.md).  All but
 * GABLE_SOLVE_AUTO are named methods of the literature, for comparison: on a GPU in launches level by level, on the CPU
 * as plain loops on one thread.  They keep a copy of the factor in double where they run. */
typedef enum gable_solve_method {
  GABLE_SOLVE_AUTO = 0,                /* Gable's own */
  GABLE_SOLVE_LEVELS = 1,              /* levels of supernodes, one block after another */
  GABLE_SOLVE_BATCHED = 2,             /* all blocks of a level at once */
  GABLE_SOLVE_INVERTED = 3,            /* all inverted diagonal blocks of a level, then all blocks below */
  GABLE_SOLVE_MERGED = 4,              /* the inverse is multiplied into the block below: one batch a level */
  GABLE_SOLVE_PARTITIONED = 5,         /* the inverse of each level as a sparse matrix */
  GABLE_SOLVE_PARTITIONED_CUSPARSE = 6 /* the same by cuSPARSE's SpMV on a GPU, elsewhere by plain loops */
} gable_solve_method;

typedef struct gable_solver_options {
  size_t size; /* of this struct, so that it can grow */
  gable_method method;
  gable_order order;
  const gable_idx *user_order; /* [n] of GABLE_ORDER_USER: user_order[k] comes k-th; read by analyse and load */
  gable_choice match;          /* of rows with columns, by a weighted matching: large entries on the diagonal */
  gable_choice blocks;         /* block triangular form of a reducible matrix */
  gable_type factor_type;      /* GABLE_TYPE_D, or GABLE_TYPE_S: half the memory, more refinement */
  double tolerance;            /* of the backward error; 0: 1e-12 (1e-6 for float vectors) */
  int refine_steps;            /* corrections a solve may do; -1: as many as help; 0: none, and no GMRES */
  double tiny_pivot;           /* smaller pivots, relative to max |a_ij| after scaling, are replaced; 0: the default */
  gable_blas blas;             /* of large blocks */
  int strict;                  /* 1: a numerically singular matrix is an error of factor and load; 0: see solve */
  gable_place place;           /* of factor and sweeps */
  int64_t solves;      /* expected with one factor: analysis and GABLE_PLACE_SHORTER weigh costs by them; at least 0 */
  gable_idx solve_rhs; /* right-hand sides in each of them; at least 0 */
  int unchecked;       /* 1, only with refine_steps 0: a solve computes no backward error; its report has NaN */
  gable_solve_method solve_method; /* GABLE_SOLVE_LEVELS on a GPU opens cuBLAS: GABLE_ERR_UNAVAILABLE of
                                      gable_solver_work_create where that is missing */
  int merge_blocks;                /* 1: these methods merge block columns of one pattern that follow each other */
} gable_solver_options;
#define GABLE_SOLVER_OPTIONS_INIT                                                                                      \
  {                                                                                                                    \
    sizeof(gable_solver_options), GABLE_METHOD_AUTO, GABLE_ORDER_AUTO, NULL, GABLE_CHOICE_AUTO, GABLE_CHOICE_AUTO,     \
        GABLE_TYPE_D, 0.0, -1, 0.0, GABLE_BLAS_AUTO, 0, GABLE_PLACE_CONTEXT, 10, 1, 0, GABLE_SOLVE_AUTO, 0             \
  }

/* Local.  options may be NULL.  The solver belongs to the caller; ctx must outlive it.  GABLE_ERR_UNAVAILABLE:
 * GABLE_BLAS_OPENBLAS, and no installed OpenBLAS can be called by all threads of ctx at once without starting threads
 * of its own.  Gable changes no setting of an OpenBLAS. With one thread a serial OpenBLAS serves; then no other code of
 * the process may call it at the same time.  Concurrent factorizations wait where they exceed the number of callers
 * that an OpenBLAS supports. */
GABLE_API gable_status gable_solver_create(gable_context *ctx, const gable_solver_options *options, gable_solver **out);

/* Local.  "own", or version, options and thread model of the OpenBLAS that multiplies large blocks; with
 * GABLE_BLAS_AUTO the first factorization chooses.  Owned by s. */
GABLE_API const char *gable_solver_blas(const gable_solver *s);

/* Local.  Reads a permutation from a text file to order [n]: n integers from 0 or from 1; lines that begin with % or #
 * are comments.  GABLE_ERR_IO, GABLE_ERR_FORMAT with the line. */
GABLE_API gable_status gable_order_read(gable_context *ctx, const char *path, gable_idx n, gable_idx *order);

/* Local.  Reads the pattern of a, n by n, and its values where a->val is there (matching and scaling need them, and
 * only then can Cholesky be chosen without a promise): CSR or CSC, base 0 or 1, 32 or 64 bit offsets, GABLE_TYPE_S or
 * GABLE_TYPE_D, full or, for a symmetric one, one triangle.  a is copied.  May be called again with another matrix: an
 * invalid one (GABLE_ERR_ARGUMENT, _NOT_FINITE) leaves s unchanged; after any other error analyse again.  A view with
 * both triangles that declares a symmetry must have it, in its pattern and, beyond rounding, in its values;
 * GABLE_ERR_ARGUMENT names an entry without its mirror image.  GABLE_ERR_SINGULAR: the structural rank is below n, and
 * an unmatched row is named; GABLE_ERR_NOT_FINITE, _ARGUMENT (not square, indices wrong), _UNAVAILABLE (the order asked
 * for is not in this build), _MEMORY, _CANCELLED. */
GABLE_API gable_status gable_solver_analyse(gable_solver *s, const gable_matrix_view *a);

/* Local.  Factors the matrix with the values val, [nnz] in the order and type of the analysed view; NULL: the values
 * that s has, the last ones given.  With GABLE_REUSE_ALL only the first factorization after an analysis allocates
 * structure.  The values decide the method, whatever reuse is: where a Cholesky pivot is not positive the solver takes
 * L D L^T; where that is unstable, or the values are no longer symmetric, LU. Create works again where they do not fit
 * then.  An explicit method stays: Cholesky returns GABLE_ERR_SINGULAR at such a pivot, and both symmetric methods
 * GABLE_ERR_ARGUMENT for unsymmetric values.  A matrix that was factored without a matching and has a large backward
 * error is analysed again with one, unless reuse forbids it; see GABLE_SOLVER_DRIFT.  These errors leave s with its old
 * values and factor: GABLE_ERR_STATE before analyse; GABLE_ERR_NOT_FINITE, NaN or infinity in val; GABLE_ERR_ARGUMENT,
 * val breaks the declared symmetry (the entry is named).  GABLE_ERR_SINGULAR also with options.strict for a numerically
 * singular matrix, and where pivots were replaced and rcond is not known.  GABLE_ERR_MEMORY names the bytes.
 * GABLE_ERR_NOT_FINITE also where entries overflow by the scalings that reuse keeps, or the factorization does:
 * GABLE_REUSE_ROWS finds new scalings.  After these and other errors there is no factor, and solve returns
 * GABLE_ERR_STATE. Retry factor; if it returns GABLE_ERR_STATE, call analyse first. */
GABLE_API gable_status gable_solver_factor(gable_solver *s, const void *val, gable_reuse reuse);

/* Local.  Scratch memory and stream for solves with s, of one at a time.  Up to max_rhs right-hand sides are solved
 * together, on a GPU at most 128 (fewer where their vectors would take more memory than the factor or 1 GiB), on a CPU
 * 16; a solve may have more.  The caller owns it; it must not outlive s.  After a new analysis,
 * GABLE_REUSE_PATTERN included, the next solve checks in O(n) whether the work still fits.  It returns GABLE_ERR_STATE
 * where the structure needs more memory, n or the symmetry changed, or the context is on a GPU; then create the work
 * again.  A work made before the first factorization is one of the CPU and of the method auto: with a factor on a GPU,
 * or with another solve_method, it is refused, too.
 * GABLE_ERR_STATE: before analyse; GABLE_ERR_MEMORY; on a GPU GABLE_ERR_BACKEND. */
GABLE_API gable_status gable_solver_work_create(const gable_solver *s, gable_idx max_rhs, gable_solver_work **out);

/* NULL is fine; sets *w to NULL.  Solves in flight on w's stream still complete: its memory is used again after them.
 */
GABLE_API void gable_solver_work_destroy(gable_solver_work **w);

/* Local.  Sets the stream of w's solves on a GPU.  NULL, the default: gable_context_stream.  Solves on the new stream
 * come after those on the old one, and new values of s and a new analysis after both.  The stream must outlive w.  No
 * effect on the CPU. */
GABLE_API gable_status gable_solver_work_set_stream(gable_solver_work *w, void *stream);

/* Local.  op(A) x = b for b->count columns, GABLE_TYPE_S or GABLE_TYPE_D, refined until the componentwise
 * backward error is at most the tolerance.  b is not written.  x may be b (the same data, type and layout); otherwise
 * they share no memory (GABLE_ERR_ARGUMENT).  Allocates nothing.  The same bits for every
 * number of threads.  GABLE_ERR_TOLERANCE: x is written and misses the tolerance; gable_last_error has the reason;
 * GABLE_NUMERICALLY_SINGULAR, a warning: x is written and meets the tolerance, but it is one of many solutions and may
 * be huge (with options.strict the factorization fails instead, unless x alone tells: docs/solver.md);
 * GABLE_ERR_NOT_FINITE: b holds NaN or infinity (row and column are named), x is as it was; GABLE_ERR_STATE: no factor,
 * or a work that does not fit its structure.
 *
 * Where the factor is on a GPU, so are refinement, backward errors and GMRES: b in host memory goes up on w's stream, x
 * comes down, with the bits of vectors in device memory; the call waits for x.
 *
 * b and x in device memory (context on a GPU, both there): the call enqueues the solve on w's stream and returns.  The
 * device tests the backward errors, corrects and runs GMRES.  The call does not synchronise (with a driver before CUDA
 * 12.4 it waits for each correction) and may be captured in a CUDA graph, which then has conditional nodes unless
 * refine_steps is 0.  gable_solver_work_status returns the outcome.  Only GABLE_NUMERICALLY_SINGULAR of a factor that
 * is known to be singular comes from this call, too, before it is known whether x meets the tolerance.  x has the same
 * bits in every run.  Columns are solved in groups of at most max_rhs, and of 128: one of a group of up to 16 has the
 * bits that it has alone, one of a larger group those that it has in any larger group.  GABLE_SOLVE_LEVELS and
 * GABLE_SOLVE_PARTITIONED_CUSPARSE differ (docs/determinism.md).  A graph reads the memory of w and of s: replay it
 * after new values of s only while w is accepted.  Where a solve with w is GABLE_ERR_STATE, since the new values needed
 * another form of the factor, capture again with a new work.
 *
 * An unchecked solve, and one with imported factors without their matrix, computes no backward error and does not look
 * at the size of x: GABLE_ERR_TOLERANCE never comes, and GABLE_NUMERICALLY_SINGULAR only where the factor is known to
 * be singular.  b in host memory is still searched for NaN and infinity; b in device memory is not, and
 * gable_solver_work_status then returns GABLE_OK or GABLE_ERR_DEADLINE. */
GABLE_API gable_status gable_solver_solve(const gable_solver *s, gable_solver_work *w, gable_op op,
                                          const gable_vectors_view *b, gable_vectors_view *x);

/* Which factors gable_solver_apply uses. */
enum { GABLE_FACTOR_L = 1, GABLE_FACTOR_D = 2, GABLE_FACTOR_U = 4, GABLE_FACTOR_ALL = 7 };

/* Local.  One sweep with the factor, no refinement and no backward error: op(A) x = b for GABLE_FACTOR_ALL.  With fewer
 * factors the system is that of A' = (R A C)(row order, column order) = L D U (entries right of diagonal blocks belong
 * to no factor) and b and x are numbered and scaled as A' is.  Cholesky: D = I, U = L^T.  L D L^T: D has blocks of
 * order 1 and 2, U = L^T; the interchanges inside supernodes are in L and U.  Allocates nothing.  x and b as for
 * gable_solver_solve.  On a GPU they lie both in host or both in device memory; with device memory the call is ordered
 * on w's stream and does not wait for it.  Bits as for gable_solver_solve. */
GABLE_API gable_status gable_solver_apply(const gable_solver *s, gable_solver_work *w, gable_op op, int factors,
                                          const gable_vectors_view *b, gable_vectors_view *x);

/* Local.  Waits for w's stream.  Returns the worst status of solves with vectors in device memory since the last call,
 * which solves of the same vectors in host memory have: in the order of their precedence GABLE_ERR_DEADLINE: a value of
 * a sweep never came; GABLE_ERR_NOT_FINITE: b holds NaN or infinity (row and column are named), x was written;
 * GABLE_ERR_TOLERANCE: x is written and misses the tolerance of its type; GABLE_NUMERICALLY_SINGULAR, a warning: the
 * factor is known to be singular, or pivots were replaced and ||b||_1 < eps ||A||_1 ||x||_1 for a column; GABLE_OK.
 * GABLE_ERR_STATE: their factor is gone, since new values or a new analysis needed another one: ask before.
 * gable_solver_work_report has the figures, the seconds summed over these solves.  GABLE_OK on a CPU. */
GABLE_API gable_status gable_solver_work_status(gable_solver_work *w);

typedef struct gable_solve_report { /* of the last gable_solver_solve with a work; of its worst column */
  size_t size;
  double backward_error;    /* componentwise, on A as it was given; NaN when unchecked, or without A */
  double first_error;       /* before refinement */
  int refine_steps;         /* corrections by the factor */
  int gmres_iterations;     /* where corrections stalled */
  gable_idx worst;          /* column with the largest backward error */
  double solve_s, refine_s; /* seconds of the first sweeps; of backward errors, corrections and GMRES */
  char reason[120];         /* why the tolerance was missed; "" when it was not */
} gable_solve_report;
#define GABLE_SOLVE_REPORT_INIT                                                                                        \
  {                                                                                                                    \
    sizeof(gable_solve_report), 0, 0, 0, 0, 0, 0, 0, ""                                                                \
  }

/* Local. */
GABLE_API gable_status gable_solver_work_report(const gable_solver_work *w, gable_solve_report *report);

/* Local.  Estimates by Hager and Higham; a few solves each.  rcond = 1 / (||A||_1 ||A^-1||_1), 0 where no double holds
 * ||A^-1||_1: below 2.2e-16 the matrix is numerically singular; NaN where solves by the factor are too far off to tell.
 * forward_error bounds max |x - x_true| / max |x| for the column b, x (one column), which may lie in device memory
 * where solves take such vectors.  Where the factor is on a GPU the vectors of an estimate are there too; both calls
 * wait for w's stream and are not for a CUDA graph.  There, with refine_steps 0, the first call that has to refine
 * (pivots were replaced, or the factor is one of floats, has grown or was imported) takes 54 n doubles of device
 * memory, or fewer where n < 24, which w keeps: GABLE_ERR_MEMORY. Elsewhere both allocate nothing.  Both are NaN, and
 * the determinant with them, where GABLE_SOLVER_OTHER_VALUES is 1. */
GABLE_API gable_status gable_solver_rcond(const gable_solver *s, gable_solver_work *w, double *rcond);
GABLE_API gable_status gable_solver_forward_error(const gable_solver *s, gable_solver_work *w, gable_op op,
                                                  const gable_vectors_view *b, const gable_vectors_view *x,
                                                  double *forward_error);

/* key, type of one element, elements ('1' or 'n'), meaning. */
#define GABLE_SOLVER_KEY_LIST(X)                                                                                       \
  X(N, int64_t, 1, "rows and columns")                                                                                 \
  X(NNZ, int64_t, 1, "entries of A, both triangles of a symmetric one")                                                \
  X(METHOD, int64_t, 1, "gable_method in use")                                                                         \
  X(ORDER, int64_t, 1, "gable_order in use")                                                                           \
  X(ORDER_FALLBACK, int64_t, 1, "1: AMD's because METIS had too little memory (of GABLE_ORDER_AUTO alone)")            \
  X(MATCHED, int64_t, 1, "row permutation: 0 none, 1 matching, 2 partial pivoting after it, 3 of imported factors")    \
  X(STRUCTURAL_RANK, int64_t, 1, "of the entries that are not zero, or of the pattern without values")                 \
  X(BLOCKS, int64_t, 1, "diagonal blocks of the block triangular form")                                                \
  X(SYMMETRIC_PATTERN, int64_t, 1, "1: the pattern is symmetric")                                                      \
  X(SYMMETRIC_VALUES, int64_t, 1, "1: and so are the values")                                                          \
  X(SUPERNODES, int64_t, 1, "of the factor")                                                                           \
  X(TREE_HEIGHT, int64_t, 1, "of the elimination tree, in columns")                                                    \
  X(NNZ_L, int64_t, 1, "entries of L, diagonal included, without those that merging supernodes adds")                  \
  X(NNZ_U, int64_t, 1, "entries of U, the same way; for Cholesky and L D L^T those of L")                              \
  X(FLOPS, double, 1, "of the numeric factorization; a multiplication and an addition count two")                      \
  X(PERTURBED_PIVOTS, int64_t, 1, "tiny pivots that were replaced")                                                    \
  X(NUMERICALLY_SINGULAR, int64_t, 1, "1: pivots were replaced, and rcond is below 2.2e-16")                           \
  X(GROWTH, double, 1, "max |U|, or |D L^T|, / max |A'|")                                                              \
  X(DRIFT, int64_t, 1, "1: the values have drifted from the analysis: analyse again")                                  \
  X(OTHER_VALUES, int64_t, 1, "1: the factor was loaded and is of other values of this pattern")                       \
  X(MEMORY_PREDICTED, int64_t, 1, "bytes it will hold at most while it factors, without the copy of a solve_method")   \
  X(MEMORY, int64_t, 1, "bytes held by the solver now")                                                                \
  X(SOLVE_BYTES, double, 1, "bytes that one sweep for one right-hand side reads and writes at least")                  \
  X(LOG_ABS_DETERMINANT, double, 1, "log |det A| (imported: |det L U|), a replaced pivot as what it became: finite")   \
  X(SIGN_DETERMINANT, int64_t, 1, "1 or -1: sign of the same; not reliable where PERTURBED_PIVOTS is above 0")         \
  X(POSITIVE_EIGENVALUES, int64_t, 1, "of a symmetric A, by the signs of its pivots (its inertia); of LU not known")   \
  X(NEGATIVE_EIGENVALUES, int64_t, 1, "the same way")                                                                  \
  X(ZERO_EIGENVALUES, int64_t, 1, "replaced pivots of L D L^T: eigenvalues whose sign rounding hides")                 \
  X(DEVICE_BYTES, int64_t, 1, "device memory that holds factor and matrix; 0 on the CPU")                              \
  X(DEVICE_LEVELS, int64_t, 1, "levels of clusters in one direction there; 0 where no clusters are used")              \
  X(ON_DEVICE, int64_t, 1, "1: the sweeps run on the context's GPU, 0: on the CPU")                                    \
  X(SOLVE_LEVELS, int64_t, 1, "levels of both sweeps together by a named solve method; 0: by Gable's own")             \
  X(PREDICTED_HOST_S, double, 1, "seconds predicted for options.solves solves on the CPU")                             \
  X(PREDICTED_DEVICE_S, double, 1, "seconds predicted for these on a GPU, preparation and upload included")            \
  X(PREPARE_S, double, 1, "seconds: merging supernodes and inverting their blocks, for the device or a named method")  \
  X(UPLOAD_S, double, 1, "seconds: copying the factor there")                                                          \
  X(ORDER_S, double, 1, "seconds: ordering")                                                                           \
  X(MATCH_S, double, 1, "seconds: equilibration and matching")                                                         \
  X(SYMBOLIC_S, double, 1, "seconds: reading the matrix, symbolic factorization, the plans made from it")              \
  X(STRUCTURE_S, double, 1, "seconds of SYMBOLIC_S: tree, column counts, supernodes and their lists of rows")          \
  X(FACTOR_S, double, 1, "seconds: the last numeric factorization, the gather included")                               \
  X(ANALYSES, int64_t, 1, "times that the structure was analysed since gable_solver_analyse")                          \
  X(PATTERN_HASH, int64_t, 1, "of the analysed pattern")                                                               \
  X(ELEMENTWISE, int64_t, 1, "1: imported factors are solved element by element, since panels would store many zeros") \
  X(ROW_ORDER, gable_idx, n, "row k of A' is this row of A")                                                           \
  X(COLUMN_ORDER, gable_idx, n, "column k of A' is this column of A")                                                  \
  X(ROW_SCALE, double, n, "R, by rows of A; negative where -A was found positive definite")                            \
  X(COLUMN_SCALE, double, n, "C, by columns of A")                                                                     \
  X(DIAGONAL, double, n, "pivots, in the order of A'; of L D L^T the diagonal of D")                                   \
  X(REJECTED, int64_t, 1, "factorizations that the last gable_solver_factor tried and did not keep")                   \
  X(REJECTED_S, double, 1, "seconds: their numeric phases")                                                            \
  X(JUDGE_S, double, 1, "seconds: solves that judge factors, in the last gable_solver_factor")                         \
  X(LISTS_S, double, 1, "seconds of PREPARE_S: lists of the pattern, made by the first factorization on a GPU")        \
  X(SOLVE_BLOCKS, int64_t, 1, "block columns of L, and of U of an LU, of a named solve method; 0: Gable's own")        \
  X(SUBSTITUTED_BLOCKS, int64_t, 1,                                                                                    \
    "of SOLVE_BLOCKS: solved by substitution, not by an inverse; levels, batched: all")                                \
  X(SOLVE_METHOD, int64_t, 1, "the gable_solve_method that sweeps run; GABLE_SOLVE_AUTO: Gable's own")                 \
  X(SOLVE_LAUNCHES, int64_t, 1, "launches on a GPU of one sweep by a named solve method; 0: by Gable's own")           \
  X(PLACE_FALLBACK, int64_t, 1, "1: on the CPU because the GPU had too little memory (of GABLE_PLACE_SHORTER alone)")

typedef enum gable_solver_key {
#define GABLE_SOLVER_KEY_ENUM(name, type, count, text) GABLE_SOLVER_##name,
  GABLE_SOLVER_KEY_LIST(GABLE_SOLVER_KEY_ENUM)
#undef GABLE_SOLVER_KEY_ENUM
      GABLE_SOLVER_KEYS
} gable_solver_key;

/* Local.  Copies what key names to out; bytes is the size of out and must be exactly that of the type times the count
 * of the list above.  GABLE_ERR_STATE when it is not known: not yet, or not of this kind of factor. */
GABLE_API gable_status gable_solver_get(const gable_solver *s, gable_solver_key key, void *out, size_t bytes);

/* Local.  Writes analysis and factor to path (a temporary file first, then renamed): versioned, checksummed.
 * GABLE_ERR_STATE: there is no factor, or it was imported without its matrix. */
GABLE_API gable_status gable_solver_save(const gable_solver *s, const char *path);

/* Local.  Reads what gable_solver_save wrote, for the matrix a with values: afterwards s is as it was when saved, and
 * solves with a refine against these values.  Times and GABLE_SOLVER_ANALYSES are those of this process, so zero.
 * GABLE_SOLVER_DRIFT refers to the values that were factored, not to those of a.  With GABLE_ORDER_USER load reads
 * options.user_order again, for a later GABLE_REUSE_NOTHING.  GABLE_ERR_MISMATCH: another version, another pattern;
 * GABLE_ERR_FORMAT: no factor, or damaged.  A wrong matrix, file name or header leaves s unchanged; damage found later
 * and GABLE_ERR_MEMORY leave it empty. */
GABLE_API gable_status gable_solver_load(gable_solver *s, const gable_matrix_view *a, const char *path);

/* Local.  The same in memory: writes to buffer what gable_solver_save writes to a file.  *bytes: the bytes of buffer;
 * on return those of the saved factor.  buffer NULL: only the size.  GABLE_ERR_ARGUMENT: buffer is too small. */
GABLE_API gable_status gable_solver_save_memory(const gable_solver *s, void *buffer, size_t *bytes);

/* Local.  gable_solver_load from buffer [bytes], which is not kept; it may come from a file, too. */
GABLE_API gable_status gable_solver_load_memory(gable_solver *s, const gable_matrix_view *a, const void *buffer,
                                                size_t bytes);

/* NULL is fine; sets *s to NULL. */
GABLE_API void gable_solver_destroy(gable_solver **s);

#ifdef __cplusplus
}
#endif
#endif
