/* system.h: what the examples of this folder share: a matrix from a file, and a checked answer. */
#ifndef SYSTEM_H
#define SYSTEM_H

#include <gable/gable.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Both triangles by columns, offsets of int as the packages take them. */
typedef struct example_system {
  gable_context *ctx;
  gable_matrix *stored, *full;
  gable_matrix_view a;
  int n, *ptr, *idx;
  double *val, *b, *x;
} example_system;

/* The matrix of the file on the place (argv[1], argv[2]; without: examples/data/bcsstk18.mtx.gz, cpu); b = A ones.  1:
 * done; 0: said what is wrong. */
static inline int example_read(int argc, char **argv, example_system *s)
{
  const char *path = argc > 1 ? argv[1] : "examples/data/bcsstk18.mtx.gz", *place = argc > 2 ? argv[2] : "cpu";
  gable_read_options reading = GABLE_READ_OPTIONS_INIT;
  reading.accept_complex = 0; /* the packages need real values */
  reading.accept_pattern = 0;
  s->a = (gable_matrix_view)GABLE_MATRIX_VIEW_INIT;
  if (gable_context_create(place, NULL, &s->ctx) || gable_matrix_read(s->ctx, path, &reading, &s->stored) ||
      gable_matrix_expand(s->stored, &s->full) || gable_matrix_get_view(s->full, &s->a)) {
    fprintf(stderr, "%s\n", gable_last_error());
    return 0;
  }
  if (s->a.n_rows != s->a.n_cols) {
    fprintf(stderr, "%s is %d by %d: give a square matrix\n", path, (int)s->a.n_rows, (int)s->a.n_cols);
    return 0;
  }
  const int64_t *ptr = s->a.ptr;
  s->n = s->a.n_rows;
  s->idx = (int *)(uintptr_t)s->a.idx; /* the packages take arrays without const and leave them alone */
  s->val = (double *)(uintptr_t)s->a.val;
  s->ptr = malloc(((size_t)s->n + 1) * sizeof *s->ptr);
  s->b = calloc((size_t)s->n + 1, sizeof *s->b);
  s->x = calloc((size_t)s->n + 1, sizeof *s->x);
  if (!s->ptr || !s->b || !s->x) return 0;
  for (int j = 0; j <= s->n; j++) s->ptr[j] = (int)ptr[j];
  for (int j = 0; j < s->n; j++)
    for (int k = s->ptr[j]; k < s->ptr[j + 1]; k++) s->b[s->idx[k]] += s->val[k];
  return 1;
}

/* Solves A x = b with the imported factor of solver and prints the backward error.  1: done. */
static inline int example_solve(example_system *s, gable_solver *solver, const char *package)
{
  gable_solver_work *work = NULL;
  gable_solve_report report = GABLE_SOLVE_REPORT_INIT;
  gable_vectors_view b = GABLE_VECTORS_VIEW_INIT, x;
  int done = 0;
  b.n = s->n;
  b.ld = s->n;
  b.data = s->b;
  x = b;
  x.data = s->x;
  if (!gable_solver_work_create(solver, 1, &work) && !gable_solver_solve(solver, work, GABLE_OP_N, &b, &x) &&
      !gable_solver_work_report(work, &report)) {
    printf("%s's factor on %s: n = %d, backward error %.1e\n", package, gable_context_where(s->ctx), s->n,
           report.backward_error);
    done = 1;
  } else {
    fprintf(stderr, "%s\n", gable_last_error());
  }
  gable_solver_work_destroy(&work);
  return done;
}

static inline void example_release(example_system *s)
{
  free(s->ptr);
  free(s->b);
  free(s->x);
  gable_matrix_destroy(&s->full);
  gable_matrix_destroy(&s->stored);
  gable_context_destroy(&s->ctx);
}

#endif
