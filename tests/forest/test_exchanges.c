/* The cases of forest_cases.h on threads, and on the mirror in host and in device memory, by every path: 1,000 rounds
 * with new data; and the comm of one rank that a program makes itself.
 *
 * usage: test_exchanges [PLACE [copy]], as "cuda:0,1/peer": in device memory there. */
#include "support/failing_allocator.h"
#include "support/forest_cases.h"
#include "support/test.h"

static gable_status in_host_memory(gable_comm *comm, void *user)
{
  const int size = gable_comm_size(comm);
  (void)user;
  for (int path = GABLE_PATH_AUTO; path <= GABLE_PATH_BUFFER; path++)
    forest_cases(comm, (gable_path)path, size == 2 ? 1000 : 20);
  return GABLE_OK;
}

static gable_status in_device_memory(gable_comm *comm, void *user)
{
  forest_device_cases(comm, *(const gable_path *)user, 10);
  return GABLE_OK;
}

/* On the comm of one rank, by path: leaves 0, 1 and 2 have the roots 1, 0 and 1. */
static void own_edges(gable_comm *comm, gable_path path)
{
  static const gable_root root_of[] = {{0, 1}, {0, 0}, {0, 1}};
  static const gable_direction directions[] = {GABLE_DIRECTION_BCAST, GABLE_DIRECTION_REDUCE, GABLE_DIRECTION_FETCH};
  double root[2] = {1, 2}, leaf[3] = {0, 0, 0}, update[3] = {0, 0, 0};
  gable_exchange *x[3];
  for (int k = 0; k < 3; k++) {
    gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
    o.direction = directions[k];
    o.op = k ? GABLE_FOREST_OP_SUM : GABLE_FOREST_OP_REPLACE;
    o.path = path;
    x[k] = forest_exchange(comm, 2, 3, NULL, root_of, &o);
  }
  CHECK_OK(gable_bcast_begin(x[0], root, leaf));
  CHECK_OK(gable_exchange_end(x[0]));
  CHECK(leaf[0] == 2 && leaf[1] == 1 && leaf[2] == 2, "leaves %g, %g, %g", leaf[0], leaf[1], leaf[2]);
  CHECK_OK(gable_reduce_begin(x[1], leaf, root));
  CHECK_OK(gable_exchange_end(x[1]));
  CHECK(root[0] == 2 && root[1] == 6, "sums %g, %g", root[0], root[1]);
  CHECK_OK(gable_fetch_begin(x[2], root, leaf, update));
  CHECK_OK(gable_exchange_end(x[2]));
  CHECK(update[0] == 6 && update[1] == 2 && update[2] == 8, "fetched %g, %g, %g", update[0], update[1], update[2]);
  CHECK(root[0] == 3 && root[1] == 10, "roots %g, %g", root[0], root[1]);
  for (int k = 0; k < 3; k++) gable_exchange_destroy(&x[k]);
}

/* gable_comm_self: what it says of itself, exchanges, all its memory given back, and each allocation that fails. */
static void comm_of_one_rank(const char *where)
{
  failing_allocator memory = failing_allocator_init();
  gable_context_options options = failing_allocator_options(&memory);
  gable_context *ctx = NULL;
  gable_comm *comm = NULL;
  long k = 0;
  options.threads = 1;
  CHECK_OK(gable_context_create(where, &options, &ctx));
  const long before = memory.live;
  CHECK(gable_comm_self(NULL, &comm) == GABLE_ERR_ARGUMENT && strstr(gable_last_error(), "ctx is NULL"), "%s",
        gable_last_error());
  CHECK(gable_comm_self(ctx, NULL) == GABLE_ERR_ARGUMENT && strstr(gable_last_error(), "out is NULL"), "%s",
        gable_last_error());
  for (gable_status status = GABLE_ERR_MEMORY; status; k++) {
    failing_allocator_arm_mode(&memory, k % 2 ? FAIL_ONE : FAIL_FROM, k / 2);
    status = gable_comm_self(ctx, &comm);
    const int failures = (int)memory.failures;
    failing_allocator_disarm(&memory);
    CHECK(status == (failures ? GABLE_ERR_MEMORY : GABLE_OK) && !status == !!comm, "allocation %ld: %d", k, status);
    CHECK(!status || memory.live == before, "allocation %ld: %ld blocks left", k, memory.live - before);
  }
  CHECK(k > 1, "a comm takes no memory of its context");
  CHECK(gable_comm_size(comm) == 1 && gable_comm_rank(comm) == 0, "rank %d of %d", gable_comm_rank(comm),
        gable_comm_size(comm));
  CHECK(!strcmp(gable_comm_where(comm), where), "'%s', not '%s'", gable_comm_where(comm), where);
  CHECK(gable_comm_context(comm) == ctx, "another context");
  CHECK_OK(gable_comm_barrier(comm));
  for (int path = GABLE_PATH_AUTO; path <= GABLE_PATH_BUFFER; path++) own_edges(comm, (gable_path)path);
  gable_comm_destroy(&comm);
  CHECK(!comm && memory.live == before, "%ld blocks left of a comm", memory.live - before);
  gable_comm_destroy(&comm);
  gable_context_destroy(&ctx);
}

int main(int argc, char **argv)
{
  static const char *const host[] = {"cpu", "cpu/ranks:2", "cpu/ranks:3", "cpu/ranks:4", "mirror/ranks:3"};
  static const struct {
    const char *where;
    gable_path path;
  } devices[] = {{"mirror/peer:1", GABLE_PATH_AUTO},
                 {"mirror/peer:3", GABLE_PATH_DIRECT},
                 {"mirror/peer:2", GABLE_PATH_COPY},
                 {"mirror/ranks:3", GABLE_PATH_AUTO},
                 {"mirror/ranks:2", GABLE_PATH_BUFFER}};
  gable_path path = argc > 2 && !strcmp(argv[2], "copy") ? GABLE_PATH_COPY : GABLE_PATH_AUTO;
  if (argc > 1) {
    CHECK_OK(gable_comm_run(argv[1], in_device_memory, &path));
    return 0;
  }
  comm_of_one_rank("cpu");
  comm_of_one_rank("mirror");
  for (size_t k = 0; k < sizeof host / sizeof *host; k++) CHECK_OK(gable_comm_run(host[k], in_host_memory, NULL));
  for (size_t k = 0; k < sizeof devices / sizeof *devices; k++)
    CHECK_OK(gable_comm_run(devices[k].where, in_device_memory, (void *)&devices[k].path));
  return 0;
}
