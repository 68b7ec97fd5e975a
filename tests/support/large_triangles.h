/* large_triangles.h: lower triangles that are large enough for what a GPU does to large ones alone. */
#ifndef TEST_LARGE_TRIANGLES_H
#define TEST_LARGE_TRIANGLES_H

#include "support/triangles.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The lower triangle of a 5 point grid, large enough for many tiles. */
test_triangle test_large_grid(void);
/* 40 levels of 1600 rows, each over two rows of the level before. */
test_triangle test_wide_levels(void);
/* Levels of width rows, each row over two rows of the level before, but one in 250 over up to longest rows before. */
test_triangle test_long_rows(gable_idx levels, gable_idx width, gable_idx longest);
/* Two levels, so wide that a GPU takes one after the other; of the second's rows some have longest entries. */
test_triangle test_two_levels(gable_idx longest);

#ifdef __cplusplus
}
#endif

#endif
