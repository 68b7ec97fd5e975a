/* test_update_order.c: what an update and solves ask of a device's streams: each work's stream before an update, once
 * the update's event after it, nothing of a stream that is being captured.  A triangular solve
 * asks by this order and by no other. */
#include "device/update_order.h"
#include "support/test.h"

enum { WORKS = 3, MOST = 64 };

/* A device that writes down what it is asked; streams are letters. */
static gi_device noting;
static char notes[MOST];
static const char *captured;

static void note(char what, const char *first, const char *second)
{
  const size_t used = strlen(notes);
  CHECK(used + 4 < MOST, "too many notes: %s", notes);
  snprintf(notes + used, MOST - used, "%c%c%c ", what, first ? *first : '-', second ? *second : '-');
}

static gable_status note_order(gable_context *ctx, void *stream, void *earlier)
{
  (void)ctx;
  note('o', stream, earlier);
  return GABLE_OK;
}

static gable_status note_record(gable_context *ctx, void *event, void *stream)
{
  (void)ctx;
  (void)event;
  note('r', stream, NULL);
  return GABLE_OK;
}

static gable_status note_await(gable_context *ctx, void *stream, void *event)
{
  (void)ctx;
  CHECK(event, "no event");
  note('a', stream, NULL);
  return GABLE_OK;
}

static gable_status tell_captured(gable_context *ctx, void *stream, int *out)
{
  (void)ctx;
  *out = captured && stream == captured;
  return GABLE_OK;
}

static void expect(const char *meant)
{
  CHECK(!strcmp(notes, meant), "'%s', not '%s'", notes, meant);
  notes[0] = 0;
}

static void triangle_is_ordered(gable_context *ctx, char *name)
{
  static const int64_t ptr[] = {0, 1, 3};
  static const gable_idx idx[] = {0, 0, 1};
  static const double val[] = {2, 1, 4}, b[] = {2, 9};
  double x[2] = {0};
  void *updater = name + 3;
  gable_matrix_view a = GABLE_MATRIX_VIEW_INIT;
  gable_vectors_view from = GABLE_VECTORS_VIEW_INIT, to;
  gable_trisolve *plan = NULL;
  gable_trisolve_work *w[2] = {NULL};
  a.n_rows = a.n_cols = 2;
  a.format = GABLE_FORMAT_CSR;
  a.part = GABLE_PART_LOWER;
  a.ptr = ptr;
  a.idx = idx;
  from.n = 2;
  from.ld = 2;
  from.count = 1;
  to = from;
  from.data = (void *)b;
  to.data = x;
  CHECK_OK(gable_trisolve_create(ctx, NULL, &plan));
  CHECK_OK(gable_trisolve_set_stream(plan, updater));
  CHECK_OK(gable_trisolve_analyse(plan, &a));
  for (int k = 0; k < 2; k++) {
    CHECK_OK(gable_trisolve_work_create(plan, 1, &w[k]));
    CHECK_OK(gable_trisolve_work_set_stream(w[k], name + k));
  }
  expect("oU- oA- oB- ");
  CHECK_OK(gable_trisolve_update(plan, val));
  expect("oUB oUA rU- ");
  for (int again = 0; again < 2; again++) CHECK_OK(gable_trisolve_solve(plan, w[0], GABLE_OP_N, &from, &to));
  CHECK(x[0] == 1 && x[1] == 2, "%g, %g", x[0], x[1]);
  expect("aA- ");
  CHECK_OK(gable_trisolve_work_status(w[1], NULL));
  expect("aB- ");
  captured = updater;
  CHECK(gable_trisolve_update(plan, val) == GABLE_ERR_STATE, "from host memory in a capture");
  captured = NULL;
  expect("");
  CHECK_OK(gable_trisolve_analyse(plan, &a));
  expect("o-B o-A a-- ");
  CHECK_OK(gable_trisolve_update(plan, val));
  expect("rU- "); /* works of an earlier analysis solve no more */
  for (int k = 0; k < 2; k++) gable_trisolve_work_destroy(&w[k]);
  gable_trisolve_destroy(&plan);
  expect("a-- ");
}

int main(void)
{
  static char name[] = "ABCU";
  void *stream[WORKS], *updater = name + 3;
  gi_ordered_work w[WORKS] = {{0}};
  gi_update_order o = {0};
  gable_context *ctx = NULL;
  int capture = 0;
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  noting = *ctx->device;
  noting.order_after = note_order;
  noting.event_record = note_record;
  noting.await_event = note_await;
  noting.is_capturing = tell_captured;
  ctx->device = &noting;
  CHECK_OK(gi_update_order_init(ctx, &o));
  for (int k = 0; k < WORKS; k++) {
    stream[k] = name + k;
    gi_update_order_add(&o, &w[k], &stream[k]);
  }
  CHECK_OK(gi_update_order_await(&o, &w[0]));
  expect(""); /* no update yet */
  CHECK_OK(gi_update_order_begin(&o, updater, 0, &capture));
  CHECK(!capture, "not captured");
  CHECK_OK(gi_update_order_end(&o, updater, capture));
  expect("oUC oUB oUA rU- ");
  CHECK_OK(gi_update_order_await(&o, &w[0]));
  CHECK_OK(gi_update_order_await(&o, &w[0]));
  expect("aA- "); /* once */
  captured = stream[1];
  CHECK_OK(gi_update_order_await(&o, &w[1]));
  expect("");
  captured = NULL;
  CHECK_OK(gi_update_order_await(&o, &w[1]));
  expect("aB- "); /* what the capture did not wait for */
  captured = updater;
  CHECK_OK(gi_update_order_begin(&o, updater, 0, &capture));
  CHECK(capture, "captured");
  CHECK(gi_update_order_begin(&o, updater, 1, &capture) == GABLE_ERR_STATE, "reads back in a capture");
  CHECK_OK(gi_update_order_end(&o, updater, capture));
  CHECK_OK(gi_update_order_await(&o, &w[0]));
  expect("");
  captured = NULL;
  gi_update_order_remove(&o, &w[1]);
  gi_update_order_settle(&o);
  expect("o-C o-A a-- ");
  gi_update_order_forget(&o);
  expect("o-C o-A a-- ");
  gi_update_order_settle(&o);
  expect("a-- ");
  gi_update_order_release(&o);
  triangle_is_ordered(ctx, name);
  ctx->device = &gi_device_cpu;
  gable_context_destroy(&ctx);
  return 0;
}
