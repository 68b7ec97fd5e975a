/* forest_cases.c: see forest_cases.h.  PetscSF's faults are named by their commits in PETSc. */
#include "support/forest_cases.h"

#include "base/random.h"
#include "support/test.h"

typedef struct setting {
  gable_comm *comm;
  gable_path path;
  gable_space space; /* of all arrays */
  int me, size;
} setting;

/* An array of the caller's where the space says: host itself, or a copy of it in device memory that lasts one round, so
 * that its address comes again for another array. */
typedef struct place {
  void *host, *at;
  size_t bytes;
} place;

static place place_in(const setting *s, void *host, size_t bytes)
{
  place p = {host, host, bytes};
  if (s->space == GABLE_SPACE_HOST || !host) return p;
  gable_context *ctx = gable_comm_context(s->comm);
  CHECK_OK(gable_device_alloc(ctx, bytes, &p.at));
  CHECK_OK(gable_device_copy_in(ctx, p.at, host, bytes, NULL));
  CHECK_OK(gable_device_synchronise(ctx, NULL));
  return p;
}

static void place_out(const setting *s, place *p)
{
  if (p->at == p->host) return;
  gable_context *ctx = gable_comm_context(s->comm);
  CHECK_OK(gable_device_copy_out(ctx, p->host, p->at, p->bytes, NULL));
  CHECK_OK(gable_device_synchronise(ctx, NULL));
  gable_device_free(ctx, &p->at);
}

static gable_plan_options plan_of(const setting *s, gable_direction direction, gable_forest_op op, gable_unit_type unit)
{
  gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
  o.direction = direction;
  o.op = op;
  o.unit = unit;
  o.path = s->path;
  o.root_space = o.leaf_space = s->space;
  return o;
}

static gable_exchange *exchange_of(gable_forest *f, const gable_plan_options *o)
{
  gable_plan *plan = NULL;
  gable_exchange *x = NULL;
  CHECK_OK(gable_plan_create(f, o, &plan));
  CHECK_OK(gable_exchange_create(plan, NULL, &x));
  gable_plan_destroy(&plan);
  return x;
}

gable_exchange *forest_exchange(gable_comm *comm, gable_off n_roots, gable_off n_leaves, const gable_off *leaf,
                                const gable_root *root, const gable_plan_options *o)
{
  gable_forest *f = NULL;
  CHECK_OK(gable_forest_create(comm, n_roots, n_leaves, leaf, root, &f));
  gable_exchange *x = exchange_of(f, o);
  gable_forest_destroy(&f);
  return x;
}

enum { RING = 3000 }; /* items of a message: long enough to be offered where it lies */

/* Leaf i of each rank is root i of the next, but where the ranks are odd and empty. */
static gable_forest *ring_of(const setting *s, int empty)
{
  gable_root root[RING];
  gable_forest *f = NULL;
  int next = (s->me + 1) % s->size;
  while (empty && next % 2) next = (next + 1) % s->size;
  for (int i = 0; i < RING; i++) root[i] = (gable_root){next, i};
  CHECK_OK(gable_forest_create(s->comm, empty && s->me % 2 ? 0 : RING, empty && s->me % 2 ? 0 : RING, NULL, root, &f));
  return f;
}

static int64_t stamp(int rank, int64_t epoch, int64_t i)
{
  return ((int64_t)rank << 48) + (epoch << 20) + i;
}

/* Two bcasts under way, ended in their order (A B A B) or against it (A B B A), the orders different on each rank; some
 * ranks have nothing (PETSc's ex24). */
static void two_under_way(const setting *s, int against, int empty, long rounds)
{
  gable_forest *f = ring_of(s, empty);
  const gable_plan_options o = plan_of(s, GABLE_DIRECTION_BCAST, GABLE_FOREST_OP_REPLACE, GABLE_UNIT_I64);
  gable_exchange *x[2] = {exchange_of(f, &o), exchange_of(f, &o)};
  gable_root from[RING];
  gable_forest_info info = GABLE_FOREST_INFO_INIT;
  static _Thread_local int64_t root[2][RING], leaf[2][RING];
  CHECK_OK(gable_forest_get_info(f, &info));
  CHECK_OK(gable_forest_get_leaves(f, NULL, from));
  for (long e = 0; e < rounds; e++) {
    const int first = (s->me + (int)e) % 2;
    for (int k = 0; k < 2; k++)
      for (int i = 0; i < RING; i++) root[k][i] = stamp(s->me, 2 * e + k, i);
    place from_at[2], to[2];
    for (int k = 0; k < 2; k++) {
      from_at[k] = place_in(s, root[k], sizeof root[k]);
      to[k] = place_in(s, leaf[k], sizeof leaf[k]);
    }
    for (int k = 0; k < 2; k++) CHECK_OK(gable_bcast_begin(x[first ^ k], from_at[first ^ k].at, to[first ^ k].at));
    for (int k = 0; k < 2; k++) CHECK_OK(gable_exchange_end(x[first ^ k ^ against]));
    for (int k = 0; k < 2; k++) {
      place_out(s, &from_at[k]);
      place_out(s, &to[k]);
    }
    for (int k = 0; k < 2; k++)
      for (gable_off i = 0; i < info.n_leaves; i++)
        CHECK(leaf[k][i] == stamp(from[i].rank, 2 * e + k, i), "round %ld, exchange %d, leaf %lld", e, k, (long long)i);
  }
  for (int k = 0; k < 2; k++) gable_exchange_destroy(&x[k]);
  gable_forest_destroy(&f);
}

enum { WAYS = 3, PAIRS = 2 * WAYS, SMALL = 24 };

/* An exchange of each direction twice, A and B, all under way at once and begun on each rank in another order; round by
 * round they end in the order in which they began (A B A B) or against it (A B B A).  New data in every round. */
static void many_rounds(const setting *s, long rounds)
{
  static const gable_direction directions[WAYS] = {GABLE_DIRECTION_BCAST, GABLE_DIRECTION_REDUCE,
                                                   GABLE_DIRECTION_FETCH};
  const int next = (s->me + 1) % s->size, before = (s->me + s->size - 1) % s->size;
  int64_t root[PAIRS][SMALL], leaf[PAIRS][SMALL], update[PAIRS][SMALL] = {{0}};
  gable_root to[SMALL];
  gable_forest *f = NULL;
  gable_exchange *x[PAIRS];
  for (int i = 0; i < SMALL; i++) to[i] = (gable_root){next, SMALL - 1 - i};
  CHECK_OK(gable_forest_create(s->comm, SMALL, SMALL, NULL, to, &f));
  for (int k = 0; k < PAIRS; k++) {
    const gable_plan_options o = plan_of(s, directions[k / 2], GABLE_FOREST_OP_SUM, GABLE_UNIT_I64);
    x[k] = exchange_of(f, &o);
  }
  for (long e = 0; e < rounds; e++) {
    for (int k = 0; k < PAIRS; k++)
      for (int i = 0; i < SMALL; i++) {
        root[k][i] = stamp(s->me, e, 100 * k + i);
        leaf[k][i] = stamp(s->me, e, 1000 + 100 * k + i);
      }
    place r = place_in(s, root, sizeof root), l = place_in(s, leaf, sizeof leaf),
          u = place_in(s, update, sizeof update);
    for (int n = 0; n < PAIRS; n++) {
      const int k = (n + s->me) % PAIRS;
      int64_t *const roots = (int64_t *)r.at + k * SMALL, *const leaves = (int64_t *)l.at + k * SMALL;
      CHECK_OK(k / 2 == 0   ? gable_bcast_begin(x[k], roots, leaves)
               : k / 2 == 1 ? gable_reduce_begin(x[k], leaves, roots)
                            : gable_fetch_begin(x[k], roots, leaves, (int64_t *)u.at + k * SMALL));
    }
    for (int n = 0; n < PAIRS; n++)
      CHECK_OK(gable_exchange_end(x[(s->me + ((e + s->me) % 2 ? PAIRS - 1 - n : n)) % PAIRS]));
    place_out(s, &r);
    place_out(s, &l);
    place_out(s, &u);
    for (int k = 0; k < PAIRS; k++)
      for (int i = 0; i < SMALL; i++) {
        const int j = SMALL - 1 - i;
        const int64_t roots = stamp(next, e, 100 * k + j), mine = stamp(s->me, e, 100 * k + i);
        const int64_t leaves = stamp(before, e, 1000 + 100 * k + j), own = stamp(s->me, e, 1000 + 100 * k + i);
        CHECK(root[k][i] == (k / 2 ? mine + leaves : mine), "round %ld, exchange %d, root %d", e, k, i);
        CHECK(leaf[k][i] == (k / 2 ? own : own + roots), "round %ld, exchange %d, leaf %d", e, k, i);
        CHECK(k / 2 < 2 || update[k][i] == roots, "round %ld, exchange %d, update %d", e, k, i);
      }
  }
  for (int k = 0; k < PAIRS; k++) gable_exchange_destroy(&x[k]);
  gable_forest_destroy(&f);
}

/* Random edges: n roots and leaves a rank. */
static gable_forest *random_forest(const setting *s, uint64_t seed, gable_off n)
{
  gi_random r = gi_random_seed(seed + (uint64_t)s->me);
  gable_forest *f = NULL;
  gable_root *root = malloc((size_t)n * sizeof *root);
  CHECK(root, "memory");
  for (gable_off i = 0; i < n; i++)
    root[i] = (gable_root){(int32_t)gi_random_below(&r, s->size), gi_random_below(&r, i % 3 ? n : 1)};
  CHECK_OK(gable_forest_create(s->comm, n, n, NULL, root, &f));
  free(root);
  return f;
}

/* sum over leaves of (bcast r)*l = sum over roots of r*(reduce l), in whole numbers. */
static void adjoint(const setting *s)
{
  enum { N = 500 };
  gable_forest *f = random_forest(s, 11, N);
  const gable_plan_options down = plan_of(s, GABLE_DIRECTION_BCAST, GABLE_FOREST_OP_SUM, GABLE_UNIT_I64);
  const gable_plan_options up = plan_of(s, GABLE_DIRECTION_REDUCE, GABLE_FOREST_OP_SUM, GABLE_UNIT_I64);
  gable_exchange *bcast = exchange_of(f, &down), *reduce = exchange_of(f, &up);
  int64_t r[N], l[N], to_leaf[N] = {0}, to_root[N] = {0}, sums[2] = {0, 0}, all[2 * 64];
  for (int i = 0; i < N; i++) {
    r[i] = 1 + (s->me * 31 + i * 7) % 1000;
    l[i] = 1 + (s->me * 17 + i * 13) % 1000;
  }
  place at[] = {place_in(s, r, sizeof r), place_in(s, to_leaf, sizeof to_leaf), place_in(s, l, sizeof l),
                place_in(s, to_root, sizeof to_root)};
  CHECK_OK(gable_bcast_begin(bcast, at[0].at, at[1].at));
  CHECK_OK(gable_reduce_begin(reduce, at[2].at, at[3].at));
  CHECK_OK(gable_exchange_end(reduce));
  CHECK_OK(gable_exchange_end(bcast));
  for (int k = 0; k < 4; k++) place_out(s, &at[k]);
  for (int i = 0; i < N; i++) {
    sums[0] += to_leaf[i] * l[i];
    sums[1] += to_root[i] * r[i];
  }
  CHECK(s->size <= 64, "%d ranks", s->size);
  CHECK_OK(gable_comm_allgather(s->comm, sums, sizeof sums, all));
  sums[0] = sums[1] = 0;
  for (int q = 0; q < 2 * s->size; q++) sums[q % 2] += all[q];
  CHECK(sums[0] == sums[1] && sums[0] > 0, "%lld and %lld", (long long)sums[0], (long long)sums[1]);
  gable_exchange_destroy(&bcast);
  gable_exchange_destroy(&reduce);
  gable_forest_destroy(&f);
}

/* 646b835dd74: a rank that only receives saw what was there before.  Rank 0 sends to all others; new values, and arrays
 * at new addresses, in every round (97a85fb49b5: an address that came back after a free was taken for the old array).
 */
static void receives_only(const setting *s, long rounds)
{
  gable_root root[RING];
  gable_forest *f = NULL;
  for (int i = 0; i < RING; i++) root[i] = (gable_root){0, RING - 1 - i};
  CHECK_OK(gable_forest_create(s->comm, s->me ? 0 : RING, s->me ? RING : 0, NULL, root, &f));
  const gable_plan_options o = plan_of(s, GABLE_DIRECTION_BCAST, GABLE_FOREST_OP_REPLACE, GABLE_UNIT_I64);
  gable_exchange *x = exchange_of(f, &o);
  for (long e = 0; e < rounds; e++) {
    int64_t *mine = malloc((size_t)(RING + e) * sizeof *mine);
    CHECK(mine, "memory");
    for (int i = 0; i < RING; i++) mine[i] = s->me ? -1 : stamp(0, e, i);
    place at = place_in(s, mine, (size_t)(RING + e) * sizeof *mine);
    CHECK_OK(gable_bcast_begin(x, s->me ? NULL : at.at, s->me ? at.at : NULL));
    CHECK_OK(gable_exchange_end(x));
    place_out(s, &at);
    for (int i = 0; i < RING && s->me; i++)
      CHECK(mine[i] == stamp(0, e, RING - 1 - i), "round %ld, leaf %d: %llx", e, i, (unsigned long long)mine[i]);
    free(mine);
  }
  gable_exchange_destroy(&x);
  gable_forest_destroy(&f);
}

/* 41751ff936f, 3e21cddb284: ranks with nothing, and arrays that are NULL, in every direction. */
static void nothing_at_all(const setting *s)
{
  gable_forest *f = NULL;
  CHECK_OK(gable_forest_create(s->comm, 0, 0, NULL, NULL, &f));
  for (int d = GABLE_DIRECTION_BCAST; d <= GABLE_DIRECTION_SCATTER; d++) {
    const gable_plan_options o = plan_of(s, (gable_direction)d, GABLE_FOREST_OP_REPLACE, GABLE_UNIT_D);
    gable_exchange *x = exchange_of(f, &o);
    for (int k = 0; k < 3; k++) {
      CHECK_OK(d == GABLE_DIRECTION_BCAST    ? gable_bcast_begin(x, NULL, NULL)
               : d == GABLE_DIRECTION_REDUCE ? gable_reduce_begin(x, NULL, NULL)
               : d == GABLE_DIRECTION_FETCH  ? gable_fetch_begin(x, NULL, NULL, NULL)
               : d == GABLE_DIRECTION_GATHER ? gable_gather_begin(x, NULL, NULL)
                                             : gable_scatter_begin(x, NULL, NULL));
      CHECK_OK(gable_exchange_end(x));
    }
    gable_exchange_destroy(&x);
  }
  gable_forest_destroy(&f);
}

/* 07e87b31898: a reduction that replaces, local leaves and others on one root: the last (rank, position) stays. */
static void reduce_replaces(const setting *s)
{
  const gable_root root[3] = {{0, 0}, {0, 0}, {0, 1}};
  gable_forest *f = NULL;
  CHECK_OK(gable_forest_create(s->comm, 2, s->me == s->size - 1 ? 2 : 3, NULL, root, &f));
  const gable_plan_options o = plan_of(s, GABLE_DIRECTION_REDUCE, GABLE_FOREST_OP_REPLACE, GABLE_UNIT_Z);
  gable_exchange *x = exchange_of(f, &o);
  double leaf[6], to[4] = {-1, -1, -1, -1};
  for (int i = 0; i < 6; i++) leaf[i] = 10 * s->me + i;
  place from_at = place_in(s, leaf, sizeof leaf), to_at = place_in(s, to, sizeof to);
  CHECK_OK(gable_reduce_begin(x, from_at.at, to_at.at));
  CHECK_OK(gable_exchange_end(x));
  place_out(s, &from_at);
  place_out(s, &to_at);
  const double second = s->size > 1 ? 10 * (s->size - 2) + 4 : -1;
  if (!s->me) CHECK(to[0] == 10 * (s->size - 1) + 2 && to[2] == second, "%g, %g", to[0], to[2]);
  gable_exchange_destroy(&x);
  gable_forest_destroy(&f);
}

/* Each rank's leaves are joined to one run of the roots of rank 1, and these runs overlap: roots 0 to 3 of even ranks,
 * 1 to 4 of odd ones, rank 1's own too, whose leaves come after rank 0's.  Sums that depend on their order. */
static void runs_overlap(const setting *s)
{
  enum { RUN = 4 };
  static const double of_rank[] = {-1e16, 1, 1e16, 0.5};
  const int owner = s->size > 1, owns = s->me == owner;
  gable_root root[RUN];
  gable_forest *f = NULL;
  gable_forest_info info = GABLE_FOREST_INFO_INIT;
  double leaf[RUN], to[RUN + 1];
  gable_off most = 0;
  for (int i = 0; i < RUN; i++) {
    root[i] = (gable_root){owner, s->me % 2 + i};
    leaf[i] = of_rank[s->me % 4];
  }
  for (int i = 0; i <= RUN; i++) to[i] = 1e16;
  CHECK_OK(gable_forest_create(s->comm, owns ? RUN + 1 : 0, RUN, NULL, root, &f));
  CHECK_OK(gable_forest_get_info(f, &info));
  const gable_plan_options o = plan_of(s, GABLE_DIRECTION_REDUCE, GABLE_FOREST_OP_SUM, GABLE_UNIT_D);
  gable_exchange *x = exchange_of(f, &o);
  place from_at = place_in(s, leaf, sizeof leaf), to_at = place_in(s, to, sizeof to);
  CHECK_OK(gable_reduce_begin(x, from_at.at, to_at.at));
  CHECK_OK(gable_exchange_end(x));
  place_out(s, &from_at);
  place_out(s, &to_at);
  for (int i = 0; i <= RUN && owns; i++) {
    double right = 1e16;
    gable_off degree = 0;
    for (int r = 0; r < s->size; r++) {
      if (i < r % 2 || i >= r % 2 + RUN) continue;
      right += of_rank[r % 4];
      degree++;
    }
    most = degree > most ? degree : most;
    CHECK(to[i] == right, "root %d of overlapping runs is %g, not %g", i, to[i], right);
  }
  CHECK(info.max_degree == most, "a root of overlapping runs has %lld leaves, not %lld", (long long)info.max_degree,
        (long long)most);
  gable_exchange_destroy(&x);
  gable_forest_destroy(&f);
}

/* 35409886bcb: the size of a block was dropped where leaves are strided: 3 numbers an item, 2 fields, every fourth
 * position. */
static void strided_blocks(const setting *s)
{
  enum { N = 40, W = 3, FIELDS = 2, SPACE = 4 * N };
  gable_off leaf[N];
  gable_root root[N];
  gable_forest *f = NULL;
  for (int i = 0; i < N; i++) {
    leaf[i] = 4 * i;
    root[i] = (gable_root){(s->me + 1) % s->size, i};
  }
  CHECK_OK(gable_forest_create(s->comm, N, N, leaf, root, &f));
  gable_plan_options o = plan_of(s, GABLE_DIRECTION_BCAST, GABLE_FOREST_OP_REPLACE, GABLE_UNIT_I32);
  o.count = W;
  o.fields = FIELDS;
  o.leaf_stride = SPACE;
  gable_exchange *x = exchange_of(f, &o);
  int32_t from[FIELDS * N * W], to[FIELDS * SPACE * W];
  for (int i = 0; i < FIELDS * N * W; i++) from[i] = 1000 * s->me + i;
  for (int i = 0; i < FIELDS * SPACE * W; i++) to[i] = -1;
  place from_at = place_in(s, from, sizeof from), to_at = place_in(s, to, sizeof to);
  CHECK_OK(gable_bcast_begin(x, from_at.at, to_at.at));
  CHECK_OK(gable_exchange_end(x));
  place_out(s, &from_at);
  place_out(s, &to_at);
  for (int i = 0; i < FIELDS * SPACE * W; i++) {
    const int g = i / (SPACE * W), p = i / W % SPACE, w = i % W;
    const int32_t right = p % 4 ? -1 : 1000 * ((s->me + 1) % s->size) + (g * N + p / 4) * W + w;
    CHECK(to[i] == right, "field %d, position %d, number %d: %d, not %d", g, p, w, to[i], right);
  }
  gable_exchange_destroy(&x);
  gable_forest_destroy(&f);
}

/* PetscSF fetches with sums alone, and chars had no sign under MAX (its ex1): each op on 4 leaves a rank of one root.
 */
static void fetch_every_op(const setting *s)
{
  static const gable_forest_op ops[] = {GABLE_FOREST_OP_REPLACE, GABLE_FOREST_OP_SUM, GABLE_FOREST_OP_PROD,
                                        GABLE_FOREST_OP_MIN,     GABLE_FOREST_OP_MAX, GABLE_FOREST_OP_BOR,
                                        GABLE_FOREST_OP_BXOR};
  gable_root root[4] = {{0, 0}, {0, 0}, {0, 0}, {0, 0}};
  gable_forest *f = NULL;
  CHECK_OK(gable_forest_create(s->comm, 1, 4, NULL, root, &f));
  for (size_t k = 0; k < sizeof ops / sizeof *ops; k++) {
    const gable_plan_options o = plan_of(s, GABLE_DIRECTION_FETCH, ops[k], GABLE_UNIT_CHAR);
    gable_exchange *x = exchange_of(f, &o);
    signed char to = -5, leaf[4], update[4] = {0}, value = -5;
    for (int i = 0; i < 4; i++) leaf[i] = (signed char)(s->me + 3 * i - 6);
    place at[] = {place_in(s, &to, sizeof to), place_in(s, leaf, sizeof leaf), place_in(s, update, sizeof update)};
    CHECK_OK(gable_fetch_begin(x, at[0].at, at[1].at, at[2].at));
    CHECK_OK(gable_exchange_end(x));
    for (int i = 0; i < 3; i++) place_out(s, &at[i]);
    for (int q = 0; q < s->size; q++)
      for (int i = 0; i < 4; i++) {
        const signed char l = (signed char)(q + 3 * i - 6);
        CHECK(q != s->me || update[i] == value, "op %d: update %d is %d, not %d", (int)ops[k], i, update[i], value);
        value = (signed char)(ops[k] == GABLE_FOREST_OP_REPLACE ? l
                              : ops[k] == GABLE_FOREST_OP_SUM   ? value + l
                              : ops[k] == GABLE_FOREST_OP_PROD  ? value * l
                              : ops[k] == GABLE_FOREST_OP_MIN   ? (l < value ? l : value)
                              : ops[k] == GABLE_FOREST_OP_MAX   ? (l > value ? l : value)
                              : ops[k] == GABLE_FOREST_OP_BOR   ? value | l
                                                                : value ^ l);
      }
    CHECK(s->me || to == value, "op %d: the root is %d, not %d", (int)ops[k], to, value);
    gable_exchange_destroy(&x);
  }
  gable_forest_destroy(&f);
}

/* Plans that differ on the last rank, in each option that all must share. */
static void plans_differ(const setting *s)
{
  gable_forest *f = ring_of(s, 0);
  for (int k = 0; k < 5 && s->size > 1; k++) {
    static const char *const what[] = {"direction", "op", "unit", "count", "fields"};
    const int other = s->me == s->size - 1;
    gable_plan_options o = plan_of(s, GABLE_DIRECTION_REDUCE, GABLE_FOREST_OP_SUM, GABLE_UNIT_D);
    gable_plan *plan = NULL;
    char text[80];
    if (other && k == 0) o.direction = GABLE_DIRECTION_BCAST;
    if (other && k == 1) o.op = GABLE_FOREST_OP_MAX;
    if (other && k == 2) o.unit = GABLE_UNIT_I64;
    if (other && k == 3) o.count = 2;
    if (other && k == 4) o.fields = 2;
    snprintf(text, sizeof text, "rank %d: plans differ: %s is ", s->size - 1, what[k]);
    CHECK(gable_plan_create(f, &o, &plan) == GABLE_ERR_ARGUMENT && strstr(gable_last_error(), text) && !plan,
          "'%s' is not in '%s'", text, gable_last_error());
  }
  gable_forest_destroy(&f);
}

/* Pairs of an int and a place, of which the smaller place stays (PETSc's ex23). */
static void pairs(const setting *s)
{
  const gable_root root[2] = {{0, 0}, {0, 0}};
  gable_forest *f = NULL;
  CHECK_OK(gable_forest_create(s->comm, s->me ? 0 : 1, 2, NULL, root, &f));
  const gable_plan_options o = plan_of(s, GABLE_DIRECTION_REDUCE, GABLE_FOREST_OP_MAXLOC, GABLE_UNIT_PAIR_I32);
  gable_exchange *x = exchange_of(f, &o);
  int32_t leaf[4] = {7, 100 - s->me, 7, 50 - s->me}, to[2] = {-9, 1};
  place from_at = place_in(s, leaf, sizeof leaf), to_at = place_in(s, to, sizeof to);
  CHECK_OK(gable_reduce_begin(x, from_at.at, to_at.at));
  CHECK_OK(gable_exchange_end(x));
  place_out(s, &from_at);
  place_out(s, &to_at);
  CHECK(s->me || (to[0] == 7 && to[1] == 51 - s->size), "%d at %d", (int)to[0], (int)to[1]);
  gable_exchange_destroy(&x);
  gable_forest_destroy(&f);
}

static void all_cases(const setting *s, long rounds)
{
  const int few = s->space == GABLE_SPACE_HOST ? 20 : 4; /* the mirror opens and closes every block of memory */
  for (int k = 0; k < 4; k++) two_under_way(s, k % 2, k / 2, few);
  many_rounds(s, rounds);
  adjoint(s);
  receives_only(s, few);
  nothing_at_all(s);
  reduce_replaces(s);
  runs_overlap(s);
  strided_blocks(s);
  fetch_every_op(s);
  pairs(s);
  plans_differ(s);
}

void forest_cases(gable_comm *comm, gable_path path, long rounds)
{
  const setting s = {comm, path, GABLE_SPACE_HOST, gable_comm_rank(comm), gable_comm_size(comm)};
  all_cases(&s, rounds);
}

void forest_device_cases(gable_comm *comm, gable_path path, long rounds)
{
  const setting s = {comm, path, GABLE_SPACE_DEVICE, gable_comm_rank(comm), gable_comm_size(comm)};
  all_cases(&s, rounds);
}

/* Items of 1 MiB, so that the graph is small. */
enum { LONG_ITEM = 1 << 20, LONG_ITEMS = (1 << 11) + 3 };

int64_t forest_long_message_bytes(gable_path path)
{
  const int64_t copies = path == GABLE_PATH_DIRECT ? 2 : path == GABLE_PATH_REQUEST ? 4 : 3;
  return copies * LONG_ITEM * LONG_ITEMS;
}

void forest_long_message(gable_comm *comm, gable_path path)
{
  const setting s = {comm, path, GABLE_SPACE_HOST, gable_comm_rank(comm), gable_comm_size(comm)};
  const int reads = s.me == s.size - 1 && s.me > 0, sends = s.me == 0;
  gable_root root[LONG_ITEMS];
  gable_forest *f = NULL;
  for (int i = 0; i < LONG_ITEMS; i++) root[i] = (gable_root){0, i};
  CHECK_OK(gable_forest_create(comm, sends ? LONG_ITEMS : 0, reads ? LONG_ITEMS : 0, NULL, root, &f));
  gable_plan_options o = plan_of(&s, GABLE_DIRECTION_BCAST, GABLE_FOREST_OP_REPLACE, GABLE_UNIT_I64);
  o.count = LONG_ITEM / 8;
  gable_exchange *x = exchange_of(f, &o);
  const int64_t n = (int64_t)LONG_ITEMS * LONG_ITEM / 8;
  int64_t *a = sends || reads ? malloc((size_t)n * sizeof *a) : NULL;
  CHECK_OK(gable_comm_agree(comm, a || !(sends || reads) ? GABLE_OK : GABLE_ERR_MEMORY));
  for (int64_t i = 0; i < n && sends; i++) a[i] = 3 * i + 1;
  CHECK_OK(gable_bcast_begin(x, sends ? a : NULL, reads ? a : NULL));
  CHECK_OK(gable_exchange_end(x));
  for (int64_t i = 0; i < n && reads; i++)
    CHECK(a[i] == 3 * i + 1, "number %lld is %lld", (long long)i, (long long)a[i]);
  CHECK_OK(gable_comm_barrier(comm));
  free(a);
  gable_exchange_destroy(&x);
  gable_forest_destroy(&f);
}

enum { HUB_LEAVES = 200 }; /* of each rank: a wide root */

static gable_forest *hub_of(const setting *s)
{
  gable_root root[HUB_LEAVES];
  gable_forest *f = NULL;
  for (int i = 0; i < HUB_LEAVES; i++) root[i] = (gable_root){0, i % 7 ? 0 : 1};
  CHECK_OK(gable_forest_create(s->comm, s->me ? 0 : 2, HUB_LEAVES, NULL, root, &f));
  return f;
}

static gable_status one_round(gable_exchange *x, gable_direction d, int64_t *root, int64_t *leaf, int64_t *update)
{
  gable_status status = d == GABLE_DIRECTION_BCAST    ? gable_bcast_begin(x, root, leaf)
                        : d == GABLE_DIRECTION_REDUCE ? gable_reduce_begin(x, leaf, root)
                        : d == GABLE_DIRECTION_FETCH  ? gable_fetch_begin(x, root, leaf, update)
                        : d == GABLE_DIRECTION_GATHER ? gable_gather_begin(x, leaf, root)
                                                      : gable_scatter_begin(x, root, leaf);
  return status ? status : gable_exchange_end(x);
}

void forest_quiet_rounds(gable_comm *comm, gable_path path, const failing_allocator *memory)
{
  const setting s = {comm, path, GABLE_SPACE_HOST, gable_comm_rank(comm), gable_comm_size(comm)};
  for (int hub = 0; hub < 2; hub++)
    for (int d = GABLE_DIRECTION_BCAST; d <= GABLE_DIRECTION_SCATTER; d++) {
      gable_forest *f = hub ? hub_of(&s) : ring_of(&s, 0);
      const gable_plan_options o =
          plan_of(&s, (gable_direction)d, d >= GABLE_DIRECTION_GATHER ? GABLE_FOREST_OP_REPLACE : GABLE_FOREST_OP_SUM,
                  GABLE_UNIT_I64);
      gable_exchange *x = exchange_of(f, &o);
      const size_t items = (size_t)s.size * HUB_LEAVES + RING; /* of a multi root, too */
      int64_t *array = calloc(3 * items, sizeof *array);
      CHECK(array, "no memory");
      const long before = memory->count;
      for (int round = 0; round < 5; round++)
        CHECK_OK(one_round(x, (gable_direction)d, array, array + items, array + 2 * items));
      CHECK(memory->count == before, "path %d, direction %d, hub %d: begin and end allocate", (int)path, d, hub);
      free(array);
      gable_exchange_destroy(&x);
      gable_forest_destroy(&f);
    }
}
