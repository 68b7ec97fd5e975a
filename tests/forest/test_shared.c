/* Symmetric memory: random task graphs over ranks have the bits of a serial program; what a rank that is not there
 * means for those who wait; memory goes back in any order. */
#include <stdatomic.h>
#include <time.h>

#include "comm/shared.h"
#include "support/random_dag.h"
#include "support/test.h"

static gable_status graphs(gable_comm *comm, void *user)
{
  const int small = *(int *)user;
  const int path = strncmp(gable_comm_where(comm), "mirror/peer", 11) ? RANDOM_DAG_HOST : GABLE_PATH_AUTO;
  long wrong = 0;
  CHECK_OK(random_dag_values(comm, path, small ? 2000 : 100000, 2, 5, &wrong));
  CHECK(!wrong, "%ld values differ", wrong);
  for (int seed = 1; seed <= (small ? 2 : 5); seed++) {
    CHECK_OK(random_dag_blocks(comm, path, small ? 300 : seed == 1 ? 6250 : 3000, 3, (uint64_t)seed, &wrong));
    CHECK(!wrong, "seed %d: %ld blocks differ", seed, wrong);
  }
  return GABLE_OK;
}

/* Zeros at first; each rank writes into every other's bytes, and reads its own. */
static gable_status places(gable_comm *comm, void *user)
{
  const int me = gable_comm_rank(comm), size = gable_comm_size(comm);
  gi_shared *s[3] = {NULL, NULL, NULL};
  (void)user;
  for (int k = 0; k < 3; k++) CHECK_OK(gi_shared_create(comm, 8 * size + k, &s[k]));
  for (int k = 0; k < 3; k++) {
    CHECK(s[k]->bytes >= 8 * size + k && s[k]->bytes % 64 == 0, "%lld bytes", (long long)s[k]->bytes);
    for (int r = 0; r < size; r++) {
      CHECK((uintptr_t)s[k]->at[r] % 64 == 0, "not aligned");
      CHECK(atomic_load(gi_shared_word(s[k], r, 8 * me)) == 0, "not zero");
    }
  }
  CHECK_OK(gable_comm_barrier(comm));
  gi_shared_clear(s[0], 0, size);
  CHECK_OK(gable_comm_barrier(comm));
  for (int r = 0; r < size; r++) gi_put_value(s[0], r, 8 * me, 100 * me + r);
  for (int r = 0; r < size; r++) {
    double value = 0;
    CHECK_OK(gi_wait_value(s[0], 8 * r, r, &value));
    CHECK(value == 100 * r + me, "%g from rank %d", value, r);
  }
  /* A count of what all ranks have put. */
  for (int r = 0; r < size; r++) gi_put_with_count(s[1], r, 8 * me, &me, sizeof me, 8 * size - 4);
  int counted[1] = {(me + 1) % size};
  uint64_t one = 1;
  int64_t number = 0;
  CHECK_OK(gi_wait_any(s[1], 8 * size - 4, 1, &one, (unsigned)size, counted, &number));
  for (int r = 0; r < size; r++) {
    int found = 0;
    memcpy(&found, s[1]->at[me] + 8 * r, sizeof found);
    CHECK(found == r, "rank %d has put %d", r, found);
  }
  CHECK_OK(gable_comm_barrier(comm));
  /* A computed NaN is a value. */
  gi_put_value(s[1], me, 0, NAN);
  double value = 0;
  CHECK(gi_value_here(s[1], 0, &value) && isnan(value), "a NaN is not yet there");
  int from[1] = {0};
  uint64_t none = 0;
  int64_t at = 0;
  CHECK(gi_wait_any(s[2], 0, 1, &none, 1, from, &at) == GABLE_ERR_STATE, "nothing is awaited");
  for (int k = 0; k < 3; k++) gi_shared_destroy(s[(k + me) % 3]); /* in another order on each rank */
  CHECK(gi_shared_create(comm, -1, &s[0]) == GABLE_ERR_ARGUMENT, "-1 bytes");
  return GABLE_OK;
}

/* Rank 0 waits for a value and for a flag of rank 1, which returns, or stays until rank 0 has waited in vain. */
static gable_status absent(gable_comm *comm, void *user)
{
  static atomic_int given_up;
  const int returns = *(int *)user;
  gi_shared *s = NULL;
  gable_status status = GABLE_OK;
  double value = 0;
  int from[2] = {1, 1};
  uint64_t mask = 3;
  int64_t k = 0;
  CHECK_OK(gi_shared_create(comm, 64, &s));
  gi_shared_clear(s, 0, 1);
  CHECK_OK(gable_comm_barrier(comm));
  if (!gable_comm_rank(comm)) {
    CHECK_OK(gable_comm_set_deadline(comm, returns ? 60 : 0.05));
    const gable_status expected = returns ? GABLE_ERR_BACKEND : GABLE_ERR_DEADLINE;
    status = gi_wait_value(s, 0, 1, &value);
    CHECK(status == expected && strstr(gable_last_error(), "for rank 1"), "%d: %s", (int)status, gable_last_error());
    status = gi_wait_any(s, 8, 2, &mask, 1, from, &k);
    CHECK(status == expected && strstr(gable_last_error(), "for rank 1"), "%d: %s", (int)status, gable_last_error());
    atomic_store(&given_up, !returns);
  }
  const struct timespec t = {0, 10000000};
  while (gable_comm_rank(comm) && !returns && !atomic_load(&given_up)) nanosleep(&t, NULL);
  gi_shared_destroy(s);
  return GABLE_OK;
}

/* Memory of rank 0's context, which stays reachable: what is left behind then is no leak. */
enum { MOST_TAKEN = 256 };
static void *taken[MOST_TAKEN];
static atomic_uint n_taken;
static _Atomic(void *) watched; /* rank 0's symmetric memory, once rank 1 has it */
static atomic_int given_back, failed;

static void *take(void *user, size_t bytes, size_t alignment)
{
  void *p = NULL;
  (void)user;
  if (posix_memalign(&p, alignment, bytes)) return NULL;
  return taken[atomic_fetch_add(&n_taken, 1) % MOST_TAKEN] = p;
}

static void give_back(void *user, void *p)
{
  (void)user;
  if (p == atomic_load(&watched))
    atomic_store(&given_back, 1);
  else
    free(p);
}

static void nap(void)
{
  const struct timespec t = {0, 1000000};
  nanosleep(&t, NULL);
}

static int calls, failing_call; /* of rank 0's allgather; 0: none fails */

/* As where rank 1 comes to the end of the call after rank 0's deadline: the others have what rank 0 has offered. */
static gable_status allgather(gable_comm *comm, const void *in, size_t bytes, void *out)
{
  const gable_status status = gi_transport_ranks.allgather(comm, in, bytes, out);
  if (++calls != failing_call) return status;
  while (!atomic_load(&watched)) nap();
  atomic_store(&comm->waits.failed, 2);
  return gable_set_error(GABLE_ERR_DEADLINE, "rank 0 waited for rank 1, which did not come");
}

/* Rank 0 gives up when ranks 1 and 2 have its memory, which they may use. */
static gable_status gives_up(gable_comm *comm, void *user)
{
  gi_shared *s = NULL;
  gi_transport t = gi_transport_ranks;
  (void)user;
  t.allgather = allgather;
  if (!gable_comm_rank(comm)) comm->transport = &t;
  CHECK_OK(gi_shared_create(comm, 64, &s)); /* counts the calls */
  gi_shared_destroy(s);
  CHECK_OK(gable_comm_barrier(comm));
  if (!gable_comm_rank(comm)) {
    failing_call = calls - 1; /* the last but the barrier */
    calls = 0;
    CHECK(gi_shared_create(comm, 64, &s) == GABLE_ERR_DEADLINE, "%s", gable_last_error());
    atomic_store(&failed, 1);
    comm->transport = &gi_transport_ranks;
    return GABLE_OK;
  }
  CHECK_OK(gi_shared_create(comm, 64, &s));
  if (gable_comm_rank(comm) == 1) atomic_store(&watched, s->at[0]);
  while (!atomic_load(&failed)) nap();
  CHECK(!atomic_load(&given_back), "rank 0 has freed what other ranks have");
  gi_put_value(s, 0, 0, 1.0);
  gi_shared_destroy(s);
  return GABLE_OK;
}

static void test_given_up(void)
{
  gable_context *ctx[3];
  gable_context_options options = GABLE_CONTEXT_OPTIONS_INIT;
  options.allocate = take;
  options.release = give_back;
  for (int r = 0; r < 3; r++) CHECK_OK(gable_context_create("cpu", r ? NULL : &options, &ctx[r]));
  CHECK_OK(gi_transport_ranks.run(ctx, 3, "cpu/ranks:3", gives_up, NULL));
  for (int r = 0; r < 3; r++) gable_context_destroy(&ctx[r]);
}

int main(int argc, char **argv)
{
  int small = argc > 1, yes = 1, no = 0;
  (void)argv;
  static const char *const where[] = {"cpu",         "cpu/ranks:2",    "cpu/ranks:3",
                                      "cpu/ranks:4", "mirror/ranks:2", "mirror/peer:3"};
  for (size_t k = 0; k < sizeof where / sizeof *where; k++) {
    CHECK_OK(gable_comm_run(where[k], places, NULL));
    CHECK_OK(gable_comm_run(where[k], graphs, k == 2 ? &small : &yes));
  }
  CHECK_OK(gable_comm_run("cpu/ranks:2", absent, &yes));
  CHECK_OK(gable_comm_run("cpu/ranks:2", absent, &no));
  test_given_up();
  return 0;
}
