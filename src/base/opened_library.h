/* opened_library.h: functions of a library that is opened when it is first needed, so that Gable is bound to none. */
#ifndef GI_OPENED_LIBRARY_H
#define GI_OPENED_LIBRARY_H

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* A symbol, and the pointer to a function that it is for. */
typedef struct gi_library_symbol {
  const char *name;
  void *function;
} gi_library_symbol;

/* Fills the functions of all [count] symbols, for good; NULL where one is missing or there is no library, with what is
 * missing in why. */
static inline void *gi_library_open(const char *name, const gi_library_symbol *all, size_t count, char *why,
                                    size_t why_bytes)
{
  void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    snprintf(why, why_bytes, "%s", dlerror());
    return NULL;
  }
  for (size_t k = 0; k < count; k++) {
    void *at = dlsym(handle, all[k].name);
    memcpy(all[k].function, &at, sizeof at);
    if (at) continue;
    snprintf(why, why_bytes, "%s lacks %s", name, all[k].name);
    return NULL;
  }
  return handle;
}

#endif
