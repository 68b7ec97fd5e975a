/* options.h: options that several objects share. */
#ifndef GI_OPTIONS_H
#define GI_OPTIONS_H

#include "base/status.h"

/* *threads of the caller: 0 becomes otherwise, and more than most becomes most.  GABLE_ERR_ARGUMENT outside of 0 to
 * 1024. */
gable_status gi_options_threads(int *threads, int otherwise, int most);

#endif
