/* petsc_algebra.c: see petsc_oracle.h. */
#include "petsc_oracle.h"

#include <stdlib.h>
#include <string.h>

typedef struct edge {
  gable_off leaf;
  gable_root root;
} edge;

static int by_leaf(const void *a, const void *b)
{
  const gable_off x = ((const edge *)a)->leaf, y = ((const edge *)b)->leaf;
  return x < y ? -1 : x > y;
}

/* Both have the same edges and numbers of roots; both go. */
static PetscErrorCode same(const pair *c, gable_forest *f, PetscSF sf, const char *what)
{
  const PetscInt *place = NULL;
  const PetscSFNode *to = NULL;
  PetscInt n_roots = 0, n = 0;
  gable_forest_info info = GABLE_FOREST_INFO_INIT;
  PetscFunctionBeginUser;
  PetscCall(PetscSFGetGraph(sf, &n_roots, &n, &place, &to));
  check(!gable_forest_get_info(f, &info) && info.n_roots == n_roots && info.n_leaves == n, what, c->number);
  edge *right = malloc(((size_t)n + 1) * sizeof *right);
  gable_off *leaf = malloc(((size_t)n + 1) * sizeof *leaf);
  gable_root *root = malloc(((size_t)n + 1) * sizeof *root);
  check(right && leaf && root && !gable_forest_get_leaves(f, leaf, root), "leaves", c->number);
  for (PetscInt i = 0; i < n; i++) right[i] = (edge){place ? place[i] : i, {(int32_t)to[i].rank, to[i].index}};
  qsort(right, (size_t)n, sizeof *right, by_leaf);
  for (PetscInt i = 0; i < n; i++)
    check(leaf[i] == right[i].leaf && root[i].rank == right[i].root.rank && root[i].index == right[i].root.index, what,
          c->number);
  free(right);
  free(leaf);
  free(root);
  gable_forest_destroy(&f);
  PetscCall(PetscSFDestroy(&sf));
  PetscFunctionReturn(0);
}

/* Every third root, and every third leaf, of which PetscSF wants the number and Gable the position. */
static PetscErrorCode embedded(const pair *c)
{
  const gable_off most = c->p->n_roots > c->p->n_leaves ? c->p->n_roots : c->p->n_leaves;
  gable_off *keep = malloc(((size_t)most + 1) * sizeof *keep), n = 0;
  PetscInt *number = malloc(((size_t)most + 1) * sizeof *number);
  const PetscInt *place = NULL;
  gable_forest *f = NULL;
  PetscSF sf = NULL;
  PetscFunctionBeginUser;
  check(keep && number, "memory", c->number);
  for (gable_off i = c->number % 3; i < c->p->n_roots; i += 3) {
    keep[n] = i;
    number[n++] = (PetscInt)i;
  }
  check(!gable_forest_embed_roots(c->f, n, keep, &f), "embedded roots", c->number);
  PetscCall(PetscSFCreateEmbeddedRootSF(c->sf, (PetscInt)n, number, &sf));
  PetscCall(same(c, f, sf, "embedded roots differ"));
  PetscCall(PetscSFGetGraph(c->sf, NULL, NULL, &place, NULL));
  n = 0;
  for (gable_off i = c->number % 3; i < c->p->n_leaves; i += 3) {
    keep[n] = place ? place[i] : i;
    number[n++] = (PetscInt)i;
  }
  check(!gable_forest_embed_leaves(c->f, n, keep, &f), "embedded leaves", c->number);
  PetscCall(PetscSFCreateEmbeddedLeafSF(c->sf, (PetscInt)n, number, &sf));
  PetscCall(same(c, f, sf, "embedded leaves differ"));
  free(keep);
  free(number);
  PetscFunctionReturn(0);
}

enum { LEAVES = 24 };

/* Up to LEAVES edges to roots that are the positions of c's leaves. */
static PetscErrorCode composed(gable_comm *comm, const forest_case *all, const pair *c)
{
  gable_off leaf[LEAVES], n = 0;
  gable_root root[LEAVES];
  gable_forest *b = NULL, *f = NULL;
  PetscSF sf = NULL;
  PetscFunctionBeginUser;
  for (int i = 0; i < LEAVES; i++) {
    const int r = (gable_comm_rank(comm) + i) % gable_comm_size(comm);
    const gable_off space = all->part[r].leaf_space;
    if (!space) continue;
    leaf[n] = 2 * i;
    root[n++] = (gable_root){r, (i * 5 + c->number) % space};
  }
  check(!gable_forest_create(comm, c->p->leaf_space, n, leaf, root, &b), "a second graph", c->number);
  PetscSF petsc_b = petsc_of(c->p->leaf_space, n, leaf, root);
  check(!gable_forest_compose(c->f, b, &f), "composed", c->number);
  PetscCall(PetscSFCompose(c->sf, petsc_b, &sf));
  PetscCall(same(c, f, sf, "composed forests differ"));
  gable_forest_destroy(&b);
  PetscCall(PetscSFDestroy(&petsc_b));
  PetscFunctionReturn(0);
}

/* A graph whose roots have one leaf each, at positions that c has too: itself inverse, c composed with its inverse. */
static PetscErrorCode inverse(gable_comm *comm, const pair *c)
{
  gable_off leaf[LEAVES];
  gable_root root[LEAVES];
  gable_forest *b = NULL, *f = NULL;
  PetscSF sf = NULL;
  PetscFunctionBeginUser;
  for (int i = 0; i < LEAVES; i++) {
    leaf[i] = i;
    root[i] = (gable_root){(gable_comm_rank(comm) + 1) % gable_comm_size(comm), 2 * (LEAVES - 1 - i)};
  }
  check(!gable_forest_create(comm, 2 * LEAVES, LEAVES, leaf, root, &b), "a second graph", c->number);
  PetscSF petsc_b = petsc_of(2 * LEAVES, LEAVES, leaf, root);
  check(!gable_forest_inverse(b, &f), "inverse", c->number);
  PetscCall(PetscSFCreateInverseSF(petsc_b, &sf));
  PetscCall(same(c, f, sf, "inverse forests differ"));
  check(!gable_forest_compose_inverse(c->f, b, &f), "composed with an inverse", c->number);
  PetscCall(PetscSFComposeInverse(c->sf, petsc_b, &sf));
  PetscCall(same(c, f, sf, "forests composed with an inverse differ"));
  gable_forest_destroy(&b);
  PetscCall(PetscSFDestroy(&petsc_b));
  PetscFunctionReturn(0);
}

static PetscErrorCode concatenated(const pair *c)
{
  const gable_forest *const both[] = {c->f, c->f};
  const gable_off offset[] = {0, c->p->leaf_space};
  PetscInt offsets[] = {0, (PetscInt)c->p->leaf_space};
  PetscSF twice[] = {c->sf, c->sf}, sf = NULL;
  gable_forest *f = NULL;
  PetscFunctionBeginUser;
  check(!gable_forest_concatenate(2, both, GABLE_ROOTS_SHARED, offset, &f), "concatenated", c->number);
#if PETSC_VERSION_LT(3, 19, 0)
  PetscCall(PetscSFConcatenate(PETSC_COMM_WORLD, 2, twice, PETSC_TRUE, offsets, &sf));
#else
  PetscCall(PetscSFConcatenate(PETSC_COMM_WORLD, 2, twice, PETSCSF_CONCATENATE_ROOTMODE_SHARED, offsets, &sf));
#endif
  PetscCall(same(c, f, sf, "forests of the same roots differ"));
  check(!gable_forest_concatenate(2, both, GABLE_ROOTS_LOCAL, offset, &f), "concatenated", c->number);
#if PETSC_VERSION_LT(3, 19, 0)
  PetscCall(PetscSFConcatenate(PETSC_COMM_WORLD, 2, twice, PETSC_FALSE, offsets, &sf));
#else
  PetscCall(PetscSFConcatenate(PETSC_COMM_WORLD, 2, twice, PETSCSF_CONCATENATE_ROOTMODE_LOCAL, offsets, &sf));
#endif
  PetscCall(same(c, f, sf, "forests of roots one after another differ"));
#if !PETSC_VERSION_LT(3, 19, 0)
  check(!gable_forest_concatenate(2, both, GABLE_ROOTS_GLOBAL, offset, &f), "concatenated", c->number);
  PetscCall(PetscSFConcatenate(PETSC_COMM_WORLD, 2, twice, PETSCSF_CONCATENATE_ROOTMODE_GLOBAL, offsets, &sf));
  PetscCall(same(c, f, sf, "forests of roots one after another over all ranks differ"));
#endif
  PetscFunctionReturn(0);
}

/* A root's leaves may have its multi roots in any order: each multi root has one leaf, which is one of the root's. */
static PetscErrorCode multi(const pair *c)
{
  const size_t space = (size_t)c->p->leaf_space, slots = (size_t)c->p->n_multi;
  double *root = calloc(slots + 1, sizeof *root), *ones = calloc(slots + 1, sizeof *ones);
  double *right = calloc(space + 1, sizeof *right), *found = calloc(space + 1, sizeof *found);
  double *leaves = calloc(space + 1, sizeof *leaves);
  gable_off *degree = malloc(((size_t)c->p->n_roots + 1) * sizeof *degree), at = 0;
  pair m = *c;
  PetscFunctionBeginUser;
  check(root && ones && right && found && leaves && degree && !gable_forest_get_degree(c->f, degree), "degree",
        c->number);
  check(!gable_forest_multi(c->f, &m.f), "multi", c->number);
  PetscCall(PetscSFGetMultiSF(c->sf, &m.sf));
  for (gable_off i = 0; i < c->p->n_roots; i++)
    for (gable_off k = 0; k < degree[i]; k++) root[at++] = (double)(i + 1);
  for (size_t i = 0; i < space; i++) leaves[i] = 1;
  gable_exchange *down = exchange_of(&m, GABLE_DIRECTION_BCAST, GABLE_FOREST_OP_REPLACE);
  PetscCall(PetscSFBcastBegin(m.sf, MPI_DOUBLE, root, right, MPI_REPLACE));
  check(!gable_bcast_begin(down, root, found) && !gable_exchange_end(down), "bcast", c->number);
  PetscCall(PetscSFBcastEnd(m.sf, MPI_DOUBLE, root, right, MPI_REPLACE));
  check(!memcmp(found, right, space * sizeof *found), "multi roots belong to other roots", c->number);
  PetscCall(PetscSFReduceBegin(m.sf, MPI_DOUBLE, leaves, ones, MPI_SUM));
  PetscCall(PetscSFReduceEnd(m.sf, MPI_DOUBLE, leaves, ones, MPI_SUM));
  gable_exchange *up = exchange_of(&m, GABLE_DIRECTION_REDUCE, GABLE_FOREST_OP_SUM);
  check(!gable_reduce_begin(up, leaves, ones) && !gable_exchange_end(up), "reduce", c->number);
  for (size_t i = 0; i < slots; i++) check(ones[i] == 2, "a multi root has not one leaf in both", c->number);
  gable_exchange_destroy(&down);
  gable_exchange_destroy(&up);
  gable_forest_destroy(&m.f);
  double *const all[] = {root, ones, right, found, leaves};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) free(all[k]);
  free(degree);
  PetscFunctionReturn(0);
}

PetscErrorCode petsc_algebra(gable_comm *comm, const forest_case *all, const pair *c)
{
  PetscFunctionBeginUser;
  PetscCall(embedded(c));
  PetscCall(composed(comm, all, c));
  PetscCall(inverse(comm, c));
  PetscCall(concatenated(c));
  PetscCall(multi(c));
  PetscFunctionReturn(0);
}
