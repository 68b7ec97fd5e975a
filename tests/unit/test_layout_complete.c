/* Forged trees of three supernodes, each a column: what a supernode reaches must stand above it. */
#include "support/test.h"

#include "graph/symbolic/layout.h"

enum { N = 3 };

static gable_context *ctx;

static void *copy(const void *from, gable_off count, size_t size)
{
  void *to = gi_alloc(ctx, count, size);
  CHECK(to);
  memcpy(to, from, (size_t)count * size);
  return to;
}

/* What is wrong with the tree parent [3] when supernode s has the row `reached` (-1: none) besides those that its
 * parent makes; NULL: nothing. */
static const char *fault_of(const gable_idx *parent, gable_idx s, gable_idx reached)
{
  const gable_idx super[] = {0, 1, 2, 3}, block[] = {0, N};
  gable_off ptr[N + 1] = {0};
  gable_idx row[2 * N], count = 0;
  const char *fault;
  gi_layout *y = gi_alloc_zero(ctx, 1, sizeof *y);
  for (gable_idx k = 0; k < N; k++) {
    ptr[k] = count;
    if (k == s && reached >= 0 && (parent[k] < 0 || reached < parent[k])) row[count++] = reached;
    if (parent[k] >= 0) row[count++] = parent[k];
    if (k == s && reached >= 0 && parent[k] >= 0 && reached > parent[k]) row[count++] = reached;
  }
  ptr[N] = count;
  y->n = y->n_super = N;
  y->n_blocks = 1;
  y->symmetric = 1;
  y->super = copy(super, N + 1, sizeof *super);
  y->parent = copy(parent, N, sizeof *parent);
  y->block = copy(block, 2, sizeof *block);
  y->uptr = y->lptr = copy(ptr, N + 1, sizeof *ptr);
  y->ucol = y->lrow = copy(row, count, sizeof *row);
  y->nnz_l = y->nnz_u = N + count;
  CHECK_OK(gi_layout_complete(ctx, y, 0, &fault));
  gi_layout_destroy(ctx, &y);
  return fault;
}

int main(void)
{
  const gable_idx path[] = {1, 2, -1}, fork[] = {2, 2, -1}, beside[] = {-1, 2, -1}, before[] = {1, -1, -1};
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  CHECK(!fault_of(path, 0, -1) && !fault_of(fork, 0, -1) && !fault_of(beside, 0, -1) && !fault_of(before, 0, -1));
  CHECK(!fault_of(path, 0, 2), "a path: row 2 is above 0");
  CHECK(fault_of(fork, 0, 1), "1 is beside 0");
  CHECK(fault_of(beside, 0, 2), "the subtree of 2 begins behind 0");
  CHECK(fault_of(beside, 0, 1), "1 is beside 0");
  CHECK(fault_of(before, 1, 2) && fault_of(before, 0, 2), "2 is another tree");
  gable_context_destroy(&ctx);
  return 0;
}
