#include "kernels/dense/dense_ldlt.h"

#include <string.h>

#include "base/portable.h"

#define REAL double
#define NAME(x) x##_d
#include "kernels/dense/dense_ldlt.inc"
#undef REAL
#undef NAME
#define REAL float
#define NAME(x) x##_s
#include "kernels/dense/dense_ldlt.inc"
