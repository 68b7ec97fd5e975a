/* loop.h: sequences of launches that repeat while a word in device memory is not zero, without a question to the host.
 *
 * On a GPU a loop is a conditional node of a CUDA graph, so it works where its stream is being captured; elsewhere the
 * host looks at the word before each repetition.  A recording is a sequence with loops that is captured once and played
 * on any stream: then no loop asks the host. */
#ifndef GI_DEVICE_LOOP_H
#define GI_DEVICE_LOOP_H

#include "device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Repeats body while *flag (in device memory) is not 0. */
gable_status gi_loop(gable_context *ctx, void *stream, const int *flag, gi_launches *body, void *user);

typedef struct gi_recording gi_recording;

/* Captures launches(user, ..), which runs nothing yet.  user must outlive the recording.  Nothing is captured on the
 * CPU and the mirror, and with a driver before CUDA 12.4, which has no conditional nodes: there play calls launches. */
gable_status gi_recording_create(gable_context *ctx, gi_launches *launches, void *user, gi_recording **out);
void gi_recording_destroy(gable_context *ctx, gi_recording **recording); /* NULL is fine */

/* Ordered on stream, waits for nothing but where nothing was captured.  Where stream is being captured its launches
 * become part of that graph.  One recording does not run beside itself. */
gable_status gi_recording_play(gi_recording *recording, void *stream);

/* Of a GPU's table; loop.cu. */
gable_status gi_loop_cuda(gable_context *ctx, void *stream, const int *flag, gi_launches *body, void *user);
gable_status gi_recording_capture_cuda(gable_context *ctx, gi_launches *launches, void *user, void **graph);
gable_status gi_recording_play_cuda(void *graph, gi_launches *launches, void *user, void *stream);
void gi_recording_release_cuda(void *graph);

#ifdef __cplusplus
}
#endif

#endif
