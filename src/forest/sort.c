/* sort.c: a stable merge sort of indices by their keys, bottom up; and sorted numbers. */
#include <stdlib.h>
#include <string.h>

#include "forest/graph.h"

static void merge(const int64_t *key, const int64_t *from, int64_t lo, int64_t mid, int64_t hi, int64_t *to)
{
  int64_t a = lo, b = mid;
  for (int64_t k = lo; k < hi; k++)
    to[k] = a < mid && (b >= hi || key[from[a]] <= key[from[b]]) ? from[a++] : from[b++];
}

void gi_sort_order(const int64_t *key, int64_t n, int64_t *order, int64_t *room)
{
  int64_t sorted = 1;
  for (int64_t i = 0; i < n; i++) order[i] = i;
  while (sorted < n && key[sorted - 1] <= key[sorted]) sorted++;
  if (sorted >= n) return;
  int64_t *from = order, *to = room;
  for (int64_t width = 1; width < n; width *= 2) {
    for (int64_t lo = 0; lo < n; lo += 2 * width) {
      const int64_t mid = lo + width < n ? lo + width : n, hi = mid + width < n ? mid + width : n;
      merge(key, from, lo, mid, hi, to);
    }
    int64_t *other = from;
    from = to;
    to = other;
  }
  if (from != order) memcpy(order, from, (size_t)n * sizeof *order);
}

static int by_value(const void *a, const void *b)
{
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return x < y ? -1 : x > y;
}

void gi_sort_numbers(int64_t *number, int64_t n)
{
  if (n) qsort(number, (size_t)n, sizeof *number, by_value);
}

int gi_is_among(const int64_t *sorted, int64_t n, int64_t value)
{
  return n && bsearch(&value, sorted, (size_t)n, sizeof *sorted, by_value) != NULL;
}
