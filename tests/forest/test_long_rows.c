/* Long rows between arrays in device memory: their kernels are chosen by sizes alone, and have the bits of an exchange
 * between arrays in host memory, at every size, map, unit and op.
 *
 * usage: test_long_rows [device [small]], as "cuda:0": its ranks share the device; else the mirror.  small: on two
 * ranks, each unit and map, not each pair of maps, in one round. */
#include <stdlib.h>

#include "forest/device_exchange.h"
#include "support/test.h"

/* Roots of a rank; LONG: each block takes items several times.  EDGE: of a box. */
enum { SHORT = 3001, LONG = 700001, EDGE = 37, ROUNDS = 2, WINDOW = 32 };
enum { FLAT, BOX, STEPS, PAIRS, BACKWARDS, LIST, MAPS };

static const struct unit {
  gable_unit_type unit;
  int bytes;
  gable_forest_op op[3];
} units[] = {
    {GABLE_UNIT_D, 8, {GABLE_FOREST_OP_SUM, GABLE_FOREST_OP_REPLACE, GABLE_FOREST_OP_MAX}},
    {GABLE_UNIT_CHAR, 1, {GABLE_FOREST_OP_BXOR, GABLE_FOREST_OP_SUM, GABLE_FOREST_OP_REPLACE}},
    {GABLE_UNIT_S, 4, {GABLE_FOREST_OP_REPLACE, GABLE_FOREST_OP_PROD, GABLE_FOREST_OP_MIN}},
    {GABLE_UNIT_Z, 16, {GABLE_FOREST_OP_SUM, GABLE_FOREST_OP_PROD, GABLE_FOREST_OP_REPLACE}},
    {GABLE_UNIT_PAIR_I64, 16, {GABLE_FOREST_OP_MINLOC, GABLE_FOREST_OP_MAXLOC, GABLE_FOREST_OP_REPLACE}},
    {GABLE_UNIT_I32, 4, {GABLE_FOREST_OP_LAND, GABLE_FOREST_OP_SUM, GABLE_FOREST_OP_BOR}},
};

typedef struct shape {
  gable_off n;
  int leaf, root, fields, count, shared; /* shared: some roots have two leaves */
  gable_direction direction;
  const struct unit *unit;
  gable_forest_op op;
} shape;

static gable_off place_of(int map, gable_off i, gable_off n)
{
  const gable_off line = EDGE + 2;
  switch (map) {
  case BOX: return ((i / EDGE / EDGE) * line + i / EDGE % EDGE) * line + i % EDGE;
  case STEPS: return 3 * i;
  case PAIRS: return i / 2 * 5 + i % 2;
  case BACKWARDS: return n - 1 - i;
  case LIST: return i / WINDOW * WINDOW + WINDOW <= n ? i / WINDOW * WINDOW + (i * 13 + i / WINDOW * 7) % WINDOW : i;
  default: return i;
  }
}

static gable_off space_of(int map, gable_off n)
{
  gable_off most = 0;
  for (gable_off i = 0; i < n; i++) most = place_of(map, i, n) > most ? place_of(map, i, n) : most;
  return most + 1;
}

/* The first half of the leaves have roots of their rank, the others of the next. */
static void forest_of(gable_comm *comm, const shape *s, gable_forest **out)
{
  const int me = gable_comm_rank(comm), next = (me + 1) % gable_comm_size(comm);
  const gable_off roots = s->shared ? s->n - s->n / 10 : s->n;
  gable_off *leaf = malloc((size_t)s->n * sizeof *leaf);
  gable_root *root = malloc((size_t)s->n * sizeof *root);
  for (gable_off i = 0; i < s->n; i++) {
    leaf[i] = place_of(s->leaf, i, s->n);
    root[i] = (gable_root){i < s->n / 2 ? me : next, place_of(s->root, i % roots, s->n)};
  }
  CHECK_OK(gable_forest_create(comm, space_of(s->root, s->n), s->n, leaf, root, out));
  free(leaf);
  free(root);
}

static gable_exchange *exchange_of(gable_forest *f, const shape *s, gable_space space, int atomics)
{
  gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
  gable_plan *plan = NULL;
  gable_exchange *x = NULL;
  o.direction = s->direction;
  o.unit = s->unit->unit;
  o.op = s->op;
  o.fields = s->fields;
  o.count = s->count;
  o.atomics = atomics;
  o.root_stride = space_of(s->root, s->n);
  o.leaf_stride = space_of(s->leaf, s->n);
  o.root_space = o.leaf_space = space;
  CHECK_OK(gable_plan_create(f, &o, &plan));
  CHECK_OK(gable_exchange_create(plan, NULL, &x));
  gable_plan_destroy(&plan);
  return x;
}

static void stamp(char *at, size_t bytes, const struct unit *u, int seed)
{
  for (size_t i = 0; i < bytes / (size_t)u->bytes; i++) {
    const size_t v = (i * 7 + (size_t)seed * 31) % 23;
    char *to = at + i * (size_t)u->bytes;
    const double real[2] = {1 + (double)v / 3, 2 - (double)v / 7};
    const float single = (float)real[0];
    if (u->unit == GABLE_UNIT_D || u->unit == GABLE_UNIT_Z)
      memcpy(to, real, (size_t)u->bytes);
    else if (u->unit == GABLE_UNIT_S)
      memcpy(to, &single, sizeof single);
    else
      memset(to, (int)v, (size_t)u->bytes);
  }
}

static void run(gable_exchange *x, const shape *s, void *root, void *leaf, void *update)
{
  switch (s->direction) {
  case GABLE_DIRECTION_BCAST: CHECK_OK(gable_bcast_begin(x, root, leaf)); break;
  case GABLE_DIRECTION_REDUCE: CHECK_OK(gable_reduce_begin(x, leaf, root)); break;
  default: CHECK_OK(gable_fetch_begin(x, root, leaf, update));
  }
  CHECK_OK(gable_exchange_end(x));
  CHECK_OK(gable_exchange_wait(x));
}

static int on_gpu, small;

/* Equal bytes.  chosen: whether the steps' kernels are those of scattered rows, ANY: of a test that chooses all;
 * apart: whether own edges have a launch of their own. */
enum { ANY = -1 };

static void same(gable_comm *comm, const shape *s, int chosen, int apart)
{
  gable_context *ctx = gable_comm_context(comm);
  const size_t item = (size_t)(s->unit->bytes * s->fields * s->count);
  const size_t bytes[3] = {(size_t)space_of(s->root, s->n) * item, (size_t)space_of(s->leaf, s->n) * item, bytes[1]};
  gable_forest *f = NULL;
  char *host[3], *found = malloc(bytes[0] + bytes[1]);
  void *there[3];
  forest_of(comm, s, &f);
  gable_exchange *on_host = exchange_of(f, s, GABLE_SPACE_HOST, 0);
  gable_exchange *on_device = exchange_of(f, s, GABLE_SPACE_DEVICE, 0);
  const gik_exchange_step *send = &on_device->device->send, *receive = &on_device->device->receive;
  CHECK(chosen == ANY || (send->long_blocks + receive->long_blocks > 0) == chosen,
        "maps %d and %d, unit %d: %d and %d blocks", s->leaf, s->root, (int)s->unit->unit, send->long_blocks,
        receive->long_blocks);
  CHECK(chosen == ANY || send->own_apart == apart, "maps %d and %d, unit %d: %lld own edges", s->leaf, s->root,
        (int)s->unit->unit, (long long)send->own);
  for (int k = 0; k < 3; k++) host[k] = malloc(bytes[k]);
  for (int k = 0; k < 3; k++) CHECK_OK(gable_device_alloc(ctx, bytes[k], &there[k]));
  for (int round = 0; round < (small ? 1 : on_gpu || chosen == ANY ? ROUNDS : 0); round++) {
    for (int k = 0; k < 3; k++) stamp(host[k], bytes[k], s->unit, round * 3 + k + 11 * gable_comm_rank(comm));
    for (int k = 0; k < 3; k++) CHECK_OK(gable_device_copy_in(ctx, there[k], host[k], bytes[k], NULL));
    CHECK_OK(gable_device_synchronise(ctx, NULL));
    run(on_host, s, host[0], host[1], host[2]);
    run(on_device, s, there[0], there[1], there[2]);
    for (int k = 0; k < 3; k++) {
      CHECK_OK(gable_device_copy_out(ctx, found, there[k], bytes[k], NULL));
      CHECK_OK(gable_device_synchronise(ctx, NULL));
      CHECK(!memcmp(found, host[k], bytes[k]), "n %d, maps %d and %d, unit %d op %d direction %d round %d array %d",
            (int)s->n, s->leaf, s->root, (int)s->unit->unit, (int)s->op, (int)s->direction, round, k);
    }
  }
  gable_exchange_destroy(&on_host);
  gable_exchange_destroy(&on_device);
  gable_forest_destroy(&f);
  for (int k = 0; k < 3; k++) gable_device_free(ctx, &there[k]);
  for (int k = 0; k < 3; k++) free(host[k]);
  free(found);
}

static const gable_direction directions[] = {GABLE_DIRECTION_REDUCE, GABLE_DIRECTION_BCAST, GABLE_DIRECTION_FETCH};

/* Every pair of maps, at a short length; small: each map and each unit twice on both sides. */
static gable_status pairs_of_maps(gable_comm *comm, void *user)
{
  const int n_units = (int)(sizeof units / sizeof *units);
  (void)user;
  for (int turn = 0; turn < (small ? 2 * MAPS : MAPS * MAPS); turn++) {
    const int k = small ? turn * (MAPS - 1) % (MAPS * MAPS) : turn;
    const struct unit *u = &units[k % n_units];
    const shape s = {SHORT, k / MAPS, k % MAPS, 1 + k % 4 / 3, 1, k % 5 == 1, directions[k % 3], u, u->op[k / 3 % 3]};
    same(comm, &s, ANY, 0);
  }
  return GABLE_OK;
}

/* Every map, unit and op, at a length where blocks of a GPU take their items in turns; small: every unit. */
static gable_status long_rows(gable_comm *comm, void *user)
{
  const int n_units = (int)(sizeof units / sizeof *units);
  (void)user;
  for (int k = 0; k < 3 * n_units; k += small ? 3 : 1) {
    const struct unit *u = &units[k / 3];
    const int leaf = k % MAPS, root = (k + 1 + k / MAPS) % MAPS;
    const shape s = {on_gpu ? LONG : SHORT, leaf, root, 1, 1, k % 4 == 1, directions[k % 2], u, u->op[k % 3]};
    same(comm, &s, ANY, 0);
  }
  return GABLE_OK;
}

/* What is chosen at the library's own threshold, with messages and without. */
static gable_status choice(gable_comm *comm, void *user)
{
  const shape box = {LONG, FLAT, BOX, 1, 1, 0, GABLE_DIRECTION_BCAST, &units[0], GABLE_FOREST_OP_REPLACE};
  shape other = box;
  const int messages = gable_comm_size(comm) > 1;
  (void)user;
  same(comm, &box, messages, 1);
  other.root = FLAT;
  same(comm, &other, messages, 1); /* copied as bytes */
  other.op = GABLE_FOREST_OP_SUM;
  same(comm, &other, messages, 1);
  other = box;
  other.n = SHORT;
  same(comm, &other, 0, 0);
  other.count = 200;
  same(comm, &other, 0, 0); /* items of several numbers */
  return GABLE_OK;
}

int main(int argc, char **argv)
{
  static const char *const transports[] = {"peer:1", "peer:2", "peer:3", "ranks:2"};
  const int64_t least = gi_device_long_least;
  char where[64];
  gi_device_flagged_most = 0;
  on_gpu = argc > 1;
  small = argc > 2 && !strcmp(argv[2], "small");
  for (size_t k = small ? 1 : 0; k < (small ? 2 : sizeof transports / sizeof *transports); k++) {
    snprintf(where, sizeof where, "%s/%s", argc > 1 ? argv[1] : "mirror", transports[k]);
    gi_device_long_least = least;
    if (k < 2) CHECK_OK(gable_comm_run(where, choice, NULL));
    gi_device_long_least = 1;
    CHECK_OK(gable_comm_run(where, pairs_of_maps, NULL));
    if (k == 1) CHECK_OK(gable_comm_run(where, long_rows, NULL));
  }
  return 0;
}
