/* contestant.h: whoever solves with a triangle in `gable bench`: a method of Gable's, or another library. */
#ifndef TOOL_CONTESTANT_H
#define TOOL_CONTESTANT_H

#include "bench_matrix.h"
#include "workbench.h"

/* One triangle where solves run: on the CPU the host's own arrays. */
typedef struct bench_problem {
  gable_context *ctx;
  const bench_rows *rows;
  int32_t *ptr;
  gable_idx *idx;
  double *val;
  workbench bench;  /* its vectors and its stream */
  double *plain[2]; /* [n] for each b: what plain sweeps give, or NULL: not asked for so far */
} bench_problem;

/* rhs: right-hand sides, column major, ld n. */
gable_status bench_problem_open(gable_context *ctx, const bench_rows *rows, gable_idx rhs, bench_problem *p);
void bench_problem_close(bench_problem *p);

/* What a contestant says of itself when it is ready; times in seconds. */
typedef struct contest_entry {
  double analyse_s, update_s;
  char used[16], why[240];
} contest_entry;

typedef struct contestant contestant;
struct contestant {
  const char *name;
  int start; /* the byte that x is filled with before a solve: poison, or 0 where x is a start */

  /* Analyses the pattern and takes the values; both are timed, the second time each.  0, or -1 with the reason in
   * e->why; clear is called in either case. */
  int (*prepare)(contestant *c, const bench_problem *p, contest_entry *e);

  /* x of the problem from b[turn], asynchronously on the problem's stream. */
  int (*solve)(contestant *c, const bench_problem *p, int turn);

  /* After the solves: 0 when all of them went well. */
  int (*verdict)(contestant *c, contest_entry *e);
  void (*clear)(contestant *c); /* ready for another problem */

  void *state; /* its own */
};

void contestant_free(contestant *c);

/* A method of Gable's by name; sweeps: forward and backward Gauss-Seidel sweeps with a whole matrix instead of a
 * solve.  method must outlive it.  0: out of memory. */
int contestant_gable(const char *method, contestant *c);
int contestant_sweeps(const char *method, contestant *c);

/* cuSPARSE: SpSV, or SpSM for several right-hand sides; opened once.  0 with the reason when this build or this machine
 * has none. */
int contestant_cusparse(contestant *c, char *why, size_t why_bytes);

#endif
