/* stopwatch.h: seconds of a clock that never goes back, and the quartiles of repeated times. */
#ifndef TOOL_STOPWATCH_H
#define TOOL_STOPWATCH_H

double stopwatch_now(void);

typedef struct quartiles {
  double q1, median, q3;
} quartiles;

/* Sorts times. */
quartiles stopwatch_quartiles(double *times, long count);

/* Seconds to read so many bytes once more, after they were read before: the median of a few passes of one thread over a
 * buffer of that size; 0 when there is no memory for it. */
double stopwatch_read(double bytes);

#endif
