/* bench_solver.h: whoever solves with a triangle in `gable bench`: a method of Gable's, or another library. */
#ifndef TOOL_BENCH_SOLVER_H
#define TOOL_BENCH_SOLVER_H

#include "bench_matrix.h"
#include "workbench.h"

/* What is asked of every solver beside the triangle. */
typedef struct bench_shape {
  gable_idx rhs;
  gable_op op;                /* what rows is solved with: itself or its transpose */
  gable_type values, vectors; /* GABLE_TYPE_D or GABLE_TYPE_S */
  gable_major major;          /* of several right-hand sides */
  int both_ops;               /* 1: Gable's plans serve the other op, too (the library's default) */
} bench_shape;

/* One triangle where solves run: on the CPU the host's own arrays. */
typedef struct bench_problem {
  gable_context *ctx;
  bench_shape shape;
  const bench_rows *rows, *equations; /* the stored matrix; op(rows), which solutions are held against */
  int32_t *ptr;
  gable_idx *idx;
  void *val;        /* of shape.values */
  float *single;    /* [nnz] on the host where shape.values is GABLE_TYPE_S, or NULL */
  workbench bench;  /* its vectors and its stream */
  double *plain[2]; /* [n] for each b: what plain sweeps give, or NULL: not asked for so far */
} bench_problem;

/* Solves with rows, which must outlive p.  equations: rows, or with GABLE_OP_T their transpose.  Vectors have no gaps.
 */
gable_status bench_problem_open(gable_context *ctx, const bench_rows *rows, const bench_rows *equations,
                                const bench_shape *shape, bench_problem *p);
void bench_problem_close(bench_problem *p);

/* What a solver says of itself when it is ready; times in seconds. */
typedef struct contest_entry {
  double analyse_s, update_s;
  char used[16], why[240];
} contest_entry;

typedef struct bench_solver bench_solver;
struct bench_solver {
  const char *name;
  int start; /* the byte that x is filled with before a solve: poison, or 0 where x is a start */

  /* Analyses the pattern and takes the values; both are timed, the second time each.  0, or -1 with the reason in
   * e->why; clear is called in either case. */
  int (*prepare)(bench_solver *c, const bench_problem *p, contest_entry *e);

  /* x of the problem from b[turn], asynchronously on the problem's stream. */
  int (*solve)(bench_solver *c, const bench_problem *p, int turn);

  /* After the solves: 0 when all of them went well. */
  int (*verdict)(bench_solver *c, contest_entry *e);
  void (*clear)(bench_solver *c); /* ready for another problem */

  void *state; /* its own */
};

void bench_solver_free(bench_solver *c);

/* A method of Gable's by name; sweeps: forward and backward Gauss-Seidel sweeps with a whole matrix instead of a
 * solve.  method must outlive it.  0: out of memory. */
int bench_solver_gable(const char *method, bench_solver *c);
int bench_solver_sweeps(const char *method, bench_solver *c);

/* cuSPARSE: SpSV, or SpSM for several right-hand sides; opened once.  0 with the reason when this build or this machine
 * has none. */
int bench_solver_cusparse(bench_solver *c, char *why, size_t why_bytes);

#endif
