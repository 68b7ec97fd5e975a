/* petsc_oracle.c: random forests beside PetscSF, on processes: bcast, reduce, gather, fetch and degrees of whole
 * numbers, whose sums have the same bits in any order, and the algebra (petsc_algebra.c).
 *
 *   mpirun -n 3 petsc_oracle CASES
 *
 * gather: PetscSF orders a root's entries otherwise, so each root's are sorted first. */
#include "petsc_oracle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gable/mpi.h>

static int rank, ranks;

void check(int right, const char *what, long number)
{
  if (right) return;
  fprintf(stderr, "rank %d of %d, case %ld: %s: %s\n", rank, ranks, number, what, gable_last_error());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static double *values(gable_off n, int seed)
{
  double *v = malloc(((size_t)n + 1) * sizeof *v);
  check(v != NULL, "memory", 0);
  for (gable_off i = 0; i < n; i++) v[i] = (double)((i * 37 + seed * 101 + rank * 13) % 1009 - 300);
  return v;
}

gable_exchange *exchange_of(const pair *c, gable_direction direction, gable_forest_op op)
{
  gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
  gable_plan *plan = NULL;
  gable_exchange *x = NULL;
  o.direction = direction;
  o.op = op;
  check(!gable_plan_create(c->f, &o, &plan) && !gable_exchange_create(plan, NULL, &x), "plan", c->number);
  gable_plan_destroy(&plan);
  return x;
}

static PetscErrorCode bcast(const pair *c, gable_forest_op op, MPI_Op mpi)
{
  gable_exchange *x = exchange_of(c, GABLE_DIRECTION_BCAST, op);
  double *root = values(c->p->n_roots, 1), *leaf = values(c->p->leaf_space, 2), *right = values(c->p->leaf_space, 2);
  PetscFunctionBeginUser;
  PetscCall(PetscSFBcastBegin(c->sf, MPI_DOUBLE, root, right, mpi));
  check(!gable_bcast_begin(x, root, leaf) && !gable_exchange_end(x), "bcast", c->number);
  PetscCall(PetscSFBcastEnd(c->sf, MPI_DOUBLE, root, right, mpi));
  check(!memcmp(leaf, right, (size_t)c->p->leaf_space * sizeof *leaf), "bcast differs", c->number);
  gable_exchange_destroy(&x);
  free(root);
  free(leaf);
  free(right);
  PetscFunctionReturn(0);
}

static PetscErrorCode reduce(const pair *c, gable_forest_op op, MPI_Op mpi)
{
  gable_exchange *x = exchange_of(c, GABLE_DIRECTION_REDUCE, op);
  double *leaf = values(c->p->leaf_space, 3), *root = values(c->p->n_roots, 4), *right = values(c->p->n_roots, 4);
  PetscFunctionBeginUser;
  PetscCall(PetscSFReduceBegin(c->sf, MPI_DOUBLE, leaf, right, mpi));
  check(!gable_reduce_begin(x, leaf, root) && !gable_exchange_end(x), "reduce", c->number);
  PetscCall(PetscSFReduceEnd(c->sf, MPI_DOUBLE, leaf, right, mpi));
  check(!memcmp(root, right, (size_t)c->p->n_roots * sizeof *root), "reduce differs", c->number);
  gable_exchange_destroy(&x);
  free(root);
  free(leaf);
  free(right);
  PetscFunctionReturn(0);
}

static int by_value(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static PetscErrorCode gather(const pair *c)
{
  gable_exchange *x = exchange_of(c, GABLE_DIRECTION_GATHER, GABLE_FOREST_OP_REPLACE);
  const PetscInt *degree = NULL;
  double *leaf = values(c->p->leaf_space, 5), *found = values(c->p->n_multi, 6), *right = values(c->p->n_multi, 6);
  gable_off *own = malloc(((size_t)c->p->n_roots + 1) * sizeof *own), at = 0;
  PetscFunctionBeginUser;
  PetscCall(PetscSFComputeDegreeBegin(c->sf, &degree));
  PetscCall(PetscSFComputeDegreeEnd(c->sf, &degree));
  PetscCall(PetscSFGatherBegin(c->sf, MPI_DOUBLE, leaf, right));
  check(own && !gable_forest_get_degree(c->f, own), "degree", c->number);
  check(!gable_gather_begin(x, leaf, found) && !gable_exchange_end(x), "gather", c->number);
  PetscCall(PetscSFGatherEnd(c->sf, MPI_DOUBLE, leaf, right));
  for (gable_off i = 0; i < c->p->n_roots; at += own[i++]) {
    check(own[i] == degree[i], "degree differs", c->number);
    qsort(found + at, (size_t)own[i], sizeof *found, by_value);
    qsort(right + at, (size_t)own[i], sizeof *right, by_value);
  }
  check(at == c->p->n_multi && !memcmp(found, right, (size_t)at * sizeof *found), "gather differs", c->number);
  gable_exchange_destroy(&x);
  free(leaf);
  free(found);
  free(right);
  free(own);
  PetscFunctionReturn(0);
}

/* The entries of found and of right that belong to a root, by the multi forest, are the same in some order. */
static void same_by_root(const pair *c, gable_exchange *gather, const double *found, const double *right,
                         const char *what)
{
  double *in[2] = {values(c->p->n_multi, 7), values(c->p->n_multi, 7)};
  const double *const from[2] = {found, right};
  gable_off *own = malloc(((size_t)c->p->n_roots + 1) * sizeof *own), at = 0;
  check(own && !gable_forest_get_degree(c->f, own), "degree", c->number);
  for (int k = 0; k < 2; k++)
    check(!gable_gather_begin(gather, from[k], in[k]) && !gable_exchange_end(gather), "gather", c->number);
  for (gable_off i = 0; i < c->p->n_roots; at += own[i++])
    for (int k = 0; k < 2; k++) qsort(in[k] + at, (size_t)own[i], sizeof **in, by_value);
  check(!memcmp(in[0], in[1], (size_t)at * sizeof **in), what, c->number);
  free(own);
  free(in[0]);
  free(in[1]);
}

/* All leaves of a root add the same, so what they fetch does not depend on their order but for who fetches what. */
static PetscErrorCode fetch(const pair *c)
{
  gable_exchange *x = exchange_of(c, GABLE_DIRECTION_FETCH, GABLE_FOREST_OP_SUM);
  gable_exchange *gather_by = exchange_of(c, GABLE_DIRECTION_GATHER, GABLE_FOREST_OP_REPLACE);
  double *leaf = values(c->p->leaf_space, 8), *root = values(c->p->n_roots, 9), *right = values(c->p->n_roots, 9);
  double *update = values(c->p->leaf_space, 10), *right_update = values(c->p->leaf_space, 10);
  PetscFunctionBeginUser;
  for (gable_off i = 0; i < c->p->n_leaves; i++)
    leaf[c->p->leaf[i]] = 1 + (double)((c->p->root[i].rank * 31 + c->p->root[i].index) % 17);
  PetscCall(PetscSFFetchAndOpBegin(c->sf, MPI_DOUBLE, right, leaf, right_update, MPI_SUM));
  check(!gable_fetch_begin(x, root, leaf, update) && !gable_exchange_end(x), "fetch", c->number);
  PetscCall(PetscSFFetchAndOpEnd(c->sf, MPI_DOUBLE, right, leaf, right_update, MPI_SUM));
  check(!memcmp(root, right, (size_t)c->p->n_roots * sizeof *root), "roots of a fetch differ", c->number);
  same_by_root(c, gather_by, update, right_update, "what a fetch gives differs");
  gable_exchange_destroy(&x);
  gable_exchange_destroy(&gather_by);
  double *const all[] = {leaf, root, right, update, right_update};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) free(all[k]);
  PetscFunctionReturn(0);
}

PetscSF petsc_of(gable_off n_roots, gable_off n, const gable_off *leaf, const gable_root *root)
{
  PetscInt *place = malloc(((size_t)n + 1) * sizeof *place);
  PetscSFNode *to = malloc(((size_t)n + 1) * sizeof *to);
  PetscSF sf = NULL;
  check(place && to, "memory", 0);
  for (gable_off i = 0; i < n; i++) {
    place[i] = (PetscInt)leaf[i];
    to[i] = (PetscSFNode){root[i].rank, (PetscInt)root[i].index};
  }
  PetscCallAbort(PETSC_COMM_WORLD, PetscSFCreate(PETSC_COMM_WORLD, &sf));
  PetscCallAbort(PETSC_COMM_WORLD,
                 PetscSFSetGraph(sf, (PetscInt)n_roots, (PetscInt)n, place, PETSC_COPY_VALUES, to, PETSC_COPY_VALUES));
  PetscCallAbort(PETSC_COMM_WORLD, PetscSFSetUp(sf));
  free(place);
  free(to);
  return sf;
}

static PetscErrorCode run_case(gable_comm *comm, long number)
{
  forest_case *random = forest_case_create(ranks, 15, number, GABLE_SPACE_HOST);
  check(random != NULL, "memory", number);
  pair c = {&random->part[rank], NULL, NULL, number};
  PetscFunctionBeginUser;
  check(!gable_forest_create(comm, c.p->n_roots, c.p->n_leaves, c.p->leaf, c.p->root, &c.f), "graph", number);
  c.sf = petsc_of(c.p->n_roots, c.p->n_leaves, c.p->leaf, c.p->root);
  PetscCall(bcast(&c, GABLE_FOREST_OP_REPLACE, MPI_REPLACE));
  PetscCall(bcast(&c, GABLE_FOREST_OP_SUM, MPI_SUM));
  PetscCall(bcast(&c, GABLE_FOREST_OP_MAX, MPI_MAX));
  PetscCall(reduce(&c, GABLE_FOREST_OP_SUM, MPI_SUM));
  PetscCall(reduce(&c, GABLE_FOREST_OP_MIN, MPI_MIN));
  PetscCall(reduce(&c, GABLE_FOREST_OP_MAX, MPI_MAX));
  PetscCall(gather(&c));
  PetscCall(fetch(&c));
  PetscCall(petsc_algebra(comm, random, &c));
  PetscCall(PetscSFDestroy(&c.sf));
  gable_forest_destroy(&c.f);
  forest_case_destroy(&random);
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  const long cases = argc > 1 ? atol(argv[1]) : 20;
  gable_context *ctx = NULL;
  gable_comm *comm = NULL;
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  MPI_Comm_size(PETSC_COMM_WORLD, &ranks);
  check(!gable_context_create("cpu", NULL, &ctx) && !gable_comm_from_mpi(ctx, PETSC_COMM_WORLD, &comm), "comm", 0);
  for (long k = 0; k < cases; k++) PetscCall(run_case(comm, k));
  if (!rank) printf("%ld cases on %d ranks as PetscSF has them\n", cases, ranks);
  gable_comm_destroy(&comm);
  gable_context_destroy(&ctx);
  PetscCall(PetscFinalize());
  return 0;
}
