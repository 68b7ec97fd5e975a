/* order_name.h: what --order may be: the name of an order, or a file with a permutation. */
#ifndef TOOL_ORDER_NAME_H
#define TOOL_ORDER_NAME_H

/* The place of word among names, or n_names when it is the path of something that is there; -1 when it is neither,
 * after a line on standard error. */
int order_name(const char *verb, const char *word, const char *const *names, int n_names);

#endif
