/* require.h: looks for memory that a caller calls device memory. */
#ifndef GI_REQUIRE_H
#define GI_REQUIRE_H

#include "device/device.h"
#include "sparse/vectors.h"

/* GABLE_ERR_ARGUMENT where it is known that bytes from p on, called device memory by the caller, are none of ctx. */
static inline gable_status gi_require_memory(gable_context *ctx, const void *p, size_t bytes, const char *name)
{
  return ctx->device->require ? ctx->device->require(ctx, p, bytes, name) : GABLE_OK;
}

/* The same of vectors, whose ld is filled in; GABLE_OK where they are in host memory. */
static inline gable_status gi_require_vectors(gable_context *ctx, const gable_vectors_view *v, const char *name)
{
  return v->space == GABLE_SPACE_DEVICE ? gi_require_memory(ctx, v->data, gi_vectors_span(v), name) : GABLE_OK;
}

#endif
