/* cpu.h: functions of the CPU's device table that the mirror's has too: they touch no device memory. */
#ifndef GI_DEVICE_CPU_H
#define GI_DEVICE_CPU_H

#include "device/device.h"

gable_status gi_cpu_enter(const gable_context *ctx, int *before);
void gi_cpu_leave(const gable_context *ctx, int before);
const gik_gpu_class *gi_cpu_gpu_class(const gable_context *ctx);
void *gi_cpu_own_stream(const gable_context *ctx);
gable_status gi_cpu_order_after(gable_context *ctx, void *stream, void *earlier);
gable_status gi_cpu_synchronise(gable_context *ctx, void *stream);
gable_status gi_cpu_is_capturing(gable_context *ctx, void *stream, int *out);
gable_status gi_cpu_event_create(gable_context *ctx, void **out);
gable_status gi_cpu_event_record(gable_context *ctx, void *event, void *stream);
gable_status gi_cpu_event_elapsed(gable_context *ctx, void *begin, void *end, double *seconds);
void gi_cpu_event_destroy(gable_context *ctx, void *event);
gable_status gi_cpu_await_event(gable_context *ctx, void *stream, void *event);
int gi_cpu_event_done(gable_context *ctx, void *event, int wait);
gable_status gi_cpu_pinned_alloc(gable_context *ctx, size_t bytes, void **out);
void gi_cpu_pinned_release(gable_context *ctx, void *p);
gable_status gi_cpu_open_to(gable_context *ctx, const gable_context *other);
int gi_cpu_reached_by(gable_context *ctx, const void *p, const gable_context *other);

/* Their places in both tables. */
#define GI_CPU_STREAMS                                                                                                 \
  .enter = gi_cpu_enter, .leave = gi_cpu_leave, .synchronise = gi_cpu_synchronise, .own_stream = gi_cpu_own_stream,    \
  .order_after = gi_cpu_order_after, .is_capturing = gi_cpu_is_capturing, .event_create = gi_cpu_event_create,         \
  .event_record = gi_cpu_event_record, .event_elapsed = gi_cpu_event_elapsed, .event_destroy = gi_cpu_event_destroy,   \
  .await_event = gi_cpu_await_event, .event_done = gi_cpu_event_done, .pinned_alloc = gi_cpu_pinned_alloc,             \
  .pinned_release = gi_cpu_pinned_release, .open_to = gi_cpu_open_to, .reached_by = gi_cpu_reached_by

#endif
