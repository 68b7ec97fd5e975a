/* context.c: gable_context_create reads one string and picks the device table. */
#define _GNU_SOURCE /* sched_getaffinity */
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/entry.h"
#include "api/structs.h"
#include "base/options.h"
#include "base/pool.h"
#include "device/mirror.h"

/* Processors that this process may use. */
static int processors(void)
{
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set)) return 1;
  int n = CPU_COUNT(&set);
  return n > 0 ? n : 1;
}

static gable_status copy_options(const gable_context_options *given, gable_context_options *own)
{
  gable_status status = GABLE_OK;
  GI_TRY(gi_take_context_options(given, own));
  GI_TRY(gi_options_threads(&own->threads, processors(), INT_MAX));
  GI_REQUIRE(!own->allocate == !own->release, GABLE_ERR_ARGUMENT, "allocate and release: give both or none");
  GI_REQUIRE(!own->device_allocate == !own->device_release, GABLE_ERR_ARGUMENT,
             "device_allocate and device_release: give both or none");
  if (!own->allocate) {
    own->memory_user = gi_pool_create();
    GI_REQUIRE_MEMORY(own->memory_user, 1e5, "the memory pool of a context");
    own->allocate = gi_pool_allocate;
    own->release = gi_pool_release;
  }
done:
  return status;
}

/* The context's own memory goes last. */
static void release_context(gable_context *ctx)
{
  const gable_context_options own = ctx->options;
  own.release(own.memory_user, ctx);
  if (own.allocate == gi_pool_allocate) gi_pool_destroy(own.memory_user);
}

/* Splits "cuda:3" into the table and the ordinal. */
static gable_status parse_where(const char *where, const gi_device **device, int *ordinal)
{
  *ordinal = 0;
  *device = NULL;
  if (!strcmp(where, "cpu")) {
    *device = &gi_device_cpu;
  } else if (!strcmp(where, "mirror")) {
    *device = &gi_device_mirror;
  } else if (!strncmp(where, "cuda", 4) && (where[4] == ':' || !where[4])) {
    char *end = NULL;
    long k = where[4] ? strtol(where + 5, &end, 10) : 0;
    GI_CHECK(!where[4] || (where[5] && !*end && k >= 0 && k < 1024), GABLE_ERR_ARGUMENT,
             "'%s' is no place: say cpu, mirror, cuda:0 or auto", where);
    *device = &gi_device_cuda;
    *ordinal = (int)k;
  }
  GI_CHECK(*device, GABLE_ERR_ARGUMENT, "'%.40s' is no place: say cpu, mirror, cuda:0 or auto", where);
  return GABLE_OK;
}

/* The first GPU, or the CPU; that there is no GPU is no error, and so not the last one. */
static void open_any(gable_context *ctx)
{
  gi_error before;
  gi_keep_error(&before);
  ctx->device = &gi_device_cuda;
  if (!ctx->device->open(0, &ctx->device_state)) return;
  ctx->device = &gi_device_cpu;
  gi_adopt_error(&before);
}

/* The first memory of a GPU's pool takes the driver 10 ms, on some hosts 100: here, not in the analysis that comes
 * first. Where there is none, the first who needs it is told. */
static void begin_device_memory(gable_context *ctx)
{
  gi_error before;
  void *p = NULL;
  if (ctx->device != &gi_device_cuda || ctx->options.device_allocate) return;
  gi_keep_error(&before);
  if (ctx->device->alloc(ctx, 1, &p)) gi_adopt_error(&before);
  ctx->device->release(ctx, p);
}

gable_status gable_context_create(const char *where, const gable_context_options *options, gable_context **out)
{
  gable_status status = GABLE_OK;
  gable_context *ctx = NULL;
  gable_context_options own;
  int ordinal = 0;

  GI_REQUIRE(out, GABLE_ERR_ARGUMENT, "out is NULL");
  *out = NULL;
  GI_TRY(copy_options(options, &own));
  ctx = own.allocate(own.memory_user, sizeof *ctx, 64);
  if (!ctx && own.allocate == gi_pool_allocate) gi_pool_destroy(own.memory_user);
  GI_REQUIRE_MEMORY(ctx, sizeof *ctx, "a context");
  memset(ctx, 0, sizeof *ctx);
  ctx->options = own;
  ctx->threads = own.threads;

  if (!where || !strcmp(where, "auto")) {
    open_any(ctx);
  } else {
    GI_TRY(parse_where(where, &ctx->device, &ordinal));
    GI_TRY(ctx->device->open(ordinal, &ctx->device_state));
  }
  begin_device_memory(ctx);
  if (ctx->device == &gi_device_cuda)
    snprintf(ctx->where, sizeof ctx->where, "cuda:%d", ordinal);
  else
    snprintf(ctx->where, sizeof ctx->where, "%s", ctx->device->name);
  *out = ctx;
  ctx = NULL;
done:
  if (ctx) release_context(ctx);
  return status;
}

void gable_context_destroy(gable_context **ctx)
{
  if (!ctx || !*ctx) return;
  gable_context *c = *ctx;
  *ctx = NULL;
  c->device->close(c->device_state);
  release_context(c);
}

const char *gable_context_where(const gable_context *ctx)
{
  return ctx->where;
}

int gable_context_threads(const gable_context *ctx)
{
  return ctx->threads;
}
