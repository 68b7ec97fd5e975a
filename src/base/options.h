/* options.h: the options that a caller gives, laid over the defaults.
 *
 * Every options struct opens with its own size, so that a program that was compiled against a shorter one keeps
 * working: what it does not know stays at the default. */
#ifndef GI_OPTIONS_H
#define GI_OPTIONS_H

#include "base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* own [size bytes] holds the defaults; given (NULL: none) starts with the size_t that says how much of it there is.
 * init: the macro to recommend.  GABLE_ERR_ARGUMENT for a size that holds no member, or more than this version has. */
gable_status gi_options_take(const void *given, void *own, size_t size, const char *init);

/* *threads of the caller: 0 becomes otherwise, and more than most becomes most.  GABLE_ERR_ARGUMENT outside of 0 to
 * 1024. */
gable_status gi_options_threads(int *threads, int otherwise, int most);

#ifdef __cplusplus
}
#endif

#endif
