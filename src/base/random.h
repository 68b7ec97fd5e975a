/* random.h: a small seeded generator (splitmix64), the same numbers on every machine. */
#ifndef GI_RANDOM_H
#define GI_RANDOM_H

#include <stdint.h>

__extension__ typedef unsigned __int128 gi_uint128;

typedef struct gi_random {
  uint64_t state;
} gi_random;

static inline gi_random gi_random_seed(uint64_t seed)
{
  return (gi_random){seed * 0x9E3779B97F4A7C15u + 0x1234567u};
}

static inline uint64_t gi_random_u64(gi_random *r)
{
  uint64_t z = (r->state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

/* Uniform in [0,1). */
static inline double gi_random_unit(gi_random *r)
{
  return (double)(gi_random_u64(r) >> 11) * 0x1p-53;
}

/* Uniform in [0,n), n > 0. */
static inline int64_t gi_random_below(gi_random *r, int64_t n)
{
  return (int64_t)(((gi_uint128)gi_random_u64(r) * (gi_uint128)n) >> 64);
}

#endif
