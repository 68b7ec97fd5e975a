/* bench.h: what `gable bench` measures: lines of results, their JSON, tables and picture. */
#ifndef TOOL_BENCH_H
#define TOOL_BENCH_H

#include <stdio.h>

#include "bench_solver.h"
#include "session.h"
#include "stopwatch.h"

enum { BENCH_MOST_METHODS = 16, BENCH_MOST_WIDTHS = 8 };

/* One method on one triangle, or (part GABLE_PART_FULL) a forward and a backward sweep with the whole matrix. */
typedef struct bench_result {
  char matrix[80];
  gable_part part;
  const char *method;
  contest_entry entry;
  int failed; /* then entry.why says why, and times mean nothing */
  int wrong;  /* failed, because a solution is not right */
  gable_idx n, levels, rhs;
  gable_off nnz;
  int scaled;
  double first_s;
  quartiles solve;
  double batch_s; /* of one of batch solves back to back on a GPU; 0: not measured so */
  long batch;
  int batch_graph; /* 1: in one captured graph, 0: one launch after another on a stream */
  solve_floor floor;
  double bytes, error; /* over its bound; of sweeps: difference to the plain loop over the largest entry of x */
} bench_result;

typedef struct bench_results {
  bench_result *list; /* [count] */
  size_t count, room;
} bench_results;

typedef struct bench_request {
  const char *what;         /* "laplacian", "matrices" or "supernodal" */
  const char *const *files; /* [n_files] */
  int n_files;
  const char *list, *folder, *only, *methods, *where, *uplo, *measure, *json, *plot, *machine, *commit, *cudss;
  const char *op, *type, *layout; /* as `gable trisolve` has them */
  const char *widths;             /* of supernodal: numbers of right-hand sides, commas between; NULL: rhs */
  long rhs, repeat, threads;
  double limit_s;
  int merge_blocks, both_ops;
  int permuted, strict;
} bench_request;

/* A matrix to measure: the first of its sources that is there. */
typedef struct bench_source {
  char name[80], path[512];
  gable_method method; /* of its factorization, for supernodal; GABLE_METHOD_AUTO unless a list says */
} bench_source;

/* Calls visit for each matrix of the request, until it returns nonzero; visit's path is a file or a recipe.  An exit
 * status; a line on standard error says what was not understood. */
int bench_sources(const bench_request *q, int (*visit)(void *user, const bench_source *source), void *user);

/* Room for one more, with its zeros; NULL: out of memory. */
bench_result *bench_results_add(bench_results *r);
const bench_result *bench_results_find(const bench_results *r, const char *matrix, gable_part part, const char *method);
void bench_results_free(bench_results *r);

/* "lower", "upper", or "sweeps" of the whole. */
const char *bench_part_name(gable_part part);

/* Measures one solver; where repeats solves are wanted, and fewer when they take more than a second. */
void bench_measure(bench_solver *c, bench_problem *p, long repeats, int threads, bench_result *out);

/* 2 operations an entry and right-hand side; of a pair of sweeps twice as many. */
double bench_gflops(const bench_result *r);

/* The seed's GFLOPS of a matrix: [14] P100 and V100, each LEVR LEVC ELMR ELMC CUS1 CUS2 GSF; NULL: not in its tables.
 */
const double *bench_seed(const char *matrix);

/* A method on a factor (bench_supernodal.c). */
typedef struct supernodal_result {
  const char *matrix, *method, *where, *kind; /* kind: lu, cholesky, ldlt */
  int64_t n, nnz_l, nnz_u, levels, device_bytes, rhs;
  double prepare_s, upload_s, floor_s;
  const char *floor_of; /* which of them the floor is: bytes, flops */
  int graph;            /* 1: solves were timed in a captured graph */
  quartiles solve;
  double first_error, backward_error; /* before and after refinement */
  int missed;                         /* 1: the refined solution misses the tolerance */
} supernodal_result;

/* All methods on all sources of q; returns an exit status.  lines: JSON, or NULL. */
int bench_supernodal(session *s, const bench_request *q, FILE *out, FILE *lines);
void bench_json_supernodal(FILE *out, const bench_request *q, const supernodal_result *r);

void bench_json(FILE *out, const bench_request *q, const char *where, const bench_result *r);
/* Why the run ended without measuring a matrix, or any ("*"). */
void bench_json_failure(FILE *out, const bench_request *q, const char *matrix, gable_status status, const char *reason);

/* beside_seed: GFLOPS in the seed's columns, with its figures of a V100 and a P100; sensible for a GPU alone. */
void bench_tables(FILE *out, const bench_results *r, const char *const *methods, int count, const char *machine,
                  int beside_seed);

/* Returns an exit status. */
int bench_plot(const char *path, const bench_results *r, const char *const *methods, int count, const char *title);

#endif
