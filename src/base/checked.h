/* checked.h: arithmetic on sizes that come from files and callers. */
#ifndef GI_CHECKED_H
#define GI_CHECKED_H

#include <stddef.h>
#include <stdint.h>

/* *out = a*b or a+b; returns 1 on overflow. */
static inline int gi_mul_size(size_t a, size_t b, size_t *out)
{
  return __builtin_mul_overflow(a, b, out);
}
static inline int gi_mul_off(int64_t a, int64_t b, int64_t *out)
{
  return __builtin_mul_overflow(a, b, out);
}
static inline int gi_add_off(int64_t a, int64_t b, int64_t *out)
{
  return __builtin_add_overflow(a, b, out);
}

#endif
