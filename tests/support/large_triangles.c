#include "support/large_triangles.h"

#include <stdlib.h>

test_triangle test_large_grid(void)
{
  enum { SIDE = 300, N = SIDE * SIDE };
  test_triangle t = {N, malloc((N + 1) * sizeof *t.ptr), malloc(3 * N * sizeof *t.idx), malloc(3 * N * sizeof *t.val)};
  int64_t used = 0;
  for (gable_idx i = 0; i < N; i++) {
    t.ptr[i] = used;
    if (i >= SIDE) t.idx[used++] = i - SIDE;
    if (i % SIDE) t.idx[used++] = i - 1;
    t.idx[used++] = i;
    for (int64_t p = t.ptr[i]; p < used; p++) t.val[p] = p == used - 1 ? 4 : -1;
  }
  t.ptr[N] = used;
  return t;
}

test_triangle test_wide_levels(void)
{
  enum { WIDTH = 1600, N = 40 * WIDTH };
  test_triangle t = {N, malloc((N + 1) * sizeof *t.ptr), malloc(3 * N * sizeof *t.idx), malloc(3 * N * sizeof *t.val)};
  int64_t used = 0;
  for (gable_idx i = 0; i < N; i++) {
    t.ptr[i] = used;
    const gable_idx first = i % WIDTH ? i - WIDTH - 1 : i - WIDTH;
    for (gable_idx j = first; i >= WIDTH && j < first + 2; j++) t.idx[used++] = j;
    t.idx[used++] = i;
    for (int64_t p = t.ptr[i]; p < used; p++) t.val[p] = p == used - 1 ? 4 : -1;
  }
  t.ptr[N] = used;
  return t;
}

/* Row i, over count rows from first on, whose magnitudes sum up to less than the diagonal; ptr[i] is known,
 * ptr[i+1] then. */
static void add_row(test_triangle *t, gable_idx i, gable_idx first, gable_idx count)
{
  const int64_t begin = t->ptr[i], diagonal = begin + count;
  for (gable_idx j = 0; j < count; j++) {
    t->idx[begin + j] = first + j;
    t->val[begin + j] = (count > 8 ? -0.25 : -1.0) / (double)(j + 1);
  }
  t->idx[diagonal] = i;
  t->val[diagonal] = 4;
  t->ptr[i + 1] = diagonal + 1;
}

test_triangle test_long_rows(gable_idx levels, gable_idx width, gable_idx longest)
{
  const gable_idx long_count[] = {40, 300, 1100, longest}, n = levels * width;
  const size_t room = 5 * (size_t)n + ((size_t)n / 1000 + 1) * (size_t)(1440 + longest);
  test_triangle t = {n, malloc(((size_t)n + 1) * sizeof *t.ptr), malloc(room * sizeof *t.idx),
                     malloc(room * sizeof *t.val)};
  t.ptr[0] = 0;
  for (gable_idx i = 0; i < n; i++) {
    const gable_idx before = i / width * width - width, end = before + width;
    const gable_idx wanted = i % 250 ? 2 : long_count[i / 250 % 4], most = before < 0 ? 0 : end;
    const gable_idx count = wanted < most ? wanted : most;
    const gable_idx first = before + i % width;
    add_row(&t, i, first < end - count ? first : end - count, count);
  }
  return t;
}

test_triangle test_two_levels(gable_idx longest)
{
  enum { WIDTH = 250000, N = 2 * WIDTH, ROOM = N + 8 * WIDTH };
  test_triangle t = {N, malloc((N + 1) * sizeof *t.ptr), malloc(ROOM * sizeof *t.idx), malloc(ROOM * sizeof *t.val)};
  t.ptr[0] = 0;
  for (gable_idx i = 0; i < N; i++) {
    const gable_idx count = i < WIDTH ? 0 : i % 8000 == 17 ? longest : 1 + i % 5;
    const gable_idx first = (gable_idx)(((int64_t)i * 7919) % (WIDTH - longest));
    add_row(&t, i, first, count);
  }
  return t;
}
