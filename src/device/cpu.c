/* cpu.c: the host as a device: its memory is the host's, its stream is now. */
#include <string.h>

#include "base/timer.h"
#include "device/cpu.h"

static gable_status cpu_open(int ordinal, void **state)
{
  (void)ordinal;
  *state = NULL;
  return GABLE_OK;
}

gable_status gi_cpu_enter(const gable_context *ctx, int *before)
{
  (void)ctx;
  *before = GI_NOT_ENTERED;
  return GABLE_OK;
}

void gi_cpu_leave(const gable_context *ctx, int before)
{
  (void)ctx;
  (void)before;
}

static void cpu_close(void *state)
{
  (void)state;
}

static gable_status cpu_alloc(gable_context *ctx, size_t bytes, void **out)
{
  gable_status status = GABLE_OK;
  *out = gi_alloc(ctx, (gable_off)bytes, 1);
  GI_REQUIRE_MEMORY(*out, bytes, "device memory");
done:
  return status;
}

static void cpu_release(gable_context *ctx, void *p)
{
  gi_free(ctx, p);
}

static gable_status cpu_copy_in(gable_context *ctx, void *device, const void *host, size_t bytes, void *stream)
{
  (void)ctx;
  (void)stream;
  memcpy(device, host, bytes);
  return GABLE_OK;
}

static gable_status cpu_copy_out(gable_context *ctx, void *host, const void *device, size_t bytes, void *stream)
{
  return cpu_copy_in(ctx, host, device, bytes, stream);
}

gable_status gi_cpu_synchronise(gable_context *ctx, void *stream)
{
  (void)ctx;
  (void)stream;
  return GABLE_OK;
}

static gable_status cpu_fill(gable_context *ctx, void *device, int byte, size_t bytes, void *stream)
{
  (void)ctx;
  (void)stream;
  memset(device, byte, bytes);
  return GABLE_OK;
}

void *gi_cpu_own_stream(const gable_context *ctx)
{
  (void)ctx;
  return NULL;
}

static gable_status cpu_stream_create(gable_context *ctx, void **out)
{
  (void)ctx;
  *out = NULL;
  return GABLE_OK;
}

static void cpu_stream_destroy(gable_context *ctx, void *stream)
{
  (void)ctx;
  (void)stream;
}

gable_status gi_cpu_order_after(gable_context *ctx, void *stream, void *earlier)
{
  (void)ctx;
  (void)stream;
  (void)earlier;
  return GABLE_OK;
}

/* A moment is the clock when it is recorded. */
gable_status gi_cpu_is_capturing(gable_context *ctx, void *stream, int *out)
{
  (void)ctx;
  (void)stream;
  *out = 0;
  return GABLE_OK;
}

gable_status gi_cpu_event_create(gable_context *ctx, void **out)
{
  gable_status status = GABLE_OK;
  double *moment = NULL;
  GI_ALLOC_ZERO(ctx, moment, 1);
  *out = moment;
done:
  return status;
}

gable_status gi_cpu_event_record(gable_context *ctx, void *event, void *stream)
{
  (void)ctx;
  (void)stream;
  *(double *)event = gi_now();
  return GABLE_OK;
}

gable_status gi_cpu_event_elapsed(gable_context *ctx, void *begin, void *end, double *seconds)
{
  (void)ctx;
  *seconds = *(double *)end - *(double *)begin;
  return GABLE_OK;
}

void gi_cpu_event_destroy(gable_context *ctx, void *event)
{
  gi_free(ctx, event);
}

gable_status gi_cpu_await_event(gable_context *ctx, void *stream, void *event)
{
  (void)ctx;
  (void)stream;
  (void)event;
  return GABLE_OK;
}

int gi_cpu_event_done(gable_context *ctx, void *event, int wait)
{
  (void)ctx;
  (void)event;
  (void)wait;
  return 1;
}

const gik_gpu_class *gi_cpu_gpu_class(const gable_context *ctx)
{
  (void)ctx;
  return gik_gpu_class_generic();
}

gable_status gi_cpu_pinned_alloc(gable_context *ctx, size_t bytes, void **out)
{
  gable_status status = GABLE_OK;
  *out = gi_alloc_zero(ctx, (gable_off)bytes, 1);
  GI_REQUIRE_MEMORY(*out, bytes, "pinned memory");
done:
  return status;
}

void gi_cpu_pinned_release(gable_context *ctx, void *p)
{
  gi_free(ctx, p);
}

gable_status gi_cpu_open_to(gable_context *ctx, const gable_context *other)
{
  (void)ctx;
  (void)other;
  return GABLE_OK;
}

int gi_cpu_reached_by(gable_context *ctx, const void *p, const gable_context *other)
{
  (void)ctx;
  (void)p;
  (void)other;
  return 1;
}

const gi_device gi_device_cpu = {
    .name = "cpu",
    .kind = GI_ON_CPU,
    .space = GABLE_SPACE_HOST,
    .kernels = &gik_kernels_cpu,
    .in_host = 1,
    GI_CPU_STREAMS,
    .open = cpu_open,
    .close = cpu_close,
    .gpu_class = gi_cpu_gpu_class,
    .alloc = cpu_alloc,
    .release = cpu_release,
    .copy_in = cpu_copy_in,
    .copy_out = cpu_copy_out,
    .fill = cpu_fill,
    .stream_create = cpu_stream_create,
    .stream_destroy = cpu_stream_destroy,
};
