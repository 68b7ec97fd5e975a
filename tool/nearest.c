#include "nearest.h"

#include <string.h>

enum { LONGEST = 40 };

static int least(int a, int b, int c)
{
  int m = a < b ? a : b;
  return m < c ? m : c;
}

/* Insertions, deletions and replacements that turn a into b. */
static int edit_distance(const char *a, const char *b)
{
  int row[LONGEST + 1];
  int na = (int)strlen(a), nb = (int)strlen(b);
  if (na > LONGEST || nb > LONGEST) return 2 * LONGEST;
  for (int j = 0; j <= nb; j++) row[j] = j;
  for (int i = 1; i <= na; i++) {
    int diagonal = row[0];
    row[0] = i;
    for (int j = 1; j <= nb; j++) {
      int above = row[j];
      row[j] = least(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
      diagonal = above;
    }
  }
  return row[nb];
}

const char *nearest(const char *word, const char *const *names, int n_names)
{
  const char *best = NULL;
  int least_distance = 1 + (int)strlen(word) / 3;
  if (least_distance < 2) least_distance = 2;
  for (int k = 0; k < n_names; k++) {
    size_t n = strlen(word);
    int distance = edit_distance(word, names[k]);
    if (n >= 2 && !strncmp(word, names[k], n)) distance = 1;
    if (distance <= least_distance && (!best || distance < least_distance)) {
      best = names[k];
      least_distance = distance;
    }
  }
  return best;
}
