#include "support/grid.h"

#include "support/test.h"

/* Numbers the box [low, high) of the points: its halves, then the plane between them. */
static void dissect(gable_idx n, const gable_idx low[3], const gable_idx high[3], gable_idx *number, gable_idx *next)
{
  int axis = 0;
  for (int d = 1; d < 3; d++)
    if (high[d] - low[d] > high[axis] - low[axis]) axis = d;
  if (high[axis] - low[axis] < 3) {
    for (gable_idx z = low[2]; z < high[2]; z++)
      for (gable_idx y = low[1]; y < high[1]; y++)
        for (gable_idx x = low[0]; x < high[0]; x++) number[x + n * (y + n * z)] = (*next)++;
    return;
  }
  const gable_idx mid = (low[axis] + high[axis]) / 2;
  gable_idx b[3] = {low[0], low[1], low[2]}, e[3] = {high[0], high[1], high[2]};
  e[axis] = mid;
  dissect(n, low, e, number, next);
  b[axis] = mid + 1;
  dissect(n, b, high, number, next);
  b[axis] = mid;
  e[axis] = mid + 1;
  for (gable_idx z = b[2]; z < e[2]; z++)
    for (gable_idx y = b[1]; y < e[1]; y++)
      for (gable_idx x = b[0]; x < e[0]; x++) number[x + n * (y + n * z)] = (*next)++;
}

void grid_matrix(gable_context *ctx, gable_idx n, double wind, gi_csc *a)
{
  const gable_idx points = n * n * n, zero[3] = {0, 0, 0}, all[3] = {n, n, n}, step[3] = {1, n, n * n};
  gable_idx *number = malloc((size_t)points * sizeof *number), *point = malloc((size_t)points * sizeof *point),
            next = 0;
  dissect(n, zero, all, number, &next);
  CHECK(next == points);
  for (gable_idx p = 0; p < points; p++) point[number[p]] = p;
  gi_csc rows = {.n_rows = points,
                 .n_cols = points,
                 .ptr = gi_alloc(ctx, points + 1, sizeof(gable_off)),
                 .idx = gi_alloc(ctx, 7 * points, sizeof(gable_idx)),
                 .val = gi_alloc(ctx, 7 * points, sizeof(double))};
  gable_off q = 0;
  for (gable_idx k = 0; k < points; k++) {
    const gable_idx p = point[k], at[3] = {p % n, p / n % n, p / n / n};
    rows.ptr[k] = q;
    rows.idx[q] = k;
    rows.val[q++] = 6.1;
    for (int d = 0; d < 3; d++)
      for (int s = -1; s <= 1; s += 2) {
        if (at[d] + s < 0 || at[d] + s >= n) continue;
        rows.idx[q] = number[p + s * step[d]];
        rows.val[q++] = -1 - s * wind * (1 + d);
      }
  }
  rows.ptr[points] = q;
  CHECK_OK(gi_csc_transpose(ctx, &rows, a)); /* sorted, too */
  gi_csc_release(ctx, &rows);
  free(number);
  free(point);
}
