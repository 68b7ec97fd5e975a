/* umfpack.c: UMFPACK factors, Gable solves.
 *
 *   cc umfpack.c $(pkg-config --cflags --libs gable) -lumfpack -lm && ./a.out A.mtx [cuda:0] */
#include <suitesparse/umfpack.h>

#include <gable/adapters/umfpack.h>

#include "system.h"

int main(int argc, char **argv)
{
  example_system s = {0};
  gable_solver *solver = NULL;
  void *symbolic = NULL, *numeric = NULL;
  int done = 0;
  if (!example_read(argc, argv, &s)) goto end;
  if (umfpack_di_symbolic(s.n, s.n, s.ptr, s.idx, s.val, &symbolic, NULL, NULL) ||
      umfpack_di_numeric(s.ptr, s.idx, s.val, symbolic, &numeric, NULL, NULL)) {
    fprintf(stderr, "UMFPACK does not factor this matrix\n");
    goto end;
  }
  if (gable_solver_create(s.ctx, NULL, &solver) || gable_import_umfpack(solver, numeric, &s.a)) {
    fprintf(stderr, "%s\n", gable_last_error());
    goto end;
  }
  done = example_solve(&s, solver, "UMFPACK");
end:
  umfpack_di_free_symbolic(&symbolic);
  umfpack_di_free_numeric(&numeric);
  gable_solver_destroy(&solver);
  example_release(&s);
  return !done;
}
