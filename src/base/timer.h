/* timer.h: seconds of clocks that never go back. */
#ifndef GI_TIMER_H
#define GI_TIMER_H

double gi_now(void);

/* For which this thread has had a processor; gi_now() where the system does not tell. */
double gi_processor_seconds(void);

#endif
