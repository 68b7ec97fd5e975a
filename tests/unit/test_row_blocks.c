/* Blocks of neighbouring rows that are alike: whose rows depend on the same rows before the block and on all rows of
 * the block above them, and no others. */
#include "support/test.h"

#include "base/random.h"
#include "trisolve/cpu/row_blocks.h"

enum { N = 60 };

static gable_context *ctx;
static gable_off ptr[N + 1];
static gable_idx col[N * N];
static unsigned char at[N][N];

static void compress(void)
{
  gable_off count = 0;
  for (gable_idx i = 0; i < N; i++) {
    ptr[i] = count;
    for (gable_idx j = 0; j < i; j++)
      if (at[i][j]) col[count++] = j;
  }
  ptr[N] = count;
}

static void check(const gi_row_blocks *u)
{
  CHECK(u->start[0] == 0 && u->start[u->count] == N);
  for (gable_idx b = 0; b < u->count; b++) {
    const gable_idx first = u->start[b];
    CHECK(first < u->start[b + 1] && u->start[b + 1] - first <= 4);
    for (gable_idx i = first; i < u->start[b + 1]; i++)
      for (gable_idx j = 0; j < i; j++)
        CHECK(at[i][j] == (j < first ? at[first][j] : 1), "row %d of the block from %d, column %d", i, first, j);
  }
}

/* Blocks of three alike rows; one entry of some row is taken out, or moved to where the block has none. */
static int spoil(gi_random *r)
{
  memset(at, 0, sizeof at);
  for (gable_idx b = 0; b < N; b += 3) {
    for (gable_idx j = 0; j < b; j++) at[b][j] = b < 12 || gi_random_unit(r) < 0.4;
    for (gable_idx i = b; i < b + 3; i++)
      for (gable_idx j = 0; j < i; j++) at[i][j] = j < b ? at[b][j] : 1;
  }
  for (int k = 0; k < 6; k++) {
    const gable_idx i = 12 + (gable_idx)gi_random_below(r, N - 12), j = (gable_idx)gi_random_below(r, i);
    const gable_idx other = (gable_idx)gi_random_below(r, i);
    if (!at[i][j] || at[i][other]) continue;
    at[i][j] = 0;
    at[i][other] = 1;
  }
  compress();
  gi_row_blocks u;
  CHECK_OK(gi_row_blocks_find(ctx, N, ptr, col, 4, &u));
  const int found = u.count > 0;
  if (found) check(&u);
  gi_row_blocks_release(ctx, &u);
  return found;
}

/* As many entries as a block's second row has, the first ones the same, the last one not the row above. */
static void nearly_alike(void)
{
  gi_row_blocks u;
  memset(at, 0, sizeof at);
  for (gable_idx i = 10; i < N; i++) {
    for (gable_idx j = 0; j < 4; j++) at[i][j] = 1;
    if (i % 2) at[i][i >= 40 ? i - 1 : 8] = 1; /* below 40: another row */
  }
  compress();
  CHECK_OK(gi_row_blocks_find(ctx, N, ptr, col, 4, &u));
  CHECK(u.count > 0);
  check(&u);
  gi_row_blocks_release(ctx, &u);
}

int main(void)
{
  int found = 0;
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  for (uint64_t seed = 1; seed <= 300; seed++) {
    gi_random r = gi_random_seed(seed);
    found += spoil(&r);
  }
  CHECK(found > 200, "blocks in %d of 300", found);
  nearly_alike();
  gable_context_destroy(&ctx);
  return 0;
}
