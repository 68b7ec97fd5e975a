#include "order_name.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "nearest.h"
#include "verbs.h"

static const struct {
  const char *name;
  gable_order order;
} orders[] = {
    {"auto", GABLE_ORDER_AUTO},     {"metis", GABLE_ORDER_METIS},     {"amd", GABLE_ORDER_AMD},
    {"colamd", GABLE_ORDER_COLAMD}, {"natural", GABLE_ORDER_NATURAL},
};
enum { N_ORDERS = sizeof orders / sizeof *orders };

const char *order_known(int k)
{
  return k < N_ORDERS ? orders[k].name : NULL;
}

const char *order_name(int64_t order)
{
  for (int k = 0; k < N_ORDERS; k++)
    if (order == (int64_t)orders[k].order) return orders[k].name;
  return order == GABLE_ORDER_USER ? "user" : "unknown";
}

int order_named(const char *verb, const char *word, gable_order *order)
{
  const char *names[N_ORDERS];
  for (int k = 0; k < N_ORDERS; k++) {
    names[k] = orders[k].name;
    *order = orders[k].order;
    if (!strcmp(word, names[k])) return EXIT_DONE;
  }
  *order = GABLE_ORDER_USER;
  if (!access(word, F_OK)) return EXIT_DONE;
  const char *meant = nearest(word, names, N_ORDERS);
  fprintf(stderr, "gable %s: --order %s: no order has this name, and no file%s%s%s: give", verb, word,
          meant ? " (did you mean " : "", meant ? meant : "", meant ? "?)" : "");
  for (int k = 0; k < N_ORDERS; k++) fprintf(stderr, " %s%s", names[k], k + 1 < N_ORDERS ? "," : " or");
  fprintf(stderr, " a file with a permutation\n");
  return EXIT_FAILED;
}
