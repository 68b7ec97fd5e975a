/* order_name.h: the orders by name, and what --order may be: one of them, or a file with a permutation. */
#ifndef TOOL_ORDER_NAME_H
#define TOOL_ORDER_NAME_H

#include <gable/gable.h>

/* All of them, for the completion of --order. */
#define ORDER_WORDS "auto|metis|amd|colamd|natural"

/* The k-th order that the tool can be asked for by name, and NULL after the last; the first is "auto". */
const char *order_known(int k);

/* "user" for GABLE_ORDER_USER. */
const char *order_name(int64_t order);

/* *order of word: GABLE_ORDER_USER when it is the path of something that is there.  Not 0 when it is neither, after a
 * line on standard error. */
int order_named(const char *verb, const char *word, gable_order *order);

#endif
