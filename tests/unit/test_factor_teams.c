/* Threads of a numeric factorization: as many as the critical path keeps busy, and what they do where others have the
 * processors. */
#include <pthread.h>

#include "support/test.h"

#include "base/wait.h"
#include "factor/factor.h"
#include "factor/plan.h"
#include "graph/symbolic/symbolic.h"
#include "support/grid.h"
#include "support/one_processor.h"

static gable_context *ctx;

/* The pattern of a tridiagonal matrix of order n, and its plan for Cholesky in the order perm.  exact: no relaxation.
 */
static void plan_tridiagonal(gable_idx n, gable_idx *perm, int exact, gi_layout **layout, gi_plan **plan)
{
  gable_off *ptr = malloc(((size_t)n + 1) * sizeof *ptr);
  gable_idx *idx = malloc(3 * (size_t)n * sizeof *idx);
  const gi_symbolic_options options = {.form = GI_SYMBOLIC_SYMMETRIC, .cholesky = 1, .exact = exact};
  gable_off used = 0;
  CHECK(ptr && idx, "no memory");
  for (gable_idx j = 0; j < n; j++) {
    ptr[j] = used;
    for (gable_idx i = j > 0 ? j - 1 : 0; i <= j + 1 && i < n; i++) idx[used++] = i;
  }
  ptr[n] = used;
  CHECK_OK(gi_symbolic(ctx, n, ptr, idx, perm, &options, layout));
  CHECK_OK(gi_plan_create(ctx, *layout, 1, plan));
  free(ptr);
  free(idx);
}

static void check_chain(void)
{
  enum { N = 20000 };
  gable_idx *perm = malloc(N * sizeof *perm);
  gi_layout *y = NULL;
  gi_plan *plan = NULL;
  for (gable_idx k = 0; k < N; k++) perm[k] = k;
  for (int exact = 0; exact < 2; exact++) {
    plan_tridiagonal(N, perm, exact, &y, &plan);
    const double expected = plan->effort + GI_HAND_OVER * (double)(y->n_super - 1);
    CHECK(y->n_super > 100 && fabs(plan->path - expected) <= 1e-9 * expected, "%d supernodes: path %g instead of %g",
          y->n_super, plan->path, expected);
    for (int threads = 1; threads <= 64; threads++) CHECK(gi_plan_threads(plan, threads) == 1, "%d", threads);
    gi_plan_destroy(ctx, &plan);
    gi_layout_destroy(ctx, &y);
  }
  free(perm);
}

/* Both halves of begin..end-1 before the point between them. */
static gable_idx *dissect(gable_idx begin, gable_idx end, gable_idx *next)
{
  if (begin == end) return next;
  const gable_idx mid = begin + (end - begin) / 2;
  next = dissect(mid + 1, end, dissect(begin, mid, next));
  *next = mid;
  return next + 1;
}

static void check_tree(void)
{
  enum { N = (1 << 14) - 1 };
  gable_idx *perm = malloc(N * sizeof *perm);
  gi_layout *y = NULL;
  gi_plan *plan = NULL;
  dissect(0, N, perm);
  plan_tridiagonal(N, perm, 1, &y, &plan);
  CHECK(plan->path <= 40 * (GI_HAND_OVER + 2.0 * GI_BEGIN), "a path through 14 levels, 27 updates at most: %g",
        plan->path);
  for (int threads = 1; threads <= 32; threads++) CHECK(gi_plan_threads(plan, threads) == threads, "%d", threads);
  const int most = gi_plan_threads(plan, 1 << 20);
  CHECK(fabs(most - plan->effort / plan->path) <= 1, "%d threads of %g", most, plan->effort / plan->path);
  gi_plan_destroy(ctx, &plan);
  gi_layout_destroy(ctx, &y);
  free(perm);
}

/* Waits that leave a team of two no gain lose it, soon; a thread alone waits on. */
static void check_losing(void)
{
  gi_team team;
  gi_wait wait = {0}, alone = {0};
  gi_team_begin(&team, INFINITY, 2);
  const double start = gi_now();
  while (!atomic_load(&team.lost) && gi_now() - start < 10) gi_pass_time(&team, &wait);
  CHECK(atomic_load(&team.lost));
  gi_team_begin(&team, INFINITY, 1);
  for (int k = 0; k < GI_SPINS + 100; k++) gi_pass_time(&team, &alone);
  CHECK(!atomic_load(&team.lost));
}

static void *be_busy(void *end)
{
  while (!atomic_load_explicit((atomic_int *)end, memory_order_relaxed)) gi_pause();
  return NULL;
}

/* Seconds of the fastest of a few factorizations by so many threads; l: the values of L. */
static double factor_often(const gi_layout *y, const gi_csc *a, int threads, int repeats, double *l)
{
  const gi_factor_options how = {.threads = threads};
  gi_factor *f = NULL;
  double least = INFINITY;
  for (int k = 0; k < repeats; k++) {
    CHECK_OK(gi_factor_create(ctx, y, GI_CHOLESKY, GABLE_TYPE_D, &f));
    const double start = gi_now();
    CHECK_OK(gi_factor_numeric(ctx, f, a, NULL, &how));
    const double seconds = gi_now() - start;
    if (seconds < least) least = seconds;
    memcpy(l, f->l, (size_t)y->lval[y->n_super] * sizeof *l);
    gi_factor_destroy(ctx, &f);
  }
  return least;
}

/* Two threads on one processor beside a busy one: the bits of one thread, in a time that it would have taken. */
static void check_crowded(const char *name, gi_csc *a, gable_idx max_width)
{
  enum { REPEATS = 3 };
  gi_csc p = {0};
  gi_layout *y = NULL;
  pthread_t load;
  atomic_int end;
  const gi_symbolic_options options = {.form = GI_SYMBOLIC_SYMMETRIC, .cholesky = 1, .max_width = max_width};
  gable_idx *perm = malloc((size_t)a->n_cols * sizeof *perm);
  for (gable_idx k = 0; k < a->n_cols; k++) perm[k] = k;
  CHECK_OK(gi_symbolic(ctx, a->n_cols, a->ptr, a->idx, perm, &options, &y));
  CHECK_OK(gi_csc_permute(ctx, a, perm, perm, &p));
  const size_t bytes = (size_t)y->lval[y->n_super] * sizeof(double);
  double *l = malloc(bytes), *l2 = malloc(bytes);
  atomic_init(&end, 0);
  CHECK(!pthread_create(&load, NULL, be_busy, &end));
  const double alone = factor_often(y, &p, 1, REPEATS, l), team = factor_often(y, &p, 2, REPEATS, l2);
  atomic_store(&end, 1);
  CHECK(!pthread_join(load, NULL));
  CHECK(!memcmp(l, l2, bytes), "%s: other bits", name);
  printf("%s, one processor beside a busy thread: %.3f s alone, %.3f s for two threads\n", name, alone, team);
  CHECK(team <= 10 * alone + 1, "%s: %g s alone, %g s for two threads", name, alone, team);
  free(l);
  free(l2);
  free(perm);
  gi_layout_destroy(ctx, &y);
  gi_csc_release(ctx, &p);
}

static void check_one_processor(void *user)
{
  enum { POINTS = 17, N = 100000 };
  (void)user;
  gi_csc grid = {0}, chain = {0};
  gable_off used = 0;
  grid_matrix(ctx, POINTS, 0, &grid);
  CHECK_OK(gi_csc_init(ctx, N, N, 2 * N - 1, 1, &chain));
  for (gable_idx j = 0; j < N; j++) {
    chain.ptr[j] = used;
    chain.idx[used] = j;
    chain.val[used++] = 4;
    if (j + 1 == N) break;
    chain.idx[used] = j + 1;
    chain.val[used++] = -1;
  }
  chain.ptr[N] = used;
  check_crowded("grid", &grid, 8);
  check_crowded("chain", &chain, 0);
  gi_csc_release(ctx, &grid);
  gi_csc_release(ctx, &chain);
}
int main(void)
{
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  check_chain();
  check_tree();
  check_losing();
  test_on_one_processor(check_one_processor, NULL);
  gable_context_destroy(&ctx);
  return 0;
}
