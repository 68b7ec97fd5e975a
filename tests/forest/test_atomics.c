/* Reductions by atomic operations: integers, minima and maxima have the bits of the fixed order, sums and products of
 * reals those of some order; and what has no atomics.
 *
 * usage: test_atomics [device [small]], as "cuda:0": its ranks share the device; else the mirror.  small: two ranks and
 * no root of very many leaves, whose atomic operations wait for each other. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "forest/device_exchange.h"
#include "support/test.h"

enum { ROOTS = 7, ROUNDS = 3 };
static int small;

static const struct {
  gable_unit_type unit;
  int bytes, last_op, real;
} units[] = {{GABLE_UNIT_I32, 4, GABLE_FOREST_OP_BXOR, 0},
             {GABLE_UNIT_I64, 8, GABLE_FOREST_OP_BXOR, 0},
             {GABLE_UNIT_S, 4, GABLE_FOREST_OP_MAX, 1},
             {GABLE_UNIT_D, 8, GABLE_FOREST_OP_MAX, 1}};

/* Of every three leaves two go to one root of rank 0, the third to one of all roots of the next rank, this one too
 * where it is alone. */
static gable_forest *hub(gable_comm *comm, gable_off leaves)
{
  const int next = (gable_comm_rank(comm) + 1) % gable_comm_size(comm);
  gable_root *root = malloc((size_t)leaves * sizeof *root);
  gable_forest *f = NULL;
  for (gable_off i = 0; i < leaves; i++) root[i] = i % 3 ? (gable_root){0, 3} : (gable_root){next, i / 3 % ROOTS};
  CHECK_OK(gable_forest_create(comm, ROOTS, leaves, NULL, root, &f));
  free(root);
  return f;
}

static gable_plan_options options_of(gable_unit_type unit, gable_forest_op op, gable_space space, int atomics)
{
  gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
  o.direction = GABLE_DIRECTION_REDUCE;
  o.unit = unit;
  o.op = op;
  o.root_space = o.leaf_space = space;
  o.atomics = atomics;
  return o;
}

static gable_exchange *exchange(gable_forest *f, gable_plan_options o)
{
  gable_plan *plan = NULL;
  gable_exchange *x = NULL;
  CHECK_OK(gable_plan_create(f, &o, &plan));
  CHECK_OK(gable_exchange_create(plan, NULL, &x));
  gable_plan_destroy(&plan);
  return x;
}

/* Number i of a rank and round; of products, of reals near 1. */
static void put(void *at, gable_unit_type unit, gable_forest_op op, int rank, int round, gable_off i)
{
  const int64_t v = (i * 7919 + rank * 104729 + round * 1299709) % 1000003;
  const double real = op == GABLE_FOREST_OP_PROD ? 1 + 1e-6 * (double)(v % 1001 - 500) / 501 : (double)v / 7 - 3e4;
  if (unit == GABLE_UNIT_I32) ((int32_t *)at)[i] = (int32_t)(v * 4099);
  if (unit == GABLE_UNIT_I64) ((int64_t *)at)[i] = v * 1000000007;
  if (unit == GABLE_UNIT_S) ((float *)at)[i] = (float)real;
  if (unit == GABLE_UNIT_D) ((double *)at)[i] = real;
}

static double value(const void *at, gable_unit_type unit, gable_off i)
{
  return unit == GABLE_UNIT_S ? (double)((const float *)at)[i] : ((const double *)at)[i];
}

static void compare(const void *found, const void *right, size_t unit, gable_forest_op op, gable_off leaves)
{
  const int rounds = units[unit].real && op <= GABLE_FOREST_OP_PROD;
  const double eps = units[unit].unit == GABLE_UNIT_S ? FLT_EPSILON : DBL_EPSILON;
  /* Values are below 1.2e5, or products of about 1; a sum of n of them in any order errs by n^2 eps times that. */
  const double n = 4.0 * (double)leaves + 1, most = op == GABLE_FOREST_OP_PROD ? n * eps * 2 : n * n * eps * 1.2e5;
  CHECK(rounds || !memcmp(found, right, (size_t)ROOTS * (size_t)units[unit].bytes), "unit %d op %d: other bits",
        (int)units[unit].unit, (int)op);
  for (int i = 0; i < ROOTS && rounds; i++) {
    const double a = value(found, units[unit].unit, i), b = value(right, units[unit].unit, i);
    CHECK(fabs(a - b) <= most, "unit %d op %d root %d: %.17g and %.17g", (int)units[unit].unit, (int)op, i, a, b);
  }
}

/* In host memory in the fixed order, in device memory by atomics. */
static void one(gable_comm *comm, gable_forest *f, size_t unit, gable_forest_op op, gable_off leaves)
{
  gable_context *ctx = gable_comm_context(comm);
  const size_t item = (size_t)units[unit].bytes, bytes[2] = {ROOTS * item, (size_t)leaves * item};
  gable_exchange *fixed = exchange(f, options_of(units[unit].unit, op, GABLE_SPACE_HOST, 0));
  gable_exchange *atomic = exchange(f, options_of(units[unit].unit, op, GABLE_SPACE_DEVICE, 1));
  void *host[2], *device[2], *found = malloc(bytes[0]);
  const gik_exchange_step *step = &atomic->device->receive;
  CHECK(step->atomics && !step->roots.n, "roots are taken in a fixed order");
  for (int k = 0; k < 2; k++) {
    host[k] = malloc(bytes[k]);
    CHECK_OK(gable_device_alloc(ctx, bytes[k], &device[k]));
  }
  for (int round = 0; round < (small ? 1 : ROUNDS); round++) {
    for (int k = 0; k < 2; k++) {
      for (gable_off i = 0; i < (k ? leaves : ROOTS); i++)
        put(host[k], units[unit].unit, op, gable_comm_rank(comm), round, i);
      CHECK_OK(gable_device_copy_in(ctx, device[k], host[k], bytes[k], NULL));
    }
    CHECK_OK(gable_reduce_begin(fixed, host[1], host[0]));
    CHECK_OK(gable_exchange_end(fixed));
    CHECK_OK(gable_reduce_begin(atomic, device[1], device[0]));
    CHECK_OK(gable_exchange_end(atomic));
    CHECK_OK(gable_exchange_wait(atomic));
    CHECK_OK(gable_device_copy_out(ctx, found, device[0], bytes[0], NULL));
    CHECK_OK(gable_device_synchronise(ctx, NULL));
    compare(found, host[0], unit, op, leaves);
  }
  for (int k = 0; k < 2; k++) {
    free(host[k]);
    gable_device_free(ctx, &device[k]);
  }
  free(found);
  gable_exchange_destroy(&fixed);
  gable_exchange_destroy(&atomic);
}

static gable_status sums(gable_comm *comm, void *user)
{
  for (const gable_off *leaves = user; *leaves; leaves++) {
    gable_forest *f = hub(comm, *leaves);
    for (size_t unit = 0; unit < sizeof units / sizeof *units; unit++)
      for (int op = GABLE_FOREST_OP_SUM; op <= units[unit].last_op; op++)
        one(comm, f, unit, (gable_forest_op)op, *leaves);
    gable_forest_destroy(&f);
  }
  return GABLE_OK;
}

static void refused(gable_forest *f, gable_plan_options o, gable_status expected, const char *text)
{
  gable_plan *plan = NULL;
  const gable_status status = gable_plan_create(f, &o, &plan);
  CHECK(status == expected && strstr(gable_last_error(), text) && !plan, "%d: '%s' is not in '%s'", (int)status, text,
        gable_last_error());
}

static gable_status refusals(gable_comm *comm, void *user)
{
  gable_forest *f = hub(comm, 12);
  const gable_space device = gable_context_space(gable_comm_context(comm));
  gable_plan_options o = options_of(GABLE_UNIT_D, GABLE_FOREST_OP_SUM, device, 1);
  (void)user;
  if (device == GABLE_SPACE_HOST) {
    refused(f, o, GABLE_ERR_UNAVAILABLE, "atomics are of arrays in device memory");
  } else {
    refused(f, options_of(GABLE_UNIT_Z, GABLE_FOREST_OP_SUM, device, 1), GABLE_ERR_UNAVAILABLE, "has no atomics");
    refused(f, options_of(GABLE_UNIT_CHAR, GABLE_FOREST_OP_MAX, device, 1), GABLE_ERR_UNAVAILABLE, "has no atomics");
    refused(f, options_of(GABLE_UNIT_I32, GABLE_FOREST_OP_REPLACE, device, 1), GABLE_ERR_UNAVAILABLE, "has no atomics");
    refused(f, options_of(GABLE_UNIT_D, GABLE_FOREST_OP_SUM, GABLE_SPACE_HOST, 1), GABLE_ERR_UNAVAILABLE,
            "device memory");
    o.direction = GABLE_DIRECTION_FETCH;
    refused(f, o, GABLE_ERR_UNAVAILABLE, "atomics are of reduce");
    o = options_of(GABLE_UNIT_D, GABLE_FOREST_OP_SUM, device, gable_comm_rank(comm) == 1);
    if (gable_comm_size(comm) > 1) refused(f, o, GABLE_ERR_ARGUMENT, "atomics is 1 on rank 1");
  }
  gable_forest_destroy(&f);
  return GABLE_OK;
}

int main(int argc, char **argv)
{
  const gable_off leaves[] = {2, 100, 1000, argc == 2 ? 30000 : 0, 0};
  static const char *const ranks[] = {"peer:2", "peer:1", "peer:3", "ranks:2"};
  small = argc > 2 && !strcmp(argv[2], "small");
  for (size_t k = !small; k < (small ? 1 : sizeof ranks / sizeof *ranks); k++) {
    char where[64];
    snprintf(where, sizeof where, "%s/%s", argc > 1 ? argv[1] : "mirror", ranks[k]);
    CHECK_OK(gable_comm_run(where, sums, (void *)leaves));
    CHECK_OK(gable_comm_run(where, refusals, NULL));
  }
  CHECK_OK(gable_comm_run("cpu/ranks:2", refusals, NULL));
  return 0;
}
