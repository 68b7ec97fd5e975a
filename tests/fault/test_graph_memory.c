/* Each allocation of the analysis fails once: the status says so, and nothing stays behind. */
#include "support/test.h"

#include "base/random.h"
#include "graph/btf.h"
#include "graph/order/order.h"
#include "graph/symbolic/symbolic.h"
#include "support/failing_allocator.h"

enum { N = 4100, SMALL = 700 };

static gable_off ptr[N + 1];
static gable_idx idx[10 * N], perm[N], n;

static void make_pattern(gable_idx size, double density)
{
  gi_random r = gi_random_seed(5);
  gable_off p = 0;
  n = size;
  for (gable_idx j = 0; j < n; j++) {
    ptr[j] = p;
    for (gable_idx i = 0; i < n; i++) {
      const int near = i == j || (i > j ? i - j : j - i) == 64 || (i > j + 64 && gi_random_unit(&r) < density);
      if (near && p < 10 * N) idx[p++] = i;
    }
  }
  ptr[n] = p;
}

static gable_status analyse(gable_context *ctx, gi_order_method method, gi_symbolic_form form)
{
  static gable_idx block[N + 1];
  gable_idx n_blocks;
  gable_status status = gi_btf(ctx, n, ptr, idx, NULL, perm, block, &n_blocks);
  const gi_order_options order = {.method = method, .n_blocks = n_blocks, .block = block};
  if (!status) status = gi_order(ctx, n, ptr, idx, &order, perm, NULL);
  gi_layout *y = NULL;
  const gi_symbolic_options symbolic = {.form = form, .n_blocks = n_blocks, .block = block};
  if (!status) status = gi_symbolic(ctx, n, ptr, idx, perm, &symbolic, &y);
  CHECK(!y == (status != GABLE_OK));
  gi_layout_destroy(ctx, &y);
  return status;
}

static void check_mode(gi_order_method method, gi_symbolic_form form, failing_mode mode)
{
  failing_allocator memory = failing_allocator_init();
  gable_context_options options = failing_allocator_options(&memory);
  gable_context *ctx = NULL;
  CHECK_OK(gable_context_create("cpu", &options, &ctx));
  const long live = memory.live;
  if (analyse(ctx, method, form) == GABLE_ERR_UNAVAILABLE) {
    gable_context_destroy(&ctx);
    return;
  }
  for (long k = 0;; k++) {
    failing_allocator_arm_mode(&memory, mode, k);
    const gable_status status = analyse(ctx, method, form);
    CHECK(memory.live == live, "allocation %ld: %ld blocks stay behind", k, memory.live - live);
    if (!memory.failures) {
      CHECK_OK(status);
      CHECK(k > 30, "only %ld allocations", k);
      break;
    }
    CHECK(status == GABLE_ERR_MEMORY, "mode %d, allocation %ld: %s", (int)mode, k, gable_status_text(status));
    CHECK(gable_last_error()[0]);
  }
  failing_allocator_disarm(&memory);
  gable_context_destroy(&ctx);
}

static void check(gi_order_method method, gi_symbolic_form form)
{
  check_mode(method, form, FAIL_FROM);
  if (method != GI_ORDER_AUTO) check_mode(method, form, FAIL_ONE); /* test_dissection_memory has the other */
}

int main(void)
{
  make_pattern(N, 0.00004); /* large enough for AMD and METIS side by side */
  check(GI_ORDER_AUTO, GI_SYMBOLIC_AUTO);
  make_pattern(SMALL, 0.003);
  check(GI_ORDER_METIS, GI_SYMBOLIC_SYMMETRIC);
  check(GI_ORDER_AMD, GI_SYMBOLIC_AUTO);
  check(GI_ORDER_COLAMD, GI_SYMBOLIC_UNSYMMETRIC);
  check(GI_ORDER_AUTO, GI_SYMBOLIC_AUTO);
  return 0;
}
