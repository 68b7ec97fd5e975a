/* Messages of flagged words (exchange_steps.h): which messages are, senders that are as far ahead as they may and that
 * run free, shared roots, messages that come in part into slots with words of earlier rounds; and the bits of random
 * exchanges where short messages go by slots with flags instead.
 *
 * usage: test_flagged [place...], as "cuda:0/peer:2": what kernels do, there; else all of it on the mirror. */
#include <stdlib.h>
#include <time.h>

#include "base/portable.h"
#include "forest/device_exchange.h"
#include "support/forest_bits.h"
#include "support/test.h"

enum { MOST = GIK_FLAGGED_PARTS * GIK_FLAGGED_BYTES / 8 }; /* doubles */
enum { N = 3000 /* three parts */, AHEAD = GIK_FLAGGED_SLOTS - 1, ROUNDS = 60, OLD = -1 };

/* Leaf i of rank 1 is root i / leaves of rank 0; n leaves. */
static gable_exchange *exchange(gable_comm *comm, int n, int leaves, const gable_plan_options *options)
{
  const int rank = gable_comm_rank(comm);
  gable_plan_options o = *options;
  gable_root *root = calloc((size_t)n, sizeof *root);
  CHECK(root, "no memory");
  for (int i = 0; i < n; i++) root[i] = (gable_root){0, i / leaves};
  o.root_space = o.leaf_space = GABLE_SPACE_DEVICE;
  gable_exchange *x = forest_exchange(comm, rank ? 0 : n, rank == 1 ? n : 0, NULL, root, &o);
  free(root);
  return x;
}

static gable_status kinds(gable_comm *comm, void *user)
{
  static const struct {
    int n, leaves, count, flagged;
    gable_unit_type unit;
    gable_forest_op op;
    gable_direction direction;
  } cases[] = {
      {1, 1, 1, 1, GABLE_UNIT_D, GABLE_FOREST_OP_REPLACE, GABLE_DIRECTION_BCAST},
      {1024, 1, 1, 1, GABLE_UNIT_D, GABLE_FOREST_OP_REPLACE, GABLE_DIRECTION_BCAST},
      {MOST, 1, 1, 1, GABLE_UNIT_D, GABLE_FOREST_OP_REPLACE, GABLE_DIRECTION_BCAST}, /* as many parts as may be */
      {MOST + 1, 1, 1, 0, GABLE_UNIT_D, GABLE_FOREST_OP_REPLACE, GABLE_DIRECTION_BCAST},
      {2 * MOST, 1, 1, 1, GABLE_UNIT_S, GABLE_FOREST_OP_REPLACE, GABLE_DIRECTION_BCAST},
      {512, 1, 2, 1, GABLE_UNIT_D, GABLE_FOREST_OP_SUM, GABLE_DIRECTION_REDUCE},
      {MOST / 2 + 1, 1, 1, 0, GABLE_UNIT_Z, GABLE_FOREST_OP_SUM, GABLE_DIRECTION_REDUCE},
      {32, 1, 1024, 1, GABLE_UNIT_D, GABLE_FOREST_OP_REPLACE, GABLE_DIRECTION_BCAST},
      {21, 1, 600, 1, GABLE_UNIT_D, GABLE_FOREST_OP_REPLACE, GABLE_DIRECTION_BCAST}, /* an item a part */
      {1, 1, 1025, 0, GABLE_UNIT_D, GABLE_FOREST_OP_REPLACE, GABLE_DIRECTION_BCAST}, /* an item longer than a part */
      {8, 2, 1, 1, GABLE_UNIT_D, GABLE_FOREST_OP_SUM, GABLE_DIRECTION_REDUCE},       /* shared roots */
      {MOST / 8, 2, 1, 1, GABLE_UNIT_D, GABLE_FOREST_OP_SUM, GABLE_DIRECTION_REDUCE},
      {MOST / 8 + 1, 2, 1, 0, GABLE_UNIT_D, GABLE_FOREST_OP_SUM, GABLE_DIRECTION_REDUCE},
      {130, 65, 1, 0, GABLE_UNIT_D, GABLE_FOREST_OP_SUM, GABLE_DIRECTION_REDUCE}, /* wide roots */
      {130, 65, 1, 1, GABLE_UNIT_D, GABLE_FOREST_OP_REPLACE, GABLE_DIRECTION_REDUCE},
      {8, 2, 1, 1, GABLE_UNIT_D, GABLE_FOREST_OP_SUM, GABLE_DIRECTION_BCAST},
  };
  (void)user;
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
    o.unit = cases[k].unit;
    o.op = cases[k].op;
    o.count = cases[k].count;
    o.direction = cases[k].direction;
    gable_exchange *x = exchange(comm, cases[k].n, cases[k].leaves, &o);
    const gik_exchange_step *s = x->device->send.n_rows ? &x->device->send : &x->device->receive;
    CHECK(s->n_rows == 1 && !s->few[0].flagged == !cases[k].flagged, "case %zu: %d", k, s->few[0].flagged);
    gable_exchange_destroy(&x);
  }
  return GABLE_OK;
}

static void set(gable_comm *comm, double *a, double first)
{
  double host[N];
  for (int i = 0; i < N; i++) host[i] = first < 0 ? first : first + i;
  CHECK_OK(gable_device_copy_in(gable_comm_context(comm), a, host, sizeof host, NULL));
}

static void expect(gable_comm *comm, const double *a, double first, const char *what, int round)
{
  double host[N];
  CHECK_OK(gable_device_copy_out(gable_comm_context(comm), host, a, sizeof host, NULL));
  for (int i = 0; i < N; i++)
    CHECK(host[i] == (first < 0 ? first : first + i), "%s, round %d: %g at %d", what, round, host[i], i);
}

/* A round of either rank, without a wait for the other one. */
static void do_round(gable_comm *comm, gable_exchange *x, double *a, const char *what, int round)
{
  const int rank = gable_comm_rank(comm);
  set(comm, a, rank ? OLD : 1000 * round);
  CHECK_OK(gable_bcast_begin(x, rank ? NULL : a, rank ? a : NULL));
  CHECK_OK(gable_exchange_end(x));
  if (rank == 1) expect(comm, a, 1000 * round, what, round);
}

static double *array(gable_comm *comm, int n)
{
  void *p = NULL;
  CHECK_OK(gable_device_alloc(gable_comm_context(comm), (size_t)n * sizeof(double), &p));
  return p;
}

static double *start(gable_comm *comm, gable_exchange **x)
{
  const gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
  *x = exchange(comm, N, 1, &o);
  return array(comm, N);
}

/* AHEAD rounds of the sender, then as many of the receiver. */
static gable_status ahead(gable_comm *comm, void *user)
{
  const int rank = gable_comm_rank(comm);
  gable_exchange *x = NULL;
  double *a = start(comm, &x);
  (void)user;
  for (int round = 0; round < ROUNDS; round += AHEAD) {
    for (int k = 0; k < AHEAD && !rank; k++) do_round(comm, x, a, "ahead", round + k);
    if (!rank) CHECK_OK(gable_exchange_wait(x));
    CHECK_OK(gable_comm_barrier(comm));
    for (int k = 0; k < AHEAD && rank; k++) do_round(comm, x, a, "ahead", round + k);
    CHECK_OK(gable_comm_barrier(comm));
  }
  gable_exchange_destroy(&x);
  gable_device_free(gable_comm_context(comm), (void **)&a);
  return GABLE_OK;
}

/* The sender runs free, so it is as far ahead as the slots let it. */
static gable_status free_running(gable_comm *comm, void *user)
{
  gable_exchange *x = NULL;
  double *a = start(comm, &x);
  (void)user;
  for (int round = 0; round < ROUNDS; round++) {
    const struct timespec nap = {0, 1000000};
    if (gable_comm_rank(comm)) nanosleep(&nap, NULL);
    do_round(comm, x, a, "free running", round);
  }
  gable_exchange_destroy(&x);
  gable_device_free(gable_comm_context(comm), (void **)&a);
  return GABLE_OK;
}

/* Leaf i + 3 of rank 1 is root i + 1 of rank 0: runs of every alignment, which GPUs copy by words of 8, 4 or 1. */
static gable_exchange *run_of(gable_comm *comm, int n, gable_unit_type unit, int count)
{
  const int rank = gable_comm_rank(comm);
  gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
  gable_root *root = calloc((size_t)n, sizeof *root);
  gable_off *leaf = calloc((size_t)n, sizeof *leaf);
  CHECK(root && leaf, "no memory");
  for (int i = 0; i < n; i++) {
    root[i] = (gable_root){0, i + 1};
    leaf[i] = i + 3;
  }
  o.unit = unit;
  o.count = count;
  o.root_space = o.leaf_space = GABLE_SPACE_DEVICE;
  gable_exchange *x = forest_exchange(comm, rank ? 0 : n + 1, rank == 1 ? n : 0, leaf, root, &o);
  free(root);
  free(leaf);
  return x;
}

static gable_status alignments(gable_comm *comm, void *user)
{
  static const struct {
    int n, count, bytes; /* bytes of an item */
    gable_unit_type unit;
  } cases[] = {{1, 1, 1, GABLE_UNIT_CHAR},     {301, 1, 1, GABLE_UNIT_CHAR}, {1024, 1, 1, GABLE_UNIT_CHAR},
               {301, 1, 4, GABLE_UNIT_I32},    {1024, 1, 4, GABLE_UNIT_S},   {301, 1, 8, GABLE_UNIT_D},
               {512, 2, 16, GABLE_UNIT_I64},   {512, 1, 16, GABLE_UNIT_Z},   {341, 3, 12, GABLE_UNIT_I32},
               {20001, 1, 1, GABLE_UNIT_CHAR}, {5000, 1, 4, GABLE_UNIT_S},   {4097, 1, 8, GABLE_UNIT_D},
               {3001, 3, 12, GABLE_UNIT_I32},  {513, 1, 16, GABLE_UNIT_Z},   {30, 300, 2400, GABLE_UNIT_I64}};
  const int rank = gable_comm_rank(comm);
  gable_context *ctx = gable_comm_context(comm);
  (void)user;
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    const size_t item = (size_t)cases[k].bytes, n = (size_t)cases[k].n * item, all = n + 8 * item;
    gable_exchange *x = run_of(comm, cases[k].n, cases[k].unit, cases[k].count);
    unsigned char *host[2] = {malloc(all), malloc(all)};
    void *a = NULL;
    CHECK(host[0] && host[1], "no memory");
    CHECK_OK(gable_device_alloc(ctx, all, &a));
    for (int round = 0; round < 6; round++) {
      for (size_t i = 0; i < all; i++) host[0][i] = (unsigned char)(i * 7 + i / 251 + 29 * (size_t)round);
      memset(host[1], 0xee, all);
      CHECK_OK(gable_device_copy_in(ctx, a, host[rank == 1], all, NULL));
      CHECK_OK(gable_bcast_begin(x, rank ? NULL : a, rank == 1 ? a : NULL));
      CHECK_OK(gable_exchange_end(x));
      CHECK_OK(gable_exchange_wait(x));
      CHECK_OK(gable_device_copy_out(ctx, host[1], a, all, NULL));
      CHECK_OK(gable_device_synchronise(ctx, NULL));
      for (size_t i = 0; i < all && rank == 1; i++) {
        const unsigned char right = i < 3 * item || i >= 3 * item + n ? 0xee : host[0][i - 2 * item];
        CHECK(host[1][i] == right, "case %zu, round %d, byte %zu: %d, not %d", k, round, i, host[1][i], right);
      }
    }
    gable_exchange_destroy(&x);
    gable_device_free(ctx, &a);
    free(host[0]);
    free(host[1]);
  }
  return GABLE_OK;
}

enum { SIDE_X = 51, SIDE_Y = 9, SIDE_Z = 7, PITCH = 60, PLANE = 11 * PITCH, CELLS = SIDE_X * SIDE_Y * SIDE_Z };
enum { CELLS_OF_ALL = SIDE_Z * PLANE };

/* Where cell i lies: in a box of a grid, or in disorder. */
static int cell(int i, int scattered)
{
  const int j = scattered ? i * 1009 % CELLS : i;
  return 5 + j % SIDE_X + j / SIDE_X % SIDE_Y * PITCH + j / (SIDE_X * SIDE_Y) * PLANE;
}

/* Boxes and lists that parts begin and end within: leaf cell(i) of rank 1 is root cell(i) of rank 0, to and fro. */
static gable_status maps(gable_comm *comm, void *user)
{
  const int rank = gable_comm_rank(comm);
  gable_context *ctx = gable_comm_context(comm);
  gable_root *root = calloc(CELLS, sizeof *root);
  gable_off *leaf = calloc(CELLS, sizeof *leaf);
  double *host = calloc(CELLS_OF_ALL, sizeof *host), *a = array(comm, CELLS_OF_ALL);
  (void)user;
  CHECK(root && leaf && host, "no memory");
  for (int kind = 0; kind < 8; kind++) { /* roots, leaves in disorder; a sum back */
    const int from = kind & 1, to = kind >> 1 & 1, back = kind >> 2;
    gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
    for (int i = 0; i < CELLS; i++) {
      root[i] = (gable_root){0, cell(i, from)};
      leaf[i] = cell(i, to);
    }
    o.direction = back ? GABLE_DIRECTION_REDUCE : GABLE_DIRECTION_BCAST;
    o.op = back ? GABLE_FOREST_OP_SUM : GABLE_FOREST_OP_REPLACE;
    o.root_space = o.leaf_space = GABLE_SPACE_DEVICE;
    gable_exchange *x = forest_exchange(comm, rank ? 0 : CELLS_OF_ALL, rank == 1 ? CELLS : 0, leaf, root, &o);
    const gik_exchange_step *s = x->device->send.n_rows ? &x->device->send : &x->device->receive;
    CHECK(rank > 1 || (s->n_rows == 1 && s->few[0].parts == 4), "kind %d", kind);
    for (int round = 0; round < 3; round++) {
      for (int i = 0; i < CELLS_OF_ALL; i++) host[i] = rank == back ? 10000 * round + i : 1e6;
      CHECK_OK(gable_device_copy_in(ctx, a, host, CELLS_OF_ALL * sizeof *host, NULL));
      if (back)
        CHECK_OK(gable_reduce_begin(x, rank == 1 ? a : NULL, rank ? NULL : a));
      else
        CHECK_OK(gable_bcast_begin(x, rank ? NULL : a, rank == 1 ? a : NULL));
      CHECK_OK(gable_exchange_end(x));
      CHECK_OK(gable_exchange_wait(x));
      CHECK_OK(gable_device_copy_out(ctx, host, a, CELLS_OF_ALL * sizeof *host, NULL));
      for (int i = 0; i < CELLS && rank == !back; i++) {
        double *there = &host[cell(i, back ? from : to)];
        const double wanted = 10000 * round + cell(i, back ? to : from) + (back ? 1e6 : 0);
        CHECK(*there == wanted, "kind %d, round %d, cell %d: %g, not %g", kind, round, i, *there, wanted);
        *there = 1e6;
      }
      for (int i = 0; i < CELLS_OF_ALL && rank == !back; i++)
        CHECK(host[i] == 1e6, "kind %d: %g at %d", kind, host[i], i);
    }
    gable_exchange_destroy(&x);
  }
  free(root);
  free(leaf);
  free(host);
  gable_device_free(ctx, (void **)&a);
  return GABLE_OK;
}

/* Leaf i of each rank is root i * 7 % SHARED_ROOTS of rank 0, but every 50th, which is one of ten, and leaf 0, whose
 * root is its alone: roots of 4 to 20 leaves, more than a thread loads at once, on both ranks and in several parts. */
enum { SHARED_LEAVES = 3000, SHARED_ROOTS = 997 };

static gable_exchange *onto_shared(gable_comm *comm, gable_plan_options o, gable_space space)
{
  const int rank = gable_comm_rank(comm), n = rank > 1 ? 0 : SHARED_LEAVES;
  gable_root *root = calloc(SHARED_LEAVES, sizeof *root);
  CHECK(root, "no memory");
  for (int i = 0; i < n; i++) root[i] = (gable_root){0, i % 50 == 49 ? i / 50 % 10 : i * 7 % SHARED_ROOTS};
  if (n) root[0].index = SHARED_ROOTS + rank;
  o.direction = GABLE_DIRECTION_REDUCE;
  o.root_space = o.leaf_space = space;
  o.root_stride = SHARED_ROOTS + 2;
  o.leaf_stride = SHARED_LEAVES;
  gable_exchange *x = forest_exchange(comm, rank ? 0 : SHARED_ROOTS + 2, n, NULL, root, &o);
  free(root);
  return x;
}

/* Sums onto shared roots have the bits of those between arrays in host memory. */
static gable_status shared_roots(gable_comm *comm, void *user)
{
  static const struct {
    int bytes, fields, count;
    gable_unit_type unit;
    gable_forest_op op;
  } cases[] = {{8, 1, 1, GABLE_UNIT_D, GABLE_FOREST_OP_SUM},
               {1, 1, 1, GABLE_UNIT_CHAR, GABLE_FOREST_OP_SUM},
               {4, 1, 1, GABLE_UNIT_I32, GABLE_FOREST_OP_BXOR},
               {4, 1, 3, GABLE_UNIT_S, GABLE_FOREST_OP_SUM},
               {16, 1, 1, GABLE_UNIT_Z, GABLE_FOREST_OP_SUM},
               {1, 2, 1, GABLE_UNIT_UCHAR, GABLE_FOREST_OP_SUM},
               {16, 1, 1, GABLE_UNIT_PAIR_I64, GABLE_FOREST_OP_MAXLOC},
               {8, 1, 2, GABLE_UNIT_D, GABLE_FOREST_OP_REPLACE}};
  const int rank = gable_comm_rank(comm);
  gable_context *ctx = gable_comm_context(comm);
  (void)user;
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    const size_t item = (size_t)(cases[k].bytes * cases[k].fields * cases[k].count);
    const size_t number = cases[k].bytes > 4 ? 8 : 4;
    const size_t bytes[2] = {(SHARED_ROOTS + 2) * item, SHARED_LEAVES * item};
    gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
    char *host[2], *found = malloc(bytes[1]);
    void *there[2];
    o.unit = cases[k].unit;
    o.op = cases[k].op;
    o.fields = cases[k].fields;
    o.count = cases[k].count;
    gable_exchange *on_host = onto_shared(comm, o, GABLE_SPACE_HOST);
    gable_exchange *on_device = onto_shared(comm, o, GABLE_SPACE_DEVICE);
    const gik_exchange_step *s = &on_device->device->receive;
    CHECK(rank || (s->flagged == 1 && s->roots.n > 900), "case %zu: %d flagged, %d shared roots", k, s->flagged,
          (int)s->roots.n);
    for (int a = 0; a < 2; a++) CHECK_OK(gable_device_alloc(ctx, bytes[a], &there[a]));
    for (int a = 0; a < 2; a++) host[a] = calloc(1, bytes[a]);
    for (int round = 0; round < 2 * GIK_FLAGGED_SLOTS + 1; round++) {
      for (int a = 0; a < 2; a++) {
        for (size_t i = 0; i < bytes[a]; i++) { /* no NaN: the sign and the exponent of numbers near 1 */
          const int any = cases[k].bytes == 1 || i % number + 2 < number;
          host[a][i] = any ? (char)(i * 7 + i / 251 + 29 * (size_t)(round + rank)) : 0x3f;
        }
        CHECK_OK(gable_device_copy_in(ctx, there[a], host[a], bytes[a], NULL));
      }
      CHECK_OK(gable_reduce_begin(on_host, host[1], host[0]));
      CHECK_OK(gable_exchange_end(on_host));
      CHECK_OK(gable_reduce_begin(on_device, there[1], there[0]));
      CHECK_OK(gable_exchange_end(on_device));
      CHECK_OK(gable_exchange_wait(on_device));
      CHECK_OK(gable_device_copy_out(ctx, found, there[0], bytes[0], NULL));
      CHECK_OK(gable_device_synchronise(ctx, NULL));
      CHECK(rank || !memcmp(found, host[0], bytes[0]), "case %zu, round %d: other bits", k, round);
    }
    gable_exchange_destroy(&on_host);
    gable_exchange_destroy(&on_device);
    for (int a = 0; a < 2; a++) gable_device_free(ctx, &there[a]);
    for (int a = 0; a < 2; a++) free(host[a]);
    free(found);
  }
  return GABLE_OK;
}

/* A message whose word `missing` never comes, whose slot has those of GIK_FLAGGED_SLOTS rounds ago. */
static gable_status in_part(gable_comm *comm, void *user)
{
  const int rank = gable_comm_rank(comm), missing = *(int *)user;
  gable_exchange *x = NULL;
  double *a = start(comm, &x);
  for (int round = 0; round < 6; round++) do_round(comm, x, a, "before", round);
  set(comm, a, OLD);
  CHECK_OK(gable_comm_barrier(comm));
  if (!rank) {
    gi_device_each_memory(x->device, gi_kernels_begin);
    _Atomic uint64_t *word = (_Atomic uint64_t *)(void *)gik_slot_of(&x->device->send.few[0], 6);
    for (int64_t i = 0; i < gik_flagged_words(N * sizeof(double)); i++) {
      const uint32_t pair[2] = {1, 7};
      uint64_t both;
      memcpy(&both, pair, sizeof both);
      if (i != missing) atomic_store_explicit(&word[i], both, memory_order_relaxed);
    }
    gi_device_each_memory(x->device, gi_kernels_end);
  }
  CHECK_OK(gable_comm_barrier(comm));
  if (rank) {
    CHECK_OK(gable_comm_set_deadline(comm, 0.1));
    CHECK_OK(gable_bcast_begin(x, NULL, a));
    gable_status status = gable_exchange_end(x);
    if (!status) status = gable_exchange_wait(x);
    CHECK(status == GABLE_ERR_DEADLINE && strstr(gable_last_error(), "for rank 0, which"), "word %d: %s", missing,
          gable_last_error());
    expect(comm, a, OLD, "after a message in part", missing);
  }
  gable_exchange_destroy(&x);
  gable_device_free(gable_comm_context(comm), (void **)&a);
  return GABLE_OK;
}

int main(int argc, char **argv)
{
  forest_bits_size size = {13, 0};
  int missing[] = {0, N, 2 * N - 1};
  for (int k = 1; k < argc; k++) CHECK_OK(gable_comm_run(argv[k], ahead, NULL));
  for (int k = 1; k < argc; k++) CHECK_OK(gable_comm_run(argv[k], alignments, NULL));
  for (int k = 1; k < argc; k++) CHECK_OK(gable_comm_run(argv[k], maps, NULL));
  for (int k = 1; k < argc; k++) CHECK_OK(gable_comm_run(argv[k], shared_roots, NULL));
  if (argc > 1) return 0;
  CHECK_OK(gable_comm_run("mirror/peer:2", kinds, NULL));
  CHECK_OK(gable_comm_run("mirror/peer:2", ahead, NULL));
  CHECK_OK(gable_comm_run("mirror/peer:2", alignments, NULL));
  CHECK_OK(gable_comm_run("mirror/peer:2", maps, NULL));
  CHECK_OK(gable_comm_run("mirror/peer:2", shared_roots, NULL));
  CHECK_OK(gable_comm_run("mirror/peer:2", free_running, NULL));
  for (int k = 0; k < 3; k++) CHECK_OK(gable_comm_run("mirror/peer:2", in_part, &missing[k]));
  gi_device_flagged_most = 0;
  CHECK_OK(gable_comm_run("mirror/peer:3", forest_bits, &size));
  return 0;
}
