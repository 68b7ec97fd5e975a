/* superlu.c: SuperLU factors, Gable solves.
 *
 *   cc superlu.c $(pkg-config --cflags --libs gable) -lsuperlu -lm && ./a.out A.mtx [cuda:0] */
#include <stdio.h>
#include <superlu/slu_ddefs.h>

#include <gable/adapters/superlu.h>

#include "system.h"

int main(int argc, char **argv)
{
  example_system s = {0};
  gable_solver *solver = NULL;
  superlu_options_t options;
  SuperMatrix a, permuted, l, u;
  GlobalLU_t scratch;
  SuperLUStat_t statistics;
  int *perm_r = NULL, *perm_c = NULL, *tree = NULL, info = 1, done = 0;
  if (!example_read(argc, argv, &s)) goto end;
  perm_r = malloc(((size_t)s.n + 1) * sizeof *perm_r);
  perm_c = malloc(((size_t)s.n + 1) * sizeof *perm_c);
  tree = malloc(((size_t)s.n + 1) * sizeof *tree);
  if (!perm_r || !perm_c || !tree) goto end;
  set_default_options(&options);
  StatInit(&statistics);
  dCreate_CompCol_Matrix(&a, s.n, s.n, s.ptr[s.n], s.val, s.idx, s.ptr, SLU_NC, SLU_D, SLU_GE);
  get_perm_c((int)COLAMD, &a, perm_c);
  sp_preorder(&options, &a, perm_c, tree, &permuted);
  dgstrf(&options, &permuted, sp_ienv(2), sp_ienv(1), tree, NULL, 0, perm_c, perm_r, &l, &u, &scratch, &statistics,
         &info);
  if (info) {
    fprintf(stderr, "SuperLU does not factor this matrix\n");
  } else {
    if (gable_solver_create(s.ctx, NULL, &solver) ||
        gable_import_superlu(solver, &l, &u, perm_r, perm_c, 'N', NULL, NULL, &s.a))
      fprintf(stderr, "%s\n", gable_last_error());
    else
      done = example_solve(&s, solver, "SuperLU");
    Destroy_SuperNode_Matrix(&l);
    Destroy_CompCol_Matrix(&u);
  }
  Destroy_CompCol_Permuted(&permuted);
  Destroy_SuperMatrix_Store(&a);
  StatFree(&statistics);
end:
  free(perm_r);
  free(perm_c);
  free(tree);
  gable_solver_destroy(&solver);
  example_release(&s);
  return !done;
}
