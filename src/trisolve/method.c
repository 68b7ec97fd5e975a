/* method.c: the methods of triangular solves and sweeps by name. */
#include <string.h>

#include "device/device.h"
#include "trisolve/plan.h"

static const struct {
  const char *name;
  int cpu, gpu;
} methods[GI_METHODS] = {
#define METHOD(id, text, on_cpu, on_gpu) {.name = text, .cpu = on_cpu, .gpu = on_gpu},
    GI_METHOD_LIST(METHOD)
#undef METHOD
};

const char *gi_method_name(gi_method m)
{
  return methods[m].name;
}

gable_status gi_method_from(const gable_context *ctx, const char *name, gi_method *out)
{
  gable_status status = GABLE_OK;
  const int gpu = ctx->device->kind == GI_ON_CUDA;
  int m = 0;
  if (!name) name = "auto";
  while (m < GI_METHODS && strcmp(name, methods[m].name)) m++;
#define WORD(id, text, on_cpu, on_gpu) " " text
  GI_REQUIRE(m < GI_METHODS, GABLE_ERR_ARGUMENT, "'%.40s' is no method: say one of" GI_METHOD_LIST(WORD), name);
#undef WORD
  GI_REQUIRE(gpu ? methods[m].gpu : methods[m].cpu, GABLE_ERR_UNAVAILABLE,
             "method %s runs on %s only, this context is %s", name, gpu ? "the CPU" : "a GPU", ctx->where);
  *out = (gi_method)m;
done:
  return status;
}
