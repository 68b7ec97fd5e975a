/* dense.c: the small dense kernels, for each value type.  Built with contraction of a*b+c allowed (Makefile). */
#include "kernels/dense/dense.h"

#include <math.h>
#include <string.h>

#include "base/portable.h"

enum {
  BLOCK = 6,      /* columns of a register block: 6 sums of 64 bytes and their operands fit 16 registers of 32 bytes */
  BASE = 8,       /* columns factored one by one */
  PACK_ROWS = 64, /* a product of at least so many rows, columns and terms has its operands packed first ... */
  PACK_COLUMNS = 24,
  PACK_DEPTH = 24,
  GROUP = 4, /* strips packed side by side */
  DEPTH = GIK_PACK_DEPTH,
  SOLVE = 64, /* columns of a triangular solve between products */
  STRIP = 24  /* columns of a product that skips what is above the diagonal */
};

#define REAL double
#define BITS int64_t
#define WIDE 8
#define NAME(x) x##_d
#define SQRT sqrt
#include "kernels/dense/dense.inc"
#undef REAL
#undef BITS
#undef WIDE
#undef NAME
#undef SQRT

#define REAL float
#define BITS int32_t
#define WIDE 16
#define NAME(x) x##_s
#define SQRT sqrtf
#include "kernels/dense/dense.inc"
