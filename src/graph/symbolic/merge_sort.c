#include "graph/symbolic/merge_sort.h"

#include <string.h>

void gi_merge_runs(const gable_idx *a, gable_off na, const gable_idx *b, gable_off nb, gable_idx *out)
{
  gable_off i = 0, j = 0, k = 0;
  while (i < na && j < nb) {
    const int left = a[i] < b[j];
    out[k++] = left ? a[i] : b[j];
    i += left;
    j += !left;
  }
  if (i < na) memcpy(out + k, a + i, (size_t)(na - i) * sizeof *out);
  if (j < nb) memcpy(out + k, b + j, (size_t)(nb - j) * sizeof *out);
}

static void sort_short(gable_idx *a, gable_off n)
{
  for (gable_off i = 1; i < n; i++) {
    const gable_idx v = a[i];
    gable_off j = i;
    for (; j > 0 && a[j - 1] > v; j--) a[j] = a[j - 1];
    a[j] = v;
  }
}

static gable_off run_end(const gable_idx *a, gable_off from, gable_off n)
{
  gable_off end = from + 1;
  while (end < n && a[end - 1] < a[end]) end++;
  return end;
}

gable_idx *gi_sort_runs(gable_idx *a, gable_off n, gable_idx *spare)
{
  enum { SHORT = 24 };
  if (n <= SHORT) {
    sort_short(a, n);
    return a;
  }
  for (;;) {
    gable_off first = run_end(a, 0, n);
    if (first == n) return a;
    for (gable_off at = 0; at < n;) {
      const gable_off middle = at == 0 ? first : run_end(a, at, n);
      const gable_off end = middle < n ? run_end(a, middle, n) : n;
      gi_merge_runs(a + at, middle - at, a + middle, end - middle, spare + at);
      at = end;
    }
    gable_idx *t = a;
    a = spare;
    spare = t;
  }
}
