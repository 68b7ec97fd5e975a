/* Blocks of the pool do not overlap, are aligned, keep what is written to them, and can be had again once given back;
 * what goes back to the system does so once or twice, not in each round.
 */
#include "support/test.h"

#include "base/pool.h"
#include "base/portable.h"
#include "base/random.h"

enum { BLOCKS = 300, STEPS = 20000 };

typedef struct block {
  unsigned char *at;
  size_t bytes;
  unsigned char mark;
} block;

/* The ends and some places between hold the block's own mark. */
static void check_marks(const block *b)
{
  for (size_t k = 0; k < b->bytes; k += 1 + b->bytes / 7) CHECK(b->at[k] == b->mark, "place %zu of %zu", k, b->bytes);
  CHECK(b->at[b->bytes - 1] == b->mark);
}

static void fill(block *b)
{
  for (size_t k = 0; k < b->bytes; k += 1 + b->bytes / 7) b->at[k] = b->mark;
  b->at[b->bytes - 1] = b->mark;
}

static size_t random_size(gi_random *r)
{
  const int64_t most[] = {100, 30000, 300000, 2000000, 9000000};
  return 1 + (size_t)gi_random_below(r, most[gi_random_below(r, 5)]);
}

/* The same blocks, taken and given back again and again: their free space is above what goes back to the system, but
 * after a few rounds the pool has seen that it is wanted, and their pages keep what was written. */
static void check_rounds(void)
{
  enum { COUNT = 12, ROUNDS = 8, LATE = 5 };
  const size_t bytes = (size_t)1 << 20;
  gi_pool *pool = gi_pool_create();
  int went = 0;
  CHECK(pool);
  for (int round = 0; round < ROUNDS; round++) {
    unsigned char *at[COUNT];
    for (int k = 0; k < COUNT; k++) {
      CHECK((at[k] = gi_pool_allocate(pool, bytes, 64)) != NULL);
      const int kept = at[k][bytes / 2] == (unsigned char)(k + 1);
      went += round > 0 && !kept;
      const int stays = k == 0 && round > 0; /* on the first page */
      CHECK(kept || (round < LATE && !stays) || GI_SANITIZED, "round %d: block %d went back to the system", round, k);
      at[k][bytes / 2] = (unsigned char)(k + 1);
    }
    for (int k = 0; k < COUNT; k++) gi_pool_release(pool, at[k]);
  }
  CHECK(went > 0 || GI_SANITIZED, "nothing ever went back");
  gi_pool_destroy(pool);
}

/* More small blocks than a slab is cut into; every other one is given back and had again. */
static void check_many(void)
{
  enum { COUNT = 6000 };
  static block held[COUNT];
  gi_pool *pool = gi_pool_create();
  CHECK(pool);
  for (int round = 0; round < 2; round++) {
    for (int k = round; k < COUNT; k += 1 + round) {
      held[k] = (block){.bytes = 1024 + 32 * (size_t)(k % 100), .mark = (unsigned char)(1 + k % 255)};
      held[k].at = gi_pool_allocate(pool, held[k].bytes, 64);
      CHECK(held[k].at && (uintptr_t)held[k].at % 64 == 0);
      fill(held + k);
    }
    for (int k = 0; k < COUNT; k++) check_marks(held + k);
    for (int k = 1 - round; k < COUNT; k += 2 - round) gi_pool_release(pool, held[k].at);
  }
  gi_pool_destroy(pool);
}

int main(void)
{
  static block held[BLOCKS];
  const uint64_t seed = 5;
  printf("seed %lu\n", (unsigned long)seed);
  gi_random r = gi_random_seed(seed);
  gi_pool *pool = gi_pool_create();
  CHECK(pool);
  for (int step = 0; step < STEPS; step++) {
    block *b = held + gi_random_below(&r, 1 + gi_random_below(&r, BLOCKS));
    if (b->at) {
      check_marks(b);
      gi_pool_release(pool, b->at);
      b->at = NULL;
      continue;
    }
    *b = (block){.bytes = random_size(&r), .mark = (unsigned char)(1 + step % 255)};
    b->at = gi_pool_allocate(pool, b->bytes, 64);
    CHECK(b->at && (uintptr_t)b->at % 64 == 0, "%zu bytes", b->bytes);
    fill(b);
  }
  for (int k = 0; k < BLOCKS; k++) {
    if (!held[k].at) continue;
    check_marks(held + k);
    gi_pool_release(pool, held[k].at);
  }
  /* All is given back: one block after the other finds the same place. */
  void *first = gi_pool_allocate(pool, 100000, 64);
  gi_pool_release(pool, first);
  void *again = gi_pool_allocate(pool, 1000000, 64);
  CHECK(GI_SANITIZED || again == first);
  gi_pool_release(pool, again);
  gi_pool_destroy(pool);
  check_rounds();
  check_many();
  return 0;
}
