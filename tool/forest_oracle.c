/* forest_oracle.c: what an exchange should do, one edge after another, with none of the library's code. */
#include <stdlib.h>
#include <string.h>

#include "forest_case.h"

/* Modulo 2^64; the caller keeps what fits. */
static int64_t whole_op(gable_forest_op op, int64_t a, int64_t b)
{
  switch (op) {
  case GABLE_FOREST_OP_SUM: return (int64_t)((uint64_t)a + (uint64_t)b);
  case GABLE_FOREST_OP_PROD: return (int64_t)((uint64_t)a * (uint64_t)b);
  case GABLE_FOREST_OP_MIN: return a < b ? a : b;
  case GABLE_FOREST_OP_MAX: return a > b ? a : b;
  case GABLE_FOREST_OP_LAND: return a && b;
  case GABLE_FOREST_OP_BAND: return a & b;
  case GABLE_FOREST_OP_LOR: return a || b;
  case GABLE_FOREST_OP_BOR: return a | b;
  case GABLE_FOREST_OP_LXOR: return !a != !b;
  default: return a ^ b;
  }
}

static double real_op(gable_forest_op op, double a, double b)
{
  switch (op) {
  case GABLE_FOREST_OP_SUM: return a + b;
  case GABLE_FOREST_OP_PROD: return a * b;
  case GABLE_FOREST_OP_MIN: return a < b ? a : b;
  default: return a > b ? a : b;
  }
}

static float single_op(gable_forest_op op, float a, float b)
{
  switch (op) {
  case GABLE_FOREST_OP_SUM: return a + b;
  case GABLE_FOREST_OP_PROD: return a * b;
  case GABLE_FOREST_OP_MIN: return a < b ? a : b;
  default: return a > b ? a : b;
  }
}

#define WHOLE(T)                                                                                                       \
  do {                                                                                                                 \
    T x, y;                                                                                                            \
    memcpy(&x, a, sizeof x);                                                                                           \
    memcpy(&y, b, sizeof y);                                                                                           \
    x = (T)whole_op(op, x, y);                                                                                         \
    memcpy(a, &x, sizeof x);                                                                                           \
  } while (0)
#define REAL(T, one)                                                                                                   \
  do {                                                                                                                 \
    T x, y;                                                                                                            \
    memcpy(&x, a, sizeof x);                                                                                           \
    memcpy(&y, b, sizeof y);                                                                                           \
    x = one(op, x, y);                                                                                                 \
    memcpy(a, &x, sizeof x);                                                                                           \
  } while (0)
#define COMPLEX(T)                                                                                                     \
  do {                                                                                                                 \
    T x[2], y[2], z[2];                                                                                                \
    memcpy(x, a, sizeof x);                                                                                            \
    memcpy(y, b, sizeof y);                                                                                            \
    z[0] = op == GABLE_FOREST_OP_SUM ? x[0] + y[0] : x[0] * y[0] - x[1] * y[1];                                        \
    z[1] = op == GABLE_FOREST_OP_SUM ? x[1] + y[1] : x[0] * y[1] + x[1] * y[0];                                        \
    memcpy(a, z, sizeof z);                                                                                            \
  } while (0)
#define PAIR(T, I)                                                                                                     \
  do {                                                                                                                 \
    T x, y;                                                                                                            \
    I i, j;                                                                                                            \
    memcpy(&x, a, sizeof x);                                                                                           \
    memcpy(&y, b, sizeof y);                                                                                           \
    memcpy(&i, a + sizeof x, sizeof i);                                                                                \
    memcpy(&j, b + sizeof y, sizeof j);                                                                                \
    if ((op == GABLE_FOREST_OP_MINLOC ? y < x : y > x) || (!(y < x) && !(y > x) && j < i)) memcpy(a, b, bytes);        \
  } while (0)

/* a = op(a, b) of one number. */
static void combine(gable_unit_type unit, gable_forest_op op, size_t bytes, unsigned char *a, const unsigned char *b)
{
  if (op == GABLE_FOREST_OP_REPLACE) {
    memcpy(a, b, bytes);
    return;
  }
  switch (unit) {
  case GABLE_UNIT_CHAR: WHOLE(signed char); break;
  case GABLE_UNIT_UCHAR: WHOLE(unsigned char); break;
  case GABLE_UNIT_I32: WHOLE(int32_t); break;
  case GABLE_UNIT_I64: WHOLE(int64_t); break;
  case GABLE_UNIT_S: REAL(float, single_op); break;
  case GABLE_UNIT_D: REAL(double, real_op); break;
  case GABLE_UNIT_C: COMPLEX(float); break;
  case GABLE_UNIT_Z: COMPLEX(double); break;
  case GABLE_UNIT_PAIR_I32: PAIR(int32_t, int32_t); break;
  case GABLE_UNIT_PAIR_I64: PAIR(int64_t, int64_t); break;
  case GABLE_UNIT_PAIR_S: PAIR(float, int32_t); break;
  case GABLE_UNIT_PAIR_D: PAIR(double, int64_t); break;
  default: break;
  }
}

/* One edge of one field. */
static void visit(const forest_case *c, unsigned char *root, unsigned char *leaf, unsigned char *update)
{
  const size_t n = (size_t)c->plan.count, bytes = c->number;
  if (c->plan.direction == GABLE_DIRECTION_FETCH) memcpy(update, root, n * bytes);
  const int down = c->plan.direction == GABLE_DIRECTION_BCAST || c->plan.direction == GABLE_DIRECTION_SCATTER;
  for (size_t w = 0; w < n; w++)
    combine(c->plan.unit, c->plan.op, bytes, (down ? leaf : root) + w * bytes, (down ? root : leaf) + w * bytes);
}

/* One item. */
static void combine_item(const forest_case *c, unsigned char *a, const unsigned char *b)
{
  for (size_t w = 0; w < (size_t)c->plan.count; w++)
    combine(c->plan.unit, c->plan.op, c->number, a + w * c->number, b + w * c->number);
}

/* The fixed tree of gable/forest.h: v [n] items become v[0]. */
static void fold_tree(const forest_case *c, size_t item, unsigned char *v, gable_off n)
{
  while (n > 1) {
    const gable_off blocks = (n + 255) / 256;
    for (gable_off b = 0; b < blocks; b++) {
      unsigned char *block = v + (size_t)(256 * b) * item;
      const gable_off m = n - 256 * b < 256 ? n - 256 * b : 256, lanes = m < 32 ? m : 32;
      for (gable_off j = 32; j < m; j++) combine_item(c, block + (size_t)(j % 32) * item, block + (size_t)j * item);
      for (gable_off h = 16; h; h /= 2)
        for (gable_off l = 0; l < h && l + h < lanes; l++)
          combine_item(c, block + (size_t)l * item, block + (size_t)(l + h) * item);
      memmove(v + (size_t)b * item, block, item);
    }
    n = blocks;
  }
}

/* A root with more than 64 leaves: they are reduced by the tree. */
static int is_wide(const forest_case *c, gable_root r)
{
  const gable_off *first = c->part[r.rank].first_slot + r.index;
  return c->plan.direction == GABLE_DIRECTION_REDUCE && c->plan.op != GABLE_FOREST_OP_REPLACE &&
         first[1] - first[0] > 64;
}

/* values: of field f, for each rank as many items as it has edges, by root. */
static void reduce_wide(const forest_case *c, forest_data *d, gable_off f, size_t item, unsigned char **values)
{
  for (int q = 0; q < c->ranks; q++)
    for (gable_off i = 0; i < c->part[q].n_roots; i++) {
      const gable_off first = c->part[q].first_slot[i], n = c->part[q].first_slot[i + 1] - first;
      if (!is_wide(c, (gable_root){q, i})) continue;
      fold_tree(c, item, values[q] + (size_t)first * item, n);
      combine_item(c, d->root[q] + (size_t)(f * c->root_stride[q] + i) * item, values[q] + (size_t)first * item);
    }
}

/* All edges of one field. */
static void visit_edges(const forest_case *c, forest_data *d, gable_off f, gable_off **slot, unsigned char **values)
{
  const size_t item = c->number * (size_t)c->plan.count;
  const int multi = c->plan.direction >= GABLE_DIRECTION_GATHER;
  for (int q = 0; q < c->ranks; q++) memset(slot[q], 0, (size_t)c->part[q].n_roots * sizeof **slot);
  for (int q = 0; q < c->ranks; q++)
    for (gable_off k = 0; k < c->part[q].n_leaves; k++) {
      const gable_off i = c->part[q].order[k];
      const gable_root r = c->part[q].root[i];
      const gable_off s = c->part[r.rank].first_slot[r.index] + slot[r.rank][r.index]++, at = multi ? s : r.index;
      const size_t leaf = (size_t)(f * c->leaf_stride[q] + c->part[q].leaf[i]) * item;
      if (is_wide(c, r))
        memcpy(values[r.rank] + (size_t)s * item, d->leaf[q] + leaf, item);
      else
        visit(c, d->root[r.rank] + (size_t)(f * c->root_stride[r.rank] + at) * item, d->leaf[q] + leaf,
              d->update[q] + leaf);
    }
  reduce_wide(c, d, f, item, values);
}

void forest_oracle(const forest_case *c, forest_data *d)
{
  const size_t n = (size_t)c->ranks, item = c->number * (size_t)c->plan.count;
  gable_off **slot = calloc(n, sizeof *slot);         /* edges of each root so far */
  unsigned char **values = calloc(n, sizeof *values); /* of wide roots, in the order of their leaves */
  for (int q = 0; q < c->ranks; q++) {
    slot[q] = calloc((size_t)c->part[q].n_roots + 1, sizeof **slot);
    values[q] = calloc((size_t)c->part[q].n_multi + 1, item);
  }
  for (gable_off f = 0; f < c->plan.fields; f++) visit_edges(c, d, f, slot, values);
  for (int q = 0; q < c->ranks; q++) {
    free(slot[q]);
    free(values[q]);
  }
  free(slot);
  free(values);
}
