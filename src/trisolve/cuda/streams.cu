/* streams.cu: updates come after the solves that are in flight, on whatever streams, and nobody waits but streams.
 *
 * A solve records nothing.  An update asks each work's stream for an event at that moment, which stands for every solve
 * asked for so far, and waits for it on its own stream; solves wait for the event of the last update, once. */
#include "trisolve/cuda/state.h"

namespace gi
{

gable_status is_capturing(void *stream, bool *out)
{
  gable_status status = GABLE_OK;
  cudaStreamCaptureStatus now = cudaStreamCaptureStatusNone;
  GI_TRY(checked(cudaStreamIsCapturing((cudaStream_t)stream, &now), "stream"));
  *out = now != cudaStreamCaptureStatusNone;
done:
  return status;
}

gable_status order_after_solves(gable_context *ctx, state *s, void *stream)
{
  gable_status status = GABLE_OK;
  pthread_mutex_lock(&s->lock);
  for (const gable_trisolve_work *w = s->works; w; w = w->next)
    GI_TRY(ctx->device->order_after(ctx, stream, w->stream));
done:
  pthread_mutex_unlock(&s->lock);
  return status;
}

void add_work(state *s, gable_trisolve_work *w)
{
  pthread_mutex_lock(&s->lock);
  w->next = s->works;
  s->works = w;
  pthread_mutex_unlock(&s->lock);
}

void remove_work(state *s, gable_trisolve_work *w)
{
  pthread_mutex_lock(&s->lock);
  gable_trisolve_work **at = &s->works;
  while (*at && *at != w) at = &(*at)->next;
  if (*at) *at = w->next;
  pthread_mutex_unlock(&s->lock);
}

} /* namespace gi */
