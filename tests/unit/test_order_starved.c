/* METIS without memory: the automatic order is AMD's and says so, an order that was asked for by name is an error.
 * METIS's separator function is replaced here by one that fails as METIS does. */
#include "support/test.h"

#include "graph/order/order.h"
#include "graph/order/order_parts.h"

enum { ERROR_MEMORY = -3 }; /* METIS_ERROR_MEMORY */

int METIS_ComputeVertexSeparator(int32_t *n, int32_t *ptr, int32_t *idx, int32_t *weight, int32_t *options,
                                 int32_t *size, int32_t *part);
int METIS_ComputeVertexSeparator(int32_t *n, int32_t *ptr, int32_t *idx, int32_t *weight, int32_t *options,
                                 int32_t *size, int32_t *part)
{
  (void)n, (void)ptr, (void)idx, (void)weight, (void)options, (void)size, (void)part;
  return ERROR_MEMORY;
}

static void hear(void *user, gable_log_level level, const char *text)
{
  *(int *)user += level == GABLE_LOG_WARNING && strstr(text, "METIS had too little memory");
}

static void check_orders(gable_context *ctx, const gable_matrix_view *v, int *warnings)
{
  const gable_idx n = v->n_cols;
  gi_order_options options = {.method = GI_ORDER_AUTO, .solves = 100000};
  gi_order_report report;
  gable_idx *amd = malloc((size_t)n * sizeof *amd), *found = malloc((size_t)n * sizeof *found);
  CHECK(amd && found);
  *warnings = 0;
  CHECK_OK(gi_order(ctx, n, v->ptr, v->idx, &options, found, &report));
  CHECK(report.used == GI_ORDER_AMD && report.metis_starved && *warnings == 1, "order %d", (int)report.used);
  CHECK_OK(gi_order_check(ctx, n, found));
  options.method = GI_ORDER_METIS;
  CHECK(gi_order(ctx, n, v->ptr, v->idx, &options, amd, &report) == GABLE_ERR_MEMORY);
  CHECK(strstr(gable_last_error(), "order by AMD"), "%s", gable_last_error());
  free(amd);
  free(found);
}

static void check_solver(gable_context *ctx, const gable_matrix_view *v)
{
  gable_solver *s = NULL;
  int64_t order, fallback;
  gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
  options.solves = 100000; /* so that METIS is asked */
  CHECK_OK(gable_solver_create(ctx, &options, &s));
  CHECK_OK(gable_solver_analyse(s, v));
  CHECK_OK(gable_solver_get(s, GABLE_SOLVER_ORDER, &order, sizeof order));
  CHECK_OK(gable_solver_get(s, GABLE_SOLVER_ORDER_FALLBACK, &fallback, sizeof fallback));
  CHECK(order == GABLE_ORDER_AMD && fallback == 1, "order %d", (int)order);
  gable_solver_destroy(&s);
  options.order = GABLE_ORDER_METIS;
  CHECK_OK(gable_solver_create(ctx, &options, &s));
  CHECK(gable_solver_analyse(s, v) == GABLE_ERR_MEMORY);
  gable_solver_destroy(&s);
}

int main(void)
{
  int warnings = 0;
  if (!gi_order_has_metis() || !gi_order_has_amd()) SKIP("METIS or AMD is not in this build");
  for (int threads = 1; threads <= 2; threads++) {
    gable_context *ctx = NULL;
    gable_context_options options = GABLE_CONTEXT_OPTIONS_INIT;
    gable_matrix *lower = NULL, *both = NULL;
    gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
    options.threads = threads;
    options.log = hear;
    options.log_user = &warnings;
    CHECK_OK(gable_context_create("cpu", &options, &ctx));
    CHECK_OK(gable_matrix_generate(ctx, "laplacian7:26x26x26", 1, &lower));
    CHECK_OK(gable_matrix_expand(lower, &both));
    CHECK_OK(gable_matrix_get_view(both, &v));
    check_orders(ctx, &v, &warnings);
    check_solver(ctx, &v);
    gable_matrix_destroy(&lower);
    gable_matrix_destroy(&both);
    gable_context_destroy(&ctx);
  }
  return 0;
}
