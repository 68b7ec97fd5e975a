/* exchange.c: the public face of plans and exchanges. */
#include "api/entry.h"
#include "api/structs.h"
#include "forest/plan.h"

gable_status gable_plan_create(gable_forest *f, const gable_plan_options *options, gable_plan **out)
{
  gable_status status = GABLE_OK;
  gable_plan_options own = GABLE_PLAN_OPTIONS_INIT;
  GI_REQUIRE(f, GABLE_ERR_ARGUMENT, "f is NULL");
  if (out) *out = NULL;
  GI_TRY(gi_forest_plan_create(f, GI_OUT(out, gi_take_plan_options(options, &own)), &own, out));
done:
  return status;
}

void gable_plan_destroy(gable_plan **plan)
{
  if (!plan || !*plan) return;
  gi_forest_plan_release(*plan);
  *plan = NULL;
}

gable_status gable_exchange_create(gable_plan *plan, void *stream, gable_exchange **out)
{
  GI_GIVEN_TOGETHER(plan, "plan", out);
  return GI_TRACED(gi_exchange_create(plan, stream, out));
}

void gable_exchange_destroy(gable_exchange **x)
{
  if (!x || !*x) return;
  gi_exchange_destroy(*x);
  *x = NULL;
}

static gable_status begin(gable_exchange *x, gable_direction direction, const void *from, void *to, void *update)
{
  static const char *const names[] = {"", "bcast", "reduce", "fetch", "gather", "scatter"};
  GI_GIVEN(x, "x");
  GI_CHECK(x->plan->options.direction == direction, GABLE_ERR_STATE, "a %s of a plan for %s", names[direction],
           names[x->plan->options.direction]);
  const gable_exchange_arrays one = {x, from, to, update};
  return GI_TRACED(gi_exchange_begin(&one));
}

gable_status gable_bcast_begin(gable_exchange *x, const void *root, void *leaf)
{
  return begin(x, GABLE_DIRECTION_BCAST, root, leaf, NULL);
}

gable_status gable_reduce_begin(gable_exchange *x, const void *leaf, void *root)
{
  return begin(x, GABLE_DIRECTION_REDUCE, leaf, root, NULL);
}

gable_status gable_fetch_begin(gable_exchange *x, void *root, const void *leaf, void *update)
{
  return begin(x, GABLE_DIRECTION_FETCH, leaf, root, update);
}

gable_status gable_gather_begin(gable_exchange *x, const void *leaf, void *multi_root)
{
  return begin(x, GABLE_DIRECTION_GATHER, leaf, multi_root, NULL);
}

gable_status gable_scatter_begin(gable_exchange *x, const void *multi_root, void *leaf)
{
  return begin(x, GABLE_DIRECTION_SCATTER, multi_root, leaf, NULL);
}

gable_status gable_exchange_end(gable_exchange *x)
{
  const gable_exchange_arrays one = {x, NULL, NULL, NULL};
  GI_GIVEN(x, "x");
  return GI_TRACED(gi_exchange_end(&one));
}

/* Several exchanges are there, of one comm. */
static gable_status check_all(gable_off n, const gable_exchange_arrays *each)
{
  GI_CHECK(n >= 0 && (each || !n), GABLE_ERR_ARGUMENT, n < 0 ? "%lld exchanges" : "%lld exchanges, and each is NULL",
           (long long)n);
  for (gable_off k = 0; k < n; k++) {
    GI_CHECK(each[k].exchange, GABLE_ERR_ARGUMENT, "exchange %lld is NULL", (long long)k);
    GI_CHECK(each[k].exchange->plan->forest->comm == each[0].exchange->plan->forest->comm, GABLE_ERR_ARGUMENT,
             "exchanges 0 and %lld are of two comms", (long long)k);
  }
  return GABLE_OK;
}

gable_status gable_exchange_begin_all(gable_off n, const gable_exchange_arrays *each)
{
  GI_PASS(check_all(n, each));
  return GI_TRACED(gi_exchange_begin_all(n, each));
}

gable_status gable_exchange_end_all(gable_off n, const gable_exchange_arrays *each)
{
  GI_PASS(check_all(n, each));
  return GI_TRACED(gi_exchange_end_all(n, each));
}

gable_status gable_exchange_wait(gable_exchange *x)
{
  GI_GIVEN(x, "x");
  return GI_TRACED(gi_exchange_wait(x));
}

gable_status gable_exchange_get_info(const gable_exchange *x, gable_exchange_info *info)
{
  gable_exchange_info own = GABLE_EXCHANGE_INFO_INIT;
  GI_CHECK(x && info, GABLE_ERR_ARGUMENT, "%s is NULL", x ? "info" : "x");
  gi_exchange_describe(x, &own);
  return GI_TRACED(gi_give_exchange_info(&own, info));
}
