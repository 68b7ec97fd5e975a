/* test_supersteps.c: every row once, after what it needs, and of its own step only with its own thread. */
#include "support/test.h"
#include "trisolve/cpu/supersteps.h"

enum { ROWS = 700, LONGEST = 8, THREADS = 5, SEEDS = 20 };

static uint64_t next(uint64_t *state)
{
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state >> 33;
}

/* A random graph: rows of up to LONGEST dependencies among the last reach rows. */
static void make_graph(uint64_t seed, gable_idx reach, gable_off *ptr, gable_idx *col)
{
  ptr[0] = 0;
  for (gable_idx k = 0; k < ROWS; k++) {
    gable_off q = ptr[k];
    const gable_idx first = k > reach ? k - reach : 0;
    const uint64_t odds = next(&seed) % LONGEST;
    for (gable_idx c = first; c < k && q < ptr[k] + LONGEST; c++)
      if (next(&seed) % (uint64_t)(k - first) < odds) col[q++] = c;
    ptr[k + 1] = q;
  }
}

static void check(const gi_supersteps *s, const gable_off *ptr, const gable_idx *col)
{
  static gable_idx part_of[ROWS];
  static int seen[ROWS];
  for (gable_idx k = 0; k < ROWS; k++) seen[k] = 0;
  CHECK(s->cuts[0] == 0 && s->cuts[s->count] == ROWS, "parts end at %d", s->cuts[s->count]);
  for (gable_idx part = 0; part < s->count; part++)
    for (gable_idx k = s->cuts[part]; k < s->cuts[part + 1]; k++) {
      const gable_idx row = s->order[k];
      CHECK(!seen[row]++, "row %d twice", row);
      part_of[row] = part;
      for (gable_off q = ptr[row]; q < ptr[row + 1]; q++) CHECK(seen[col[q]], "row %d before %d", row, col[q]);
    }
  for (gable_idx row = 0; row < ROWS; row++)
    for (gable_off q = ptr[row]; q < ptr[row + 1]; q++) {
      const gable_idx from = part_of[col[q]], to = part_of[row];
      CHECK(s->step[from] < s->step[to] || from == to, "row %d needs row %d of another thread in step %d", row, col[q],
            s->step[to]);
    }
}

static void check_seed(uint64_t seed)
{
  static gable_off ptr[ROWS + 1];
  static gable_idx col[ROWS * LONGEST];
  gable_context *ctx = NULL;
  gi_supersteps s;
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  make_graph(seed, seed % 3 ? (gable_idx)(seed * 11) : ROWS, ptr, col);
  for (int threads = 1; threads <= THREADS; threads++)
    for (gable_off wait = 10; wait <= 1000; wait *= 10) {
      CHECK_OK(gi_supersteps_grow(ctx, ROWS, ptr, col, threads, wait, &s));
      check(&s, ptr, col);
      gi_supersteps_release(ctx, &s);
      gi_supersteps_release(ctx, &s);
    }
  gable_context_destroy(&ctx);
}

int main(void)
{
  for (uint64_t seed = 1; seed <= SEEDS; seed++) check_seed(seed);
  return 0;
}
