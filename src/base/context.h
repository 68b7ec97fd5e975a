/* context.h: the inside of gable_context: memory, log and progress of the caller's. */
#ifndef GI_CONTEXT_H
#define GI_CONTEXT_H

#include <gable/context.h>

#include "base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gi_device; /* device/device.h */

struct gable_context {
  char where[32];
  int threads;
  gable_context_options options;  /* a copy; functions filled in */
  const struct gi_device *device; /* never NULL */
  void *device_state;
};

/* count * size bytes, aligned to 64, or NULL on overflow, exhaustion or count < 0.  count 0 gives a valid pointer. */
void *gi_alloc(gable_context *ctx, gable_off count, size_t size);
void *gi_alloc_zero(gable_context *ctx, gable_off count, size_t size);
void gi_free(gable_context *ctx, void *p); /* NULL is fine */

/* gi_free of each of the pointers, all of which are read before the first is freed. */
#define GI_FREE(ctx, ...)                                                                                              \
  gi_free_each((ctx), (void *const[]){__VA_ARGS__}, sizeof((void *const[]){__VA_ARGS__}) / sizeof(void *))
void gi_free_each(gable_context *ctx, void *const *p, size_t count);

/* The larger block with the first used elements copied; on failure NULL and p stays as it was. */
void *gi_grow(gable_context *ctx, void *p, gable_off used, gable_off count, size_t size);

/* Raises GABLE_ERR_MEMORY with how many bytes were wanted and what for; purpose NULL: as the folder of file tells. */
gable_status gi_raise_memory(double bytes, const char *purpose, const char *file, int line, const char *func);

#define GI_REQUIRE_MEMORY(ptr, bytes, purpose)                                                                         \
  do {                                                                                                                 \
    if (GI_UNLIKELY(!(ptr))) {                                                                                         \
      status = gi_raise_memory((double)(bytes), (purpose), __FILE__, __LINE__, __func__);                              \
      goto done;                                                                                                       \
    }                                                                                                                  \
  } while (0)

/* ptr = array of count elements of its own type, or raise GABLE_ERR_MEMORY. */
#define GI_ALLOC(ctx, ptr, count) GI_ALLOC_WITH(gi_alloc, ctx, ptr, count)
#define GI_ALLOC_ZERO(ctx, ptr, count) GI_ALLOC_WITH(gi_alloc_zero, ctx, ptr, count)
#define GI_ALLOC_WITH(function, ctx, ptr, count)                                                                       \
  do {                                                                                                                 \
    (ptr) = function((ctx), (gable_off)(count), sizeof *(ptr));                                                        \
    GI_REQUIRE_MEMORY(ptr, (double)(count) * (double)sizeof *(ptr), NULL);                                             \
  } while (0)

/* ptr = array of count elements, the first used copied, or raise GABLE_ERR_MEMORY and leave it. */
#define GI_GROW(ctx, ptr, used, count, purpose)                                                                        \
  do {                                                                                                                 \
    void *gi_larger = gi_grow((ctx), (ptr), (gable_off)(used), (gable_off)(count), sizeof *(ptr));                     \
    GI_REQUIRE_MEMORY(gi_larger, (double)sizeof *(ptr) * (double)(count), purpose);                                    \
    (ptr) = gi_larger;                                                                                                 \
  } while (0)

/* ptr, an array of used elements with room for capacity, gets room for wanted, and for more of them, or raises
 * GABLE_ERR_MEMORY. */
#define GI_RESERVE(ctx, ptr, used, wanted, capacity, purpose)                                                          \
  do {                                                                                                                 \
    if ((gable_off)(wanted) > (capacity)) {                                                                            \
      const gable_off gi_room = 2 * (gable_off)(wanted) + 64;                                                          \
      GI_GROW(ctx, ptr, used, gi_room, purpose);                                                                       \
      (capacity) = gi_room;                                                                                            \
    }                                                                                                                  \
  } while (0)

void gi_log(const gable_context *ctx, gable_log_level level, const char *format, ...) GI_PRINTF(3, 4);

/* Tells the caller how far a phase has come; GABLE_ERR_CANCELLED when it asks to stop.  From one thread at a time. */
gable_status gi_progress(const gable_context *ctx, const char *phase, double done);

#ifdef __cplusplus
}
#endif

#endif
