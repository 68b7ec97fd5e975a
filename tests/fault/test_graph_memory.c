/* Each allocation of the analysis fails once: the status says so, and nothing stays behind. */
#include "support/test.h"

#include "base/random.h"
#include "graph/btf.h"
#include "graph/order.h"
#include "graph/symbolic.h"

enum { N = 900 };

typedef struct memory {
  long count, fail_at, held;
} memory;

static void *failing_allocate(void *user, size_t bytes, size_t alignment)
{
  memory *m = user;
  void *p = NULL;
  if (++m->count == m->fail_at || posix_memalign(&p, alignment, bytes)) return NULL;
  m->held++;
  return p;
}

static void failing_release(void *user, void *p)
{
  memory *m = user;
  m->held--;
  free(p);
}

static gable_off ptr[N + 1];
static gable_idx idx[10 * N], perm[N];

static void make_pattern(void)
{
  gi_random r = gi_random_seed(5);
  gable_off p = 0;
  for (gable_idx j = 0; j < N; j++) {
    ptr[j] = p;
    for (gable_idx i = 0; i < N; i++) {
      const int near = i == j || (i > j ? i - j : j - i) == 30 || gi_random_unit(&r) < 0.003;
      if (near && p < 10 * N) idx[p++] = i;
    }
  }
  ptr[N] = p;
}

static gable_status analyse(gable_context *ctx, gi_order_method method, gi_symbolic_form form)
{
  static gable_idx block[N + 1];
  gable_idx n_blocks;
  gable_status status = gi_btf(ctx, N, ptr, idx, NULL, perm, block, &n_blocks);
  const gi_order_options order = {.method = method, .n_blocks = n_blocks, .block = block};
  if (!status) status = gi_order(ctx, N, ptr, idx, &order, perm, NULL);
  gi_layout *y = NULL;
  const gi_symbolic_options symbolic = {.form = form, .n_blocks = n_blocks, .block = block};
  if (!status) status = gi_symbolic(ctx, N, ptr, idx, perm, &symbolic, &y);
  CHECK(!y == (status != GABLE_OK));
  gi_layout_destroy(ctx, &y);
  return status;
}

static void check(gi_order_method method, gi_symbolic_form form)
{
  memory m = {0};
  gable_context *ctx = NULL;
  gable_context_options options = GABLE_CONTEXT_OPTIONS_INIT;
  options.allocate = failing_allocate;
  options.release = failing_release;
  options.memory_user = &m;
  CHECK_OK(gable_context_create("cpu", &options, &ctx));
  const long held = m.held;
  if (analyse(ctx, method, form) == GABLE_ERR_UNAVAILABLE) {
    gable_context_destroy(&ctx);
    return;
  }
  for (long k = 1;; k++) {
    m.count = 0;
    m.fail_at = k;
    const gable_status status = analyse(ctx, method, form);
    CHECK(m.held == held, "allocation %ld: %ld blocks stay behind", k, m.held - held);
    if (m.count < k) {
      CHECK_OK(status);
      CHECK(k > 30, "only %ld allocations", k);
      break;
    }
    CHECK(status == GABLE_ERR_MEMORY, "allocation %ld: %s", k, gable_status_text(status));
    CHECK(gable_last_error()[0]);
  }
  gable_context_destroy(&ctx);
}

int main(void)
{
  make_pattern();
  check(GI_ORDER_AUTO, GI_SYMBOLIC_AUTO);
  check(GI_ORDER_METIS, GI_SYMBOLIC_SYMMETRIC);
  check(GI_ORDER_COLAMD, GI_SYMBOLIC_UNSYMMETRIC);
  return 0;
}
