/* options.h: options that several objects share. */
#ifndef GI_OPTIONS_H
#define GI_OPTIONS_H

#include "base/status.h"

/* *threads of the caller: 0 becomes otherwise, and more than most becomes most.  GABLE_ERR_ARGUMENT outside of 0 to
 * 1024. */
static inline gable_status gi_options_threads(int *threads, int otherwise, int most)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(*threads >= 0 && *threads <= 1024, GABLE_ERR_ARGUMENT, "threads is %d: give 0 to 1024", *threads);
  if (!*threads) *threads = otherwise;
  if (*threads > most) *threads = most;
done:
  return status;
}

#endif
