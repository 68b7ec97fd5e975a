/* status.h: one status type, one macro to raise it, one to pass it on, one label `done:`. */
#ifndef GI_STATUS_H
#define GI_STATUS_H

#include <gable/types.h>

#include "base/portable.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a thread remembers of its last error; what does not fit is cut off. */
typedef struct gi_error {
  char message[1024]; /* one line */
  char trace[1024];   /* "at FILE:LINE FUNCTION", then lines "by FILE:LINE FUNCTION" */
  int names_rank;     /* 1: the message begins with the rank that it is of, and needs no other one */
} gi_error;

/* Writes the message, names_rank 0 and the place into this thread's record and returns code. */
gable_status gi_raise(gable_status code, const char *file, int line, const char *func, const char *format, ...)
    GI_PRINTF(5, 6);

/* Sets names_rank of this thread's record, which was just written. */
void gi_error_names_rank(void);

/* Appends the place to the trace of this thread's record. */
void gi_trace(const char *file, int line, const char *func);

/* Errors that this thread has recorded so far. */
unsigned gi_error_count(void);

/* returned, by a function of the caller's, called `name` in errors.  An error that left no record of its own since
 * gi_error_count() was `before` gets one: gable_last_error is not about an older one. */
gable_status gi_from_caller(gable_status returned, unsigned before, const char *name);

/* *error = this thread's record, and the other way around: for errors inside parallel regions, and for calls whose
 * failure is no error. */
void gi_keep_error(gi_error *error);
void gi_adopt_error(const gi_error *error);

#ifdef __cplusplus
}
#endif

/* Each function that uses these has `gable_status status = GABLE_OK;` and a label `done:` that frees what it owns. */
#define GI_TRY(call)                                                                                                   \
  do {                                                                                                                 \
    status = (call);                                                                                                   \
    if (GI_UNLIKELY(status)) {                                                                                         \
      gi_trace(__FILE__, __LINE__, __func__);                                                                          \
      goto done;                                                                                                       \
    }                                                                                                                  \
  } while (0)

#define GI_REQUIRE(condition, code, ...)                                                                               \
  do {                                                                                                                 \
    if (GI_UNLIKELY(!(condition))) {                                                                                   \
      status = gi_raise((code), __FILE__, __LINE__, __func__, __VA_ARGS__);                                            \
      goto done;                                                                                                       \
    }                                                                                                                  \
  } while (0)

#endif
