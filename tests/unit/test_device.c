/* Memory (the caller's own too), streams and events of a place: "cpu", or the one that the first argument names. */
#include "support/test.h"

#include "support/place.h"

static void check_memory(gable_context *ctx, void *stream)
{
  enum { N = 100000 };
  double *host = malloc(N * sizeof *host), *back = malloc(N * sizeof *back);
  const gable_space space = gable_context_space(ctx);
  void *p = NULL, *q = NULL;
  CHECK(space == (strcmp(gable_context_where(ctx), "cpu") ? GABLE_SPACE_DEVICE : GABLE_SPACE_HOST));
  CHECK_OK(gable_device_alloc(ctx, N * sizeof *host, &p));
  CHECK((uintptr_t)p % (space == GABLE_SPACE_DEVICE ? 256 : 64) == 0, "%p", p);
  for (int k = 0; k < N; k++) host[k] = 1.0 / (k + 1);
  CHECK_OK(gable_device_copy_in(ctx, p, host, N * sizeof *host, stream));
  CHECK_OK(gable_device_copy_out(ctx, back, p, N * sizeof *host, stream));
  CHECK_OK(gable_device_synchronise(ctx, stream));
  CHECK(!memcmp(host, back, N * sizeof *host), "what came back is not what went in");
  CHECK_OK(gable_device_fill(ctx, (char *)p + 8, 0xff, 8, stream));
  CHECK_OK(gable_device_copy_out(ctx, back, p, 3 * sizeof *host, stream));
  CHECK_OK(gable_device_synchronise(ctx, stream));
  CHECK(back[0] == 1 && isnan(back[1]) && back[2] == 1.0 / 3, "%g %g %g", back[0], back[1], back[2]);
  CHECK_OK(gable_device_alloc(ctx, 0, &q));
  CHECK(q, "no bytes have a place too");
  CHECK_OK(gable_device_copy_in(ctx, NULL, NULL, 0, stream));
  CHECK(gable_device_copy_in(ctx, NULL, host, 8, stream) == GABLE_ERR_ARGUMENT);
  CHECK(gable_device_alloc(NULL, 8, &q) == GABLE_ERR_ARGUMENT);
  gable_device_free(ctx, &q);
  gable_device_free(ctx, &p);
  CHECK(!p && !q);
  gable_device_free(ctx, &p);
  free(host);
  free(back);
}

static void check_events(gable_context *ctx, void *stream)
{
  gable_event *begin = NULL, *end = NULL;
  double seconds = -1;
  void *p = NULL;
  CHECK_OK(gable_event_create(ctx, &begin));
  CHECK_OK(gable_event_create(ctx, &end));
  CHECK(gable_event_elapsed(begin, end, &seconds) == GABLE_ERR_STATE, "never recorded");
  CHECK_OK(gable_device_alloc(ctx, (size_t)1 << 26, &p));
  CHECK_OK(gable_event_record(begin, stream));
  for (int k = 0; k < 4; k++) CHECK_OK(gable_device_fill(ctx, p, k, (size_t)1 << 26, stream));
  CHECK_OK(gable_event_record(end, stream));
  CHECK_OK(gable_event_elapsed(begin, end, &seconds));
  CHECK(seconds > 1e-6 && seconds < 10, "256 MB filled in %g s", seconds);
  gable_device_free(ctx, &p);
  gable_event_destroy(&begin);
  gable_event_destroy(&end);
  gable_event_destroy(&end);
}

/* Memory of another context on the same GPU, in the role of a caller's own. */
typedef struct lender {
  gable_context *ctx;
  long live, count, most; /* most: how often it gives */
  size_t bytes;
  int crooked; /* 1: what it gives is badly aligned */
} lender;

static void *lend(void *user, size_t bytes)
{
  lender *l = user;
  void *p = NULL;
  if (l->count++ >= l->most || gable_device_alloc(l->ctx, bytes + 8, &p)) return NULL;
  l->live++;
  l->bytes += bytes;
  return (char *)p + 8 * l->crooked;
}

static void take_back(void *user, void *p)
{
  lender *l = user;
  void *own = (char *)p - 8 * l->crooked;
  l->live--;
  gable_device_free(l->ctx, &own);
}

/* A plan, its work and vectors, all in the caller's memory. */
static gable_status solve_small(gable_context *ctx, size_t *plan_bytes)
{
  int32_t ptr[] = {0, 1, 3, 5};
  gable_idx idx[] = {0, 0, 1, 0, 2};
  double val[] = {2, 1, 4, 3, 5}, b[] = {2, 9, 13}, x[3] = {0};
  gable_matrix_view a = GABLE_MATRIX_VIEW_INIT;
  gable_vectors_view v = GABLE_VECTORS_VIEW_INIT;
  gable_trisolve_info info = GABLE_TRISOLVE_INFO_INIT;
  gable_trisolve *t = NULL;
  gable_trisolve_work *w = NULL;
  a.n_rows = a.n_cols = v.n = 3;
  v.ld = 3;
  a.part = GABLE_PART_LOWER;
  a.offset_type = GABLE_TYPE_I32;
  a.ptr = ptr;
  a.idx = idx;
  v.space = gable_context_space(ctx);
  gable_status status = gable_device_alloc(ctx, sizeof b, &v.data);
  if (!status) status = gable_trisolve_create(ctx, NULL, &t);
  if (!status) status = gable_trisolve_analyse(t, &a);
  if (!status) status = gable_trisolve_update(t, val);
  if (!status) status = gable_trisolve_work_create(t, 1, &w);
  if (!status) status = gable_device_copy_in(ctx, v.data, b, sizeof b, NULL);
  if (!status) status = gable_trisolve_solve(t, w, GABLE_OP_N, &v, &v);
  if (!status) status = gable_device_copy_out(ctx, x, v.data, sizeof x, NULL);
  if (!status) status = gable_device_synchronise(ctx, NULL);
  if (!status) status = gable_trisolve_get_info(t, GABLE_OP_N, &info);
  CHECK(status || (x[0] == 1 && x[1] == 2 && x[2] == 2), "%g %g %g", x[0], x[1], x[2]);
  *plan_bytes = info.plan_bytes_device;
  gable_trisolve_work_destroy(&w);
  gable_trisolve_destroy(&t);
  gable_device_free(ctx, &v.data);
  return status;
}

static void check_callers_memory(gable_context *parent)
{
  gable_context_options options = GABLE_CONTEXT_OPTIONS_INIT;
  gable_context *ctx = NULL;
  lender l = {.ctx = parent, .most = 1000000};
  size_t plan_bytes = 0;
  options.device_allocate = lend;
  options.device_memory_user = &l;
  CHECK(gable_context_create(gable_context_where(parent), &options, &ctx) == GABLE_ERR_ARGUMENT && !ctx,
        "an allocator without a release");
  options.device_release = take_back;
  CHECK_OK(gable_context_create(gable_context_where(parent), &options, &ctx));
  if (strncmp(gable_context_where(parent), "cuda", 4)) {
    CHECK_OK(solve_small(ctx, &plan_bytes));
    CHECK(!l.count, "not a GPU");
  } else {
    for (l.most = 0; l.most < 1000; l.most++) { /* it gives nothing, then once, twice, ... */
      l.count = 0;
      l.bytes = 0;
      const gable_status status = solve_small(ctx, &plan_bytes);
      CHECK(!l.live, "%ld blocks are left", l.live);
      if (!status) break;
      CHECK(status == GABLE_ERR_MEMORY && strstr(gable_last_error(), "caller"), "%s", gable_last_error());
    }
    CHECK(l.most > 2 && l.most < 1000 && plan_bytes > 0 && l.bytes >= plan_bytes, "%ld blocks, %zu bytes", l.most,
          l.bytes);
    l.crooked = 1;
    l.count = 0;
    CHECK(solve_small(ctx, &plan_bytes) == GABLE_ERR_ARGUMENT && strstr(gable_last_error(), "aligned") && !l.live);
  }
  gable_context_destroy(&ctx);
}

int main(int argc, char **argv)
{
  gable_context *ctx = test_place(argc, argv, NULL);
  void *stream = NULL;
  CHECK_OK(gable_stream_create(ctx, &stream));
  CHECK(!stream == (gable_context_space(ctx) == GABLE_SPACE_HOST));
  check_memory(ctx, NULL);
  check_memory(ctx, stream);
  check_events(ctx, NULL);
  check_events(ctx, stream);
  gable_stream_destroy(ctx, &stream);
  CHECK(!stream);
  check_callers_memory(ctx);
  gable_context_destroy(&ctx);
  return 0;
}
