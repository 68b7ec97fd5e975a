/* Many ranks on one device: seven wait, with as many thread blocks as they may have, each of which needs so many
 * registers that it fills a multiprocessor, for a rank that begins later.  Its kernels must find room on a GPU.
 *
 * usage: test_many_ranks [place], as "cuda:0/peer:8" (with CUDA_DEVICE_MAX_CONNECTIONS=32); else the mirror. */
#include <time.h>

#include "support/test.h"

enum { ITEMS = 16384, ROUNDS = 3 }; /* of 16 bytes: 32 parts of flagged words */

static double value(int round, int i, int part)
{
  return 1e6 * round + 2 * i + part;
}

static gable_status run(gable_comm *comm, void *user)
{
  gable_context *ctx = gable_comm_context(comm);
  const int rank = gable_comm_rank(comm);
  const gable_off leaves = rank ? ITEMS : 0;
  gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
  gable_forest *f = NULL;
  gable_plan *p = NULL;
  gable_exchange *x = NULL;
  void *root = NULL, *leaf = NULL;
  gable_root *of = malloc(ITEMS * sizeof *of);
  gable_off *at = malloc(ITEMS * sizeof *at);
  double *host = calloc(4 * ITEMS, sizeof *host);
  (void)user;
  CHECK(of && at && host, "memory");
  for (int i = 0; i < ITEMS; i++) {
    of[i] = (gable_root){0, i};
    at[i] = 2 * i;
  }
  CHECK_OK(gable_forest_create(comm, rank ? 0 : ITEMS, leaves, at, of, &f));
  o.unit = GABLE_UNIT_Z;
  o.root_space = o.leaf_space = GABLE_SPACE_DEVICE;
  CHECK_OK(gable_plan_create(f, &o, &p));
  CHECK_OK(gable_exchange_create(p, NULL, &x));
  CHECK_OK(gable_device_alloc(ctx, 2 * ITEMS * sizeof *host, &root));
  CHECK_OK(gable_device_alloc(ctx, 4 * ITEMS * sizeof *host, &leaf));
  CHECK_OK(gable_comm_set_deadline(comm, 30));
  for (int round = 0; round < ROUNDS; round++) {
    for (int i = 0; i < 2 * ITEMS; i++) host[i] = value(round, i / 2, i % 2);
    CHECK_OK(gable_device_copy_in(ctx, root, host, 2 * ITEMS * sizeof *host, NULL));
    CHECK_OK(gable_device_synchronise(ctx, NULL));
    CHECK_OK(gable_comm_barrier(comm));
    if (!rank) nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
    CHECK_OK(gable_bcast_begin(x, root, leaf));
    CHECK_OK(gable_exchange_end(x));
    CHECK_OK(gable_exchange_wait(x));
    CHECK_OK(gable_device_copy_out(ctx, host, leaf, 4 * ITEMS * sizeof *host, NULL));
    CHECK_OK(gable_device_synchronise(ctx, NULL));
    for (int i = 0; i < 2 * leaves; i++) {
      const double is = host[4 * (i / 2) + i % 2], right = value(round, i / 2, i % 2);
      CHECK(is == right, "rank %d, round %d, item %d: %g, not %g", rank, round, i / 2, is, right);
    }
  }
  gable_exchange_destroy(&x);
  gable_plan_destroy(&p);
  gable_forest_destroy(&f);
  gable_device_free(ctx, &root);
  gable_device_free(ctx, &leaf);
  free(of);
  free(at);
  free(host);
  return GABLE_OK;
}

int main(int argc, char **argv)
{
  CHECK_OK(gable_comm_run(argc > 1 ? argv[1] : "mirror/peer:8", run, NULL));
  return 0;
}
