#include "order_name.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "nearest.h"

int order_name(const char *verb, const char *word, const char *const *names, int n_names)
{
  for (int k = 0; k < n_names; k++)
    if (!strcmp(word, names[k])) return k;
  if (!access(word, F_OK)) return n_names;
  const char *meant = nearest(word, names, n_names);
  fprintf(stderr, "gable %s: --order %s: no order has this name, and no file%s%s%s: give", verb, word,
          meant ? " (did you mean " : "", meant ? meant : "", meant ? "?)" : "");
  for (int k = 0; k < n_names; k++) fprintf(stderr, " %s%s", names[k], k + 1 < n_names ? "," : " or");
  fprintf(stderr, " a file with a permutation\n");
  return -1;
}
