/* A message of more than 2^31 bytes between arrays in device memory.
 *
 * usage: test_long_device [place], as "cuda:0,1/peer": stored and copied there.  Without a place on the mirror, by each
 * of its paths: where it is asked for (GABLE_LONG_MESSAGES=1), since it takes minutes, and where the machine has the
 * memory for it. */
#include <stdlib.h>

#include "support/memory_available.h"
#include "support/test.h"

enum { ITEM = 1 << 20, ITEMS = (1 << 11) + 3, PIECE = 1 << 27 };

/* The array's numbers count; writes: into the array at their place, else they are what is there.  Opening a large block
 * of the mirror takes long, hence large pieces. */
static void visit(gable_context *ctx, char *array, int writes, int32_t *room)
{
  static const int64_t bytes = (int64_t)ITEM * ITEMS;
  for (int64_t at = 0; at < bytes; at += PIECE) {
    const int64_t n = bytes - at < PIECE ? bytes - at : PIECE, first = at / 4;
    for (int64_t k = 0; k < n / 4 && writes; k++) room[k] = (int32_t)(first + k);
    CHECK_OK(writes ? gable_device_copy_in(ctx, array + at, room, (size_t)n, NULL)
                    : gable_device_copy_out(ctx, room, array + at, (size_t)n, NULL));
    CHECK_OK(gable_device_synchronise(ctx, NULL));
    for (int64_t k = 0; k < n / 4 && !writes; k++)
      CHECK(room[k] == (int32_t)(first + k), "number %lld is %d", (long long)(first + k), room[k]);
  }
}

/* From rank 0's array to rank 1's: 2^31 + 3 * 2^20 bytes, one run of both. */
static gable_status between_devices(gable_comm *comm, void *user)
{
  static const int64_t bytes = (int64_t)ITEM * ITEMS;
  gable_context *ctx = gable_comm_context(comm);
  const int reads = gable_comm_rank(comm) == 1;
  gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
  static gable_root root[ITEMS]; /* the same on both ranks */
  gable_forest *f = NULL;
  gable_plan *plan = NULL;
  gable_exchange *x = NULL;
  void *array = NULL;
  int32_t *room = malloc(PIECE);
  CHECK(room, "no memory");
  if (!reads)
    for (int i = 0; i < ITEMS; i++) root[i] = (gable_root){0, i};
  CHECK_OK(gable_comm_barrier(comm));
  CHECK_OK(gable_forest_create(comm, reads ? 0 : ITEMS, reads ? ITEMS : 0, NULL, root, &f));
  o.unit = GABLE_UNIT_CHAR;
  o.count = ITEM;
  o.path = *(gable_path *)user;
  o.root_space = o.leaf_space = GABLE_SPACE_DEVICE;
  CHECK_OK(gable_plan_create(f, &o, &plan));
  CHECK_OK(gable_exchange_create(plan, NULL, &x));
  CHECK_OK(gable_comm_agree(comm, gable_device_alloc(ctx, (size_t)bytes, &array)));
  if (!reads) visit(ctx, array, 1, room);
  CHECK_OK(gable_bcast_begin(x, array, array));
  CHECK_OK(gable_exchange_end(x));
  CHECK_OK(gable_exchange_wait(x));
  if (reads) visit(ctx, array, 0, room);
  CHECK_OK(gable_comm_barrier(comm));
  gable_device_free(ctx, &array);
  gable_exchange_destroy(&x);
  gable_plan_destroy(&plan);
  gable_forest_destroy(&f);
  free(room);
  return GABLE_OK;
}

/* Staged: two arrays, two buffers and the message between them; copied: a slot, and as much on the other rank; stored:
 * two slots on each rank. */
static void on_the_mirror(void)
{
  static const struct {
    const char *where;
    gable_path path;
    int copies;
  } cases[] = {{"mirror/peer:2", GABLE_PATH_COPY, 4},
               {"mirror/ranks:2", GABLE_PATH_AUTO, 6},
               {"mirror/peer:2", GABLE_PATH_DIRECT, 6}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    gable_path path = cases[k].path;
    const double needed = 1.5 * cases[k].copies * ITEM * ITEMS, there = memory_available();
    if (there < needed) SKIP("%.1f GB of memory are available, of which this takes %.1f", there / 1e9, needed / 1e9);
    CHECK_OK(gable_comm_run(cases[k].where, between_devices, &path));
  }
}

static void on_gpus(const char *where)
{
  gable_path paths[] = {GABLE_PATH_DIRECT, GABLE_PATH_COPY};
  for (int k = 0; k < 2; k++) CHECK_OK(gable_comm_run(where, between_devices, &paths[k]));
}

int main(int argc, char **argv)
{
  if (argc > 1) {
    on_gpus(argv[1]);
    return 0;
  }
  if (!getenv("GABLE_LONG_MESSAGES")) SKIP("GABLE_LONG_MESSAGES=1 sends 2^31 bytes between devices: 19 GB, minutes");
  on_the_mirror();
  return 0;
}
