/* klu.c: KLU factors, Gable solves.
 *
 *   cc klu.c $(pkg-config --cflags --libs gable) -lklu -lm && ./a.out A.mtx [cuda:0] */
#include <suitesparse/klu.h>

#include <gable/adapters/klu.h>

#include "system.h"

int main(int argc, char **argv)
{
  example_system s = {0};
  gable_solver *solver = NULL;
  klu_common common;
  klu_symbolic *symbolic = NULL;
  klu_numeric *numeric = NULL;
  int done = 0;
  klu_defaults(&common);
  if (!example_read(argc, argv, &s)) goto end;
  symbolic = klu_analyze(s.n, s.ptr, s.idx, &common);
  if (symbolic) numeric = klu_factor(s.ptr, s.idx, s.val, symbolic, &common);
  if (!numeric) {
    fprintf(stderr, "KLU does not factor this matrix\n");
    goto end;
  }
  if (gable_solver_create(s.ctx, NULL, &solver) || gable_import_klu(solver, symbolic, numeric, &common, &s.a)) {
    fprintf(stderr, "%s\n", gable_last_error());
    goto end;
  }
  done = example_solve(&s, solver, "KLU");
end:
  klu_free_symbolic(&symbolic, &common);
  klu_free_numeric(&numeric, &common);
  gable_solver_destroy(&solver);
  example_release(&s);
  return !done;
}
