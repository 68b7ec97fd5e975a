/* global.c: forests whose roots are numbered over all ranks, and the patterns that follow from a number of roots. */
#include "base/checked.h"
#include "forest/algebra.h"

/* first [size + 1]: zeros. */
static gable_status check_roots(const gable_comm *comm, int64_t n_roots, int64_t **first)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(n_roots >= 0, GABLE_ERR_ARGUMENT, "%lld roots", (long long)n_roots);
  GI_ALLOC_ZERO(comm->ctx, *first, comm->size + 1);
done:
  return status;
}

/* first [size + 1]: of the roots of each rank, in order; the k-th word of n that each rank has told is how many. */
static gable_status layout(const gable_comm *comm, int n, int k, int64_t *first)
{
  gable_status status = GABLE_OK;
  for (int r = 0; r < comm->size; r++)
    GI_REQUIRE(!gi_add_off(comm->words[r * n + k], first[r], &first[r + 1]), GABLE_ERR_LIMIT,
               "ranks 0 to %d have more than 2^63 roots", r);
done:
  return status;
}

/* The rank of a global number: the last one whose first is not beyond it. */
static gable_root find_root(const int64_t *first, int size, int64_t global)
{
  int lo = 0, hi = size;
  while (hi - lo > 1) {
    const int mid = lo + (hi - lo) / 2;
    if (first[mid] <= global)
      lo = mid;
    else
      hi = mid;
  }
  return (gable_root){lo, global - first[lo]};
}

static gable_status find_roots(gable_comm *comm, const int64_t *first, int64_t n, const int64_t *global,
                               gable_root **root)
{
  gable_status status = GABLE_OK;
  const int64_t all = first[comm->size];
  GI_REQUIRE(n >= 0 && (global || !n), GABLE_ERR_ARGUMENT, n < 0 ? "%lld leaves" : "%lld leaves, and global is NULL",
             (long long)n);
  GI_ALLOC(comm->ctx, *root, n);
  for (int64_t i = 0; i < n; i++) {
    GI_REQUIRE(global[i] >= 0 && global[i] < all, GABLE_ERR_ARGUMENT, "leaf %lld: no root %lld of %lld", (long long)i,
               (long long)global[i], (long long)all);
    (*root)[i] = find_root(first, comm->size, global[i]);
  }
done:
  return status;
}

gable_status gi_forest_global(gable_comm *comm, int64_t n_roots, int64_t n_leaves, const int64_t *leaf,
                              const int64_t *global, gable_forest **out)
{
  gable_status status = GABLE_OK;
  int64_t *first = NULL;
  gable_root *root = NULL;
  GI_TRY(gi_comm_agree_on(comm, GI_OUT(out, check_roots(comm, n_roots, &first)), 1, &n_roots));
  GI_TRY(layout(comm, 1, 0, first));
  GI_AGREE(comm, find_roots(comm, first, n_leaves, global, &root));
  GI_TRY(gi_forest_create(comm, n_roots, n_leaves, leaf, root, out));
done:
  GI_FREE(comm->ctx, first, root);
  return status;
}

/* The roots of all leaves of the pattern on this rank. */
static gable_status pattern_roots(gable_comm *comm, gable_pattern pattern, int64_t n, const int64_t *first,
                                  int64_t *n_leaves, gable_root **root)
{
  gable_status status = GABLE_OK;
  const int exchange = pattern == GABLE_PATTERN_ALLTOALL;
  const int taker = pattern == GABLE_PATTERN_ALLGATHER || comm->rank == 0;
  *n_leaves = exchange ? n * comm->size : taker ? first[comm->size] : 0;
  GI_REQUIRE(!exchange || first[comm->size] == *n_leaves * comm->size, GABLE_ERR_ARGUMENT,
             "alltoall: rank %d brings %lld roots a rank, others another number", comm->rank, (long long)n);
  GI_ALLOC(comm->ctx, *root, *n_leaves);
  for (int64_t i = 0; i < *n_leaves; i++)
    (*root)[i] = exchange ? (gable_root){(int32_t)(i / n), comm->rank * n + i % n} : find_root(first, comm->size, i);
done:
  return status;
}

static gable_status count_roots(gable_comm *comm, gable_pattern pattern, int64_t n, int64_t *n_roots, int64_t **first)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(pattern >= GABLE_PATTERN_ALLGATHER && pattern <= GABLE_PATTERN_ALLTOALL, GABLE_ERR_ARGUMENT,
             "no pattern %d", (int)pattern);
  const int64_t times = pattern == GABLE_PATTERN_ALLTOALL ? comm->size : 1;
  GI_REQUIRE(!gi_mul_off(n, times, n_roots), GABLE_ERR_LIMIT, "alltoall: %lld roots for each rank", (long long)n);
  GI_TRY(check_roots(comm, *n_roots, first));
done:
  return status;
}

gable_status gi_forest_pattern(gable_comm *comm, gable_pattern pattern, int64_t n, gable_forest **out)
{
  gable_status status = GABLE_OK;
  int64_t *first = NULL, n_leaves = 0, n_roots = 0;
  gable_root *root = NULL;
  static const char *const name = "the pattern";
  const gable_status counted = GI_OUT(out, count_roots(comm, pattern, n, &n_roots, &first));
  const int64_t own[] = {pattern, n_roots};
  GI_TRY(gi_comm_alike(comm, counted, "forests", 1, &name, 2, own));
  GI_TRY(layout(comm, 2, 1, first));
  GI_AGREE(comm, pattern_roots(comm, pattern, n, first, &n_leaves, &root));
  GI_TRY(gi_forest_create(comm, n_roots, n_leaves, NULL, root, out));
done:
  GI_FREE(comm->ctx, first, root);
  return status;
}
