/* Supernodes that are to stay alone are clusters of their own, and others merge as before: random layouts. */
#include "support/test.h"

#include "base/random.h"
#include "supernodal/clusters/clusters.h"
#include "support/small_layout.h"
#include "support/small_matrix.h"

enum { SEEDS = 200, N = 80 };

static void check_seed(gable_context *ctx, uint64_t seed, gable_idx *merged)
{
  gi_random r = gi_random_seed(seed);
  const int symmetric = (int)gi_random_below(&r, 2);
  unsigned char *pattern = small_pattern(&r, N, 2.0 / N, symmetric);
  gi_layout *y = small_layout(ctx, &r, N, pattern, 0, symmetric, 4);
  unsigned char *alone = calloc((size_t)y->n_super, 1);
  const int64_t every = 1 + gi_random_below(&r, 8);
  gi_clusters *c = NULL, *plain = NULL;
  CHECK(alone, "memory");
  CHECK_OK(gi_clusters_create(ctx, y, NULL, &plain));
  CHECK_OK(gi_clusters_create_apart(ctx, y, NULL, alone, &c));
  CHECK(c->count == plain->count && !memcmp(c->first, plain->first, ((size_t)c->count + 1) * sizeof *c->first));
  gi_clusters_destroy(ctx, &c);
  for (gable_idx s = 0; s < y->n_super; s++) alone[s] = !gi_random_below(&r, every);
  CHECK_OK(gi_clusters_create_apart(ctx, y, NULL, alone, &c));
  for (gable_idx j = 0; j < c->count; j++)
    for (gable_idx k = c->member_ptr[j]; k < c->member_ptr[j + 1]; k++) {
      const gable_idx members = c->member_ptr[j + 1] - c->member_ptr[j];
      CHECK(!alone[c->member[k]] || members == 1, "seed %d: a cluster of %d supernodes has one that stays alone",
            (int)seed, members);
      *merged += members > 1;
    }
  gi_clusters_destroy(ctx, &c);
  gi_clusters_destroy(ctx, &plain);
  gi_layout_destroy(ctx, &y);
  free(alone);
  free(pattern);
}

int main(void)
{
  gable_context *ctx = NULL;
  gable_idx merged = 0;
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  for (uint64_t seed = 1; seed <= SEEDS; seed++) check_seed(ctx, seed, &merged);
  CHECK(merged > SEEDS, "%d supernodes were merged", merged);
  gable_context_destroy(&ctx);
  return 0;
}
