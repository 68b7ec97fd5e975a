/* place.c: see place.h. */
#include "support/place.h"

#include "support/test.h"

gable_context *test_place(int argc, char **argv, const gable_context_options *options)
{
  gable_context *ctx = NULL;
  gable_status status = gable_context_create(argc > 1 ? argv[1] : "cpu", options, &ctx);
  if (status == GABLE_ERR_UNAVAILABLE) SKIP("%s", gable_last_error());
  CHECK_OK(status);
  return ctx;
}

int test_place_is_gpu(const gable_context *ctx)
{
  return !strncmp(gable_context_where(ctx), "cuda", 4);
}

const char *const *test_place_methods(const gable_context *ctx)
{
  static const char *const gpu[] = {"levr", "levc", "elmr", "elmc", "gsf", "tiles", "rows", "auto", NULL};
  static const char *const cpu[] = {"serial", "levr", "levc", "elmr", "elmc", "gsf", "tiles", "auto", NULL};
  return test_place_is_gpu(ctx) ? gpu : cpu;
}

int test_place_is_mirror(const gable_context *ctx)
{
  return !strcmp(gable_context_where(ctx), "mirror");
}

int test_method_repeats(const char *method)
{
  return strcmp(method, "levc") && strcmp(method, "elmc") && strcmp(method, "gsf");
}
