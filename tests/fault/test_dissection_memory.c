/* One allocation fails, and the next ones succeed: where it was one around METIS the automatic order is AMD's and says
 * so; elsewhere the status says it. */
#include <stdatomic.h>

#include "support/test.h"

#include "base/random.h"
#include "graph/order/order.h"
#include "graph/order/order_parts.h"

enum { N = 2000, DEGREE = 6 };

static gable_off ptr[N + 1];
static gable_idx idx[2 * DEGREE * N], amd[N], perm[N];
static atomic_long count, live;
static long fail_at = -1;

static void *allocate(void *user, size_t bytes, size_t alignment)
{
  void *block = NULL;
  (void)user;
  if (atomic_fetch_add(&count, 1) == fail_at || posix_memalign(&block, alignment, bytes)) return NULL;
  atomic_fetch_add(&live, 1);
  return block;
}

static void release(void *user, void *block)
{
  (void)user;
  atomic_fetch_sub(&live, 1);
  free(block);
}

/* A random graph fills so much that dissection is asked for. */
static void make_pattern(void)
{
  gi_random r = gi_random_seed(11);
  gable_off end = 0;
  for (gable_idx j = 0; j < N; j++) {
    ptr[j] = end;
    for (int k = 0; k < DEGREE; k++) idx[end++] = (gable_idx)(gi_random_unit(&r) * N);
  }
  ptr[N] = end;
}

static void check(void)
{
  gable_context_options options = GABLE_CONTEXT_OPTIONS_INIT;
  gable_context *ctx = NULL;
  gi_order_options how = {.method = GI_ORDER_AMD};
  gi_order_report report;
  long starved = 0, lacking = 0;
  options.allocate = allocate;
  options.release = release;
  fail_at = -1;
  CHECK_OK(gable_context_create("cpu", &options, &ctx));
  CHECK_OK(gi_order(ctx, N, ptr, idx, &how, amd, &report));
  how.method = GI_ORDER_AUTO;
  CHECK_OK(gi_order(ctx, N, ptr, idx, &how, perm, &report));
  CHECK(report.fill_metis > 0 && !report.metis_starved, "METIS was not asked for this graph");
  for (long k = 0; fail_at < atomic_load(&count); k++) {
    const long before = atomic_load(&live);
    fail_at = k;
    atomic_store(&count, 0);
    const gable_status status = gi_order(ctx, N, ptr, idx, &how, perm, &report);
    CHECK(atomic_load(&live) == before, "allocation %ld: %ld blocks stay behind", k, atomic_load(&live) - before);
    CHECK(status == GABLE_OK || status == GABLE_ERR_MEMORY, "allocation %ld: status %d", k, (int)status);
    lacking += status != GABLE_OK;
    if (status || !report.metis_starved) continue;
    starved++;
    CHECK(report.used == GI_ORDER_AMD);
    CHECK_OK(gi_order_check(ctx, N, perm));
  }
  CHECK(starved > 5 && lacking > 5, "%ld times AMD's order, %ld times an error", starved, lacking);
  gable_context_destroy(&ctx);
}

int main(void)
{
  if (!gi_order_has_metis() || !gi_order_has_amd()) SKIP("METIS or AMD is not in this build");
  make_pattern();
  check();
  return 0;
}
