#include "base/pulse.h"

#include "base/timer.h"

static const double interval_s = 0.02, step = 0.01;

gi_pulse gi_pulse_begin(const gable_context *ctx, const char *phase)
{
  return (gi_pulse){ctx, phase, -1, 0};
}

gable_status gi_pulse_tell(gi_pulse *p, double done)
{
  if (!p->ctx->options.progress) return GABLE_OK;
  if (done > 1) done = 1;
  const int grown = p->told < 0 || done >= p->told + step;
  const double now = gi_now();
  if (!grown && now < p->next) return GABLE_OK;
  p->told = done;
  p->next = now + interval_s;
  return gi_progress(p->ctx, p->phase, done);
}

gable_status gi_pulse_wait(gi_pulse *p)
{
  return gi_pulse_tell(p, p->told < 0 ? 0 : p->told);
}
