/* timer.h: seconds of a clock that never goes back. */
#ifndef GI_TIMER_H
#define GI_TIMER_H

double gi_now(void);

#endif
