/* method.c: the methods of triangular solves and sweeps by name. */
#include <string.h>

#include "device/device.h"
#include "trisolve/plan.h"

static const struct {
  const char *name;
  int on[GI_DEVICE_KINDS];
} methods[GI_METHODS] = {
#define METHOD(id, text, cpu, gpu) {.name = text, .on = {[GI_ON_CPU] = cpu, [GI_ON_MIRROR] = cpu, [GI_ON_CUDA] = gpu}},
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
  int m = 0;
  if (!name) name = "auto";
  while (m < GI_METHODS && strcmp(name, methods[m].name)) m++;
#define WORD(id, text, cpu, gpu) " " text
  GI_REQUIRE(m < GI_METHODS, GABLE_ERR_ARGUMENT, "'%.40s' is no method: say one of" GI_METHOD_LIST(WORD), name);
#undef WORD
  GI_REQUIRE(methods[m].on[ctx->device->kind], GABLE_ERR_UNAVAILABLE, "method %s runs on %s only, this context is %s",
             name, methods[m].on[GI_ON_CPU] ? "the CPU" : "a GPU", ctx->where);
  *out = (gi_method)m;
done:
  return status;
}
