/* Memory, streams and events of a place: "cpu", or the one that the first argument names. */
#include "support/test.h"

#include "support/place.h"

static void check_memory(gable_context *ctx, void *stream)
{
  enum { N = 100000 };
  double *host = malloc(N * sizeof *host), *back = malloc(N * sizeof *back);
  const gable_space space = gable_context_space(ctx);
  void *p = NULL, *q = NULL;
  CHECK(space == (strcmp(gable_context_where(ctx), "cpu") ? GABLE_DEVICE : GABLE_HOST));
  CHECK_OK(gable_device_alloc(ctx, N * sizeof *host, &p));
  CHECK((uintptr_t)p % (space == GABLE_DEVICE ? 256 : 64) == 0, "%p", p);
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

int main(int argc, char **argv)
{
  gable_context *ctx = test_place(argc, argv, NULL);
  void *stream = NULL;
  CHECK_OK(gable_stream_create(ctx, &stream));
  CHECK(!stream == (gable_context_space(ctx) == GABLE_HOST));
  check_memory(ctx, NULL);
  check_memory(ctx, stream);
  check_events(ctx, NULL);
  check_events(ctx, stream);
  gable_stream_destroy(ctx, &stream);
  CHECK(!stream);
  gable_context_destroy(&ctx);
  return 0;
}
