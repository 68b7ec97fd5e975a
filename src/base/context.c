#include "base/context.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"

enum { ALIGNMENT = 64 };

void *gi_alloc(gable_context *ctx, gable_off count, size_t size)
{
  size_t bytes;
  if (count < 0 || gi_mul_size((size_t)count, size, &bytes)) return NULL;
  return ctx->options.allocate(ctx->options.memory_user, bytes ? bytes : 1, ALIGNMENT);
}

void *gi_alloc_zero(gable_context *ctx, gable_off count, size_t size)
{
  void *p = gi_alloc(ctx, count, size);
  if (p) memset(p, 0, (size_t)count * size);
  return p;
}

void gi_free(gable_context *ctx, void *p)
{
  if (p) ctx->options.release(ctx->options.memory_user, p);
}

void gi_free_each(gable_context *ctx, void *const *p, size_t count)
{
  for (size_t k = 0; k < count; k++) gi_free(ctx, p[k]);
}

void *gi_grow(gable_context *ctx, void *p, gable_off used, gable_off count, size_t size)
{
  void *larger = gi_alloc(ctx, count, size);
  if (!larger) return NULL;
  if (p) {
    memcpy(larger, p, (size_t)used * size);
    gi_free(ctx, p);
  }
  return larger;
}

/* What each folder of src allocates for, in the words of who calls the library; the first that fits. */
static const struct {
  const char *folder, *purpose;
} purposes[] = {
    {"src/sparse/", "a matrix"},
    {"src/graph/order/", "the ordering"},
    {"src/graph/match/", "the matching"},
    {"src/graph/symbolic/", "the symbolic factorization"},
    {"src/graph/", "the analysis of a pattern"},
    {"src/factor/", "the numeric factorization"},
    {"src/supernodal/", "the supernodal triangular solve"},
    {"src/trisolve/", "a triangular solve"},
    {"src/smooth/", "a smoother"},
    {"src/precond/", "a preconditioner"},
    {"src/krylov/", "an iterative solver"},
    {"src/pipeline/", "the direct solver"},
    {"src/device/", "a device"},
};

static const char *purpose_of(const char *file)
{
  for (size_t k = 0; k < sizeof purposes / sizeof *purposes; k++)
    if (strstr(file, purposes[k].folder)) return purposes[k].purpose;
  return "work space";
}

gable_status gi_raise_memory(double bytes, const char *purpose, const char *file, int line, const char *func)
{
  const int large = bytes >= 1e6;
  return gi_raise(GABLE_ERR_MEMORY, file, line, func, "out of memory: %.*f %s for %s", large,
                  large ? bytes / 1e6 : bytes, large ? "MB" : "bytes", purpose ? purpose : purpose_of(file));
}

void gi_log(const gable_context *ctx, gable_log_level level, const char *format, ...)
{
  if (!ctx->options.log) return;
  char text[512];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  ctx->options.log(ctx->options.log_user, level, text);
}

gable_status gi_progress(const gable_context *ctx, const char *phase, double done)
{
  if (ctx->options.progress && ctx->options.progress(ctx->options.progress_user, phase, done))
    return gi_raise(GABLE_ERR_CANCELLED, __FILE__, __LINE__, __func__, "cancelled by the caller during %s", phase);
  return GABLE_OK;
}
