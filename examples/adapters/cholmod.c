/* cholmod.c: CHOLMOD factors a positive definite matrix, Gable solves.
 *
 *   cc cholmod.c $(pkg-config --cflags --libs gable) -lcholmod -lm && ./a.out A.mtx [cuda:0] */
#include <suitesparse/cholmod.h>

#include <gable/adapters/cholmod.h>

#include "system.h"

int main(int argc, char **argv)
{
  example_system s = {0};
  gable_solver *solver = NULL;
  cholmod_common common;
  cholmod_factor *factor = NULL;
  int done = 0;
  cholmod_start(&common);
  if (!example_read(argc, argv, &s)) goto end;
  cholmod_sparse a = {.nrow = (size_t)s.n,
                      .ncol = (size_t)s.n,
                      .nzmax = (size_t)s.ptr[s.n],
                      .p = s.ptr,
                      .i = s.idx,
                      .x = s.val,
                      .stype = -1, /* the lower triangle is used */
                      .itype = CHOLMOD_INT,
                      .xtype = CHOLMOD_REAL,
                      .dtype = CHOLMOD_DOUBLE,
                      .sorted = 1,
                      .packed = 1};
  factor = cholmod_analyze(&a, &common);
  if (!factor || !cholmod_factorize(&a, factor, &common)) {
    fprintf(stderr, "CHOLMOD does not factor this matrix\n");
    goto end;
  }
  if (gable_solver_create(s.ctx, NULL, &solver) || gable_import_cholmod(solver, factor, &s.a)) {
    fprintf(stderr, "%s\n", gable_last_error());
    goto end;
  }
  done = example_solve(&s, solver, "CHOLMOD");
end:
  cholmod_free_factor(&factor, &common);
  cholmod_finish(&common);
  gable_solver_destroy(&solver);
  example_release(&s);
  return !done;
}
