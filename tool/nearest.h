/* nearest.h: the known name that a mistyped one was meant to be. */
#ifndef TOOL_NEAREST_H
#define TOOL_NEAREST_H

/* The name at the smallest edit distance from word, if that is small enough to be a slip; else NULL. */
const char *nearest(const char *word, const char *const *names, int n_names);

#endif
