/* petsc_oracle.h: a forest of Gable and the same one of PetscSF. */
#ifndef TEST_PETSC_ORACLE_H
#define TEST_PETSC_ORACLE_H

#include <petscsf.h>

#include <gable/gable.h>

#include "tool/forest_case.h"

typedef struct pair {
  const forest_part *p; /* of this rank */
  gable_forest *f;
  PetscSF sf;
  long number; /* of the case */
} pair;

/* Ends the program of all ranks where right is 0. */
void check(int right, const char *what, long number);

/* Collective.  Of c->f; and PetscSF's graph of edges as gable_forest_create takes them. */
gable_exchange *exchange_of(const pair *c, gable_direction direction, gable_forest_op op);
PetscSF petsc_of(gable_off n_roots, gable_off n, const gable_off *leaf, const gable_root *root);

/* Collective.  Embedded, composed, inverse, concatenated and multi forests of c have PetscSF's edges. */
PetscErrorCode petsc_algebra(gable_comm *comm, const forest_case *all, const pair *c);

#endif
