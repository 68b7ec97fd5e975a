/* together_cases.c: see together_cases.h. */
#include "support/together_cases.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "kernels/forest/exchange_steps.h"
#include "support/test.h"

enum { CASES = 7, ITEMS = 90, MANY = 40, FEW_ROUNDS = 3 };

typedef struct kind {
  gable_direction direction;
  gable_forest_op op;
  gable_unit_type unit;
  int bytes, hubs; /* of a number; 1: every third leaf has the same root */
} kind;

static const kind kinds[CASES] = {{GABLE_DIRECTION_BCAST, GABLE_FOREST_OP_REPLACE, GABLE_UNIT_D, 8, 0},
                                  {GABLE_DIRECTION_REDUCE, GABLE_FOREST_OP_SUM, GABLE_UNIT_D, 8, 1},
                                  {GABLE_DIRECTION_REDUCE, GABLE_FOREST_OP_MAX, GABLE_UNIT_I32, 4, 1},
                                  {GABLE_DIRECTION_FETCH, GABLE_FOREST_OP_SUM, GABLE_UNIT_I64, 8, 1},
                                  {GABLE_DIRECTION_BCAST, GABLE_FOREST_OP_SUM, GABLE_UNIT_S, 4, 0},
                                  {GABLE_DIRECTION_GATHER, GABLE_FOREST_OP_REPLACE, GABLE_UNIT_Z, 16, 1},
                                  {GABLE_DIRECTION_SCATTER, GABLE_FOREST_OP_REPLACE, GABLE_UNIT_CHAR, 1, 0}};

/* One exchange with its arrays, in host memory and where the library works. */
typedef struct single {
  kind of;
  gable_exchange *x;
  gable_off items[3];
  char *host[3];
  void *at[3]; /* root, leaf, update */
} single;

static gable_forest *random_forest(gable_comm *comm, int number)
{
  gi_random r = gi_random_seed((uint64_t)(100 * number + gable_comm_rank(comm)));
  gable_root root[ITEMS];
  gable_forest *f = NULL;
  const int hubs = kinds[number % CASES].hubs;
  for (int i = 0; i < ITEMS; i++)
    root[i] = (gable_root){(int32_t)gi_random_below(&r, gable_comm_size(comm)),
                           hubs && i % 3 == 0 ? 4 : gi_random_below(&r, ITEMS)};
  CHECK_OK(gable_forest_create(comm, ITEMS, ITEMS, NULL, root, &f));
  return f;
}

static void open_single(gable_comm *comm, gable_path path, int number, single *s)
{
  gable_context *ctx = gable_comm_context(comm);
  gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
  gable_forest *f = random_forest(comm, number), *multi = NULL;
  gable_plan *plan = NULL;
  gable_forest_info info = GABLE_FOREST_INFO_INIT;
  memset(s, 0, sizeof *s);
  s->of = kinds[number % CASES];
  o.direction = s->of.direction;
  o.op = s->of.op;
  o.unit = s->of.unit;
  o.path = path;
  o.root_space = o.leaf_space = gable_context_space(ctx);
  CHECK_OK(gable_plan_create(f, &o, &plan));
  CHECK_OK(gable_exchange_create(plan, NULL, &s->x));
  CHECK_OK(gable_forest_multi(f, &multi));
  CHECK_OK(gable_forest_get_info(multi, &info));
  s->items[0] = o.direction >= GABLE_DIRECTION_GATHER ? info.n_roots : ITEMS;
  s->items[1] = s->items[2] = ITEMS;
  for (int k = 0; k < 3; k++) {
    s->host[k] = malloc((size_t)s->items[k] * (size_t)s->of.bytes + 1);
    CHECK_OK(gable_device_alloc(ctx, (size_t)s->items[k] * (size_t)s->of.bytes + 1, &s->at[k]));
  }
  gable_forest_destroy(&multi);
  gable_forest_destroy(&f);
  gable_plan_destroy(&plan);
}

static void close_single(gable_comm *comm, single *s)
{
  gable_exchange_destroy(&s->x);
  for (int k = 0; k < 3; k++) {
    gable_device_free(gable_comm_context(comm), &s->at[k]);
    free(s->host[k]);
  }
}

/* Numbers of this rank, case and round; of reals such that a sum's order shows. */
static void fill(gable_comm *comm, single *s, int number, int round)
{
  gable_context *ctx = gable_comm_context(comm);
  for (int k = 0; k < 3; k++) {
    gi_random r = gi_random_seed((uint64_t)(gable_comm_rank(comm) + 16 * (k + 4 * (number + 128 * round))));
    const size_t n = (size_t)s->items[k], reals = s->of.unit == GABLE_UNIT_Z ? 2 * n : n;
    for (size_t i = 0; i < reals; i++) {
      const int64_t v = gi_random_below(&r, 1 << 30);
      const double real = (double)v / 7;
      const float shorter = (float)real;
      const int32_t whole = (int32_t)v;
      if (s->of.unit == GABLE_UNIT_D || s->of.unit == GABLE_UNIT_Z) memcpy(s->host[k] + 8 * i, &real, 8);
      if (s->of.unit == GABLE_UNIT_S) memcpy(s->host[k] + 4 * i, &shorter, 4);
      if (s->of.unit == GABLE_UNIT_I32) memcpy(s->host[k] + 4 * i, &whole, 4);
      if (s->of.unit == GABLE_UNIT_I64) memcpy(s->host[k] + 8 * i, &v, 8);
      if (s->of.unit == GABLE_UNIT_CHAR) s->host[k][i] = (char)v;
    }
    CHECK_OK(gable_device_copy_in(ctx, s->at[k], s->host[k], n * (size_t)s->of.bytes, NULL));
  }
  CHECK_OK(gable_device_synchronise(ctx, NULL));
}

static gable_exchange_arrays arrays_of(const single *s)
{
  const int down = s->of.direction == GABLE_DIRECTION_BCAST || s->of.direction == GABLE_DIRECTION_SCATTER;
  return (gable_exchange_arrays){s->x, s->at[!down], s->at[down], s->at[2]};
}

static void begin_one(const single *s)
{
  void *root = s->at[0], *leaf = s->at[1];
  switch (s->of.direction) {
  case GABLE_DIRECTION_BCAST: CHECK_OK(gable_bcast_begin(s->x, root, leaf)); break;
  case GABLE_DIRECTION_REDUCE: CHECK_OK(gable_reduce_begin(s->x, leaf, root)); break;
  case GABLE_DIRECTION_FETCH: CHECK_OK(gable_fetch_begin(s->x, root, leaf, s->at[2])); break;
  case GABLE_DIRECTION_GATHER: CHECK_OK(gable_gather_begin(s->x, leaf, root)); break;
  default: CHECK_OK(gable_scatter_begin(s->x, root, leaf));
  }
}

/* What the arrays hold now, in host. */
static void take(gable_comm *comm, single *s)
{
  gable_context *ctx = gable_comm_context(comm);
  CHECK_OK(gable_exchange_wait(s->x));
  for (int k = 0; k < 3; k++)
    CHECK_OK(gable_device_copy_out(ctx, s->host[k], s->at[k], (size_t)s->items[k] * (size_t)s->of.bytes, NULL));
  CHECK_OK(gable_device_synchronise(ctx, NULL));
}

static void compare(const single *a, const single *b, int number, int round)
{
  for (int k = 0; k < 3; k++)
    CHECK(!memcmp(a->host[k], b->host[k], (size_t)a->items[k] * (size_t)a->of.bytes),
          "round %d, exchange %d, array %d: other bits than alone", round, number, k);
}

/* Together, or begun together and ended alone, or the other way round, or in two groups. */
static void run_group(const single *s, int n, int how)
{
  gable_exchange_arrays all[MANY], backwards[MANY];
  for (int k = 0; k < n; k++) {
    all[k] = arrays_of(&s[k]);
    backwards[n - 1 - k] = all[k];
  }
  const int part = how == 3 ? n / 2 : n;
  if (how == 2)
    for (int k = n - 1; k >= 0; k--) begin_one(&s[k]);
  else
    CHECK_OK(gable_exchange_begin_all(part, all));
  if (how == 3) CHECK_OK(gable_exchange_begin_all(n - part, all + part));
  if (how == 1)
    for (int k = 0; k < n; k++) CHECK_OK(gable_exchange_end(s[(k + 3) % n].x));
  else
    CHECK_OK(gable_exchange_end_all(n, backwards));
}

static long launches_of(const single *s, int n)
{
  long sum = 0;
  for (int k = 0; k < n; k++) {
    gable_exchange_info info = GABLE_EXCHANGE_INFO_INIT;
    CHECK_OK(gable_exchange_get_info(s[k].x, &info));
    sum += (long)info.launches;
  }
  return sum;
}

static void rounds_of(gable_comm *comm, gable_path path, int rounds)
{
  single together[CASES], alone[CASES];
  const int on_gpu = !strncmp(gable_comm_where(comm), "cuda", 4);
  for (int k = 0; k < CASES; k++) {
    open_single(comm, path, k, &together[k]);
    open_single(comm, path, k, &alone[k]);
  }
  for (int e = 0; e < rounds; e++) {
    for (int k = 0; k < CASES; k++) {
      fill(comm, &together[k], k, e);
      fill(comm, &alone[k], k, e);
    }
    const long before = launches_of(together, CASES), before_alone = launches_of(alone, CASES);
    const int how = (e + gable_comm_rank(comm)) % 4;
    run_group(together, CASES, how);
    for (int k = 0; k < CASES; k++) {
      begin_one(&alone[k]);
      CHECK_OK(gable_exchange_end(alone[k].x));
    }
    for (int k = 0; k < CASES; k++) {
      take(comm, &together[k]);
      take(comm, &alone[k]);
      compare(&together[k], &alone[k], k, e);
    }
    const long saved = launches_of(alone, CASES) - before_alone - (launches_of(together, CASES) - before);
    if (on_gpu && !how) CHECK(saved >= CASES - 2, "round %d: %ld launches saved", e, saved);
  }
  for (int k = 0; k < CASES; k++) {
    close_single(comm, &together[k]);
    close_single(comm, &alone[k]);
  }
}

/* More than one launch takes: n of them. */
static void many(gable_comm *comm, gable_path path, int n)
{
  single s[MANY], alone;
  memset(s, 0, sizeof s);
  for (int k = 0; k < n; k++) {
    open_single(comm, path, k, &s[k]);
    fill(comm, &s[k], k, 0);
  }
  run_group(s, n, 0);
  for (int k = 0; k < n; k++) {
    open_single(comm, path, k, &alone);
    fill(comm, &alone, k, 0);
    begin_one(&alone);
    CHECK_OK(gable_exchange_end(alone.x));
    take(comm, &alone);
    take(comm, &s[k]);
    compare(&s[k], &alone, k, 0);
    close_single(comm, &alone);
  }
  for (int k = 0; k < n; k++) close_single(comm, &s[k]);
}

/* A group that cannot begin or end leaves all of it as it was. */
static void errors(gable_comm *comm, gable_path path)
{
  single s[2];
  for (int k = 0; k < 2; k++) {
    open_single(comm, path, k, &s[k]);
    fill(comm, &s[k], k, 0);
  }
  const gable_exchange_arrays good[2] = {arrays_of(&s[0]), arrays_of(&s[1])};
  gable_exchange_arrays bad[2] = {good[0], good[0]};
  CHECK_OK(gable_exchange_begin_all(0, NULL));
  CHECK_OK(gable_exchange_end_all(0, NULL));
  CHECK(gable_exchange_begin_all(-1, good) == GABLE_ERR_ARGUMENT, "-1 exchanges");
  CHECK(gable_exchange_begin_all(2, NULL) == GABLE_ERR_ARGUMENT, "no exchanges");
  CHECK(gable_exchange_begin_all(2, bad) == GABLE_ERR_STATE, "one exchange twice: %s", gable_last_error());
  bad[1] = good[1];
  bad[1].to = NULL;
  CHECK(gable_exchange_begin_all(2, bad) == GABLE_ERR_ARGUMENT, "an array is NULL");
  bad[1].exchange = NULL;
  CHECK(gable_exchange_begin_all(2, bad) == GABLE_ERR_ARGUMENT, "an exchange is NULL");
  CHECK_OK(gable_exchange_begin_all(2, good));
  CHECK(gable_exchange_begin_all(2, good) == GABLE_ERR_STATE, "begun twice");
  bad[1] = good[0];
  CHECK(gable_exchange_end_all(2, bad) == GABLE_ERR_STATE, "ended twice at once");
  CHECK_OK(gable_exchange_end(s[1].x));
  CHECK(gable_exchange_end_all(2, good) == GABLE_ERR_STATE, "ended after its end");
  CHECK_OK(gable_exchange_end_all(1, good));
  for (int k = 0; k < 2; k++) CHECK_OK(gable_exchange_wait(s[k].x));
  for (int k = 0; k < 2; k++) close_single(comm, &s[k]);
}

void together_cases(gable_comm *comm, gable_path path, int rounds)
{
  rounds_of(comm, path, rounds);
  many(comm, path, rounds < FEW_ROUNDS ? GIK_TOGETHER + 1 : MANY);
  errors(comm, path);
}
