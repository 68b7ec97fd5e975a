/* test_dense at the plain level, which the processors of today do not choose. */
#include "support/plain_level.h"

#include "kernels/dense/dense.c"

#include "unit/test_dense.c"
