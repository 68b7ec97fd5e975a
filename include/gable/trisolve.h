/* trisolve.h: solves op(T) x = b for one triangle T of a sparse matrix, like SpSV and SpSM of cuSPARSE.
 *
 *   create -> analyse (pattern) -> update (values, as often as they change) -> work -> solve
 *
 * One plan serves T and its transpose, many threads and many streams at once, each with its own gable_trisolve_work.
 * Methods LEVR, LEVC, ELMR and ELMC follow Li and Zhang, "Efficient Parallel Implementations of Sparse Triangular
 * Solves for GPU Architectures" (SIAM PP 2020); docs/algorithms has a page for each. */
#ifndef GABLE_TRISOLVE_H
#define GABLE_TRISOLVE_H

#include <gable/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gable_trisolve gable_trisolve;
typedef struct gable_trisolve_work gable_trisolve_work;

enum { GABLE_TRISOLVE_N = 1, GABLE_TRISOLVE_T = 2 };

/* Local.  The names of all methods, "auto" first, with '|' between them; static. */
GABLE_API const char *gable_trisolve_methods(void);

typedef struct gable_trisolve_options {
  size_t size; /* of this struct, so that it can grow */

  /* A name of gable_trisolve_methods, NULL is "auto".  serial runs on the CPU only, rows on a GPU only
   * (docs/algorithms/README.md). */
  const char *method;

  /* Which triangle to solve with; entries of the other one are ignored.  GABLE_PART_FULL: the part of the view, where
   * an entry of the other triangle is GABLE_ERR_ARGUMENT. */
  gable_part uplo;

  /* GABLE_DIAG_STORED: every row stores its diagonal entry.  GABLE_DIAG_UNIT: ones.  GABLE_DIAG_SEPARATE: the vector of
   * gable_trisolve_update_with_diagonal.  The last two ignore stored diagonal entries.
   */
  gable_diag diag;

  /* Which ops get a schedule of their own: GABLE_TRISOLVE_N | GABLE_TRISOLVE_T, or 0 for both.  An op without one is
   * slower.  On the CPU one thread solves it by columns of the same storage, for tiles and auto in the reverse of an
   * order that was timed: its last bits may differ after another analysis or with other threads.  On a GPU method gsf
   * solves it, whose last bits differ from run to run; the first such solve of a work after an update, and each graph
   * replay, gathers the values into gsf's order. */
  int ops;

  /* Seconds that a solve waits for one value before it fails with GABLE_ERR_DEADLINE, which names the row.  0: 10 s. */
  double deadline_s;

  /* 1: "auto" times its candidates instead of using its cost model; gable_trisolve_info.why has the times.  A GPU plans
   * for rows and tiles and solves with each in every analysis, which then costs about three analyses and some solves.
   * The CPU times orders of rows and teams of threads anyway; 1 makes it do so even where "solves" would not repay it.
   * The choice may differ from run to run, on a GPU the last bits with it. */
  int time_candidates;

  int threads;           /* at most so many; 0: the context's */
  gable_idx typical_rhs; /* right-hand sides that "auto" optimises for; 0: one */

  /* Solves expected with one analysis, 10 by default.  "auto" on the CPU takes serial where the search for tiles would
   * take longer than so many solves by serial: in general below 80 to 200 solves.  0: so many that the analysis is
   * free, as in a time loop or a Krylov method.  A GPU ignores it. */
  int64_t solves;
} gable_trisolve_options;
#define GABLE_TRISOLVE_OPTIONS_INIT                                                                                    \
  {                                                                                                                    \
    sizeof(gable_trisolve_options), NULL, GABLE_PART_FULL, GABLE_DIAG_STORED, 0, 0.0, 0, 0, 0, 10                      \
  }

/* Local.  options may be NULL.  The plan belongs to the caller; ctx must outlive it. */
GABLE_API gable_status gable_trisolve_create(gable_context *ctx, const gable_trisolve_options *options,
                                             gable_trisolve **out);

/* Local.  Reads the pattern of the square matrix a: CSR or CSC, base 0 or 1, 32 or 64 bit offsets, host or device
 * memory; it does not read values and keeps no pointer to a.  May be called again with another matrix.  The plan takes
 * memory from the allocators of the context (gable_context_options); gable_trisolve_get_info returns its size.
 * GABLE_ERR_ARGUMENT: not square, an index out of range or out of order, or an entry outside of the promised triangle,
 * each with its row; GABLE_ERR_SINGULAR: a row without a diagonal entry (GABLE_DIAG_STORED); GABLE_ERR_LIMIT, on a GPU
 * alone: 2^31 - 1 entries or more in the caller's matrix, or method tiles where none fits.  An error may leave the plan
 * without an analysis: call analyse again before update. */
GABLE_API gable_status gable_trisolve_analyse(gable_trisolve *t, const gable_matrix_view *a);

/* Local.  Sets the stream of later updates; analyse reads a matrix in device memory in its order, too.  NULL, the
 * default: gable_context_stream.  The new stream first waits for the old one.  The stream must outlive its use by the
 * plan.  No effect on the CPU. */
GABLE_API gable_status gable_trisolve_set_stream(gable_trisolve *t, void *stream);

/* Local.  Replaces the values: val [nnz] in the order, type and memory space of the analysed matrix.  Cost: one gather,
 * no analysis.  GABLE_ERR_SINGULAR: a zero diagonal entry (or one whose reciprocal overflows); GABLE_ERR_NOT_FINITE:
 * NaN or infinity on the diagonal; the message and gable_trisolve_get_info name the row.  After such an
 * error call update again before solve.
 *
 * Overflow: methods tiles and rows of a GPU store entries divided by the diagonal entry of their row.  Where such a
 * quotient overflows, the update makes a plan by method levr for the op, which divides last, as other methods and the
 * CPU do.  It allocates, solves the op until the next analysis, and gable_trisolve_get_info reports it.  With values in
 * device memory the host does not see the overflow in time: gable_trisolve_work_status returns GABLE_ERR_LIMIT, and the
 * update after that makes the plan.  A plan of which a graph has captured an update, or a solve by tiles or rows, keeps
 * its methods: then the update returns GABLE_ERR_LIMIT, or gable_trisolve_work_status does.  The check is in the
 * matrix's type, and of long rows too, whose entries a matrix of floats sums before it divides.  A quotient that
 * underflows is no error, but loses its entry: an unknown then misses a term where unknowns of its row differ by
 * factors of 1e290 (float vectors: 1e30) and more.
 *
 * On a GPU the gather is ordered on the plan's stream (gable_trisolve_set_stream).  Events order it after all earlier
 * solves with works of the plan, on any stream, and before all later ones; the host does not wait.  Two threads must
 * not call solve and update of one plan at the same time.  With val in device memory the call is asynchronous, and
 * gable_trisolve_work_status reports a bad diagonal until the next update.  With val in host memory the call waits for
 * the plan's stream and returns that status.
 *
 * In a CUDA graph: with val in device memory an update may be captured (GABLE_ERR_STATE from host memory, for the fault
 * is read back).  A replay reads the values that val holds at that time.  The library does not see replays: the caller
 * orders them, and replays of captured solves, against work on other streams.  Within one graph or stream the order is
 * that of the calls. gable_trisolve_work_status reports a bad diagonal of a replay, too. */
GABLE_API gable_status gable_trisolve_update(gable_trisolve *t, const void *val);

/* Local.  The same for GABLE_DIAG_SEPARATE: diagonal is [n] of the matrix's value type, in its memory space. */
GABLE_API gable_status gable_trisolve_update_with_diagonal(gable_trisolve *t, const void *val, const void *diagonal);

/* Local.  Scratch memory and stream for solves with up to max_rhs right-hand sides.  The caller owns it.  It must not
 * outlive t; create it again after t is analysed again.  One solve at a time per work; any number of works per plan. */
GABLE_API gable_status gable_trisolve_work_create(const gable_trisolve *t, gable_idx max_rhs,
                                                  gable_trisolve_work **out);

/* Local.  Bytes of host and of device memory (0 on the CPU) that gable_trisolve_work_create_in needs. */
GABLE_API gable_status gable_trisolve_work_bytes(const gable_trisolve *t, gable_idx max_rhs, size_t *host,
                                                 size_t *device);

/* Local.  The same as gable_trisolve_work_create in the caller's memory, host aligned to 64 and device to 256 bytes,
 * which must stay until gable_trisolve_work_destroy; nothing is allocated. */
GABLE_API gable_status gable_trisolve_work_create_in(const gable_trisolve *t, gable_idx max_rhs, void *host,
                                                     void *device, gable_trisolve_work **out);

/* Local.  Sets the stream of solves with w.  NULL, the default: gable_context_stream.  The new stream first waits for
 * the old one.  The stream must outlive its use by w.  No effect on the CPU. */
GABLE_API gable_status gable_trisolve_work_set_stream(gable_trisolve_work *w, void *stream);

/* Local.  op(T) x = b for count right-hand sides (b->count == x->count <= max_rhs).  b is not written; x may be b (the
 * same data, layout and type), otherwise they share no memory (GABLE_ERR_ARGUMENT).  Types: those of the matrix, or
 * double vectors with a float matrix.  Allocates nothing.  On the CPU the call is synchronous.  On a GPU, vectors in
 * device memory: the solve is enqueued on w's stream and can be captured in a CUDA graph; vectors in host memory: the
 * call copies them, waits for the stream and returns what gable_trisolve_work_status would.  NaN in b or in a value
 * reaches exactly the unknowns that depend on it. GABLE_ERR_STATE: before update; GABLE_ERR_MISMATCH: w is of another
 * plan or an earlier analysis; GABLE_ERR_DEADLINE names the row whose value did not come (GPU: the row that waited). */
GABLE_API gable_status gable_trisolve_solve(const gable_trisolve *t, gable_trisolve_work *w, gable_op op,
                                            const gable_vectors_view *b, gable_vectors_view *x);

/* Local.  Waits for w's stream.  Returns the error of asynchronous solves since the last call: GABLE_OK,
 * GABLE_ERR_SINGULAR, GABLE_ERR_NOT_FINITE, GABLE_ERR_DEADLINE or, where a quotient overflows (gable_trisolve_update),
 * GABLE_ERR_LIMIT.  *row (may be NULL): its row from 0, or -1. */
GABLE_API gable_status gable_trisolve_work_status(gable_trisolve_work *w, gable_idx *row);

/* NULL is fine; sets *w to NULL. */
GABLE_API void gable_trisolve_work_destroy(gable_trisolve_work **w);
GABLE_API void gable_trisolve_destroy(gable_trisolve **t);

/* What analysis found and what a solve of one op does. */
typedef struct gable_trisolve_info {
  size_t size; /* of this struct, so that it can grow */
  char method[16], method_used[16];
  char why[240]; /* the figures by which auto decided; "asked for" otherwise */
  gable_idx n;
  gable_off nnz;      /* entries of the triangle that is solved with, the diagonal included */
  gable_idx levels;   /* rows on the critical path (tiles, rows of a GPU: each part of a split long row counts) */
  gable_idx widest;   /* rows of the widest level; 0: tiles and rows of a GPU do not count them */
  int threads;        /* that a solve uses (CPU), or lanes a row (GPU) */
  gable_off tiles;    /* tiles or tasks that the schedule is cut into; 0: the method has none */
  gable_off waits;    /* of a solve: point-to-point waits, or polls for a value or counter (elm*, gsf) */
  gable_off barriers; /* of a solve: barriers of all threads */
  gable_off atomics;  /* of a solve with one right-hand side: atomic additions */
  gable_off launches; /* of a solve: kernel launches (GPU), parallel regions (CPU) */
  size_t plan_bytes_host, plan_bytes_device; /* that the plan took, from the allocators of its context */
  double model_s;                            /* seconds of a solve that the cost model predicts; 0: no model */
  double analyse_s, update_s;                /* of the last call */
  gable_idx bad_row;                         /* row of the last error of analyse or update, counted from 0; -1: none */
  gable_off narrow; /* levr, levc: a level with at most so many rows and entries is left to one thread (block) */
} gable_trisolve_info;
#define GABLE_TRISOLVE_INFO_INIT                                                                                       \
  {                                                                                                                    \
    sizeof(gable_trisolve_info), "", "", "", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.0, 0.0, 0.0, -1, 0                  \
  }

/* Local.  Upper bounds of the bytes that a plan will hold (info's plan_bytes_host and plan_bytes_device), after create
 * and before any analysis: for n rows, nnz entries of value_type (GABLE_TYPE_S or _D) in the triangle and the options
 * of t.  nnz may count the diagonal, or the whole matrix, which makes the bound larger; on a GPU it counts all entries
 * of a matrix in host memory, whose values the plan keeps.  There the levels, unknown here, decide how full records
 * are: the bound holds for a chain of rows, and is many times the size where levels are wide.  An analysis takes some
 * more memory while it runs.  O(1). */
GABLE_API gable_status gable_trisolve_plan_bound(const gable_trisolve *t, gable_idx n, gable_off nnz,
                                                 gable_type value_type, size_t *host, size_t *device);

/* Local.  After analyse.  info->size must be set (GABLE_TRISOLVE_INFO_INIT). */
GABLE_API gable_status gable_trisolve_get_info(const gable_trisolve *t, gable_op op, gable_trisolve_info *info);

/* Local.  After analyse.  order: [n] rows in the order in which storage holds them; level: [n] of each row, from 0, in
 * the matrix's own numbering, counted as info.levels.  Either may be NULL.  GABLE_ERR_UNAVAILABLE: of an op that
 * options.ops left out. */
GABLE_API gable_status gable_trisolve_get_schedule(const gable_trisolve *t, gable_op op, gable_idx *order,
                                                   gable_idx *level);

#ifdef __cplusplus
}
#endif
#endif
