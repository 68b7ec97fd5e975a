/* structs.c: fills a caller's struct with the defaults of its INIT macro. */
#include "api/structs.h"

#define GI_STRUCT_INIT(name, last, init)                                                                               \
  gable_status gable_##name##_init(gable_##name *s, size_t size)                                                       \
  {                                                                                                                    \
    static const gable_##name own = init;                                                                              \
    return gi_struct_init(&own, sizeof own, GI_BYTES_TO(gable_##name, last), s, size, #init);                          \
  }
GI_STRUCT_LIST(GI_STRUCT_INIT)
