/* combine.c: one pair of loops for each unit and op, and the walk through maps around them. */
#include "kernels/forest/combine.h"

#include <string.h>

#include "base/portable.h"

typedef struct pair_i32 {
  int32_t value, place;
} pair_i32;
typedef struct pair_i64 {
  int64_t value, place;
} pair_i64;
typedef struct pair_s {
  float value;
  int32_t place;
} pair_s;
typedef struct pair_d {
  double value;
  int64_t place;
} pair_d;
typedef struct complex_s {
  float re, im;
} complex_s;
typedef struct complex_d {
  double re, im;
} complex_d;

/* EXPRESSION of a, what was there, and b, what comes. */
#define KERNEL(name, T, EXPRESSION)                                                                                    \
  static inline T name##_one(T a, T b)                                                                                 \
  {                                                                                                                    \
    return EXPRESSION;                                                                                                 \
  }                                                                                                                    \
  static void name##_strided(void *to, int64_t ts, const void *from, int64_t fs, int64_t n, int64_t width)             \
  {                                                                                                                    \
    T *t = to;                                                                                                         \
    const T *f = from;                                                                                                 \
    if (ts == 1 && fs == 1) {                                                                                          \
      for (int64_t i = 0; i < n * width; i++) t[i] = name##_one(t[i], f[i]);                                           \
      return;                                                                                                          \
    }                                                                                                                  \
    for (int64_t i = 0; i < n; i++, t += ts * width, f += fs * width)                                                  \
      for (int64_t w = 0; w < width; w++) t[w] = name##_one(t[w], f[w]);                                               \
  }                                                                                                                    \
  static void name##_indexed(void *to, const int64_t *ti, const void *from, const int64_t *fi, int64_t n,              \
                             int64_t width)                                                                            \
  {                                                                                                                    \
    T *t = to;                                                                                                         \
    const T *f = from;                                                                                                 \
    if (width == 1 && ti && !fi) {                                                                                     \
      for (int64_t i = 0; i < n; i++) t[ti[i]] = name##_one(t[ti[i]], f[i]);                                           \
      return;                                                                                                          \
    }                                                                                                                  \
    for (int64_t i = 0; i < n; i++) {                                                                                  \
      T *p = t + (ti ? ti[i] : i) * width;                                                                             \
      const T *q = f + (fi ? fi[i] : i) * width;                                                                       \
      for (int64_t w = 0; w < width; w++) p[w] = name##_one(p[w], q[w]);                                               \
    }                                                                                                                  \
  }

/* U: unsigned and as wide as arithmetic is, so that sums wrap. */
#define INTEGER(name, T, U)                                                                                            \
  KERNEL(name##_sum, T, (T)((U)a + (U)b))                                                                              \
  KERNEL(name##_prod, T, (T)((U)a * (U)b))                                                                             \
  KERNEL(name##_min, T, b < a ? b : a)                                                                                 \
  KERNEL(name##_max, T, b > a ? b : a)                                                                                 \
  KERNEL(name##_land, T, (T)(a && b))                                                                                  \
  KERNEL(name##_band, T, (T)(a & b))                                                                                   \
  KERNEL(name##_lor, T, (T)(a || b))                                                                                   \
  KERNEL(name##_bor, T, (T)(a | b))                                                                                    \
  KERNEL(name##_lxor, T, (T)(!a != !b))                                                                                \
  KERNEL(name##_bxor, T, (T)(a ^ b))
#define REAL(name, T)                                                                                                  \
  KERNEL(name##_sum, T, a + b)                                                                                         \
  KERNEL(name##_prod, T, a *b)                                                                                         \
  KERNEL(name##_min, T, b < a ? b : a)                                                                                 \
  KERNEL(name##_max, T, b > a ? b : a)
#define COMPLEX(name, T)                                                                                               \
  KERNEL(name##_sum, T, ((T){a.re + b.re, a.im + b.im}))                                                               \
  KERNEL(name##_prod, T, ((T){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}))
#define PAIR(name, T)                                                                                                  \
  KERNEL(name##_minloc, T, b.value < a.value || (b.value == a.value && b.place < a.place) ? b : a)                     \
  KERNEL(name##_maxloc, T, b.value > a.value || (b.value == a.value && b.place < a.place) ? b : a)

INTEGER(i8, signed char, unsigned)
INTEGER(u8, unsigned char, unsigned)
INTEGER(i32, int32_t, uint32_t)
INTEGER(i64, int64_t, uint64_t)
REAL(s, float)
REAL(d, double)
COMPLEX(c, complex_s)
COMPLEX(z, complex_d)
PAIR(pi32, pair_i32)
PAIR(pi64, pair_i64)
PAIR(ps, pair_s)
PAIR(pd, pair_d)

/* Items of so many bytes, at any address; bytes is constant where it is called for speed. */
static GI_INLINE void copy_items(char *to, const int64_t *ti, const char *from, const int64_t *fi, int64_t n,
                                 size_t bytes)
{
  const int64_t b = (int64_t)bytes;
  if (ti && !fi)
    for (int64_t i = 0; i < n; i++) memcpy(to + ti[i] * b, from + i * b, bytes);
  else if (!ti && fi)
    for (int64_t i = 0; i < n; i++) memcpy(to + i * b, from + fi[i] * b, bytes);
  else
    for (int64_t i = 0; i < n; i++) memmove(to + (ti ? ti[i] : i) * b, from + (fi ? fi[i] : i) * b, bytes);
}

static void copy_indexed(char *to, const int64_t *ti, const char *from, const int64_t *fi, int64_t n, size_t bytes)
{
  switch (bytes) {
  case 4: copy_items(to, ti, from, fi, n, 4); break;
  case 8: copy_items(to, ti, from, fi, n, 8); break;
  case 16: copy_items(to, ti, from, fi, n, 16); break;
  default: copy_items(to, ti, from, fi, n, bytes);
  }
}

static GI_INLINE void copy_steps(char *to, int64_t ts, const char *from, int64_t fs, int64_t n, size_t bytes)
{
  for (int64_t i = 0; i < n; i++, to += ts, from += fs) memmove(to, from, bytes);
}

static void copy_strided(char *to, int64_t ts, const char *from, int64_t fs, int64_t n, size_t bytes)
{
  if (ts == 1 && fs == 1)
    memmove(to, from, (size_t)n * bytes);
  else if (bytes == 8)
    copy_steps(to, 8 * ts, from, 8 * fs, n, 8);
  else
    copy_steps(to, (int64_t)bytes * ts, from, (int64_t)bytes * fs, n, bytes);
}

#define COPY(name, BYTES)                                                                                              \
  static void name##_strided(void *to, int64_t ts, const void *from, int64_t fs, int64_t n, int64_t width)             \
  {                                                                                                                    \
    copy_strided(to, ts, from, fs, n, BYTES *(size_t)width);                                                           \
  }                                                                                                                    \
  static void name##_indexed(void *to, const int64_t *ti, const void *from, const int64_t *fi, int64_t n,              \
                             int64_t width)                                                                            \
  {                                                                                                                    \
    copy_indexed(to, ti, from, fi, n, BYTES *(size_t)width);                                                           \
  }
COPY(copy1, 1)
COPY(copy4, 4)
COPY(copy8, 8)
COPY(copy16, 16)

#define ENTRY(name, bytes)                                                                                             \
  {                                                                                                                    \
    name##_strided, name##_indexed, bytes                                                                              \
  }
#define INTEGERS(name, bytes)                                                                                          \
  {                                                                                                                    \
    ENTRY(copy##bytes, bytes), ENTRY(name##_sum, bytes), ENTRY(name##_prod, bytes), ENTRY(name##_min, bytes),          \
        ENTRY(name##_max, bytes), ENTRY(name##_land, bytes), ENTRY(name##_band, bytes), ENTRY(name##_lor, bytes),      \
        ENTRY(name##_bor, bytes), ENTRY(name##_lxor, bytes), ENTRY(name##_bxor, bytes),                                \
  }
#define REALS(name, bytes)                                                                                             \
  {                                                                                                                    \
    ENTRY(copy##bytes, bytes), ENTRY(name##_sum, bytes), ENTRY(name##_prod, bytes), ENTRY(name##_min, bytes),          \
        ENTRY(name##_max, bytes)                                                                                       \
  }
#define COMPLEXES(name, bytes)                                                                                         \
  {                                                                                                                    \
    ENTRY(copy##bytes, bytes), ENTRY(name##_sum, bytes), ENTRY(name##_prod, bytes)                                     \
  }
#define PAIRS(name, bytes)                                                                                             \
  {                                                                                                                    \
    [GABLE_FOREST_OP_REPLACE] = ENTRY(copy##bytes, bytes), [GABLE_FOREST_OP_MINLOC] = ENTRY(name##_minloc, bytes),     \
    [GABLE_FOREST_OP_MAXLOC] = ENTRY(name##_maxloc, bytes)                                                             \
  }
enum { UNITS = GABLE_UNIT_PAIR_D + 1, OPS = GABLE_FOREST_OP_MAXLOC + 1 };
static const gik_combine table[UNITS][OPS] = {
    [GABLE_UNIT_BYTES] = {ENTRY(copy1, 1)},
    [GABLE_UNIT_CHAR] = INTEGERS(i8, 1),
    [GABLE_UNIT_UCHAR] = INTEGERS(u8, 1),
    [GABLE_UNIT_I32] = INTEGERS(i32, 4),
    [GABLE_UNIT_I64] = INTEGERS(i64, 8),
    [GABLE_UNIT_S] = REALS(s, 4),
    [GABLE_UNIT_D] = REALS(d, 8),
    [GABLE_UNIT_C] = COMPLEXES(c, 8),
    [GABLE_UNIT_Z] = COMPLEXES(z, 16),
    [GABLE_UNIT_PAIR_I32] = PAIRS(pi32, 8),
    [GABLE_UNIT_PAIR_I64] = PAIRS(pi64, 16),
    [GABLE_UNIT_PAIR_S] = PAIRS(ps, 8),
    [GABLE_UNIT_PAIR_D] = PAIRS(pd, 16),
};

const gik_combine *gik_combine_for(gable_unit_type unit, gable_forest_op op)
{
  if ((int)unit < 0 || (int)unit >= UNITS || (int)op < 0 || (int)op >= OPS) return NULL;
  return table[unit][op].strided ? &table[unit][op] : NULL;
}

size_t gik_unit_bytes(gable_unit_type unit)
{
  return (int)unit < 0 || (int)unit >= UNITS ? 0 : table[unit][GABLE_FOREST_OP_REPLACE].number;
}

/* Where a map that is a list or contiguous has its items: the list, or NULL and the offset of the first. */
static int direct(const gik_map *m, const int64_t **index, int64_t *offset)
{
  *index = m->kind == GIK_MAP_LIST ? m->list : NULL;
  *offset = m->kind == GIK_MAP_LIST ? 0 : m->start;
  return m->kind == GIK_MAP_LIST || m->kind == GIK_MAP_CONTIGUOUS;
}

void gik_combine_maps(const gik_combine *c, void *to, const gik_map *to_map, const void *from, const gik_map *from_map,
                      int64_t width)
{
  const int64_t item = (int64_t)c->number * width, *ti, *fi;
  int64_t t0, f0;
  char *t = to;
  const char *f = from;
  if (!to_map->n) return;
  if (direct(to_map, &ti, &t0) && direct(from_map, &fi, &f0)) {
    if (ti || fi)
      c->indexed(t + t0 * item, ti, f + f0 * item, fi, to_map->n, width);
    else
      c->strided(t + t0 * item, 1, f + f0 * item, 1, to_map->n, width);
    return;
  }
  gik_walk a, b;
  gik_walk_begin(&a, to_map);
  gik_walk_begin(&b, from_map);
  while (a.piece < a.pieces && b.piece < b.pieces) {
    const int64_t n = a.n < b.n ? a.n : b.n;
    c->strided(t + a.at * item, a.stride, f + b.at * item, b.stride, n, width);
    a.at += n * a.stride;
    b.at += n * b.stride;
    if (!(a.n -= n)) gik_walk_next(&a);
    if (!(b.n -= n)) gik_walk_next(&b);
  }
}

void gik_fetch_maps(const gik_combine *c, void *update, const gik_map *update_map, void *to, const gik_map *to_map,
                    const void *from, const gik_map *from_map, int64_t width, int apart)
{
  const int64_t item = (int64_t)c->number * width;
  if (!to_map->n) return;
  if (apart) {
    static const gik_combine copy = ENTRY(copy1, 1);
    gik_combine_maps(&copy, update, update_map, to, to_map, item);
    gik_combine_maps(c, to, to_map, from, from_map, width);
    return;
  }
  gik_walk u, t, f;
  gik_walk_begin(&u, update_map);
  gik_walk_begin(&t, to_map);
  gik_walk_begin(&f, from_map);
  for (int64_t i = 0; i < to_map->n; i++) {
    char *place = (char *)to + t.at * item;
    memcpy((char *)update + u.at * item, place, (size_t)item);
    c->strided(place, 1, (const char *)from + f.at * item, 1, 1, width);
    gik_walk *const each[] = {&u, &t, &f};
    for (int k = 0; k < 3; k++) {
      each[k]->at += each[k]->stride;
      if (!--each[k]->n) gik_walk_next(each[k]);
    }
  }
}
