/* cpu.c: the host as a device: its memory is the host's, its stream is now. */
#include <string.h>

#include "device/device.h"

static gable_status cpu_open(int ordinal, void **state)
{
  (void)ordinal;
  *state = NULL;
  return GABLE_OK;
}

static void cpu_close(void *state)
{
  (void)state;
}

static gable_status cpu_alloc(gable_context *ctx, size_t bytes, void **out)
{
  gable_status status = GABLE_OK;
  *out = gi_alloc(ctx, (gable_off)bytes, 1);
  GI_REQUIRE(*out, GABLE_ERR_MEMORY, "out of memory: %.1f MB", (double)bytes / 1e6);
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

static gable_status cpu_synchronise(gable_context *ctx, void *stream)
{
  (void)ctx;
  (void)stream;
  return GABLE_OK;
}

const gi_device gi_device_cpu = {
    .name = "cpu",
    .open = cpu_open,
    .close = cpu_close,
    .alloc = cpu_alloc,
    .release = cpu_release,
    .copy_in = cpu_copy_in,
    .copy_out = cpu_copy_out,
    .synchronise = cpu_synchronise,
};
