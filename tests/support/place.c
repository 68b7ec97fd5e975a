/* place.c: see place.h. */
#include "support/place.h"

#include "base/context.h"
#include "device/device.h"
#include "support/test.h"
#include "trisolve/plan.h"

gable_context *test_place(int argc, char **argv, const gable_context_options *options)
{
  gable_context *ctx = NULL;
  gable_status status = gable_context_create(argc > 1 ? argv[1] : "cpu", options, &ctx);
  if (status == GABLE_ERR_UNAVAILABLE) SKIP("%s", gable_last_error());
  CHECK_OK(status);
  for (int k = 2; k < argc; k++)
    if (!strcmp(argv[k], "uncaptured")) {
      static gi_device uncaptured;
      uncaptured = *ctx->device;
      uncaptured.capture = NULL;
      ctx->device = &uncaptured;
    }
  return ctx;
}

int test_place_is_gpu(const gable_context *ctx)
{
  return !strncmp(gable_context_where(ctx), "cuda", 4);
}

const char *const *test_place_methods(const gable_context *ctx)
{
  static const struct {
    const char *name;
    int cpu, gpu;
  } all[] = {
#define METHOD(id, text, on_cpu, on_gpu) {text, on_cpu, on_gpu},
      GI_METHOD_LIST(METHOD)
#undef METHOD
  };
  static const char *found[GI_METHODS + 1];
  const int gpu = test_place_is_gpu(ctx);
  int n = 0;
  for (int m = 1; m < GI_METHODS; m++)
    if (gpu ? all[m].gpu : all[m].cpu) found[n++] = all[m].name;
  found[n++] = all[0].name; /* auto comes last */
  found[n] = NULL;
  return found;
}

int test_place_is_mirror(const gable_context *ctx)
{
  return !strcmp(gable_context_where(ctx), "mirror");
}

int test_method_repeats(const char *method)
{
  return strcmp(method, "levc") && strcmp(method, "elmc") && strcmp(method, "gsf");
}
