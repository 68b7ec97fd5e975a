/* Counts beyond 2^31: leaves and roots far apart in arrays that are reserved and never filled, in host memory and in
 * the mirror's device memory; and sizes beyond 2^63. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernels/forest/exchange_steps.h"
#include "support/test.h"

enum { LEAVES = 5, FIELDS = 2 };
static const gable_off far = (gable_off)3 << 30; /* roots of a rank */

/* So many bytes, zeros, of which only the touched pages exist; NULL: the system does not give addresses away. */
static signed char *reserve(gable_off bytes)
{
  void *p = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? NULL : p;
}

static gable_exchange *exchange_of(gable_forest *f, gable_direction direction, gable_forest_op op)
{
  gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
  gable_plan *plan = NULL;
  gable_exchange *x = NULL;
  o.direction = direction;
  o.op = op;
  o.unit = GABLE_UNIT_CHAR;
  o.fields = FIELDS;
  o.root_stride = far + 7;
  o.leaf_stride = 2 * far;
  CHECK_OK(gable_plan_create(f, &o, &plan));
  CHECK_OK(gable_exchange_create(plan, NULL, &x));
  gable_plan_destroy(&plan);
  return x;
}

static gable_off leaf_place(int i)
{
  return (gable_off)i << 30;
}

static gable_off root_place(int i)
{
  return far - 1 - 1000 * (gable_off)i * i;
}

/* Leaf i of each rank is joined to a root of the next one: positions are a box, roots a list, both beyond 2^31. */
static gable_status strides(gable_comm *comm, void *user)
{
  const int me = gable_comm_rank(comm), size = gable_comm_size(comm), next = (me + 1) % size;
  gable_off leaf[LEAVES], global[LEAVES], degree_most = 0;
  gable_forest *f = NULL;
  gable_forest_info info = GABLE_FOREST_INFO_INIT;
  (void)user;
  for (int i = 0; i < LEAVES; i++) {
    leaf[i] = leaf_place(i);
    global[i] = next * far + root_place(i);
  }
  CHECK_OK(gable_forest_create_global(comm, far, LEAVES, leaf, global, &f));
  CHECK_OK(gable_forest_get_info(f, &info));
  degree_most = info.max_degree;
  CHECK(info.leaf_space == leaf_place(LEAVES - 1) + 1 && degree_most == 1, "%lld", (long long)info.leaf_space);
  const gable_off root_bytes = (FIELDS - 1) * (far + 7) + far, leaf_bytes = (FIELDS - 1) * 2 * far + info.leaf_space;
  signed char *root = reserve(root_bytes), *to = reserve(leaf_bytes), *update = reserve(leaf_bytes);
  const gable_status there = root && to && update ? GABLE_OK : GABLE_ERR_MEMORY;
  if (gable_comm_agree(comm, there)) SKIP("no address space of %g GB", (double)(root_bytes + 2 * leaf_bytes) / 1e9);
  gable_exchange *down = exchange_of(f, GABLE_DIRECTION_BCAST, GABLE_FOREST_OP_REPLACE);
  gable_exchange *up = exchange_of(f, GABLE_DIRECTION_REDUCE, GABLE_FOREST_OP_SUM);
  gable_exchange *fetch = exchange_of(f, GABLE_DIRECTION_FETCH, GABLE_FOREST_OP_SUM);
  for (int g = 0; g < FIELDS; g++)
    for (int i = 0; i < LEAVES; i++) root[g * (far + 7) + root_place(i)] = (signed char)(10 * me + 2 * i + g);
  CHECK_OK(gable_bcast_begin(down, root, to));
  CHECK_OK(gable_exchange_end(down));
  CHECK_OK(gable_reduce_begin(up, to, root)); /* twice its own */
  CHECK_OK(gable_exchange_end(up));
  CHECK_OK(gable_fetch_begin(fetch, root, to, update)); /* three times; update: twice */
  CHECK_OK(gable_exchange_end(fetch));
  for (int g = 0; g < FIELDS; g++)
    for (int i = 0; i < LEAVES; i++) {
      const int mine = 10 * me + 2 * i + g, theirs = 10 * next + 2 * i + g;
      const gable_off at = g * 2 * far + leaf_place(i);
      CHECK(to[at] == theirs, "leaf %d of field %d: %d, not %d", i, g, to[at], theirs);
      CHECK(update[at] == 2 * theirs, "update %d of field %d: %d, not %d", i, g, update[at], 2 * theirs);
      const int sum = root[g * (far + 7) + root_place(i)];
      CHECK(sum == 3 * mine, "root %d of field %d: %d, not %d", i, g, sum, 3 * mine);
    }
  gable_exchange_destroy(&down);
  gable_exchange_destroy(&up);
  gable_exchange_destroy(&fetch);
  gable_forest_destroy(&f);
  munmap(root, (size_t)root_bytes);
  munmap(to, (size_t)leaf_bytes);
  munmap(update, (size_t)leaf_bytes);
  return GABLE_OK;
}

/* The same between arrays in device memory, where a byte at a time is copied in and out: arrays of 2 GB of which a few
 * pages exist. */
enum { ROOT, LEAF, UPDATE, ARRAYS };
static const gable_off far_on_device = ((gable_off)1 << 31) + 5000;

static gable_off device_place(int array, int i)
{
  return array == ROOT ? far_on_device - 1 - 1000 * (gable_off)i * i : (gable_off)i << 29;
}

static signed char byte_of(gable_comm *comm, const void *array, gable_off at)
{
  signed char c = 0;
  CHECK_OK(gable_device_copy_out(gable_comm_context(comm), &c, (const char *)array + at, 1, NULL));
  CHECK_OK(gable_device_synchronise(gable_comm_context(comm), NULL));
  return c;
}

static gable_status strides_on_device(gable_comm *comm, void *user)
{
  gable_context *ctx = gable_comm_context(comm);
  const int me = gable_comm_rank(comm), next = (me + 1) % gable_comm_size(comm);
  static const gable_direction directions[] = {GABLE_DIRECTION_BCAST, GABLE_DIRECTION_REDUCE, GABLE_DIRECTION_FETCH};
  gable_off leaf[LEAVES];
  gable_root root[LEAVES];
  void *a[ARRAYS];
  gable_forest *f = NULL;
  (void)user;
  for (int i = 0; i < LEAVES; i++) {
    leaf[i] = device_place(LEAF, i);
    root[i] = (gable_root){next, device_place(ROOT, i)};
  }
  CHECK_OK(gable_forest_create(comm, far_on_device, LEAVES, leaf, root, &f));
  for (int k = 0; k < ARRAYS; k++) CHECK_OK(gable_device_alloc(ctx, (size_t)far_on_device, &a[k]));
  for (int i = 0; i < LEAVES; i++) {
    const signed char mine = (signed char)(10 * me + 2 * i);
    CHECK_OK(gable_device_copy_in(ctx, (char *)a[ROOT] + device_place(ROOT, i), &mine, 1, NULL));
  }
  for (int d = 0; d < 3; d++) {
    gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
    gable_plan *plan = NULL;
    gable_exchange *x = NULL;
    o.direction = directions[d];
    o.op = d ? GABLE_FOREST_OP_SUM : GABLE_FOREST_OP_REPLACE;
    o.unit = GABLE_UNIT_CHAR;
    o.root_space = o.leaf_space = GABLE_SPACE_DEVICE;
    CHECK_OK(gable_plan_create(f, &o, &plan));
    CHECK_OK(gable_exchange_create(plan, NULL, &x));
    CHECK_OK(d == 0   ? gable_bcast_begin(x, a[ROOT], a[LEAF])
             : d == 1 ? gable_reduce_begin(x, a[LEAF], a[ROOT])
                      : gable_fetch_begin(x, a[ROOT], a[LEAF], a[UPDATE]));
    CHECK_OK(gable_exchange_end(x));
    gable_exchange_destroy(&x);
    gable_plan_destroy(&plan);
  }
  for (int i = 0; i < LEAVES; i++) {
    const int mine = 10 * me + 2 * i, theirs = 10 * next + 2 * i;
    CHECK(byte_of(comm, a[LEAF], device_place(LEAF, i)) == theirs, "leaf %d", i);
    CHECK(byte_of(comm, a[UPDATE], device_place(UPDATE, i)) == 2 * theirs, "update %d", i);
    CHECK(byte_of(comm, a[ROOT], device_place(ROOT, i)) == 3 * mine, "root %d", i);
  }
  for (int k = 0; k < ARRAYS; k++) gable_device_free(ctx, &a[k]);
  gable_forest_destroy(&f);
  return GABLE_OK;
}

/* Whether the system gives away addresses without memory behind them, as the mirror's blocks are. */
static int gives_addresses(void)
{
  int mode = 2;
  FILE *f = fopen("/proc/sys/vm/overcommit_memory", "r");
  if (f && fscanf(f, "%d", &mode) != 1) mode = 2;
  if (f) fclose(f);
  return mode != 2 && sysconf(_SC_PHYS_PAGES) / 1000 * sysconf(_SC_PAGESIZE) > 3 * (far_on_device / 2000);
}

static void expect(gable_status found, gable_status right, const char *text)
{
  CHECK(found == right && strstr(gable_last_error(), text), "%d: %s, not %d: %s", (int)found, gable_last_error(),
        (int)right, text);
}

/* Roots with and without a duplicate among very many: what reductions need to know of them. */
static gable_status degrees(gable_comm *comm, void *user)
{
  const int me = gable_comm_rank(comm);
  const gable_root root[4] = {{0, INT64_MAX - 1}, {0, 5}, {1, 5}, {0, 5}};
  gable_forest *f = NULL;
  gable_forest_info info = GABLE_FOREST_INFO_INIT;
  (void)user;
  CHECK_OK(gable_forest_create(comm, INT64_MAX, 4, NULL, root, &f));
  CHECK_OK(gable_forest_get_info(f, &info));
  CHECK(info.max_degree == (me == 0 ? 2 : me == 1) * gable_comm_size(comm), "%lld", (long long)info.max_degree);
  gable_forest_destroy(&f);
  return GABLE_OK;
}

/* The algebra takes memory for edges alone: 2^62 roots and positions, one edge on each rank. */
static gable_status algebra(gable_comm *comm, void *user)
{
  const int me = gable_comm_rank(comm), size = gable_comm_size(comm);
  const gable_off many = (gable_off)1 << 62, place = many - 5;
  const gable_root next = {(me + 1) % size, many - 1 - me}, from_place = {(me + 1) % size, place};
  gable_forest *a = NULL, *b = NULL, *c = NULL;
  gable_forest_info info = GABLE_FOREST_INFO_INIT;
  gable_off leaf = 0;
  gable_root root = {0, 0};
  (void)user;
  CHECK_OK(gable_forest_create(comm, many, 1, &place, &next, &a));
  CHECK_OK(gable_forest_create(comm, many, 1, &place, &from_place, &b));
  CHECK_OK(gable_forest_compose(a, b, &c)); /* two ranks on */
  CHECK_OK(gable_forest_get_leaves(c, &leaf, &root));
  CHECK(leaf == place && root.rank == (me + 2) % size && root.index == many - 1 - (me + 1) % size, "%lld of rank %d",
        (long long)root.index, (int)root.rank);
  gable_forest_destroy(&c);
  CHECK_OK(gable_forest_inverse(a, &c));
  CHECK_OK(gable_forest_get_leaves(c, &leaf, &root));
  CHECK(leaf == many - 1 - (me + size - 1) % size && root.rank == (me + size - 1) % size && root.index == place,
        "leaf %lld", (long long)leaf);
  gable_forest_destroy(&c);
  CHECK_OK(gable_forest_multi(a, &c));
  CHECK_OK(gable_forest_get_info(c, &info));
  CHECK(info.n_roots == 1 && info.leaf_space == place + 1, "%lld roots", (long long)info.n_roots);
  gable_forest_destroy(&c);
  CHECK_OK(gable_forest_embed_roots(a, 1, &next.index, &c)); /* of this rank: another one than its leaf has */
  CHECK_OK(gable_forest_get_info(c, &info));
  CHECK(info.n_leaves == 0, "%lld leaves", (long long)info.n_leaves);
  gable_forest_destroy(&c);
  CHECK_OK(gable_forest_embed_leaves(a, 1, &place, &c));
  CHECK_OK(gable_forest_get_info(c, &info));
  CHECK(info.n_leaves == 1, "%lld leaves", (long long)info.n_leaves);
  gable_forest_destroy(&c);
  CHECK_OK(gable_forest_merge(a, b, &c));
  CHECK_OK(gable_forest_get_leaves(c, &leaf, &root));
  CHECK(root.index == place, "%lld", (long long)root.index);
  gable_forest_destroy(&c);
  gable_forest_destroy(&a);
  gable_forest_destroy(&b);
  return GABLE_OK;
}

static gable_status overflows(gable_comm *comm, void *user)
{
  const gable_root root = {0, 3};
  const gable_off last = INT64_MAX, global = 0, offset[2] = {0, INT64_MAX - 1};
  gable_grid g = GABLE_GRID_INIT;
  gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
  gable_forest *f = NULL, *none = NULL;
  gable_plan *plan = NULL;
  (void)user;
  expect(gable_forest_create(comm, 9, 1, &last, &root, &none), GABLE_ERR_ARGUMENT, "position 9223372036854775807");
  expect(gable_forest_create_global(comm, INT64_MAX / 2, 1, NULL, &global, &none), GABLE_ERR_LIMIT, "2^63 roots");
  expect(gable_forest_create_pattern(comm, GABLE_PATTERN_ALLTOALL, INT64_MAX / 2, &none), GABLE_ERR_LIMIT, "alltoall");
  g.ranks[0] = gable_comm_size(comm);
  for (int d = 0; d < 3; d++) g.cells[d] = (gable_off)1 << 40;
  expect(gable_forest_create_grid(comm, &g, &none), GABLE_ERR_LIMIT, "2^63 cells");
  g.cells[0] = INT64_MAX;
  expect(gable_forest_create_grid(comm, &g, &none), GABLE_ERR_LIMIT, "dimension 0");
  CHECK_OK(gable_forest_create(comm, far, 1, NULL, &root, &f));
  const gable_forest *const both[] = {f, f};
  expect(gable_forest_concatenate(2, both, GABLE_ROOTS_SHARED, offset, &none), GABLE_ERR_ARGUMENT, "offset[1]");
  o.fields = 3;
  o.root_stride = INT64_MAX / 4;
  expect(gable_plan_create(f, &o, &plan), GABLE_ERR_LIMIT, "2^63 bytes");
  o.root_stride = 0;
  o.fields = INT64_MAX;
  expect(gable_plan_create(f, &o, &plan), GABLE_ERR_LIMIT, "2^63 bytes");
  o.fields = (gable_off)1 << 40;
  o.count = 1 << 17;
  o.root_stride = o.leaf_stride = 1;
  expect(gable_plan_create(f, &o, &plan), GABLE_ERR_LIMIT, "messages of more than 2^59 bytes");
  CHECK(!none && !plan, "an object with an error");
  gable_forest_destroy(&f);
  return GABLE_OK;
}

/* Messages of 2^57 bytes, which plans still take: no path of theirs makes a smaller one of it. */
static gable_status too_long(gable_comm *comm, void *user)
{
  static const gable_path paths[] = {GABLE_PATH_AUTO, GABLE_PATH_BUFFER, GABLE_PATH_COPY};
  const gable_root root = {0, 3};
  const int on_device = *(const int *)user;
  gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
  gable_forest *f = NULL;
  CHECK_OK(gable_forest_create(comm, 9, 1, NULL, &root, &f));
  o.fields = (gable_off)1 << 37;
  o.count = 1 << 17;
  o.root_stride = o.leaf_stride = 1;
  if (on_device) o.root_space = o.leaf_space = GABLE_SPACE_DEVICE;
  for (int k = 0; k < 3; k++) {
    gable_plan *plan = NULL;
    gable_exchange *x = NULL;
    o.path = paths[k];
    if (gable_plan_create(f, &o, &plan)) continue; /* not a path of this place */
    const gable_status status = gable_exchange_create(plan, NULL, &x);
    CHECK((status == GABLE_ERR_MEMORY || status == GABLE_ERR_UNAVAILABLE) && !x, "path %d: %d, %s", (int)paths[k],
          (int)status, gable_last_error());
    gable_plan_destroy(&plan);
  }
  gable_forest_destroy(&f);
  return GABLE_OK;
}

/* Boxes on a device: where divisors and numbers come to 2^31. */
static void divisions(void)
{
  const int64_t most = INT32_MAX;
  const int64_t by[] = {1, 2, 3, 7, 1 << 30, (1 << 30) + 1, most - 1, most, most + 1, most + 2, INT64_C(1) << 40};
  for (size_t k = 0; k < sizeof by / sizeof *by; k++) {
    const gik_divisor d = gik_divisor_of(by[k]);
    const int64_t at[] = {0, 1, by[k] - 1, by[k], 2 * by[k] - 1, 2 * by[k], most - 1, most, most + 1, 5 * most};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
      CHECK(gik_divide(&d, at[i], 0) == at[i] / by[k], "%lld / %lld", (long long)at[i], (long long)by[k]);
      if (at[i] <= most)
        CHECK(gik_divide(&d, at[i], 1) == at[i] / by[k], "%lld / %lld", (long long)at[i], (long long)by[k]);
    }
  }
}

int main(void)
{
  int on_device = 0;
  divisions();
  if (!GI_SANITIZED) { /* a sanitizer ends a program that asks for so much memory */
    CHECK_OK(gable_comm_run("cpu/ranks:3", too_long, &on_device));
    on_device = 1;
    CHECK_OK(gable_comm_run("mirror/peer:3", too_long, &on_device));
    CHECK_OK(gable_comm_run("mirror/ranks:3", too_long, &on_device));
  }
  CHECK_OK(gable_comm_run("cpu/ranks:3", overflows, NULL));
  CHECK_OK(gable_comm_run("cpu/ranks:3", degrees, NULL));
  CHECK_OK(gable_comm_run("cpu/ranks:3", algebra, NULL));
  CHECK_OK(gable_comm_run("cpu/ranks:3", strides, NULL));
  if (!gives_addresses()) SKIP("the system gives no addresses of %g GB", (double)far_on_device / 1e9);
  CHECK_OK(gable_comm_run("mirror/peer:3", strides_on_device, NULL));
  CHECK_OK(gable_comm_run("mirror/ranks:2", strides_on_device, NULL));
  return 0;
}
