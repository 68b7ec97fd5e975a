/* memory_message.h: what a message of GABLE_ERR_MEMORY must say. */
#ifndef MEMORY_MESSAGE_H
#define MEMORY_MESSAGE_H

#include <string.h>

#include <gable/types.h>

/* Does the last error say how many bytes are wanted and what for, in words, not in names of the code? */
static inline int memory_message_is_clear(void)
{
  const char *text = gable_last_error(), *end = text + strlen(text);
  const char *amount = strstr(text, "out of memory: "), *purpose = amount ? strstr(amount, " for ") : NULL;
  if (!amount || amount >= end || strcspn(amount, "0123456789") >= (size_t)(end - amount)) return 0;
  if (!purpose || purpose >= end) return 1; /* "about 50 kB to inflate FILE" */
  return strcspn(purpose, "_>[.*&") >= (size_t)(end - purpose);
}

#endif
