/* Many items of one neighbour: rank 0 has the roots, rank 1 a leaf of each, chars.  Side by side, so that both sides
 * are contiguous, and each two exchanged, so that rank 0 reads a list.
 *
 * usage: test_many_items [PLACE ITEMS], as "cpu/ranks:2 2147483659" or "cuda:0,1/peer 2147483659", beyond 2^31, for
 * which a machine needs 130 GB of memory: the graph takes up to 60 bytes an edge.  Arrays lie on the place's devices.
 */
#include <stdlib.h>

#include "support/memory_available.h"
#include "support/test.h"

enum { PIECE = 1 << 26 };

typedef struct items {
  gable_off n;
  int exchanged; /* leaf i of root i ^ 1 */
} items;

static signed char number(gable_off i, int round)
{
  return (signed char)((uint64_t)(i + round) * UINT64_C(0x9e3779b97f4a7c15) >> 56);
}

static gable_off root_of(const items *w, gable_off i)
{
  return w->exchanged && (i ^ 1) < w->n ? i ^ 1 : i;
}

/* The array's values for a round: put there, or looked at; times: as often added up. */
static void visit(gable_comm *comm, const items *w, char *array, int writes, int round, int times)
{
  gable_context *ctx = gable_comm_context(comm);
  const int leaves = gable_comm_rank(comm);
  signed char *room = malloc(PIECE);
  CHECK(room, "no memory");
  for (gable_off at = 0; at < w->n; at += PIECE) {
    const gable_off n = w->n - at < PIECE ? w->n - at : PIECE;
    if (!writes) CHECK_OK(gable_device_copy_out(ctx, room, array + at, (size_t)n, NULL));
    if (!writes) CHECK_OK(gable_device_synchronise(ctx, NULL));
    for (gable_off k = 0; k < n; k++) {
      const gable_off i = leaves ? root_of(w, at + k) : at + k;
      const signed char right = (signed char)(times * number(i, round));
      if (writes)
        room[k] = right;
      else
        CHECK(room[k] == right, "number %lld is %d, not %d", (long long)(at + k), room[k], right);
    }
    if (writes) CHECK_OK(gable_device_copy_in(ctx, array + at, room, (size_t)n, NULL));
    if (writes) CHECK_OK(gable_device_synchronise(ctx, NULL));
  }
  free(room);
}

static gable_forest *graph(gable_comm *comm, const items *w)
{
  const int leaves = gable_comm_rank(comm);
  gable_forest *f = NULL;
  gable_root *root = leaves ? malloc((size_t)w->n * sizeof *root) : NULL;
  CHECK(!leaves || root, "no memory");
  for (gable_off i = 0; leaves && i < w->n; i++) root[i] = (gable_root){0, root_of(w, i)};
  CHECK_OK(gable_forest_create(comm, leaves ? 0 : w->n, leaves ? w->n : 0, NULL, root, &f));
  free(root);
  return f;
}

static gable_exchange *exchange_of(gable_comm *comm, gable_forest *f, gable_direction direction)
{
  gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
  gable_plan *plan = NULL;
  gable_exchange *x = NULL;
  o.unit = GABLE_UNIT_CHAR;
  o.direction = direction;
  o.op = direction == GABLE_DIRECTION_REDUCE ? GABLE_FOREST_OP_SUM : GABLE_FOREST_OP_REPLACE;
  o.root_space = o.leaf_space = gable_context_space(gable_comm_context(comm));
  CHECK_OK(gable_plan_create(f, &o, &plan));
  CHECK_OK(gable_exchange_create(plan, NULL, &x));
  gable_plan_destroy(&plan);
  return x;
}

/* Roots to leaves, then leaves with new numbers added to the roots. */
static gable_status there_and_back(gable_comm *comm, void *user)
{
  const items *w = user;
  const int leaves = gable_comm_rank(comm);
  gable_forest *f = graph(comm, w);
  gable_exchange *x = exchange_of(comm, f, GABLE_DIRECTION_BCAST);
  void *array = NULL;
  CHECK_OK(gable_comm_agree(comm, gable_device_alloc(gable_comm_context(comm), (size_t)w->n, &array)));
  if (!leaves) visit(comm, w, array, 1, 0, 1);
  CHECK_OK(gable_bcast_begin(x, array, array));
  CHECK_OK(gable_exchange_end(x));
  CHECK_OK(gable_exchange_wait(x));
  if (leaves) visit(comm, w, array, 0, 0, 1);
  gable_exchange_destroy(&x);
  x = exchange_of(comm, f, GABLE_DIRECTION_REDUCE);
  visit(comm, w, array, 1, 5, leaves ? 1 : 2);
  CHECK_OK(gable_reduce_begin(x, array, array));
  CHECK_OK(gable_exchange_end(x));
  CHECK_OK(gable_exchange_wait(x));
  if (!leaves) visit(comm, w, array, 0, 5, 3);
  CHECK_OK(gable_comm_barrier(comm));
  gable_exchange_destroy(&x);
  gable_forest_destroy(&f);
  gable_device_free(gable_comm_context(comm), &array);
  return GABLE_OK;
}

static void run(const char *where, gable_off n)
{
  const double needed = 60.0 * (double)n, there = memory_available();
  if (there < needed) SKIP("%.1f GB of memory are available, of which this takes %.1f", there / 1e9, needed / 1e9);
  for (int exchanged = 0; exchanged < 2; exchanged++) {
    items w = {n, exchanged};
    CHECK_OK(gable_comm_run(where, there_and_back, &w));
    printf("%s: %lld items, %s: right\n", where, (long long)n, exchanged ? "a list" : "contiguous");
    fflush(stdout);
  }
}

int main(int argc, char **argv)
{
  if (argc > 2) {
    run(argv[1], atoll(argv[2]));
    return 0;
  }
  run("cpu/ranks:2", 100003);
  run("mirror/peer:2", 100003);
  run("mirror/ranks:2", 100003);
  return 0;
}
