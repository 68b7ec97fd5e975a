/* test_smoother_stream.c: a stream that a smoother was taken off may be gone, and is not asked for anything. */
#include "device/device.h"
#include "support/test.h"

/* A device whose streams are counted when they are waited for. */
static gi_device counting;
static void *watched;
static int waits;

static gable_status count_waits(gable_context *ctx, void *stream)
{
  waits += watched && stream == watched;
  return gi_device_cpu.synchronise(ctx, NULL);
}

int main(void)
{
  enum { N = 3 };
  static const int64_t ptr[] = {0, 2, 5, 7};
  static const gable_idx idx[] = {0, 1, 0, 1, 2, 1, 2};
  static const double val[] = {4, -1, -1, 4, -1, -1, 4};
  double b_data[N] = {1, 1, 1}, x_data[N] = {0, 0, 0};
  int stream;
  gable_context *ctx = NULL;
  gable_smoother *s = NULL;
  gable_smoother_options options = GABLE_SMOOTHER_OPTIONS_INIT;
  gable_matrix_view a = GABLE_MATRIX_VIEW_INIT;
  gable_vectors_view b = GABLE_VECTORS_VIEW_INIT, x;
  a.n_rows = a.n_cols = N;
  a.ptr = ptr;
  a.idx = idx;
  b.n = N;
  b.ld = N;
  b.count = 1;
  b.data = b_data;
  x = b;
  x.data = x_data;
  options.method = "elmr"; /* on whole rows */
  options.solves = 0;
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  counting = *ctx->device;
  counting.synchronise = count_waits;
  ctx->device = &counting;
  CHECK_OK(gable_smoother_create(ctx, &options, &s));
  CHECK_OK(gable_smoother_analyse(s, &a));
  CHECK_OK(gable_smoother_update(s, val));
  CHECK_OK(gable_smoother_set_stream(s, &stream));
  CHECK_OK(gable_smoother_apply(s, &b, &x, 2, NULL));
  CHECK_OK(gable_smoother_set_stream(s, NULL));
  watched = &stream;
  CHECK_OK(gable_smoother_status(s, NULL));
  gable_smoother_destroy(&s);
  CHECK(waits == 0, "%d waits for a stream that may be gone", waits);
  gable_context_destroy(&ctx);
  return 0;
}
