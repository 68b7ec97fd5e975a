/* entry.h: what public functions that own nothing are made of: each check returns at once, and so does what they call.
 * Those that own something have `done:`, as everywhere (base/status.h). */
#ifndef GI_ENTRY_H
#define GI_ENTRY_H

#include "base/status.h"

#define GI_CHECK(condition, code, ...)                                                                                 \
  do {                                                                                                                 \
    if (GI_UNLIKELY(!(condition))) return gi_raise((code), __FILE__, __LINE__, __func__, __VA_ARGS__);                 \
  } while (0)

#define GI_GIVEN(argument, name) GI_CHECK(argument, GABLE_ERR_ARGUMENT, "%s is NULL", name)

/* object and out are given; *out = NULL, in case of an error later on. */
#define GI_GIVEN_OUT(object, name, out)                                                                                \
  do {                                                                                                                 \
    GI_GIVEN(object, name);                                                                                            \
    GI_GIVEN(out, "out");                                                                                              \
    *(out) = NULL;                                                                                                     \
  } while (0)

/* As GI_GIVEN_OUT, in a collective function: the ranks of object agree on out as on the other arguments (comm/comm.h),
 * since it may be NULL on one rank alone. */
#define GI_GIVEN_TOGETHER(object, name, out)                                                                           \
  do {                                                                                                                 \
    GI_GIVEN(object, name);                                                                                            \
    if (out) *(out) = NULL;                                                                                            \
  } while (0)

/* Returns from the function when call fails. */
#define GI_PASS(call)                                                                                                  \
  do {                                                                                                                 \
    const gable_status passed = GI_TRACED(call);                                                                       \
    if (GI_UNLIKELY(passed)) return passed;                                                                            \
  } while (0)

/* The status of call, for `return`. */
#define GI_TRACED(call) gi_traced((call), __FILE__, __LINE__, __func__)

static inline gable_status gi_traced(gable_status status, const char *file, int line, const char *func)
{
  if (GI_UNLIKELY(status)) gi_trace(file, line, func);
  return status;
}

#endif
