/* loop.cu: loops as WHILE nodes of CUDA graphs (CUDA 12.4).
 *
 * While a stream is captured:
 *   1. a kernel sets the condition to *flag
 *   2. a WHILE node follows it in the stream's graph
 *   3. the body is captured into the node's graph on a stream of its own, and ends with the same kernel
 *   4. what the stream gets next depends on the node */
#include "device/loop.h"

#include "cuda/current_device.cuh"
#include "cuda/launch.cuh"
#include "device/cuda_place.h"
#include "device/mailbox.h"

using gik::checked;
using gik::current_device;
using gik::launches;

namespace
{

enum { LEAST_DRIVER = 12040 };

__global__ void condition_kernel(cudaGraphConditionalHandle handle, const int *flag)
{
  cudaGraphSetConditional(handle, *flag != 0);
}

/* Calls that a capture of the thread might forbid are allowed in its scope. */
class relaxed_capture
{
public:
  relaxed_capture() { cudaThreadExchangeStreamCaptureMode(&mode); }
  ~relaxed_capture() { cudaThreadExchangeStreamCaptureMode(&mode); }

private:
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
};

gable_status is_capturing(cudaStream_t stream, bool *out)
{
  cudaStreamCaptureStatus now = cudaStreamCaptureStatusNone;
  const gable_status status = checked(cudaStreamIsCapturing(stream, &now), "stream");
  *out = now != cudaStreamCaptureStatusNone;
  return status;
}

gable_status set_condition(cudaGraphConditionalHandle handle, const int *flag, cudaStream_t stream)
{
  launches on(stream);
  on.launch(condition_kernel, 1, 1, 0, handle, flag);
  return on.status("condition of a loop");
}

/* Steps 2 and 4: *body is the graph of the new node. */
gable_status add_while_node(cudaStream_t stream, cudaGraph_t graph, cudaGraphConditionalHandle handle,
                            cudaGraph_t *body)
{
  gable_status status = GABLE_OK;
  cudaStreamCaptureStatus capture;
  const cudaGraphNode_t *before = nullptr;
  const cudaGraphEdgeData *edges = nullptr;
  size_t count = 0;
  cudaGraphNode_t node;
  cudaGraphNodeParams how = {};
  how.type = cudaGraphNodeTypeConditional;
  how.conditional.handle = handle;
  how.conditional.type = cudaGraphCondTypeWhile;
  how.conditional.size = 1;
  GI_TRY(checked(cudaStreamGetCaptureInfo(stream, &capture, nullptr, nullptr, &before, &edges, &count), "loop"));
  GI_TRY(checked(cudaGraphAddNode(&node, graph, before, edges, count, &how), "loop"));
  GI_TRY(checked(cudaStreamUpdateCaptureDependencies(stream, &node, nullptr, 1, cudaStreamSetCaptureDependencies),
                 "loop"));
  *body = how.conditional.phGraph_out[0];
done:
  return status;
}

/* Step 3. */
gable_status capture_body(cudaGraph_t graph, cudaGraphConditionalHandle handle, const int *flag, gi_launches *body,
                          void *user)
{
  gable_status status = GABLE_OK;
  cudaStream_t own = nullptr;
  cudaGraph_t same = nullptr;
  bool begun = false;
  GI_TRY(checked(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking), "stream of a loop"));
  GI_TRY(checked(cudaStreamBeginCaptureToGraph(own, graph, nullptr, nullptr, 0, cudaStreamCaptureModeRelaxed), "loop"));
  begun = true;
  GI_TRY(body(user, own));
  GI_TRY(set_condition(handle, flag, own));
done:
  if (begun) {
    const cudaError_t e = cudaStreamEndCapture(own, &same);
    if (!status) status = checked(e, "loop");
  }
  if (own) cudaStreamDestroy(own);
  return status;
}

gable_status captured_loop(cudaStream_t stream, const int *flag, gi_launches *body, void *user)
{
  gable_status status = GABLE_OK;
  cudaStreamCaptureStatus capture;
  cudaGraph_t graph = nullptr, inside = nullptr;
  cudaGraphConditionalHandle handle;
  const relaxed_capture allow;
  GI_TRY(checked(cudaStreamGetCaptureInfo(stream, &capture, nullptr, &graph), "loop"));
  GI_TRY(checked(cudaGraphConditionalHandleCreate(&handle, graph), "condition of a loop"));
  GI_TRY(set_condition(handle, flag, stream));
  GI_TRY(add_while_node(stream, graph, handle, &inside));
  GI_TRY(capture_body(inside, handle, flag, body, user));
done:
  return status;
}

} /* namespace */

extern "C" gable_status gi_loop_cuda(gable_context *ctx, void *stream, const int *flag, gi_launches *body, void *user)
{
  gable_status status = GABLE_OK;
  bool capturing = false;
  int going = 1;
  GI_TRY(is_capturing((cudaStream_t)stream, &capturing));
  if (capturing) {
    GI_TRY(captured_loop((cudaStream_t)stream, flag, body, user));
    goto done;
  }
  for (;;) {
    GI_TRY(gi_mailbox_fetch(ctx, stream, &going, flag, sizeof going));
    if (!going) break;
    GI_TRY(body(user, stream));
  }
done:
  return status;
}

extern "C" gable_status gi_recording_capture_cuda(gable_context *ctx, gi_launches *launches, void *user, void **out)
{
  gable_status status = GABLE_OK;
  int driver = 0;
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  bool begun = false;
  current_device here;
  GI_TRY(here.enter(gi_cuda_ordinal(ctx)));
  GI_TRY(checked(cudaDriverGetVersion(&driver), "driver"));
  if (driver < LEAST_DRIVER) goto done;
  GI_TRY(checked(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream of a recording"));
  GI_TRY(checked(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), "recording"));
  begun = true;
  GI_TRY(launches(user, stream));
done:
  if (begun) {
    const cudaError_t e = cudaStreamEndCapture(stream, &graph);
    if (!status) status = checked(e, "recording");
  }
  if (graph && !status) status = checked(cudaGraphInstantiate(&exec, graph, 0), "recording");
  if (graph) cudaGraphDestroy(graph);
  if (stream) cudaStreamDestroy(stream);
  *out = exec;
  return status;
}

extern "C" gable_status gi_recording_play_cuda(void *graph, gi_launches *launches, void *user, void *stream)
{
  gable_status status = GABLE_OK;
  bool capturing = false;
  GI_TRY(is_capturing((cudaStream_t)stream, &capturing));
  if (capturing || !graph)
    GI_TRY(launches(user, stream));
  else
    GI_TRY(checked(cudaGraphLaunch((cudaGraphExec_t)graph, (cudaStream_t)stream), "recording"));
done:
  return status;
}

extern "C" void gi_recording_release_cuda(void *graph)
{
  cudaGraphExecDestroy((cudaGraphExec_t)graph);
}
