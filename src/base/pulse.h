/* pulse.h: asks the caller's progress function from inside a loop, often enough to cancel it and no more often.
 *
 *   gi_pulse pulse = gi_pulse_begin(ctx, "sweep");
 *   for (...) GI_TRY(gi_pulse_tell(&pulse, done));
 *
 * A call asks when it is the first one, when done grew by a hundredth since the last question, or when that is 20 ms
 * ago; otherwise it reads the clock.  One thread at a time. */
#ifndef GI_PULSE_H
#define GI_PULSE_H

#include "base/context.h"

typedef struct gi_pulse {
  const gable_context *ctx;
  const char *phase;
  double told; /* share done at the last question; -1: none was asked */
  double next; /* when to ask again, by gi_now */
} gi_pulse;

gi_pulse gi_pulse_begin(const gable_context *ctx, const char *phase);

/* done: in [0,1], never less than before (more than 1 counts as 1).  GABLE_ERR_CANCELLED when the caller asks to stop.
 */
gable_status gi_pulse_tell(gi_pulse *p, double done);

/* The same while nothing is done, only waited for. */
gable_status gi_pulse_wait(gi_pulse *p);

#endif
